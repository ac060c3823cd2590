//! Sets of fields, as `metadata.managedFields` has them (structured-merge-diff's `fieldpath`).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A tree of path elements: `f:NAME` for a field, `k:{KEYS}` and `v:VALUE` for an item of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FieldSet {
    nodes: BTreeMap<String, FieldNode>,
}

/// What is known of one element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FieldNode {
    /// Whether the element itself is in the set, and not only something in it.
    pub(crate) is_member: bool,
    pub(crate) children: FieldSet,
}

impl FieldSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(crate) fn get(&self, element: &str) -> Option<&FieldNode> {
        self.nodes.get(element)
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = (&String, &FieldNode)> {
        self.nodes.iter()
    }

    /// Adds the element at the end of a path that is not empty.
    pub(crate) fn insert(&mut self, path: &[String]) {
        let Some((first, rest)) = path.split_first() else {
            return;
        };
        let node = self.nodes.entry(first.clone()).or_default();
        if rest.is_empty() {
            node.is_member = true;
        } else {
            node.children.insert(rest);
        }
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        for (element, node) in &other.nodes {
            let own = union.nodes.entry(element.clone()).or_default();
            own.is_member |= node.is_member;
            own.children = own.children.union(&node.children);
        }
        union
    }

    /// What is here and not in the other; what is below an element of the other stays.
    pub(crate) fn difference(&self, other: &Self) -> Self {
        self.combine(other, |own, other| own && !other)
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |own, other| own && other)
    }

    fn combine(&self, other: &Self, keep: fn(bool, bool) -> bool) -> Self {
        let absent = FieldNode::default();
        let nodes = self.nodes.iter().filter_map(|(element, own)| {
            let other = other.nodes.get(element).unwrap_or(&absent);
            let node = FieldNode {
                is_member: keep(own.is_member, other.is_member),
                children: own.children.combine(&other.children, keep),
            };
            (node.is_member || !node.children.is_empty()).then(|| (element.clone(), node))
        });
        Self {
            nodes: nodes.collect(),
        }
    }

    /// Keeps the subtrees of these first elements only.
    pub(crate) fn retain_roots(&mut self, keep: impl Fn(&str) -> bool) {
        self.nodes.retain(|element, _| keep(element));
    }

    /// Every element as people read it: `.spec.replicas`, `.spec.containers[name="c"].image`.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect_paths("", &mut paths);
        paths
    }

    fn collect_paths(&self, prefix: &str, paths: &mut Vec<String>) {
        for (element, node) in &self.nodes {
            let path = format!("{prefix}{}", readable(element));
            if node.is_member {
                paths.push(path.clone());
            }
            node.children.collect_paths(&path, paths);
        }
    }

    /// The form in `fieldsV1`.
    pub(crate) fn to_value(&self) -> Value {
        let fields = self.nodes.iter().map(|(element, node)| {
            let mut value = Map::new();
            if node.is_member && !node.children.is_empty() {
                value.insert(".".to_owned(), Value::Object(Map::new()));
            }
            if let Value::Object(children) = node.children.to_value() {
                value.extend(children);
            }
            (element.clone(), Value::Object(value))
        });
        Value::Object(fields.collect())
    }

    pub(crate) fn from_value(value: &Value) -> Self {
        let fields = value.as_object().into_iter().flatten();
        let nodes = fields
            .filter(|(element, _)| *element != ".")
            .map(|(element, value)| {
                let children = Self::from_value(value);
                let node = FieldNode {
                    is_member: children.is_empty() || value.get(".").is_some(),
                    children,
                };
                (element.clone(), node)
            });
        Self {
            nodes: nodes.collect(),
        }
    }
}

impl FromIterator<(String, FieldNode)> for FieldSet {
    fn from_iter<I: IntoIterator<Item = (String, FieldNode)>>(nodes: I) -> Self {
        Self {
            nodes: nodes.into_iter().collect(),
        }
    }
}

fn readable(element: &str) -> String {
    match element.split_once(':') {
        Some(("f", name)) => format!(".{name}"),
        Some(("k", keys)) => {
            let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
            let keys: Vec<String> = keys
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            format!("[{}]", keys.join(","))
        }
        Some(("v", value)) => format!("[={value}]"),
        _ => format!("[{element}]"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(value: &Value) -> FieldSet {
        FieldSet::from_value(value)
    }

    #[test]
    fn a_set_survives_its_written_form() {
        let written = json!({
            "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
            "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:image": {}}}, "f:replicas": {}},
        });
        assert_eq!(set(&written).to_value(), written);
        assert_eq!(
            set(&written).paths(),
            [
                ".metadata.labels",
                ".metadata.labels.a",
                ".spec.containers[name=\"c\"]",
                ".spec.containers[name=\"c\"].image",
                ".spec.replicas",
            ]
        );
    }

    #[test]
    fn sets_are_combined_element_by_element() {
        let left = set(&json!({"f:a": {".": {}, "f:b": {}, "f:c": {}}, "f:d": {}}));
        let right = set(&json!({"f:a": {"f:b": {}}, "f:e": {}}));
        assert_eq!(
            left.union(&right).to_value(),
            json!({"f:a": {".": {}, "f:b": {}, "f:c": {}}, "f:d": {}, "f:e": {}})
        );
        assert_eq!(
            left.intersection(&right).to_value(),
            json!({"f:a": {"f:b": {}}})
        );
        assert_eq!(
            left.difference(&right).to_value(),
            json!({"f:a": {".": {}, "f:c": {}}, "f:d": {}})
        );
        assert!(right.difference(&left.union(&right)).is_empty());
    }
}
