//! The run record: one trial's result file, versioned. `loadgen` writes it, `reports` reads it and nothing else.
//!
//! Units are the suffix of each name. Every duration is whole nanoseconds. Absent means "not measured" or "does not apply",
//! never zero.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Version of the schema below. Raised when a field's meaning changes or one goes; changes are noted in `loadgen/METHODOLOGY.md`.
pub const SCHEMA_VERSION: u32 = 1;

/// One trial: one run of one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// What was asked.
    pub scenario: ScenarioSummary,
    /// The setting that this trial ran.
    pub variant: Variant,
    /// Round of the plan, from 0. Every round runs each variant once.
    pub round: u32,
    /// Place of this trial in the order of running, from 0.
    pub order: u32,
    /// Whose informer ran, such as `informer-bench 0.1.0`.
    pub implementation: String,
    /// `raw` or the typed kind into which objects were decoded.
    pub decode_mode: String,
    /// The machine and the build.
    pub environment: Environment,
    /// Seed of the trial's churn, losses and jitter: the scenario's plus the round.
    pub seed: u64,
    /// Checksum of the churn trace that the server really committed, in hexadecimal.
    pub trace_checksum: String,
    /// Start in UTC, RFC 3339.
    pub started_at: String,
    /// Command that made the record.
    pub command: String,
    /// Whether the trial may be believed.
    pub outcome: Outcome,
    /// What a reader must know beside the numbers.
    pub warnings: Vec<Warning>,
    /// The numbers; absent unless [`Outcome::Verified`], or [`Outcome::Interrupted`] in the window.
    pub measurements: Option<Measurements>,
}

/// The scenario as far as a report needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScenarioSummary {
    /// File name without its ending.
    pub name: String,
    /// What this scenario tells that no other does.
    pub question: String,
    /// Hash of the scenario after flags were applied, in hexadecimal.
    pub hash: String,
    /// Names of the [`Variant`] fields that differ between variants, such as `resync_period_ns`.
    pub axes: Vec<String>,
}

/// One setting of what is compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Short and unique within a run, such as `delta-fifo resync 1s`.
    pub label: String,
    /// Queue preset: `delta-fifo`, `real-fifo-per-event`, `real-fifo`, `atomic-fifo`.
    pub queue: String,
    /// `plain` or `shared`.
    pub informer: String,
    /// Resync period asked for; absent for off.
    pub resync_period_ns: Option<u64>,
    /// Objects at the start.
    pub object_count: u64,
    /// Profile such as `pod-6k`, or the file's name.
    pub object_source: String,
    /// Resource, such as `pods`.
    pub resource: String,
    /// Mean bytes of one object.
    pub object_size_bytes_mean: u64,
    /// `probe`, `inline` or `workqueue`.
    pub handler: String,
    /// `none`, `sleep` or `spin`.
    pub handler_cost_kind: String,
    /// Cost of one handler call.
    pub handler_cost_ns: u64,
    /// Changes that the server was asked to commit a second.
    pub churn_per_second: f64,
    /// Share of live adds and updates that the handler loses on purpose.
    pub loss_share: f64,
}

/// The machine and the build. A trial is not recorded without them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Commit of this repository, or `unknown` outside a checkout.
    pub commit: String,
    /// Whether the checkout had changes.
    pub dirty: bool,
    /// `rustc --version` of the build.
    pub rustc: String,
    /// `release` or `debug`.
    pub profile: String,
    /// CPU model.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: u32,
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    /// How client and server were placed, such as `server on core 0, client on core 1`.
    pub placement: String,
}

/// Whether a trial may be believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// Every check passed.
    Verified,
    /// A check failed; there are no numbers.
    Failed {
        /// What was wrong, one sentence each.
        violations: Vec<String>,
    },
    /// The trial did not run to its end.
    Error {
        /// The error.
        message: String,
    },
    /// Somebody pressed Ctrl-C during the trial. The numbers are of the part of the window before that, and in no aggregate;
    /// there are none if the window had not begun.
    Interrupted {
        /// What verification of that part found wrong, or why there was none.
        #[serde(default)]
        violations: Vec<String>,
    },
}

