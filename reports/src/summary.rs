//! Verdict and table as plain values: the terminal, the Markdown and the page all print these.

use bench_core::measure::record::{Outcome, RunRecord};

use crate::{
    aggregate::{Cell, cells, interrupted_cells},
    quantity::{bytes, count, duration, number, percent},
    series::{MergedLatency, Spread},
    verdict::{Verdict, verdict},
    work_balance::{SafePeriod, load, safe_period},
};

/// Drain over period from which a variant is marked.
pub const DRAIN_RATIO_LIMIT: f64 = 0.8;

/// What a run says, without figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Scenario's name.
    pub scenario: String,
    /// The question that the scenario answers.
    pub question: String,
    /// The answer.
    pub verdict: Verdict,
    /// One row per variant, the control (resync off) first in each group; variants without a verified trial too.
    pub rows: Vec<SummaryRow>,
    /// What interrupted trials had measured, one row each; in none of the other rows.
    pub interrupted: Vec<SummaryRow>,
    /// Trials that are not verified.
    pub failures: Vec<FailedTrial>,
    /// Distinct warnings, each with how many trials carry it.
    pub warnings: Vec<String>,
}

/// A trial whose numbers, if there are any, are in no aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedTrial {
    /// Variant's label.
    pub label: String,
    /// Round of the plan, from 0.
    pub round: u32,
    /// `failed`, `error` or `interrupted`.
    pub kind: &'static str,
    /// Why, one sentence each.
    pub reasons: Vec<String>,
}

/// One variant's numbers over its verified trials. `None` is "no data", never zero.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryRow {
    /// Variant's label.
    pub label: String,
    /// Implementation, queue and informer.
    pub group: String,
    /// Whether resync is off: the row that the others are compared with.
    pub is_control: bool,
    /// Trials run.
    pub trials: usize,
    /// Trials verified.
    pub verified: usize,
    /// Resyncs in the window, all trials.
    pub resyncs_fired: u64,
    /// Times that the timer should have fired.
    pub resyncs_expected: u64,
    /// Period asked for.
    pub period_ns: Option<u64>,
    /// Mean time between two resyncs.
    pub effective_period_ns: Option<Spread>,
    /// Sync notifications a second.
    pub sync_per_second: Option<f64>,
    /// Share of the known keys that resyncs skipped since deltas were pending.
    pub skip_share: Option<f64>,
    /// Client CPU in cores.
    pub client_cpu: Option<Spread>,
    /// Longest hold of the queue's lock by a resync.
    pub lock_hold_max_ns: Option<u64>,
    /// Latency of live events.
    pub live: MergedLatency,
    /// Keys, at most, in the queue.
    pub queue_peak: Option<u64>,
    /// Notifications, at most, in the listener's buffer; `None` for a plain informer.
    pub listener_peak: Option<u64>,
    /// Highest resident set of the client.
    pub rss_peak_bytes: Option<u64>,
    /// Loss to repair.
    pub repair: MergedLatency,
    /// Most stale keys at any time.
    pub stale_peak: Option<u64>,
    /// Drain over period.
    pub drain_ratio: Option<f64>,
    /// `N·cost/P + c·cost`: above 1 the handler cannot keep up.
    pub load: f64,
    /// Smallest safe period.
    pub safe_period: SafePeriod,
}

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
    /// Nothing was measured.
    NoData,
}

impl Column {
    /// Every column in the order of the table.
    pub const ALL: [Self; 16] = [
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
        Self::LockHold,
        Self::Drain,
        Self::QueuePeak,
        Self::ListenerPeak,
        Self::RssPeak,
    ];

