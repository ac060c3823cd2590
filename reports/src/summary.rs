//! Verdict and table as plain values: the terminal, the Markdown and the page all print these.

use bench_core::measure::record::{Outcome, RunRecord};

use crate::{
    aggregate::{Cell, cells, interrupted_cells},
    column::{Column, Mark},
    noise::{Floor, NoiseFloor},
    quantity::{bytes, count, duration, number, percent},
    series::{MergedLatency, Spread},
    verdict::{Verdict, verdict},
    warnings::{Note, notes},
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
    /// Warnings, each once.
    pub warnings: Vec<Note>,
    /// How far two measurements of the same thing differ.
    pub noise: NoiseFloor,
}

/// A trial whose numbers, if there are any, are in no aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedTrial {
    /// Variant's label.
    pub label: String,
    /// Round of the plan, from 0.
    pub round: u32,
    /// `failed`, `error`, `interrupted`, or `interrupted, partial` where some of the window was measured.
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
    /// Commit to the handler's return of live events.
    pub service: MergedLatency,
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
    /// Columns whose value differs from the control's by no more than noise does.
    pub near_control: Vec<Column>,
}

/// Text where there is no value.
pub const NO_DATA: &str = "no data";

/// Text where a value does not apply.
pub const NOT_APPLICABLE: &str = "–";

impl SummaryRow {
    fn of(cell: &Cell<'_>, cells: &[Cell<'_>], noise: &NoiseFloor) -> Self {
        let control = cell.control(cells);
        let near = |column: &Column| {
            let values = || {
                let quantity = column.quantity()?;
                let floor = noise.of(quantity)?;
                Some(floor.covers(quantity.of(cell)?, quantity.of(control?)?))
            };
            values().unwrap_or(false)
        };
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
            service: cell.latency("live.service"),
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
            near_control: Column::ALL.into_iter().filter(near).collect(),
        }
    }

    /// The text of a cell; [`NO_DATA`] or `–` (does not apply) where there is no value, `≈` before one that is as the control's.
    pub fn text(&self, column: Column) -> String {
        let text = self.bare_text(column);
        if self.near_control.contains(&column) {
            format!("≈ {text}")
        } else {
            text
        }
    }

    fn bare_text(&self, column: Column) -> String {
        if column != Column::Variant && column != Column::Load && self.verified == 0 {
            return NO_DATA.to_owned();
        }
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| NOT_APPLICABLE.to_owned());
        let or_none = |text: Option<String>| text.unwrap_or_else(|| NO_DATA.to_owned());
        let of_resync = |text: Option<String>| {
            if self.is_control {
                NOT_APPLICABLE.to_owned()
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
            Column::ServiceP99 => percentile_text(&self.service, 0.99),
            Column::QueuePeak => or_none(self.queue_peak.map(count)),
            Column::ListenerPeak => or_dash(self.listener_peak.map(count)),
            Column::RssPeak => or_none(self.rss_peak_bytes.map(bytes)),
            Column::Repair => or_dash(self.repair.mean_ns.map(duration)),
            Column::Stale => or_dash(self.stale_peak.map(count)),
            Column::Drain => of_resync(self.drain_ratio.map(|ratio| {
                if ratio.is_finite() && ratio < 0.005 {
                    "<0.01".to_owned()
                } else if ratio.is_finite() {
                    format!("{ratio:.2}")
                } else {
                    "not drained".to_owned()
                }
            })),
        }
    }

    /// How that cell is to be read, without regard to the other rows.
    pub fn mark(&self, column: Column) -> Mark {
        let bad = match column {
            Column::Load => self.load > 1.0,
            Column::Drain => self
                .drain_ratio
                .is_some_and(|ratio| ratio > DRAIN_RATIO_LIMIT),
            // A window need not begin at a resync, so each may hold one less.
            Column::Resyncs => {
                self.verified > 0
                    && self.resyncs_fired + (self.verified as u64) < self.resyncs_expected
            }
            _ => false,
        };
        if bad {
            Mark::Bad
        } else if self.text(column) == NO_DATA {
            Mark::NoData
        } else if self.near_control.contains(&column) {
            Mark::Near
        } else {
            Mark::Plain
        }
    }

    /// The value of a column in which more is worse.
    fn badness(&self, column: Column) -> Option<f64> {
        let whole = |value: Option<u64>| value.map(|value| value as f64);
        let percentile = |share| whole(self.live.percentile(share).map(|found| found.ns));
        match column {
            Column::Cpu => self.client_cpu.map(|cpu| cpu.median),
            Column::LockHold => whole(self.lock_hold_max_ns),
            Column::LiveP50 => percentile(0.5),
            Column::LiveP99 => percentile(0.99),
            Column::QueuePeak => whole(self.queue_peak),
            Column::ListenerPeak => whole(self.listener_peak),
            Column::Repair => self.repair.mean_ns,
            Column::Stale => whole(self.stale_peak),
            _ => None,
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
        "{} ({}–{})",
        percent(spread.median),
        low.trim_end_matches(" %"),
        high.trim_end_matches(" %")
    )
}