/// Something a reader must know beside the numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Kind, stable: `TooFewSamples`, `GeneratorLimited`, `QueueSaturated`, `ClockJumped`, `CpuShared`, `EffectivePeriod`, `LoadAboveOne`, `NegativeLatency`, `DebugBuild`,
    /// `HandlerPanicked`, and those of [`crate::cache::InformerWarning::kind`].
    pub kind: String,
    /// Sentence for a person.
    pub message: String,
    /// Times that it was told in the trial.
    #[serde(default = "once")]
    pub count: u64,
    /// When it was told first, from the informer's start; absent for what the numbers showed afterwards.
    #[serde(default)]
    pub first_at_ns: Option<u64>,
}

impl Warning {
    /// What the numbers of a trial showed.
    pub fn afterwards(kind: &str, message: String) -> Self {
        Self {
            kind: kind.to_owned(),
            message,
            count: once(),
            first_at_ns: None,
        }
    }
}

const fn once() -> u64 {
    1
}

/// The numbers of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurements {
    /// From the informer's start until it had synced.
    pub time_to_sync_ns: u64,
    /// Length of the measurement window as it was.
    pub window_ns: u64,
    /// From the end of the window until everything had been delivered.
    pub time_to_converge_ns: u64,
    /// Offered and achieved load in the window.
    pub generator: Generator,
    /// Latency in the window by series: `live` is scheduled commit to the handler's return; stages are `live.server`, `live.wire`, `live.queue`, `live.handler`;
    /// `live.service` is commit to the handler's return, which says nothing of a server that stalls;
    /// `live.in_drain` and `live.outside_drain` split `live` by whether a resync was being drained when the event was scheduled.
    pub latency: BTreeMap<String, LatencySeries>,
    /// Resyncs in the window.
    pub resync: ResyncSummary,
    /// Notifications to the handler in the window.
    pub notifications: Notifications,
    /// The handler's balance over the whole trial.
    pub accounting: Accounting,
    /// Repair of events lost on purpose; absent where none were.
    pub repair: Option<Repair>,
    /// What it cost.
    pub cost: Cost,
    /// One point a step over the window.
    pub timeline: Timeline,
}

/// Offered and achieved load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// Changes that were due in the window, committed or not.
    pub scheduled: u64,
    /// Commits made in the window.
    pub committed: u64,
    /// Commits by kind of change: `create`, `update`, `delete`.
    pub committed_by_kind: BTreeMap<String, u64>,
    /// Scheduled instant to commit, of every commit that was due or made in the window.
    pub lateness: LatencySeries,
}

/// A latency distribution. Buckets merge across trials; percentiles do not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencySeries {
    /// Samples; the other values are absent when it is 0.
    pub count: u64,
    /// Samples above the histogram's range, which are counted at its end.
    pub saturated: u64,
    /// Samples that came out negative, which are counted here only.
    pub negative: u64,
    /// Smallest.
    pub min_ns: Option<u64>,
    /// Mean.
    pub mean_ns: Option<f64>,
    /// Median.
    pub p50_ns: Option<u64>,
    /// 90th percentile.
    pub p90_ns: Option<u64>,
    /// 99th percentile.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile.
    pub p999_ns: Option<u64>,
    /// Largest.
    pub max_ns: Option<u64>,
    /// Recorded buckets in rising order: (highest value of the bucket, count).
    pub buckets: Vec<(u64, u64)>,
}

/// Resyncs in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResyncSummary {
    /// Times the timer should have fired at the period asked for.
    pub expected: u64,
    /// Times the queue was resynced.
    pub fired: u64,
    /// Mean time between two resyncs; absent below two.
    pub effective_period_ns: Option<u64>,
    /// Each resync.
    pub ticks: Vec<ResyncTick>,
}

/// One resync. `known = enqueued + skipped_pending + missing`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResyncTick {
    /// Begin, from the start of the window.
    pub at_ns: u64,
    /// Keys in the cache.
    pub known: u64,
    /// Sync deltas put into the queue.
    pub enqueued: u64,
    /// Keys skipped since deltas were pending, by the first pending delta: `Added`, `Updated`, `Deleted`, `Replaced`, `Sync`.
    pub skipped_pending: BTreeMap<String, u64>,
    /// Keys that the cache listed and then did not have.
    pub missing: u64,
    /// Wait for the queue's lock.
    pub lock_wait_ns: u64,
    /// Time the queue's lock was held.
    pub lock_hold_ns: u64,
    /// From begin until the last Sync delta of this resync had been handled; absent if it was not by the end of the trial.
    pub drain_ns: Option<u64>,
}

