//! Spans of time as Go writes them: `1h30m`, `1.5s`, `-20ms`.

/// Checks that a text is one.
///
/// # Errors
/// The problem in the words of Go's `time.ParseDuration`.
pub(crate) fn check(text: &str) -> Result<(), String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return Ok(());
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    while !rest.is_empty() {
        let end = rest
            .find(|character: char| !character.is_ascii_digit() && character != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        if number.parse::<f64>().is_err() {
            return Err(invalid());
        }
        let end = after
            .find(|character: char| character.is_ascii_digit() || character == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        match unit {
            "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h" => {}
            "" => return Err(format!("time: missing unit in duration {text:?}")),
            unit => return Err(format!("time: unknown unit {unit:?} in duration {text:?}")),
        }
        rest = after;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_reads_is_right_and_all_else_is_named() {
        for right in ["0", "10s", "1h30m", "1.5s", "-20ms", "+3µs", ".5m"] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for (wrong, problem) in [
            ("", r#"time: invalid duration """#),
            ("soon", r#"time: invalid duration "soon""#),
            ("10", r#"time: missing unit in duration "10""#),
            ("10d", r#"time: unknown unit "d" in duration "10d""#),
            ("1h5", r#"time: missing unit in duration "1h5""#),
            ("1..2s", r#"time: invalid duration "1..2s""#),
        ] {
            assert_eq!(check(wrong), Err(problem.to_owned()), "{wrong}");
        }
    }
}
