//! Label selectors: their text, and whether an object matches.

use std::collections::BTreeSet;

use super::{
    label_names::{key_problems, value_problems},
    label_tokens::{Token, TokenKind, tokens},
    selectable::Selectable,
};

/// All requirements must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    condition: Condition,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    Absent,
    Greater(i64),
    In(BTreeSet<String>),
    Less(i64),
    NotIn(BTreeSet<String>),
    Present,
}

/// Text that is no label selector, in the words of apimachinery's `pkg/labels`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct LabelSelectorError(String);

impl LabelSelector {
    /// Parses requirements separated by commas: `k=v`, `k==v`, `k!=v`, `k in (a,b)`, `k notin (a)`, `k`, `!k`, `k>1`, `k<1`.
    pub(super) fn try_parse(text: &str) -> Result<Self, LabelSelectorError> {
        let mut parser = Parser {
            tokens: tokens(text),
            at: 0,
        };
        let requirements = parser.selector().map_err(LabelSelectorError)?;
        Ok(Self { requirements })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    pub(super) fn matches(&self, object: &Selectable) -> bool {
        let mut requirements = self.requirements.iter();
        requirements.all(|requirement| requirement.condition.holds(object.label(&requirement.key)))
    }
}

impl Condition {
    fn holds(&self, label: Option<&str>) -> bool {
        let number = || label?.parse::<i64>().ok();
        match self {
            Self::Absent => label.is_none(),
            Self::Present => label.is_some(),
            Self::In(values) => label.is_some_and(|label| values.contains(label)),
            Self::NotIn(values) => label.is_none_or(|label| !values.contains(label)),
            Self::Greater(limit) => number().is_some_and(|number| number > *limit),
            Self::Less(limit) => number().is_some_and(|number| number < *limit),
        }
    }
}

struct Parser<'a> {
    // Invariant: ends with `End`.
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Parser<'a> {
    fn selector(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        let first = self.peek();
        match first.kind.as_operand() {
            TokenKind::End => return Ok(requirements),
            TokenKind::Word | TokenKind::Not => {}
            _ => return Err(found(first, "!, identifier, or 'end of string'")),
        }
        loop {
            let requirement = self.requirement();
            requirements
                .push(requirement.map_err(|why| format!("unable to parse requirement: {why}"))?);
            let border = self.next();
            match border.kind {
                TokenKind::End => return Ok(requirements),
                TokenKind::Comma => {}
                _ => return Err(found(border, "',' or 'end of string'")),
            }
            let after = self.peek();
            if !matches!(after.kind.as_operand(), TokenKind::Word | TokenKind::Not) {
                return Err(found(after, "identifier after ','"));
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let mut token = self.next();
        let is_negated = token.kind == TokenKind::Not;
        if is_negated {
            token = self.next();
        }
        if token.kind.as_operand() != TokenKind::Word {
            return Err(found(token, "identifier"));
        }
        let key = token.text;
        let problems = key_problems(key);
        if !problems.is_empty() {
            // The path is one that servers do not set, and print so.
            return Err(invalid("<nil>", key, &problems.join("; ")));
        }
        let condition = if is_negated {
            Condition::Absent
        } else if matches!(self.peek().kind, TokenKind::End | TokenKind::Comma) {
            Condition::Present
        } else {
            self.condition(key)?
        };
        Ok(Requirement {
            key: key.to_owned(),
            condition,
        })
    }

    fn condition(&mut self, key: &str) -> Result<Condition, String> {
        let operator = self.next();
        let values = match operator.kind {
            TokenKind::In | TokenKind::NotIn => self.values()?,
            TokenKind::Equals
            | TokenKind::DoubleEquals
            | TokenKind::NotEquals
            | TokenKind::Greater
            | TokenKind::Less => BTreeSet::from([self.exact_value()?]),
            _ => return Err(found(operator, "in, notin, =, ==, !=, gt, lt")),
        };
        let mut problems = Vec::new();
        let is_ordered = matches!(operator.kind, TokenKind::Greater | TokenKind::Less);
        let number = values.first().and_then(|value| value.parse::<i64>().ok());
        if is_ordered && number.is_none() {
            let value = values.first().map_or("", String::as_str);
            let why = "for 'Gt', 'Lt' operators, the value must be an integer";
            problems.push(invalid("values[0]", value, why));
        }
        for (index, value) in values.iter().enumerate() {
            let of_value = value_problems(value);
            if !of_value.is_empty() {
                let path = format!("values[{index}][{key}]");
                problems.push(invalid(&path, value, &of_value.join("; ")));
            }
        }
        match problems.as_slice() {
            [] => {}
            [one] => return Err(one.clone()),
            several => return Err(format!("[{}]", several.join(", "))),
        }
        Ok(match (operator.kind, number) {
            (TokenKind::Greater, Some(limit)) => Condition::Greater(limit),
            (TokenKind::Less, Some(limit)) => Condition::Less(limit),
            (TokenKind::NotIn | TokenKind::NotEquals, _) => Condition::NotIn(values),
            _ => Condition::In(values),
        })
    }

    /// `(a,b)`; empty places between commas count as the empty value.
    fn values(&mut self) -> Result<BTreeSet<String>, String> {
        let open = self.next();
        if open.kind != TokenKind::OpenParenthesis {
            return Err(format!("found '{}' expected: '('", open.text));
        }
        let first = self.peek();
        if !matches!(
            first.kind.as_operand(),
            TokenKind::Word | TokenKind::Comma | TokenKind::CloseParenthesis
        ) {
            return Err(found(first, "',', ')' or identifier"));
        }
        let mut values = BTreeSet::new();
        loop {
            let token = self.peek();
            match token.kind.as_operand() {
                TokenKind::Word => {
                    values.insert(self.next().text.to_owned());
                }
                TokenKind::Comma | TokenKind::CloseParenthesis => {
                    values.insert(String::new());
                }
                _ => return Err(found(token, "',', or identifier")),
            }
            let border = self.next();
            match border.kind {
                TokenKind::CloseParenthesis => return Ok(values),
                TokenKind::Comma => {}
                _ => return Err(found(border, "',' or ')'")),
            }
        }
    }

    fn exact_value(&mut self) -> Result<String, String> {
        if matches!(self.peek().kind, TokenKind::End | TokenKind::Comma) {
            return Ok(String::new());
        }
        let token = self.next();
        if token.kind.as_operand() != TokenKind::Word {
            return Err(found(token, "identifier"));
        }
        Ok(token.text.to_owned())
    }

    fn peek(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }
}

fn found(token: Token<'_>, expected: &str) -> String {
    format!("found '{}', expected: {expected}", token.text)
}

fn invalid(path: &str, value: &str, why: &str) -> String {
    format!("{path}: Invalid value: {value:?}: {why}")
}

#[cfg(test)]
mod tests {
    use super::{super::field_table::METADATA_ONLY, *};

    fn matching(selector: &str) -> Vec<&'static str> {
        let selector = LabelSelector::try_parse(selector).expect(selector);
        let objects = [
            ("none", "{}"),
            ("web", r#"{"metadata":{"labels":{"app":"web","size":"9"}}}"#),
            ("db", r#"{"metadata":{"labels":{"app":"db","size":"x"}}}"#),
            (
                "empty",
                r#"{"metadata":{"labels":{"app":"","example.com/in":"in"}}}"#,
            ),
        ];
        let matches =
            |json: &str| selector.matches(&Selectable::read(json.as_bytes(), &METADATA_ONLY));
        objects
            .into_iter()
            .filter(|(_, json)| matches(json))
            .map(|(name, _)| name)
            .collect()
    }

    #[test]
    fn every_operator_has_its_meaning() {
        for (selector, expected) in [
            ("", "none web db empty"),
            (" ", "none web db empty"),
            ("app", "web db empty"),
            ("!app", "none"),
            ("! app", "none"),
            ("app=web", "web"),
            ("app==web", "web"),
            ("app = web", "web"),
            ("app!=web", "none db empty"),
            ("app=", "empty"),
            ("app in (web,db)", "web db"),
            ("app in ( web , db )", "web db"),
            ("app in ()", "empty"),
            ("app in (,web)", "web empty"),
            ("app in (web,)", "web empty"),
            ("app notin (web,db)", "none empty"),
            ("size>8", "web"),
            ("size<9", ""),
            ("size<10,app", "web"),
            ("app,size", "web db"),
            ("example.com/in in (in)", "empty"),
            ("example.com/in=in", "empty"),
            ("in", ""),
            ("!in,notin!=x", "none web db empty"),
        ] {
            assert_eq!(matching(selector).join(" "), expected, "{selector}");
        }
    }

    #[test]
    fn text_that_is_no_selector_is_refused_in_the_words_of_servers() {
        for (selector, expected) in [
            (
                "=a",
                "found '=', expected: !, identifier, or 'end of string'",
            ),
            (
                "a b",
                "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
            ),
            ("a=b c", "found 'c', expected: ',' or 'end of string'"),
            ("a,", "found '', expected: identifier after ','"),
            ("a,=b", "found '=', expected: identifier after ','"),
            (
                "a=!",
                "unable to parse requirement: found '!', expected: identifier",
            ),
            (
                "!",
                "unable to parse requirement: found '', expected: identifier",
            ),
            (
                "a in b",
                "unable to parse requirement: found 'b' expected: '('",
            ),
            (
                "a in (b",
                "unable to parse requirement: found '', expected: ',' or ')'",
            ),
            (
                "a in (b c)",
                "unable to parse requirement: found 'c', expected: ',' or ')'",
            ),
            (
                "a in (=)",
                "unable to parse requirement: found '=', expected: ',', ')' or identifier",
            ),
            (
                "a>b",
                r#"unable to parse requirement: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer"#,
            ),
        ] {
            let error = LabelSelector::try_parse(selector).expect_err(selector);
            assert_eq!(error.to_string(), expected, "{selector}");
        }
        for (selector, start) in [
            (
                "-a",
                r#"unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of"#,
            ),
            (
                "a=b_",
                r#"unable to parse requirement: values[0][a]: Invalid value: "b_": a valid label must be"#,
            ),
            (
                "a in (c-,b-)",
                r#"unable to parse requirement: [values[0][a]: Invalid value: "b-": a valid"#,
            ),
        ] {
            let error = LabelSelector::try_parse(selector).expect_err(selector);
            assert!(error.to_string().starts_with(start), "{selector}: {error}");
        }
    }
}
