//! The wire types of the control API under [`PREFIX`], with which a load generator steers the server.
//!
//! | request | body | answer |
//! |---|---|---|
//! | `POST churn` | [`ChurnRequest`] | 202 and nothing; 409 while a churn runs |
//! | `POST churn/stop` | | [`ChurnSummary`]; 409 if none was started |
//! | `GET commits?since=RV` | | a list of [`CommitRecord`], those after the version |
//! | `POST write` | [`WriteRequest`] | [`CommitRecord`] |
//! | `GET state` | | [`ServerState`] |
//! | `POST close-watches` | | 204: every open watch ends cleanly |
//! | `POST compact` | | 204: versions before the present one are expired |
//! | `PUT faults` | a [script](crate::fault), YAML or JSON | 204: it is in force in place of the one before; 400 |
//! | `GET faults` | | a list of [`RuleCount`](crate::fault::plan::RuleCount), in the script's order |
//! | `DELETE faults` | | 204: no faults from now on |
//! | `POST shutdown` | | 202: as a signal would |
//!
//! A request that cannot be done is answered with 400, 404 or 409 and a [`ControlError`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Where the control API lives.
pub const PREFIX: &str = "/informer-bench/v1";

/// What a churn does: how often, what, to which keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChurnRequest {
    /// Plural of the resource, or `plural.group`.
    pub resource: String,
    /// Writes per second, above 0.
    pub rate_per_second: f64,
    /// Shares of creates, updates and deletes.
    pub mix: ChurnMix,
    /// When writes are due.
    pub arrivals: Arrivals,
    /// Which objects are written.
    pub keys: KeyChoice,
    /// Decides everything that is random.
    pub seed: u64,
    /// `CLOCK_MONOTONIC` nanoseconds from which offsets count; absent means now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_at_ns: Option<u64>,
}

/// Weights of the three writes; only their ratio counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChurnMix {
    /// New objects.
    pub create: f64,
    /// Changes to existing objects.
    pub update: f64,
    /// Removals.
    pub delete: f64,
}

impl ChurnMix {
    /// Nothing but updates.
    pub fn updates_only() -> Self {
        Self {
            create: 0.0,
            update: 1.0,
            delete: 0.0,
        }
    }
}

/// The process by which writes arrive. Every kind keeps the same mean rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// Equally spaced.
    Constant,
    /// Exponential gaps.
    Poisson,
    /// Groups that are due at one instant, the groups equally spaced.
    Bursty {
        /// Writes in a group, at least 1.
        size: u32,
    },
}

/// How the object of an update or a delete is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum KeyChoice {
    /// Each existing object equally often.
    Uniform,
    /// The k-th existing object in proportion to k to the power of minus `exponent`. Deletes stay uniform.
    Zipf {
        /// Above 0.
        exponent: f64,
    },
}

/// What a churn did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChurnSummary {
    /// Writes that were due up to the stop.
    pub scheduled: u64,
    /// Writes that were committed; less than scheduled only if others had removed the objects.
    pub committed: u64,
    /// FNV-1a 64 of the schedule as carried out, 16 hex digits.
    pub checksum: String,
    /// The server's revision after the last write.
    pub revision: u64,
}

/// A kind of write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteKind {
    /// A new object.
    Create,
    /// A change to an existing object.
    Update,
    /// A removal.
    Delete,
}

/// One committed write. Times are `CLOCK_MONOTONIC` nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitRecord {
    /// The version that the write made; unique in the whole server.
    pub resource_version: u64,
    /// What it was.
    pub kind: WriteKind,
    /// `namespace/name`, or `name`.
    pub key: String,
    /// When it was due; for a write by request, when the request was taken.
    pub scheduled_ns: u64,
    /// When watchers could first see it.
    pub committed_ns: u64,
}

/// One write by request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteRequest {
    /// Plural of the resource, or `plural.group`.
    pub resource: String,
    /// What to do.
    pub op: WriteKind,
    /// Which object; absent means a fresh name for a create and the first object for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// The server's counters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerState {
    /// The version of the last write.
    pub revision: u64,
    /// Per resource, by plural (`plural.group` outside the core group).
    pub resources: BTreeMap<String, ResourceState>,
    /// Open watches.
    pub watchers: u64,
    /// Watches ended because their client was too slow.
    pub terminated_watchers: u64,
    /// LIST requests taken.
    pub list_requests: u64,
    /// WATCH requests taken.
    pub watch_requests: u64,
    /// CPU time of the process.
    pub cpu_time_ns: u64,
    /// Resident memory of the process, 0 if unknown.
    pub rss_bytes: u64,
    /// Most resident memory so far, 0 if unknown.
    pub rss_peak_bytes: u64,
}

/// One resource in a [`ServerState`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResourceState {
    /// Objects that exist.
    pub objects: u64,
    /// Mean length of an object's JSON.
    pub object_size_bytes_mean: f64,
}

/// Why a control request was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlError {
    /// For a person.
    pub error: String,
}