    /// The columns that fit a terminal of 80 characters.
    pub const NARROW: [Self; 6] = [
        Self::Variant,
        Self::Load,
        Self::Skipped,
        Self::Cpu,
        Self::LiveP99,
        Self::Repair,
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
            Self::QueuePeak => "queue peak",
            Self::ListenerPeak => "listener peak",
            Self::RssPeak => "RSS peak",
            Self::Repair => "time to repair",
            Self::Stale => "stale keys",
            Self::Drain => "drain/period",
        }
    }

    /// What the column says, for somebody who sees it first.
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Variant => "The setting that ran; off is the control.",
            Self::Load => {
                "Handler work arriving per second of handler time, N·cost/P + c·cost. Red above 1: the handler cannot keep up."
            }
            Self::Resyncs => {
                "Resyncs fired in all windows / times the timer should have fired at the period asked for."
            }
            Self::Interval => "Mean time between two resyncs against the period asked for.",
            Self::SyncRate => "Notifications a second that a resync caused.",
            Self::Skipped => {
                "Share of the cache's keys that resyncs skipped since deltas were pending."
            }
            Self::Cpu => {
                "CPU of the client process, % of one core; median of the trials (smallest–largest)."
            }
            Self::LockHold => "Longest time that one resync held the queue's lock.",
            Self::LiveP50 => {
                "Median of scheduled commit to the handler's return, all trials merged."
            }
            Self::LiveP99 => {
                "99th percentile of the same. ≤ marks too few samples: then it is the largest."
            }
            Self::QueuePeak => "Most keys in the queue.",
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

/// Text where there is no value.
pub const NO_DATA: &str = "no data";

impl SummaryRow {
    fn of(cell: &Cell<'_>) -> Self {
        let measured = !cell.verified.is_empty();
        let seconds = cell.window_seconds();
        let variant = cell.variant;
        Self {
            label: variant.label.clone(),
            group: cell.group(),
            is_control: variant.resync_period_ns.is_none(),
            trials: cell.trials.len(),
            verified: cell.verified.len(),
            resyncs_fired: cell.sum(|one| one.resync.fired),
            resyncs_expected: cell.sum(|one| one.resync.expected),
            period_ns: variant.resync_period_ns,
            effective_period_ns: cell.effective_period(),
            sync_per_second: (seconds > 0.0).then(|| cell.notifications().sync as f64 / seconds),
            skip_share: cell.skip_share(),
            client_cpu: cell.client_cpu(),
            lock_hold_max_ns: cell.lock_hold_max(),
            live: cell.latency("live"),
            queue_peak: measured
                .then(|| cell.peak(|one| Some(one.cost.queue_keys_peak)))
                .flatten(),
            listener_peak: cell.peak(|one| one.cost.listener_peak),
            rss_peak_bytes: cell.peak(|one| Some(one.cost.client_rss_peak_bytes)),
            repair: cell.time_to_repair(),
            stale_peak: cell.stale_peak(),
            drain_ratio: cell.drain_ratio(),
            load: load(variant),
            safe_period: safe_period(variant),
        }
    }

    /// The text of a cell; [`NO_DATA`] or `–` (does not apply) where there is no value.
    pub fn text(&self, column: Column) -> String {
        if column != Column::Variant && column != Column::Load && self.verified == 0 {
            return NO_DATA.to_owned();
        }
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        let or_none = |text: Option<String>| text.unwrap_or_else(|| NO_DATA.to_owned());
        let of_resync = |text: Option<String>| {
            if self.is_control {
                "–".to_owned()
            } else {
                or_none(text)
            }
        };
        match column {
            Column::Variant => self.label.clone(),
            Column::Load => number(self.load),
            Column::Resyncs => format!(
                "{}/{}",
                count(self.resyncs_fired),
                count(self.resyncs_expected)
            ),
            Column::Interval => of_resync(self.interval_text()),
            Column::SyncRate => or_none(self.sync_per_second.map(number)),
            Column::Skipped => of_resync(self.skip_share.map(percent)),
            Column::Cpu => or_none(self.client_cpu.map(percent_spread)),
            Column::LockHold => of_resync(self.lock_hold_max_ns.map(|ns| duration(ns as f64))),
            Column::LiveP50 => percentile_text(&self.live, 0.5),
            Column::LiveP99 => percentile_text(&self.live, 0.99),
            Column::QueuePeak => or_none(self.queue_peak.map(count)),
            Column::ListenerPeak => or_dash(self.listener_peak.map(count)),
            Column::RssPeak => or_none(self.rss_peak_bytes.map(bytes)),
            Column::Repair => or_dash(self.repair.mean_ns.map(duration)),
            Column::Stale => or_dash(self.stale_peak.map(count)),
            Column::Drain => of_resync(self.drain_ratio.map(|ratio| {
                if ratio.is_finite() {
                    format!("{ratio:.2}")
                } else {
                    "not drained".to_owned()
                }
            })),
        }
    }

