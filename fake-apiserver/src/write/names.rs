//! Which names, labels and annotations are valid, and what is said of those that are not (apimachinery's
//! `api/validate/content` and `api/validation`).

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_LENGTH: usize = 63;
const SUBDOMAIN_LENGTH: usize = 253;

/// The rule that a resource's names keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// A DNS label that begins with a letter (services).
    Dns1035Label,
    /// A DNS label (namespaces).
    Dns1123Label,
    /// Dotted DNS labels (most).
    Dns1123Subdomain,
    /// Anything that can be part of a path (roles).
    PathSegment,
}

impl NameRule {
    pub(crate) fn of(group: &str, plural: &str) -> Self {
        match (group, plural) {
            ("", "namespaces") => Self::Dns1123Label,
            ("", "services") => Self::Dns1035Label,
            ("rbac.authorization.k8s.io", _) => Self::PathSegment,
            _ => Self::Dns1123Subdomain,
        }
    }

    /// What is wrong with a name; empty if nothing is.
    pub(crate) fn faults(self, name: &str) -> Vec<String> {
        match self {
            Self::Dns1035Label => dns_1035_label(name),
            Self::Dns1123Label => dns_1123_label(name),
            Self::Dns1123Subdomain => dns_1123_subdomain(name),
            Self::PathSegment => path_segment(name),
        }
    }

    /// The same of a base to which random characters are appended.
    pub(crate) fn base_faults(self, base: &str) -> Vec<String> {
        match base.strip_suffix('-') {
            Some(stem) if !stem.is_empty() && self != Self::PathSegment => {
                let masked = stem.char_indices().next_back().map_or(0, |(at, _)| at);
                self.faults(&format!("{}a", &stem[..masked]))
            }
            _ => self.faults(base),
        }
    }
}

pub(crate) fn dns_1123_label(text: &str) -> Vec<String> {
    let mut faults = over_length(text, LABEL_LENGTH);
    if !is_label(text) {
        faults.push(if is_subdomain(text) {
            "must not contain dots".to_owned()
        } else {
            format!(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
                 and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
                 '{LABEL}')"
            )
        });
    }
    faults
}

pub(crate) fn dns_1123_subdomain(text: &str) -> Vec<String> {
    let mut faults = over_length(text, SUBDOMAIN_LENGTH);
    if !is_subdomain(text) {
        faults.push(format!(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '{LABEL}(\\.{LABEL})*')"
        ));
    }
    faults
}

/// A label's, an annotation's or a finalizer's name: `[prefix/]name`.
pub(crate) fn qualified_name(text: &str) -> Vec<String> {
    let rule = format!(
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric \
         character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{QUALIFIED}')"
    );
    let mut faults = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => *name,
        ["", name] => {
            faults.push("prefix part must be non-empty".to_owned());
            *name
        }
        [prefix, name] => {
            let of_prefix = dns_1123_subdomain(prefix).into_iter();
            faults.extend(of_prefix.map(|fault| format!("prefix part {fault}")));
            *name
        }
        _ => {
            return vec![format!(
                "a valid label key {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    } else {
        let of_length = over_length(name, LABEL_LENGTH).into_iter();
        faults.extend(of_length.map(|fault| format!("name part {fault}")));
    }
    if !is_qualified(name) {
        faults.push(format!("name part {rule}"));
    }
    faults
}

pub(crate) fn label_value(text: &str) -> Vec<String> {
    let mut faults = over_length(text, LABEL_LENGTH);
    if !text.is_empty() && !is_qualified(text) {
        faults.push(format!(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
             validation is '({QUALIFIED})?')"
        ));
    }
    faults
}

fn dns_1035_label(text: &str) -> Vec<String> {
    let mut faults = over_length(text, LABEL_LENGTH);
    if !is_label(text) || text.starts_with(|first: char| first.is_ascii_digit()) {
        faults.push(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
             validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
                .to_owned(),
        );
    }
    faults
}

fn path_segment(text: &str) -> Vec<String> {
    if matches!(text, "." | "..") {
        return vec![format!("may not be '{text}'")];
    }
    let forbidden = ["/", "%"].into_iter();
    forbidden
        .filter(|part| text.contains(part))
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

fn over_length(text: &str, most: usize) -> Vec<String> {
    if text.len() > most {
        vec![format!("must be no more than {most} bytes")]
    } else {
        Vec::new()
    }
}

fn is_label(text: &str) -> bool {
    let is_alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes
        .iter()
        .all(|byte| is_alphanumeric(byte) || *byte == b'-')
        && bytes.first().is_some_and(is_alphanumeric)
        && bytes.last().is_some_and(is_alphanumeric)
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_qualified(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_takes_and_refuses_what_the_others_do_not() {
        use NameRule::{Dns1035Label, Dns1123Label, Dns1123Subdomain, PathSegment};
        for (name, accepted) in [
            (
                "web",
                &[Dns1035Label, Dns1123Label, Dns1123Subdomain, PathSegment][..],
            ),
            ("1web", &[Dns1123Label, Dns1123Subdomain, PathSegment]),
            ("a.b", &[Dns1123Subdomain, PathSegment]),
            ("system:node", &[PathSegment]),
            ("a..b", &[PathSegment]),
            ("-a", &[PathSegment]),
            ("a/b", &[]),
            ("..", &[]),
        ] {
            for rule in [Dns1035Label, Dns1123Label, Dns1123Subdomain, PathSegment] {
                let faults = rule.faults(name);
                assert_eq!(
                    faults.is_empty(),
                    accepted.contains(&rule),
                    "{name} {rule:?} {faults:?}"
                );
            }
        }
    }

    #[test]
    fn lengths_are_limited_to_the_byte() {
        assert_eq!(dns_1123_label(&"a".repeat(63)), Vec::<String>::new());
        assert_eq!(
            dns_1123_label(&"a".repeat(64)),
            ["must be no more than 63 bytes"]
        );
        assert_eq!(dns_1123_subdomain(&"a".repeat(253)), Vec::<String>::new());
        assert_eq!(
            dns_1123_subdomain(&"a".repeat(254)),
            ["must be no more than 253 bytes"]
        );
        assert_eq!(label_value(&"a".repeat(64)).len(), 1);
        assert_eq!(qualified_name(&format!("x/{}", "a".repeat(64))).len(), 1);
    }

    #[test]
    fn a_base_may_end_in_a_dash_where_a_name_may_not() {
        assert_eq!(
            NameRule::Dns1123Label.base_faults("web-"),
            Vec::<String>::new()
        );
        assert_eq!(NameRule::Dns1123Label.faults("web-").len(), 1);
        assert_eq!(NameRule::Dns1123Label.base_faults("Web-").len(), 1);
        assert_eq!(NameRule::Dns1123Label.base_faults("-").len(), 1);
    }

    #[test]
    fn a_label_key_has_at_most_one_slash_with_something_on_both_sides() {
        for good in ["app", "app.kubernetes.io/name", "a/B_c.d"] {
            assert_eq!(qualified_name(good), Vec::<String>::new(), "{good}");
        }
        for bad in ["", "/a", "a/", "a/b/c", "Upper.Prefix/x", "-a"] {
            assert_ne!(qualified_name(bad), Vec::<String>::new(), "{bad}");
        }
    }
}
