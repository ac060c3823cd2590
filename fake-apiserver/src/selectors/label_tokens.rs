//! The words and signs of a label selector.

/// One of them, with its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind,
    pub(super) text: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    CloseParenthesis,
    Comma,
    DoubleEquals,
    End,
    Equals,
    Greater,
    In,
    Less,
    Not,
    NotEquals,
    NotIn,
    OpenParenthesis,
    /// Signs that mean nothing together.
    Unknown,
    Word,
}

const SIGNS: [(&str, TokenKind); 9] = [
    ("==", TokenKind::DoubleEquals),
    ("!=", TokenKind::NotEquals),
    ("=", TokenKind::Equals),
    ("!", TokenKind::Not),
    ("(", TokenKind::OpenParenthesis),
    (")", TokenKind::CloseParenthesis),
    (",", TokenKind::Comma),
    (">", TokenKind::Greater),
    ("<", TokenKind::Less),
];

impl TokenKind {
    /// `in` and `notin` are words where a key or a value stands.
    pub(super) fn as_operand(self) -> Self {
        match self {
            Self::In | Self::NotIn => Self::Word,
            other => other,
        }
    }
}

/// Splits a selector; the last token is the end.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let is_space = |character: char| matches!(character, ' ' | '\t' | '\r' | '\n');
    let is_sign = |character: char| "=!(),><".contains(character);
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while let Some(first) = rest.chars().next() {
        // Servers take a zero byte for the end.
        if first == '\0' {
            break;
        }
        let (kind, length) = if is_sign(first) {
            sign(rest)
        } else {
            let length = rest
                .find(|character| is_sign(character) || is_space(character) || character == '\0')
                .unwrap_or(rest.len());
            let kind = match &rest[..length] {
                "in" => TokenKind::In,
                "notin" => TokenKind::NotIn,
                _ => TokenKind::Word,
            };
            (kind, length)
        };
        let (text, after) = rest.split_at(length);
        tokens.push(Token { kind, text });
        rest = after.trim_start_matches(is_space);
    }
    tokens.push(Token {
        kind: TokenKind::End,
        text: "",
    });
    tokens
}

/// The longest sign at the front.
fn sign(text: &str) -> (TokenKind, usize) {
    let found = SIGNS.iter().find(|(sign, _)| text.starts_with(sign));
    found.map_or((TokenKind::Unknown, 1), |(sign, kind)| (*kind, sign.len()))
}