/// Notifications to the handler in the window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notifications {
    /// For live events of the watch.
    pub live: u64,
    /// For Sync deltas.
    pub sync: u64,
    /// For items of a relist.
    pub relist: u64,
    /// For events that the watch had shown before, since a watch was resumed from an older version. In no latency.
    #[serde(default)]
    pub replay: u64,
    /// For items of the first list.
    pub initial: u64,
    /// Keys that a resync skipped since deltas were pending.
    pub skipped_pending: u64,
    /// Live events that were merged before the handler could see them.
    pub superseded: u64,
}

/// One handler's balance over the whole trial: `sent = delivered + superseded + lost_on_purpose + pending`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounting {
    /// Commits by the server after the informer's first list.
    pub sent: u64,
    /// Commits that the handler was told of and handled.
    pub delivered: u64,
    /// Commits that were merged into a later one before the handler could see them.
    pub superseded: u64,
    /// Commits that the handler was told of and lost on purpose.
    pub lost_on_purpose: u64,
    /// Commits not delivered at the end.
    pub pending: u64,
}

/// Repair of events lost on purpose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_field_names,
    reason = "`time_to_repair` is the field's word"
)]
pub struct Repair {
    /// Live adds lost.
    pub lost_adds: u64,
    /// Live updates lost.
    pub lost_updates: u64,
    /// Live deletes lost; no resync brings these back.
    pub lost_deletes: u64,
    /// Losses of adds and updates repaired by a resync.
    pub repaired_by_resync: u64,
    /// Losses repaired by a later live event of the same key.
    pub repaired_by_live: u64,
    /// Losses of adds and updates not repaired when the measured window ended.
    pub unrepaired: u64,
    /// Lost deletes whose key the controller still believed in at the end of the trial.
    pub unrepaired_deletes: u64,
    /// Loss to repair, for repaired losses.
    pub time_to_repair: LatencySeries,
    /// Mean that the closed form gives for this period, cost and churn; see `loadgen/METHODOLOGY.md`.
    pub expected_mean_ns: Option<f64>,
}

/// What a trial cost. CPU is of the window, allocations are of the client in the window, peaks are of the whole trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// CPU time of the client.
    pub client_cpu_ns: u64,
    /// CPU time of the server.
    pub server_cpu_ns: u64,
    /// Highest resident set of the client.
    pub client_rss_peak_bytes: u64,
    /// Highest resident set of the server.
    pub server_rss_peak_bytes: u64,
    /// Allocations by the client; absent where they were not counted.
    pub client_allocations: Option<u64>,
    /// Bytes allocated by the client.
    pub client_allocated_bytes: Option<u64>,
    /// Keys, at most, in the queue.
    pub queue_keys_peak: u64,
    /// Deltas, at most, in the queue.
    pub queue_deltas_peak: u64,
    /// Notifications, at most, in the listener's buffer; absent for a plain informer.
    pub listener_peak: Option<u64>,
}

/// What was sampled over the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Time between two points.
    pub step_ns: u64,
    /// The points.
    pub points: Vec<TimelinePoint>,
}

/// One point of a [`Timeline`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelinePoint {
    /// From the start of the window.
    pub at_ns: u64,
    /// Keys in the queue.
    pub queue_keys: u64,
    /// Deltas in the queue.
    pub queue_deltas: u64,
    /// Notifications in the listener's buffer.
    pub listener: Option<u64>,
    /// Keys whose last state the handler lost and has not yet been told again.
    pub stale_keys: u64,
    /// Resident set of the client.
    pub client_rss_bytes: u64,
    /// CPU time of the client since the last point.
    pub client_cpu_ns: u64,
    /// 99th percentile of live latency of the events handled since the last point; absent if there were none.
    pub live_p99_ns: Option<u64>,
    /// Live events handled since the last point.
    pub live_count: u64,
    /// Sync notifications handled since the last point.
    pub sync_count: u64,
}
