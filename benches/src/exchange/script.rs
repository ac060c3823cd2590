//! Scripts: what a server answers, and how the informer that asks it is set up.

use serde::{Deserialize, Serialize};

/// The object whose arrival at every handler ends a script.
pub const END: (&str, &str) = ("z", "end");

/// The object upon which the first handler has the late ones added.
pub const CUE: (&str, &str) = ("z", "cue");

/// A server's answers and an informer. Requests of each class are answered in the order given; a list or stream beyond that
/// gets the last answer again, a watch one that stays silent. Without any answer for streams they are refused with 422, as by
/// servers that do not know them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Its name: what it shows.
    pub name: String,
    /// Whether the first list is a stream.
    pub streaming: Streaming,
    /// The informer.
    pub informer: InformerSpec,
    /// The version that the informer knows in the end.
    pub final_version: String,
    /// Ends the script after so many answers instead of the end object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<usize>,
    /// Answers to lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<Answer>,
    /// Answers to watches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watch: Vec<Answer>,
    /// Answers to watches with `sendInitialEvents`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stream: Vec<Answer>,
}

/// Whether informers ask for a streaming list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Streaming {
    /// As the line does by default.
    Default,
    /// Turned off.
    Off,
    /// Turned on.
    On,
}

/// How an informer is set up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InformerSpec {
    /// The plain informer with its one handler; else the shared one.
    #[serde(skip_serializing_if = "is_false")]
    pub plain: bool,
    /// Resync period; 0 is never.
    #[serde(skip_serializing_if = "is_zero")]
    pub resync_ms: u64,
    /// `WatchListPageSize`, which a shared informer does not offer; 0 is upstream's rules.
    #[serde(skip_serializing_if = "is_zero")]
    pub page_size: u64,
    /// The shared informer's handlers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handlers: Vec<HandlerSpec>,
}

/// One handler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HandlerSpec {
    /// The resync period it asks for.
    #[serde(skip_serializing_if = "is_zero")]
    pub resync_ms: u64,
    /// Added once the first handler has been told of the object `z/cue`.
    #[serde(skip_serializing_if = "is_false")]
    pub late: bool,
}

/// The answer to one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The code; 0 is no answer at all: the connection ends as `end` says.
    pub status: u16,
    /// Headers besides those that every answer has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The body, piece by piece.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<Piece>,
    /// What follows the body.
    #[serde(default, skip_serializing_if = "End::is_whole")]
    pub end: End,
}

/// A part of a body, or a pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Piece {
    /// Milliseconds in which nothing is sent.
    Pause(u64),
    /// Sent at once, as a chunk of its own.
    Text(String),
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The body is whole.
    #[default]
    Whole,
    /// The connection is closed in the middle of the body.
    Cut,
    /// The connection stays open.
    Open,
    /// The connection is reset in the middle of the body.
    Reset,
}

impl End {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde's skip_serializing_if passes a reference"
    )]
    fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's skip_serializing_if passes a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's skip_serializing_if passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !*value
}
