//! What a person writes: faults, when they strike, and a timeline. See [`fault`](crate::fault) for an example.

use std::{net::IpAddr, num::NonZeroUsize, time::Duration};

use serde::Deserialize;

use super::{
    quantity::{duration, optional_duration, positive, share},
    timeline::TimedAction,
};
use crate::request_info::Verb;

/// A whole script.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultScript {
    /// Decides what is random; the server's seed if absent.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Limits below those of a healthy server.
    #[serde(default)]
    pub limits: Limits,
    /// What becomes of which requests.
    #[serde(default)]
    pub faults: Vec<FaultRule>,
    /// What befalls the whole server.
    #[serde(default)]
    pub timeline: Vec<TimedAction>,
}

/// Limits that stand as long as the script does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Events that each resource's window holds, at least 1.
    #[serde(default, deserialize_with = "positive")]
    pub history_events: Option<u64>,
    /// Events that a watch may lag behind.
    #[serde(default)]
    pub watch_buffer_events: Option<u64>,
}

/// One fault and whom it strikes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// What counters call it; its place in the script if empty.
    #[serde(default)]
    pub name: String,
    /// Which requests. Absent means every one, but never those of the control API.
    #[serde(default, rename = "match")]
    pub matching: Match,
    /// What becomes of them.
    pub fault: Fault,
}

/// Which requests: all conditions that are given must hold.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// Any of these; absent means every verb.
    #[serde(default)]
    pub verbs: Vec<Verb>,
    /// Any of these, by plural or by `plural.group`; absent means every path, resources or not.
    #[serde(default)]
    pub resources: Vec<String>,
    /// Only in this namespace.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Only paths that begin so.
    #[serde(default)]
    pub path: Option<String>,
    /// Only clients whose User-Agent contains this.
    #[serde(default)]
    pub user_agent: Option<String>,
    /// Only clients with this address. Requests in process have none.
    #[serde(default)]
    pub remote: Option<IpAddr>,
    /// Not before.
    #[serde(default, deserialize_with = "optional_duration")]
    pub from: Option<Duration>,
    /// Not at this time or later.
    #[serde(default, deserialize_with = "optional_duration")]
    pub until: Option<Duration>,
    /// Of those that fulfil the conditions above, only the nth, from 1.
    #[serde(default, deserialize_with = "positive")]
    pub nth: Option<u64>,
    /// Only the first so many.
    #[serde(default, deserialize_with = "positive")]
    pub first: Option<u64>,
    /// Only each nth.
    #[serde(default, deserialize_with = "positive")]
    pub every: Option<u64>,
    /// Only this share, by lot.
    #[serde(default, deserialize_with = "share")]
    pub probability: Option<f64>,
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// An HTTP error instead of the answer.
    Error(ErrorFault),
    /// 410 as real servers say it: an HTTP error for a LIST or GET, an ERROR event in the stream of a WATCH, after which it ends.
    Expired(StreamPoint),
    /// 410 for a LIST that goes on with a continue token, with a replacement token. Other requests are not touched.
    ExpiredContinue,
    /// The answer comes late.
    Delay(Delay),
    /// The answer falls silent, and its connection lives on: pings are answered.
    Stall(StreamPoint),
    /// The whole connection falls silent both ways, as if cut without FIN or RST: pings are not answered. In process, where
    /// there is no connection, the same as `stall`.
    HalfOpen(StreamPoint),
    /// The answer breaks off inside a line (after so many events: inside the one after), and the connection with it.
    Cut(StreamPoint),
    /// The answer ends cleanly, though there would be more.
    Close(StreamPoint),
    /// The answer comes a few bytes at a time.
    SlowDrip(SlowDrip),
    /// Some events of a watch are lost.
    DropEvents(EventChoice),
    /// Some events of a watch come twice.
    DuplicateEvents(EventChoice),
    /// Some events of a watch come after later ones.
    ReorderEvents(Reorder),
    /// Bookmarks are not as they should be.
    Bookmarks(BookmarkFault),
    /// The bookmark that ends a streaming list does not come.
    NoEndMark,
}

