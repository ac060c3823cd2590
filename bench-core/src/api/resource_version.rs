//! The server's version of an object or a list.

use std::fmt;

/// A resourceVersion: an opaque text for which a client may only ask equality, except where the server promises an order
/// (KEP-5504, Kubernetes 1.35).
///
/// `""` means "not known"; in a request it means "most recent", and `"0"` means "any". Canonical decimal numbers are held
/// without an allocation; equality is equality of the text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ResourceVersion(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    // Invariant: every text that is the canonical rendering of a u64 is held here, so derived equality is right.
    Number(u64),
    Text(Box<str>),
}

impl ResourceVersion {
    /// The empty version.
    pub fn unset() -> Self {
        Self::from("")
    }

    /// Whether this is the empty version.
    pub fn is_unset(&self) -> bool {
        matches!(&self.0, Repr::Text(text) if text.is_empty())
    }

    /// The version as a number, if it is a canonical decimal that fits.
    pub fn number(&self) -> Option<u64> {
        match self.0 {
            Repr::Number(number) => Some(number),
            Repr::Text(_) => None,
        }
    }
}

impl From<u64> for ResourceVersion {
    fn from(number: u64) -> Self {
        Self(Repr::Number(number))
    }
}

impl From<&str> for ResourceVersion {
    fn from(text: &str) -> Self {
        let canonical = !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && (text.len() == 1 || !text.starts_with('0'));
        match text.parse() {
            Ok(number) if canonical => Self(Repr::Number(number)),
            _ => Self(Repr::Text(Box::from(text))),
        }
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Number(number) => number.fmt(formatter),
            Repr::Text(text) => formatter.write_str(text),
        }
    }
}

impl fmt::Debug for ResourceVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_equal_if_and_only_if_their_texts_are() {
        for text in [
            "",
            "0",
            "7",
            "007",
            "18446744073709551615",
            "18446744073709551616",
            "+7",
            "abc",
        ] {
            assert_eq!(ResourceVersion::from(text).to_string(), text);
        }
        assert_eq!(ResourceVersion::from("7"), ResourceVersion::from(7));
        assert_ne!(ResourceVersion::from("07"), ResourceVersion::from(7));
        assert_ne!(ResourceVersion::from("+7"), ResourceVersion::from(7));
        assert!(ResourceVersion::unset().is_unset());
    }
}
