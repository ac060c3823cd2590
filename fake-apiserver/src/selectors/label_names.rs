//! What a label's key and value may look like, and the words for those that do not (apimachinery's `pkg/api/validate/content`).

const NAME_PATTERN: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const NAME_WORDS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const VALUE_WORDS: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const SUBDOMAIN_PATTERN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const SUBDOMAIN_WORDS: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";

const NAME_LENGTH_MAX: usize = 63;
const SUBDOMAIN_LENGTH_MAX: usize = 253;

/// What is wrong with a key: `name`, or `prefix/name` with a DNS subdomain as prefix.
pub(super) fn key_problems(key: &str) -> Vec<String> {
    let name_words = || {
        format!(
            "{NAME_WORDS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{NAME_PATTERN}')"
        )
    };
    let parts: Vec<&str> = key.split('/').collect();
    let mut problems = Vec::new();
    let name = match parts.as_slice() {
        [name] => *name,
        [prefix, name] => {
            let of_prefix = subdomain_problems(prefix);
            problems.extend(
                of_prefix
                    .iter()
                    .map(|problem| format!("prefix part {problem}")),
            );
            *name
        }
        _ => {
            return vec![format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                name_words()
            )];
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > NAME_LENGTH_MAX {
        problems.push(format!("name part {}", too_long(NAME_LENGTH_MAX)));
    }
    if !is_name(name) {
        problems.push(format!("name part {}", name_words()));
    }
    problems
}

/// What is wrong with a value.
pub(super) fn value_problems(value: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if value.len() > NAME_LENGTH_MAX {
        problems.push(too_long(NAME_LENGTH_MAX));
    }
    if !value.is_empty() && !is_name(value) {
        problems.push(format!(
            "{VALUE_WORDS} (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '({NAME_PATTERN})?')"
        ));
    }
    problems
}

fn subdomain_problems(prefix: &str) -> Vec<String> {
    if prefix.is_empty() {
        return vec!["must be non-empty".to_owned()];
    }
    let mut problems = Vec::new();
    if prefix.len() > SUBDOMAIN_LENGTH_MAX {
        problems.push(too_long(SUBDOMAIN_LENGTH_MAX));
    }
    let is_lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label =
        |label: &str| is_enclosed(label, is_lower, |byte| is_lower(byte) || byte == b'-');
    if !prefix.split('.').all(is_label) {
        problems.push(format!(
            "{SUBDOMAIN_WORDS} (e.g. 'example.com', regex used for validation is '{SUBDOMAIN_PATTERN}')"
        ));
    }
    problems
}

fn is_name(text: &str) -> bool {
    is_enclosed(
        text,
        |byte| byte.is_ascii_alphanumeric(),
        |byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte),
    )
}

/// Whether the first and last byte pass one test and those between another.
fn is_enclosed(text: &str, border: impl Fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| border(*byte))
        && bytes.last().is_some_and(|byte| border(*byte))
        && bytes.iter().all(|byte| inner(*byte))
}

fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_that_kubernetes_allows_have_no_problems() {
        for key in [
            "a",
            "A-b_c.9",
            "example.com/a",
            "a.b-c.d/x",
            &"x".repeat(63),
        ] {
            assert_eq!(key_problems(key), [""; 0], "{key}");
        }
        for value in ["", "a", "1.2_3-4", &"x".repeat(63)] {
            assert_eq!(value_problems(value), [""; 0], "{value}");
        }
    }

    #[test]
    fn each_problem_is_named() {
        for (key, problems) in [
            ("", 2),
            ("-a", 1),
            ("a/b/c", 1),
            ("/a", 1),
            ("Example.com/a", 1),
            ("example..com/a", 1),
            (&*"x".repeat(64), 1),
        ] {
            assert_eq!(key_problems(key).len(), problems, "{key}");
        }
        assert_eq!(
            value_problems("a_"),
            [
                "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
            ]
        );
        assert_eq!(value_problems(&format!("{}-", "x".repeat(64))).len(), 2);
    }
}