/// An HTTP error.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorFault {
    /// 400 to 599.
    #[serde(deserialize_with = "error_code")]
    pub code: u16,
    /// Reason of the Status; the usual one of the code if absent.
    #[serde(default)]
    pub reason: Option<String>,
    /// Message.
    #[serde(default)]
    pub message: Option<String>,
    /// A Retry-After header, and `retryAfterSeconds` in a Status; rounded up to whole seconds. Absent means neither.
    #[serde(default, deserialize_with = "optional_duration")]
    pub retry_after: Option<Duration>,
    /// The body.
    #[serde(default)]
    pub body: ErrorBody,
}

/// What the body of an HTTP error is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorBody {
    /// Nothing.
    Empty,
    /// A Status, as the API's own errors are.
    #[default]
    Status,
    /// Plain text, as from flow control or a proxy.
    Text,
}

/// How late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    /// At least.
    #[serde(deserialize_with = "duration")]
    pub base: Duration,
    /// A random time up to this comes on top.
    #[serde(default, deserialize_with = "duration")]
    pub jitter: Duration,
}

/// Where in an answer a fault strikes; at its beginning if nothing is given, at the first that is reached if several are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamPoint {
    /// After so many events of a watch, bookmarks not counted. Other answers have none.
    #[serde(default)]
    pub after_events: Option<u64>,
    /// After so many bytes of the body.
    #[serde(default)]
    pub after_bytes: Option<u64>,
    /// So long after the answer began.
    #[serde(default, deserialize_with = "optional_duration")]
    pub after: Option<Duration>,
}

/// A trickle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowDrip {
    /// At a time.
    pub bytes: NonZeroUsize,
    /// Between two.
    #[serde(deserialize_with = "duration")]
    pub every: Duration,
}

/// Which events of a watch; those that fulfil all that is given. Bookmarks and errors never.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventChoice {
    /// Any of these; absent means all three.
    #[serde(default)]
    pub types: Vec<EventType>,
    /// Only the nth of the stream, from 1.
    #[serde(default, deserialize_with = "positive")]
    pub nth: Option<u64>,
    /// Only each nth.
    #[serde(default, deserialize_with = "positive")]
    pub every: Option<u64>,
    /// Only this share, by lot.
    #[serde(default, deserialize_with = "share")]
    pub probability: Option<f64>,
}

/// The type of an event that carries an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum EventType {
    /// A new object.
    Added,
    /// A removal.
    Deleted,
    /// A change.
    Modified,
}

/// Which events come late, and how late. One that is held back when the stream ends comes last.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Which.
    #[serde(default)]
    pub events: EventChoice,
    /// Behind so many later events.
    #[serde(default = "one")]
    pub distance: u64,
}

/// What is wrong with bookmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum BookmarkFault {
    /// They do not come; the end mark of a streaming list does.
    Missing,
    /// They carry another version, the end mark too.
    WrongVersion {
        /// What is added to the right one; the result is at least 1.
        offset: i64,
    },
}

/// A script cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {field}: {message}")]
pub struct ScriptError {
    /// What the text was called.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Path of the field, such as `faults[0].fault.error.code`.
    pub field: String,
    /// What is wrong.
    pub message: String,
}

impl FaultScript {
    /// Reads YAML, or JSON, which is YAML too. `file` is what errors call it.
    ///
    /// # Errors
    /// [`ScriptError`] with line and field of the first fault.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScriptError> {
        let mut field = String::new();
        let script = serde_saphyr::with_deserializer_from_str(text, |deserializer| {
            serde_path_to_error::deserialize(deserializer).map_err(|error| {
                field = error.path().to_string();
                error.into_inner()
            })
        });
        script.map_err(|error: serde_saphyr::Error| {
            let (line, column) = error
                .location()
                .map_or((1, 1), |location| (location.line(), location.column()));
            // The place stands in front already.
            let place = format!(" at line {line}, column {column}");
            let message = error.without_snippet().to_string();
            let message = message.lines().next().unwrap_or_default();
            ScriptError {
                file: file.to_owned(),
                line,
                field: if field.is_empty() {
                    "script".to_owned()
                } else {
                    field
                },
                message: message.replace(&place, ""),
            }
        })
    }
}

fn error_code<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    let code = u16::deserialize(deserializer)?;
    if (400..600).contains(&code) {
        Ok(code)
    } else {
        Err(serde::de::Error::custom(format!(
            "{code} is not an error: expected 400 to 599"
        )))
    }
}

fn one() -> u64 {
    1
}
