//! The trials of each variant as one set of numbers.

use std::collections::BTreeMap;

use bench_core::measure::record::{
    Accounting, Measurements, Notifications, Outcome, RunRecord, Variant,
};

use crate::{
    series::{MergedLatency, Spread},
    work_balance::{load_at, skip_share},
};

/// All trials of one variant of one implementation.
#[derive(Debug, Clone)]
pub struct Cell<'a> {
    /// What ran.
    pub variant: &'a Variant,
    /// Whose informer ran.
    pub implementation: &'a str,
    /// `raw` or the typed kind.
    pub decode_mode: &'a str,
    /// Every trial, in the order of running.
    pub trials: Vec<&'a RunRecord>,
    /// Numbers of the verified trials, or of the one interrupted trial.
    pub verified: Vec<&'a Measurements>,
}

/// Each interrupted trial that measured something, as a cell of its own. What [`cells`] makes never holds their numbers.
pub fn interrupted_cells(records: &[RunRecord]) -> Vec<Cell<'_>> {
    records
        .iter()
        .filter(|record| matches!(record.outcome, Outcome::Interrupted { .. }))
        .filter_map(|record| {
            Some(Cell {
                variant: &record.variant,
                implementation: &record.implementation,
                decode_mode: &record.decode_mode,
                trials: vec![record],
                verified: vec![record.measurements.as_ref()?],
            })
        })
        .collect()
}

/// Groups records by variant, the control (resync off) first within each implementation, queue and informer.
pub fn cells(records: &[RunRecord]) -> Vec<Cell<'_>> {
    let mut cells: Vec<Cell<'_>> = Vec::new();
    for record in records {
        let place = cells.iter().position(|cell| {
            *cell.variant == record.variant
                && cell.implementation == record.implementation
                && cell.decode_mode == record.decode_mode
        });
        let index = place.unwrap_or_else(|| {
            cells.push(Cell {
                variant: &record.variant,
                implementation: &record.implementation,
                decode_mode: &record.decode_mode,
                trials: Vec::new(),
                verified: Vec::new(),
            });
            cells.len() - 1
        });
        cells[index].trials.push(record);
        if record.outcome == Outcome::Verified {
            cells[index].verified.extend(record.measurements.as_ref());
        }
    }
    let groups: Vec<String> = cells.iter().map(Cell::group).collect();
    cells.sort_by(|left, right| {
        let group = |cell: &Cell<'_>| groups.iter().position(|group| *group == cell.group());
        let key = |cell: &Cell<'_>| {
            (
                group(cell),
                cell.variant.object_count,
                cell.variant.handler_cost_ns,
                cell.variant.resync_period_ns,
            )
        };
        key(left).cmp(&key(right)).then(
            left.variant
                .churn_per_second
                .total_cmp(&right.variant.churn_per_second),
        )
    });
    cells
}

