//! Query strings: decoding, and the parse rules for numbers and booleans.

use std::time::Duration;

use crate::{
    failure::{Failure, InvalidOption},
    go_duration,
};

/// The parameters of a LIST or WATCH as sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pub(crate) resource_version: String,
    pub(crate) resource_version_match: String,
    pub(crate) limit: u64,
    pub(crate) continue_token: String,
    pub(crate) timeout: Option<Duration>,
    pub(crate) watch: Option<bool>,
    pub(crate) allow_watch_bookmarks: Option<bool>,
    pub(crate) send_initial_events: Option<bool>,
    pub(crate) label_selector: String,
    pub(crate) field_selector: String,
    pub(crate) include_object: String,
    // Bounds a request that is no watch; only its form matters here.
    request_timeout: String,
}

impl Query {
    /// Parses the text after `?`. Parameters that are not known are ignored, as servers do; of one given twice the first counts.
    ///
    /// # Errors
    /// 400 for numbers that are none.
    pub fn try_parse(text: &str) -> Result<Self, Failure> {
        let mut query = Self::default();
        for pair in text.split('&').rev().filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode(value)?;
            match decode(name)?.as_str() {
                "resourceVersion" => query.resource_version = value,
                "resourceVersionMatch" => query.resource_version_match = value,
                "continue" => query.continue_token = value,
                "limit" => query.limit = u64::try_from(integer(&value)?).unwrap_or(0),
                "timeoutSeconds" => {
                    let seconds = u64::try_from(integer(&value)?).unwrap_or(0);
                    query.timeout = (seconds > 0).then(|| Duration::from_secs(seconds));
                }
                "watch" => query.watch = Some(boolean(&value)),
                "allowWatchBookmarks" => query.allow_watch_bookmarks = Some(boolean(&value)),
                "sendInitialEvents" => query.send_initial_events = Some(boolean(&value)),
                "labelSelector" => query.label_selector = value,
                "fieldSelector" => query.field_selector = value,
                "includeObject" => query.include_object = value,
                "timeout" => query.request_timeout = value,
                _ => {}
            }
        }
        Ok(query)
    }

    /// Checks what a WATCH ignores.
    ///
    /// # Errors
    /// 400 for a timeout that is no span of time.
    pub(crate) fn check_request_timeout(&self) -> Result<(), Failure> {
        if self.request_timeout.is_empty() {
            return Ok(());
        }
        go_duration::check(&self.request_timeout).map_err(|problem| {
            Failure::bad_request(format!(
                "invalid timeout specified in the request URL - {problem}"
            ))
        })
    }

    /// Whether a GET of a collection is a WATCH.
    pub fn is_watch(&self) -> bool {
        self.watch == Some(true)
    }

    /// A match that a request may not have.
    pub(crate) fn match_other_than(
        &self,
        allowed: &[&str],
        supported: &str,
    ) -> Option<InvalidOption> {
        let value = &*self.resource_version_match;
        let is_allowed = value.is_empty() || allowed.contains(&value);
        (!is_allowed).then(|| InvalidOption::unsupported("resourceVersionMatch", value, supported))
    }
}

/// A version in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestedVersion {
    /// `0`.
    Any,
    At(u64),
    /// Absent.
    MostRecent,
}

impl RequestedVersion {
    /// # Errors
    /// The problem in the words of servers.
    pub(crate) fn try_parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::MostRecent);
        }
        let complain = |problem: &str| {
            format!(
                "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: {problem}"
            )
        };
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(complain("invalid syntax"));
        }
        match text.parse() {
            Ok(0) => Ok(Self::Any),
            Ok(version) => Ok(Self::At(version)),
            Err(_) => Err(complain("value out of range")),
        }
    }
}

/// Names and values of a query string, decoded, in order.
///
/// # Errors
/// 400 for a broken escape.
pub(crate) fn pairs(text: &str) -> Result<Vec<(String, String)>, Failure> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(name)?, decode(value)?))
        })
        .collect()
}

pub(crate) fn boolean(value: &str) -> bool {
    value != "0" && !value.eq_ignore_ascii_case("false")
}

/// A signed 64-bit decimal.
pub(crate) fn integer(value: &str) -> Result<i64, Failure> {
    let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
    let problem = match value.parse() {
        Ok(number) => return Ok(number),
        Err(_) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            "value out of range"
        }
        Err(_) => "invalid syntax",
    };
    Err(Failure::bad_request(format!(
        "strconv.ParseInt: parsing {value:?}: {problem}"
    )))
}

fn decode(text: &str) -> Result<String, Failure> {
    let bad = || Failure::bad_request(format!("invalid URL escape in query: {text:?}"));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let (hex, after) = rest.split_at_checked(2).ok_or_else(bad)?;
                let digit = |byte: u8| char::from(byte).to_digit(16).ok_or_else(bad);
                let value = digit(hex[0])? * 16 + digit(hex[1])?;
                bytes.push(u8::try_from(value).expect("two hex digits"));
                rest = after;
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).map_err(|_invalid| bad())
}
