//! Field selectors: their text, and whether an object matches.

use bench_core::api::{ObjectKey, Resource};

use super::{
    field_table::{FieldPlace, FieldTable, METADATA_ONLY},
    selectable::Selectable,
};

/// All terms must hold.
#[derive(Debug, Clone)]
pub(super) struct FieldSelector {
    table: &'static FieldTable,
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    place: FieldPlace,
    operator: Operator,
    value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equals,
    NotEquals,
}

/// Text that is no field selector, or not one of this resource, in the words of apimachinery's `pkg/fields`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum FieldSelectorError {
    #[error("invalid field selector: invalid escape sequence: {0}")]
    Escape(String),
    #[error("{0}")]
    Field(String),
    #[error("invalid selector: '{selector}'; can't understand '{term}'")]
    Term { selector: String, term: String },
    /// The character as its code point, as servers print it.
    #[error("invalid field selector: unescaped character in value: {0}")]
    Unescaped(u32),
}

impl Default for FieldSelector {
    fn default() -> Self {
        Self {
            table: &METADATA_ONLY,
            terms: Vec::new(),
        }
    }
}

impl FieldSelector {
    /// Parses `field=value`, `field==value` and `field!=value`, separated by commas; a backslash escapes `,`, `=` and itself in
    /// values.
    pub(super) fn try_parse(text: &str, resource: &Resource) -> Result<Self, FieldSelectorError> {
        let table = FieldTable::of(resource);
        let mut parts = split_terms(text);
        // Servers sort them, which decides what is complained about first.
        parts.sort_unstable();
        let mut parsed = Vec::new();
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let (label, operator, value) =
                split_term(part).ok_or_else(|| FieldSelectorError::Term {
                    selector: text.to_owned(),
                    term: part.to_owned(),
                })?;
            parsed.push((label, operator, unescape(value)?));
        }
        let terms = parsed.into_iter().map(|(label, operator, value)| {
            let place = table.find(label).map_err(FieldSelectorError::Field)?;
            Ok(Term {
                place,
                operator,
                value,
            })
        });
        Ok(Self {
            table,
            terms: terms.collect::<Result<_, _>>()?,
        })
    }

    /// The same resource's selector of one name.
    pub(super) fn of_name(&self, name: &str) -> Self {
        Self {
            table: self.table,
            terms: vec![Term {
                place: FieldPlace::Name,
                operator: Operator::Equals,
                value: name.to_owned(),
            }],
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub(super) fn table(&self) -> &'static FieldTable {
        self.table
    }

    pub(super) fn exact_name(&self) -> Option<&str> {
        let mut terms = self.terms.iter();
        let term =
            terms.find(|term| term.place == FieldPlace::Name && term.operator == Operator::Equals);
        term.map(|term| &*term.value)
    }

    /// Whether more than the key is looked at.
    pub(super) fn needs_content(&self) -> bool {
        self.terms
            .iter()
            .any(|term| matches!(term.place, FieldPlace::Content(_)))
    }

    pub(super) fn matches_key(&self, key: &ObjectKey) -> bool {
        self.terms.iter().all(|term| match term.place {
            FieldPlace::Name => term.holds(key.name()),
            FieldPlace::Namespace => term.holds(key.namespace()),
            FieldPlace::Content(_) => true,
        })
    }

    pub(super) fn matches_content(&self, object: &Selectable) -> bool {
        self.terms.iter().all(|term| match term.place {
            FieldPlace::Content(index) => term.holds(object.field(index)),
            FieldPlace::Name | FieldPlace::Namespace => true,
        })
    }
}

impl Term {
    fn holds(&self, value: &str) -> bool {
        (value == self.value) == (self.operator == Operator::Equals)
    }
}

/// Splits at commas that no backslash escapes; escapes are kept.
fn split_terms(text: &str) -> Vec<&str> {
    let mut escaped = false;
    text.split(move |character| {
        let is_border = character == ',' && !escaped;
        escaped = character == '\\' && !escaped;
        is_border
    })
    .collect()
}

