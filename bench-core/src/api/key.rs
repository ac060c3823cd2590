//! The key of an object inside one resource type.

use std::{borrow::Borrow, fmt, hash, sync::Arc};

/// Namespace and name of an object, rendered `namespace/name`, or `name` for cluster-scoped objects.
///
/// Cloning is one reference count. The order is the byte order of the rendered text, which is the order in which an API
/// server lists (`a-b/x` comes before `a/x`, since `-` sorts before `/`).
///
/// Mirrors `MetaNamespaceKeyFunc` and `SplitMetaNamespaceKey` of client-go's `tools/cache/store.go`. The uid plays no part
/// in identity there either.
#[derive(Clone)]
pub struct ObjectKey {
    text: Arc<str>,
    // Invariant: 0 for no namespace, else the byte index of the '/' in `text`.
    namespace_length: u32,
}

/// What was wrong with a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The object carries no name.
    #[error("object has no metadata.name")]
    NoName,
    /// More than one `/` in a rendered key.
    #[error("unexpected key format: {0:?}")]
    UnexpectedFormat(String),
    /// A queue was handed an empty list of deltas.
    #[error("0 length Deltas object; can't get key")]
    ZeroLengthDeltas,
}

impl ObjectKey {
    /// Makes the key of an object; an empty `namespace` means cluster-scoped.
    pub fn new(namespace: &str, name: &str) -> Self {
        if namespace.is_empty() {
            return Self {
                text: Arc::from(name),
                namespace_length: 0,
            };
        }
        let mut text = String::with_capacity(namespace.len() + 1 + name.len());
        text.push_str(namespace);
        text.push('/');
        text.push_str(name);
        let namespace_length =
            u32::try_from(namespace.len()).expect("a namespace is shorter than 4 GiB");
        Self {
            text: Arc::from(text),
            namespace_length,
        }
    }

    /// Splits a rendered key.
    ///
    /// # Errors
    /// [`KeyError::UnexpectedFormat`] if `text` has more than one `/`.
    pub fn try_parse(text: &str) -> Result<Self, KeyError> {
        match text.split_once('/') {
            None => Ok(Self::new("", text)),
            Some((_, name)) if name.contains('/') => {
                Err(KeyError::UnexpectedFormat(text.to_owned()))
            }
            Some((namespace, name)) => Ok(Self::new(namespace, name)),
        }
    }

    /// The namespace; empty for a cluster-scoped object.
    pub fn namespace(&self) -> &str {
        &self.text[..self.namespace_length as usize]
    }

    /// The name.
    pub fn name(&self) -> &str {
        match self.namespace_length {
            0 => &self.text,
            length => &self.text[length as usize + 1..],
        }
    }

    /// `namespace/name`, or `name`.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl PartialEq for ObjectKey {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ObjectKey {}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ObjectKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}

impl hash::Hash for ObjectKey {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl Borrow<str> for ObjectKey {
    fn borrow(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.text, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_renders_as_namespace_and_name_and_splits_again() {
        let key = ObjectKey::new("kube-system", "dns");
        assert_eq!(
            (key.as_str(), key.namespace(), key.name()),
            ("kube-system/dns", "kube-system", "dns")
        );
        assert_eq!(ObjectKey::try_parse("kube-system/dns"), Ok(key));
        let node = ObjectKey::new("", "node-1");
        assert_eq!(
            (node.as_str(), node.namespace(), node.name()),
            ("node-1", "", "node-1")
        );
        assert!(
            matches!(ObjectKey::try_parse("a/b/c"), Err(KeyError::UnexpectedFormat(text)) if text == "a/b/c")
        );
    }

    #[test]
    fn keys_sort_by_their_text_and_not_by_namespace_then_name() {
        assert!(ObjectKey::new("a-b", "z") < ObjectKey::new("a", "a"));
    }
}
