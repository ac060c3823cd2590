//! Which field of a YAML text a position belongs to.

/// The field whose value or name stands at a line and column (both from 1), or `scenario`.
pub(super) fn field_at(text: &str, line: u64, column: u64) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let line_index = usize::try_from(line).unwrap_or(1).saturating_sub(1);
    let Some(blamed) = lines.get(line_index) else {
        return "scenario".to_owned();
    };
    let column_index = usize::try_from(column).unwrap_or(1).saturating_sub(1);
    let (before, from) = split_at_character(blamed, column_index);
    if let Some(name) = name_at_start(from) {
        return name.to_owned();
    }
    if let Some(name) = last_name(before) {
        return name.to_owned();
    }
    let indentation = indentation(blamed);
    lines[..line_index]
        .iter()
        .rev()
        .filter(|line| {
            self::indentation(line) < indentation || blamed.trim_start().starts_with('-')
        })
        .find_map(|line| last_name(line))
        .unwrap_or("scenario")
        .to_owned()
}

/// The first line (from 1) that gives a field of this name, or 1.
pub(super) fn line_of_field(text: &str, field: &str) -> u64 {
    let names_field = |line: &str| {
        line.split([' ', '{', ',', '-'])
            .any(|word| word.strip_suffix(':') == Some(field))
    };
    let index = text.lines().position(names_field).unwrap_or(0);
    u64::try_from(index).map_or(1, |index| index + 1)
}

fn split_at_character(line: &str, index: usize) -> (&str, &str) {
    let byte = line
        .char_indices()
        .nth(index)
        .map_or(line.len(), |(byte, _)| byte);
    line.split_at(byte)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "_-".contains(character))
}

fn name_at_start(text: &str) -> Option<&str> {
    let (name, rest) = text.split_once(':')?;
    (is_name(name) && (rest.is_empty() || rest.starts_with(' '))).then_some(name)
}

fn last_name(text: &str) -> Option<&str> {
    let code = text.split(" #").next()?;
    let mut end = code.len();
    while let Some(colon) = code[..end].rfind(':') {
        let followed_by_space = matches!(code.as_bytes().get(colon + 1), None | Some(b' '));
        let start = code[..colon]
            .rfind(|character: char| !(character.is_ascii_alphanumeric() || character == '_'))
            .map_or(0, |index| index + 1);
        if followed_by_space && is_name(&code[start..colon]) {
            return Some(&code[start..colon]);
        }
        end = colon;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "question: why\nchurn: {rate_per_second: -1, keys: uniform}\nresync:\n  - off\n  - x\nhandler:\n  cost: sleep:1\n";

    #[test]
    fn a_position_is_blamed_on_the_nearest_field() {
        for (line, column, field) in [
            (1, 11, "question"),
            (2, 9, "rate_per_second"),
            (2, 26, "rate_per_second"),
            (5, 5, "resync"),
            (7, 9, "cost"),
            (7, 3, "cost"),
            (99, 1, "scenario"),
        ] {
            assert_eq!(field_at(TEXT, line, column), field, "{line}:{column}");
        }
    }

    #[test]
    fn a_field_is_found_by_its_name() {
        assert_eq!(line_of_field(TEXT, "keys"), 2);
        assert_eq!(line_of_field(TEXT, "handler"), 6);
        assert_eq!(line_of_field(TEXT, "absent"), 1);
    }
}