fn split_term(term: &str) -> Option<(&str, Operator, &str)> {
    let signs = [
        ("!=", Operator::NotEquals),
        ("==", Operator::Equals),
        ("=", Operator::Equals),
    ];
    term.char_indices().find_map(|(at, _)| {
        let (label, rest) = term.split_at(at);
        let mut signs = signs.iter();
        signs.find_map(|(sign, operator)| Some((label, *operator, rest.strip_prefix(sign)?)))
    })
}

fn unescape(value: &str) -> Result<String, FieldSelectorError> {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => plain.push(escaped),
                other => {
                    let sequence = std::iter::once('\\').chain(other);
                    return Err(FieldSelectorError::Escape(sequence.collect()));
                }
            },
            ',' | '=' => return Err(FieldSelectorError::Unescaped(character.into())),
            _ => plain.push(character),
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str, resource: &Resource) -> String {
        FieldSelector::try_parse(text, resource)
            .expect_err(text)
            .to_string()
    }

    #[test]
    fn text_that_is_no_selector_is_refused_in_the_words_of_servers() {
        let pods = Resource::pods();
        for (text, expected) in [
            (
                "metadata.name",
                "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
            ),
            (
                "spec.nodeName=a,b",
                "invalid selector: 'spec.nodeName=a,b'; can't understand 'b'",
            ),
            (
                r"metadata.name=a\b",
                r"invalid field selector: invalid escape sequence: \b",
            ),
            (
                r"metadata.name=a\",
                r"invalid field selector: invalid escape sequence: \",
            ),
            (
                "metadata.name=a=b",
                "invalid field selector: unescaped character in value: 61",
            ),
            ("spec.node=a", "field label not supported: spec.node"),
        ] {
            assert_eq!(error(text, &pods), expected, "{text}");
        }
        let jobs = Resource::named(
            "batch",
            "v1",
            "jobs",
            "Job",
            bench_core::api::Scope::Namespaced,
        );
        assert_eq!(
            error("x=1", &jobs),
            r#"field label "x" not supported for Job"#
        );
        assert_eq!(
            error("x=1", &Resource::leases()),
            r#""x" is not a known field selector: only "metadata.name", "metadata.namespace""#
        );
        assert_eq!(
            error("metadata.namespace=a", &Resource::nodes()),
            "field label not supported: metadata.namespace"
        );
    }

    #[test]
    fn values_are_taken_literally_once_unescaped() {
        let selector = FieldSelector::try_parse(
            r"metadata.name==a\,b\=c\\,,metadata.namespace!=x",
            &Resource::pods(),
        )
        .unwrap();
        assert_eq!(selector.exact_name(), Some(r"a,b=c\"));
        assert!(selector.matches_key(&ObjectKey::new("y", r"a,b=c\")));
        assert!(!selector.matches_key(&ObjectKey::new("x", r"a,b=c\")));
        assert!(!selector.matches_key(&ObjectKey::new("y", "a")));
        assert!(!selector.needs_content());
    }

    #[test]
    fn absent_fields_count_as_the_zero_of_their_type() {
        let pods = Resource::pods();
        let read = |json: &str| Selectable::read(json.as_bytes(), FieldTable::of(&pods));
        let matches = |text: &str, object: &Selectable| {
            FieldSelector::try_parse(text, &pods)
                .unwrap()
                .matches_content(object)
        };
        let empty = read("{}");
        for text in [
            "spec.nodeName=",
            "spec.hostNetwork=false",
            "status.phase!=Running",
            "status.podIPs=",
        ] {
            assert!(matches(text, &empty), "{text}");
        }
        let pod = read(
            r#"{"metadata":{"labels":{"b":"2","a":"1"}},"spec":{"nodeName":"n","hostNetwork":true,"serviceAccount":"old","x":[{"nodeName":"m"}]},"status":{"podIP":"10.0.0.9","podIPs":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]}}"#,
        );
        for text in [
            "spec.host=n,spec.hostNetwork=true",
            "status.podIP=10.0.0.1",
            "spec.serviceAccountName=old",
        ] {
            assert!(matches(text, &pod), "{text}");
        }
        assert_eq!(
            (pod.label("a"), pod.label("b"), pod.label("c")),
            (Some("1"), Some("2"), None)
        );
    }
}
