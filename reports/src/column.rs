//! The columns of the table, and what each says.

use crate::noise::Quantity;

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// Variant's label.
    Variant,
    /// Load on the handler.
    Load,
    /// Resyncs fired of those expected.
    Resyncs,
    /// Effective interval against the one asked for.
    Interval,
    /// Sync notifications a second.
    SyncRate,
    /// Share skipped.
    Skipped,
    /// Client CPU.
    Cpu,
    /// Longest lock hold.
    LockHold,
    /// Median live latency.
    LiveP50,
    /// 99th percentile of live latency.
    LiveP99,
    /// 99th percentile of service time.
    ServiceP99,
    /// Most keys in the queue.
    QueuePeak,
    /// Most notifications in the listener's buffer.
    ListenerPeak,
    /// Highest resident set.
    RssPeak,
    /// Mean time to repair.
    Repair,
    /// Most stale keys.
    Stale,
    /// Drain over period.
    Drain,
}

/// How a cell of the table is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A value.
    Plain,
    /// A value beyond its limit.
    Bad,
    /// A value that noise alone may have made differ from the control's.
    Near,
    /// Nothing was measured.
    NoData,
    /// The worst value of the column, or as bad as far as noise lets tell.
    Worst,
}

impl Column {
    /// Every column in the order of the table.
    pub const ALL: [Self; 17] = [
        Self::Variant,
        Self::Load,
        Self::Resyncs,
        Self::Interval,
        Self::SyncRate,
        Self::Skipped,
        Self::Cpu,
        Self::Repair,
        Self::Stale,
        Self::LiveP50,
        Self::LiveP99,
        Self::ServiceP99,
        Self::LockHold,
        Self::Drain,
        Self::QueuePeak,
        Self::ListenerPeak,
        Self::RssPeak,
    ];

    /// Heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Variant => "variant",
            Self::Load => "load",
            Self::Resyncs => "resyncs",
            Self::Interval => "interval",
            Self::SyncRate => "sync/s",
            Self::Skipped => "skipped",
            Self::Cpu => "client CPU",
            Self::LockHold => "lock hold max",
            Self::LiveP50 => "live p50",
            Self::LiveP99 => "live p99",
            Self::ServiceP99 => "service p99",
            Self::QueuePeak => "queue peak, sampled",
            Self::ListenerPeak => "listener peak",
            Self::RssPeak => "RSS peak",
            Self::Repair => "time to repair",
            Self::Stale => "stale keys",
            Self::Drain => "drain / period",
        }
    }

    /// The quantity whose noise is measured, where there is one.
    pub const fn quantity(self) -> Option<Quantity> {
        match self {
            Self::Cpu => Some(Quantity::Cpu),
            Self::LiveP50 => Some(Quantity::LiveP50),
            Self::LiveP99 => Some(Quantity::LiveP99),
            Self::Repair => Some(Quantity::Repair),
            _ => None,
        }
    }

    /// What the column says, for somebody who sees it first.
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Variant => "The setting that ran; off is the control.",
            Self::Load => {
                "Work for the handler per second of its time at the period asked for, N·cost/P + c·cost: N objects, cost of one call, P period, c changes a second. Red above 1: the handler cannot keep up."
            }
            Self::Resyncs => {
                "Resyncs fired in all windows / times the timer should have fired at the period asked for. Red where more than one a trial is missing."
            }
            Self::Interval => "Mean time between two resyncs against the period asked for.",
            Self::SyncRate => "Notifications a second that a resync caused.",
            Self::Skipped => {
                "Share of the cache's keys that resyncs skipped since deltas were pending."
            }
            Self::Cpu => {
                "CPU of the client process, % of one core; median of the trials (smallest–largest)."
            }
            Self::LockHold => {
                "Longest time that one resync held the queue's lock, during which nothing else can use it."
            }
            Self::LiveP50 => {
                "Median of scheduled commit to the handler's return, all trials merged."
            }
            Self::LiveP99 => {
                "99th percentile of the same. ≤ marks too few samples: then it is the largest."
            }
            Self::ServiceP99 => {
                "99th percentile of the commit itself to the handler's return. What a server that stalls delays is in live p99 and not in this."
            }
            Self::QueuePeak => {
                "Most keys in the queue, as sampled for the timelines: a short peak can be missed."
            }
            Self::ListenerPeak => {
                "Most notifications in the listener's buffer; a plain informer has none."
            }
            Self::RssPeak => "Highest resident memory of the client process.",
            Self::Repair => {
                "Mean time from an event lost on purpose until its key was delivered again, over the losses that were repaired."
            }
            Self::Stale => "Most keys at one time whose last state the handler had lost.",
            Self::Drain => {
                "Median time to handle all of one resync over the period. Red above 0.8."
            }
        }
    }
}