    /// How that cell is to be read.
    pub fn mark(&self, column: Column) -> Mark {
        let bad = match column {
            Column::Load => self.load > 1.0,
            Column::Drain => self
                .drain_ratio
                .is_some_and(|ratio| ratio > DRAIN_RATIO_LIMIT),
            Column::Resyncs => self.verified > 0 && self.resyncs_fired < self.resyncs_expected,
            _ => false,
        };
        if bad {
            Mark::Bad
        } else if self.text(column) == NO_DATA {
            Mark::NoData
        } else {
            Mark::Plain
        }
    }

    fn interval_text(&self) -> Option<String> {
        let asked = duration(self.period_ns? as f64);
        Some(match self.effective_period_ns {
            Some(effective) => format!("{} of {asked}", duration(effective.median)),
            None => format!("{NO_DATA} of {asked}"),
        })
    }
}

/// A percentile as text, with `≤` where the samples do not support it.
pub fn percentile_text(latency: &MergedLatency, share: f64) -> String {
    latency.percentile(share).map_or_else(
        || NO_DATA.to_owned(),
        |percentile| {
            let text = duration(percentile.ns as f64);
            if percentile.supported {
                text
            } else {
                format!("≤ {text}")
            }
        },
    )
}

/// Shares of several trials: the median and, where they differ, the ends.
pub fn percent_spread(spread: Spread) -> String {
    let (low, high) = (percent(spread.min), percent(spread.max));
    if low == high {
        return percent(spread.median);
    }
    format!(
        "{} ({}–{high})",
        percent(spread.median),
        low.trim_end_matches(" %")
    )
}

/// Everything that a run says, without figures.
pub fn summarise(records: &[RunRecord]) -> Summary {
    let cells = cells(records);
    let first = records.first().map(|record| &record.scenario);
    Summary {
        scenario: first.map_or_else(String::new, |scenario| scenario.name.clone()),
        question: first.map_or_else(String::new, |scenario| scenario.question.clone()),
        verdict: verdict(records, &cells),
        rows: cells.iter().map(SummaryRow::of).collect(),
        interrupted: interrupted_cells(records)
            .iter()
            .map(SummaryRow::of)
            .collect(),
        failures: records.iter().filter_map(failure).collect(),
        warnings: warnings(records),
    }
}

fn failure(record: &RunRecord) -> Option<FailedTrial> {
    let (kind, reasons) = match &record.outcome {
        Outcome::Verified => return None,
        Outcome::Failed { violations } => ("failed", violations.clone()),
        Outcome::Error { message } => ("error", vec![message.clone()]),
        Outcome::Interrupted { violations } => ("interrupted", interruption(record, violations)),
    };
    Some(FailedTrial {
        label: record.variant.label.clone(),
        round: record.round,
        kind,
        reasons,
    })
}

fn interruption(record: &RunRecord, violations: &[String]) -> Vec<String> {
    let Some(one) = &record.measurements else {
        return vec!["stopped by Ctrl-C before its window".to_owned()];
    };
    let mut reasons = vec![format!(
        "stopped by Ctrl-C after {} of its window; what it measured stands apart and is in no aggregate",
        duration(one.window_ns as f64)
    )];
    if violations.is_empty() {
        reasons.push("verified up to there".to_owned());
    }
    reasons.extend_from_slice(violations);
    reasons
}

fn warnings(records: &[RunRecord]) -> Vec<String> {
    let mut seen: Vec<(String, Vec<String>)> = Vec::new();
    for record in records {
        for warning in &record.warnings {
            let text = format!("{}: {}", warning.kind, warning.message);
            match seen.iter_mut().find(|(known, _)| *known == text) {
                Some((_, labels)) => labels.push(record.variant.label.clone()),
                None => seen.push((text, vec![record.variant.label.clone()])),
            }
        }
    }
    seen.into_iter()
        .map(|(text, mut labels)| {
            let trials = labels.len();
            labels.sort();
            labels.dedup();
            let whose = if labels.len() <= 3 {
                labels.join(", ")
            } else {
                format!("{} variants", labels.len())
            };
            let noun = if trials == 1 { "trial" } else { "trials" };
            format!("{text} ({trials} {noun}: {whose})")
        })
        .collect()
}