/// Everything that a run says, without figures.
pub fn summarise(records: &[RunRecord]) -> Summary {
    let cells = cells(records);
    let first = records.first().map(|record| &record.scenario);
    let noise = NoiseFloor::measured(&cells);
    Summary {
        scenario: first.map_or_else(String::new, |scenario| scenario.name.clone()),
        question: first.map_or_else(String::new, |scenario| scenario.question.clone()),
        verdict: verdict(records, &cells),
        rows: cells
            .iter()
            .map(|cell| SummaryRow::of(cell, &cells, &noise))
            .collect(),
        interrupted: interrupted_cells(records)
            .iter()
            .map(|cell| SummaryRow::of(cell, &[], &NoiseFloor::default()))
            .collect(),
        failures: records.iter().filter_map(failure).collect(),
        warnings: notes(records),
        noise,
    }
}

/// The columns that say something of at least one of `rows`.
pub fn columns(rows: &[SummaryRow]) -> Vec<Column> {
    let says = |column: &Column| rows.iter().any(|row| row.text(*column) != NOT_APPLICABLE);
    Column::ALL.into_iter().filter(says).collect()
}

impl Summary {
    /// How the cells of a column are to be read, row by row.
    pub fn marks(&self, column: Column) -> Vec<Mark> {
        let worst = self.worst(column);
        let mark = |(index, row): (usize, &SummaryRow)| match row.mark(column) {
            Mark::Plain if worst.contains(&index) => Mark::Worst,
            mark => mark,
        };
        self.rows.iter().enumerate().map(mark).collect()
    }

    /// Rows with the worst value of a column, and those that differ from it by no more than noise does; none where that is all rows.
    /// Where noise was not measured a tenth stands for it, and a column in which most rows are as bad says nothing.
    fn worst(&self, column: Column) -> Vec<usize> {
        let values: Vec<(usize, f64)> = self
            .rows
            .iter()
            .enumerate()
            .filter_map(|(index, row)| Some((index, row.badness(column)?)))
            .collect();
        let largest = values.iter().map(|value| value.1).fold(0.0, f64::max);
        let measured = column.quantity().map(|quantity| self.noise.of(quantity));
        let (floor, most) = match measured {
            None => (Floor::NONE, values.len().saturating_sub(1)),
            Some(Some(floor)) => (floor, values.len().saturating_sub(1)),
            Some(None) => (Floor::TENTH, values.len() / 2),
        };
        let as_bad = |value: f64| value >= largest || floor.covers(value, largest);
        let worst: Vec<usize> = values
            .iter()
            .filter(|value| as_bad(value.1))
            .map(|value| value.0)
            .collect();
        if worst.len() <= most {
            worst
        } else {
            Vec::new()
        }
    }
}

fn failure(record: &RunRecord) -> Option<FailedTrial> {
    let (kind, reasons) = match &record.outcome {
        Outcome::Verified => return None,
        Outcome::Failed { violations } => ("failed", violations.clone()),
        Outcome::Error { message } => ("error", vec![message.clone()]),
        Outcome::Interrupted { violations } => {
            let kind = match record.measurements {
                Some(_) => "interrupted, partial",
                None => "interrupted",
            };
            (kind, interruption(record, violations))
        }
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
