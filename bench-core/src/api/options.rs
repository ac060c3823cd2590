//! Parameters of LIST and WATCH requests.

use std::fmt::Write as _;

use super::ResourceVersion;

/// `resourceVersionMatch` of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceVersionMatch {
    /// At exactly the version.
    Exact,
    /// At the version or later.
    NotOlderThan,
}

/// Parameters of a LIST. Absent values are not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListOptions {
    /// `resourceVersion`; unset is not sent.
    pub resource_version: ResourceVersion,
    /// `resourceVersionMatch`.
    pub resource_version_match: Option<ResourceVersionMatch>,
    /// `limit`; 0 is not sent.
    pub limit: u64,
    /// `continue`; empty is not sent.
    pub continue_token: String,
}

/// Parameters of a WATCH. Absent values are not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchOptions {
    /// `resourceVersion`; unset is not sent.
    pub resource_version: ResourceVersion,
    /// `resourceVersionMatch`.
    pub resource_version_match: Option<ResourceVersionMatch>,
    /// `allowWatchBookmarks`, sent if true.
    pub allow_watch_bookmarks: bool,
    /// `sendInitialEvents`.
    pub send_initial_events: Option<bool>,
    /// `timeoutSeconds`.
    pub timeout_seconds: Option<u64>,
}

impl ListOptions {
    /// The most recent state, whole.
    pub fn most_recent() -> Self {
        Self {
            resource_version: ResourceVersion::unset(),
            resource_version_match: None,
            limit: 0,
            continue_token: String::new(),
        }
    }

    /// The query string, parameters in alphabetical order as client-go's `url.Values` encodes them; empty if there are none.
    pub fn query(&self) -> String {
        let mut query = Query::default();
        if !self.continue_token.is_empty() {
            query.push("continue", &self.continue_token);
        }
        if self.limit > 0 {
            query.push("limit", &self.limit.to_string());
        }
        query.push_version(&self.resource_version, self.resource_version_match);
        query.0
    }
}

impl WatchOptions {
    /// The query string, parameters in alphabetical order; always has `watch=true`.
    pub fn query(&self) -> String {
        let mut query = Query::default();
        if self.allow_watch_bookmarks {
            query.push("allowWatchBookmarks", "true");
        }
        query.push_version(&self.resource_version, self.resource_version_match);
        if let Some(send) = self.send_initial_events {
            query.push("sendInitialEvents", if send { "true" } else { "false" });
        }
        if let Some(seconds) = self.timeout_seconds {
            query.push("timeoutSeconds", &seconds.to_string());
        }
        query.push("watch", "true");
        query.0
    }
}

#[derive(Default)]
struct Query(String);

impl Query {
    fn push(&mut self, name: &str, value: &str) {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        self.0.push_str(name);
        self.0.push('=');
        for byte in value.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    self.0.push(char::from(byte));
                }
                // As Go's `url.QueryEscape`.
                b' ' => self.0.push('+'),
                _ => write!(self.0, "%{byte:02X}").expect("writing to a String cannot fail"),
            }
        }
    }

    fn push_version(
        &mut self,
        version: &ResourceVersion,
        version_match: Option<ResourceVersionMatch>,
    ) {
        if !version.is_unset() {
            self.push("resourceVersion", &version.to_string());
        }
        match version_match {
            None => {}
            Some(ResourceVersionMatch::Exact) => self.push("resourceVersionMatch", "Exact"),
            Some(ResourceVersionMatch::NotOlderThan) => {
                self.push("resourceVersionMatch", "NotOlderThan");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_hold_only_what_was_asked_for_in_alphabetical_order() {
        assert_eq!(ListOptions::most_recent().query(), "");
        let page = ListOptions {
            limit: 500,
            continue_token: "a+b= c".to_owned(),
            ..ListOptions::most_recent()
        };
        assert_eq!(page.query(), "continue=a%2Bb%3D+c&limit=500");
        let watch = WatchOptions {
            resource_version: ResourceVersion::from("0"),
            resource_version_match: Some(ResourceVersionMatch::NotOlderThan),
            allow_watch_bookmarks: true,
            send_initial_events: Some(true),
            timeout_seconds: Some(310),
        };
        assert_eq!(
            watch.query(),
            "allowWatchBookmarks=true&resourceVersion=0&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=310&watch=true"
        );
    }
}