impl Cell<'_> {
    /// Implementation, queue and informer: what is drawn as one line of a chart.
    pub fn group(&self) -> String {
        format!(
            "{}, {} informer, {}",
            self.variant.queue, self.variant.informer, self.implementation
        )
    }

    /// The same within one implementation.
    pub fn short_group(&self) -> String {
        format!("{} ({})", self.variant.queue, self.variant.informer)
    }

    /// Its verified trials dealt to two cells in turn; `None` below two.
    pub fn halves(&self) -> Option<[Self; 2]> {
        let half = |first: usize| Self {
            verified: self
                .verified
                .iter()
                .skip(first)
                .step_by(2)
                .copied()
                .collect(),
            ..self.clone()
        };
        (self.verified.len() > 1).then(|| [half(0), half(1)])
    }

    /// The cell of `cells` that differs in resync being off and in nothing else.
    pub fn control<'c>(&self, cells: &'c [Self]) -> Option<&'c Self> {
        let period = self.variant.resync_period_ns?;
        cells.iter().find(|control| {
            let same_but_for_resync = Variant {
                label: self.variant.label.clone(),
                resync_period_ns: Some(period),
                ..control.variant.clone()
            };
            control.variant.resync_period_ns.is_none()
                && same_but_for_resync == *self.variant
                && control.implementation == self.implementation
                && control.decode_mode == self.decode_mode
        })
    }

    /// A value of each verified trial.
    pub fn spread(&self, value: impl Fn(&Measurements) -> Option<f64>) -> Option<Spread> {
        Spread::of(self.verified.iter().filter_map(|one| value(one)))
    }

    /// The latency series `name`, merged.
    pub fn latency(&self, name: &str) -> MergedLatency {
        MergedLatency::of(self.verified.iter().filter_map(|one| one.latency.get(name)))
    }

    /// How late the generator was, merged.
    pub fn lateness(&self) -> MergedLatency {
        MergedLatency::of(self.verified.iter().map(|one| &one.generator.lateness))
    }

    /// Loss to repair, merged.
    pub fn time_to_repair(&self) -> MergedLatency {
        MergedLatency::of(
            self.verified
                .iter()
                .filter_map(|one| one.repair.as_ref())
                .map(|repair| &repair.time_to_repair),
        )
    }

    /// Sum of a count over the verified trials.
    pub fn sum(&self, value: impl Fn(&Measurements) -> u64) -> u64 {
        self.verified.iter().map(|one| value(one)).sum()
    }

    /// Largest of a value over the verified trials.
    pub fn peak(&self, value: impl Fn(&Measurements) -> Option<u64>) -> Option<u64> {
        self.verified.iter().filter_map(|one| value(one)).max()
    }

    /// All measured time in seconds.
    pub fn window_seconds(&self) -> f64 {
        self.sum(|one| one.window_ns) as f64 / 1e9
    }

    /// Client CPU in cores: 1 is one core all the time.
    pub fn client_cpu(&self) -> Option<Spread> {
        self.spread(|one| {
            (one.window_ns > 0).then(|| one.cost.client_cpu_ns as f64 / one.window_ns as f64)
        })
    }

    /// Mean time between two resyncs, per trial.
    pub fn effective_period(&self) -> Option<Spread> {
        self.spread(|one| one.resync.effective_period_ns.map(|ns| ns as f64))
    }

    /// Interval between resyncs: the median of the trials where it was measured, otherwise the period asked for.
    pub fn resync_interval_ns(&self) -> Option<f64> {
        let asked = self.variant.resync_period_ns?;
        Some(
            self.effective_period()
                .map_or(asked as f64, |measured| measured.median),
        )
    }

    /// `N·cost/I + c·cost` at [`Cell::resync_interval_ns`]; `None` with resync off.
    pub fn measured_load(&self) -> Option<f64> {
        Some(load_at(self.variant, self.resync_interval_ns()?))
    }

    /// Share of the keys that the work balance expects to be skipped at [`Cell::resync_interval_ns`]. `None` for a shared informer:
    /// its backlog waits in the listener's buffer, where no resync looks.
    pub fn balanced_skip_share(&self) -> Option<f64> {
        let skips = self.variant.informer == "plain" && !self.redelivers_whole();
        skip_share(self.variant, self.resync_interval_ns().filter(|_| skips)?)
    }

    /// Whether a resync is one entry of the queue, for the whole cache: nothing is looked up, so nothing is skipped.
    pub fn redelivers_whole(&self) -> bool {
        self.variant.queue == "atomic-fifo"
    }

    /// Share of the keys known to the resyncs that were skipped; `None` without a resync.
    pub fn skip_share(&self) -> Option<f64> {
        let known: u64 = self.sum(|one| one.resync.ticks.iter().map(|tick| tick.known).sum());
        let skipped: u64 = self.skipped_by_cause().values().sum();
        (known > 0).then(|| skipped as f64 / known as f64)
    }

    /// Keys skipped by the resyncs, by the first pending delta.
    pub fn skipped_by_cause(&self) -> BTreeMap<String, u64> {
        let mut causes = BTreeMap::new();
        for (cause, count) in self.ticks().flat_map(|tick| &tick.skipped_pending) {
            *causes.entry(cause.clone()).or_default() += count;
        }
        causes
    }

    /// Keys that the resyncs found in the cache, of all verified trials.
    pub fn known_to_resyncs(&self) -> u64 {
        self.ticks().map(|tick| tick.known).sum()
    }

    /// Every resync of the verified trials.
    pub fn ticks(&self) -> impl Iterator<Item = &bench_core::measure::record::ResyncTick> {
        self.verified.iter().flat_map(|one| &one.resync.ticks)
    }

    /// Longest hold of the queue's lock by a resync.
    pub fn lock_hold_max(&self) -> Option<u64> {
        self.ticks().map(|tick| tick.lock_hold_ns).max()
    }

    /// Hold of the queue's lock over resyncs.
    pub fn lock_hold(&self) -> Option<Spread> {
        Spread::of(self.ticks().map(|tick| tick.lock_hold_ns as f64))
    }

    /// Time to drain a resync, over those that drained.
    pub fn drain(&self) -> Option<Spread> {
        Spread::of(
            self.ticks()
                .filter_map(|tick| tick.drain_ns)
                .map(|ns| ns as f64),
        )
    }

    /// Median drain over the period asked for. A resync that never drained makes it infinite.
    pub fn drain_ratio(&self) -> Option<f64> {
        let period = self.variant.resync_period_ns? as f64;
        if self.ticks().any(|tick| tick.drain_ns.is_none()) {
            return Some(f64::INFINITY);
        }
        self.drain().map(|drain| drain.median / period)
    }

    /// Mean that the closed form gives for the time to repair.
    pub fn expected_repair_ns(&self) -> Option<Spread> {
        self.spread(|one| one.repair.as_ref()?.expected_mean_ns)
    }

    /// Most stale keys at any time.
    pub fn stale_peak(&self) -> Option<u64> {
        self.peak(|one| {
            one.repair.as_ref()?;
            one.timeline
                .points
                .iter()
                .map(|point| point.stale_keys)
                .max()
        })
    }

    /// Notifications of the verified trials.
    pub fn notifications(&self) -> Notifications {
        let sum = |value: fn(&Notifications) -> u64| self.sum(|one| value(&one.notifications));
        Notifications {
            live: sum(|n| n.live),
            sync: sum(|n| n.sync),
            relist: sum(|n| n.relist),
            replay: sum(|n| n.replay),
            initial: sum(|n| n.initial),
            skipped_pending: sum(|n| n.skipped_pending),
            superseded: sum(|n| n.superseded),
        }
    }

    /// The handlers' balance over the verified trials.
    pub fn accounting(&self) -> Accounting {
        let sum = |value: fn(&Accounting) -> u64| self.sum(|one| value(&one.accounting));
        Accounting {
            sent: sum(|a| a.sent),
            delivered: sum(|a| a.delivered),
            superseded: sum(|a| a.superseded),
            lost_on_purpose: sum(|a| a.lost_on_purpose),
            pending: sum(|a| a.pending),
        }
    }
}

/// Whether `sent = delivered + superseded + lost_on_purpose + pending`.
pub fn balances(accounting: &Accounting) -> bool {
    accounting.sent
        == accounting.delivered
            + accounting.superseded
            + accounting.lost_on_purpose
            + accounting.pending
}
