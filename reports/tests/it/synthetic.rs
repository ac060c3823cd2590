//! SYNTHETIC records: plausible numbers from formulas, measured by nobody.

use std::{collections::BTreeMap, fmt::Write as _};

use bench_core::measure::record::{
    Accounting, Cost, Environment, Generator, LatencySeries, Measurements, Notifications, Outcome,
    Repair, ResyncSummary, ResyncTick, RunRecord, SCHEMA_VERSION, ScenarioSummary, Timeline,
    TimelinePoint, Variant, Warning,
};
use reports::quantity::rounded;

/// A setting of one synthetic trial.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) queue: &'static str,
    pub(crate) informer: &'static str,
    pub(crate) period_ms: Option<u64>,
    pub(crate) objects: u64,
    pub(crate) cost_us: u64,
    pub(crate) churn: f64,
    pub(crate) loss: f64,
}

/// The default comparison.
pub(crate) const COMPARE: Setting = Setting {
    queue: "delta-fifo",
    informer: "plain",
    period_ms: None,
    objects: 20_000,
    cost_us: 60,
    churn: 200.0,
    loss: 0.01,
};

const WINDOW_MS: u64 = 6_500;

/// A latency series around `typical` nanoseconds.
pub(crate) fn latency(count: u64, typical: u64) -> LatencySeries {
    if count == 0 {
        return LatencySeries::default();
    }
    let buckets: Vec<(u64, u64)> = [
        (typical / 2, 40),
        (typical, 45),
        (typical * 3, 12),
        (typical * 9, 3),
    ]
    .into_iter()
    .map(|(value, percent)| (value, (count * percent / 100).max(1)))
    .collect();
    let samples: u64 = buckets.iter().map(|bucket| bucket.1).sum();
    let total: u64 = buckets.iter().map(|bucket| bucket.0 * bucket.1).sum();
    LatencySeries {
        count: samples,
        mean_ns: Some(total as f64 / samples as f64),
        min_ns: Some(typical / 3),
        max_ns: Some(typical * 9 - 7),
        p50_ns: Some(typical),
        p99_ns: Some(typical * 9 - 7),
        buckets,
        ..LatencySeries::default()
    }
}

fn label(setting: Setting, axes: &[&str]) -> String {
    let period = setting
        .period_ms
        .map_or_else(|| "off".to_owned(), |ms| format!("{}s", ms as f64 / 1e3));
    let mut words = format!("{} resync {period}", setting.queue);
    if axes.contains(&"object_count") {
        write!(words, " {} objects", setting.objects).expect("a String grows");
    }
    if axes.contains(&"handler_cost_ns") {
        write!(words, " {} {}us", setting.informer, setting.cost_us).expect("a String grows");
    }
    words
}

/// A verified trial.
pub(crate) fn record(
    scenario: &str,
    axes: &[&str],
    setting: Setting,
    round: u32,
    order: u32,
) -> RunRecord {
    RunRecord {
        schema_version: SCHEMA_VERSION,
        scenario: ScenarioSummary {
            name: scenario.to_owned(),
            question: "Which resync period: what does it cost, and what does it repair? (synthetic records)".to_owned(),
            hash: "5ca1ab1e".to_owned(),
            axes: axes.iter().map(|&axis| axis.to_owned()).collect(),
        },
        variant: Variant {
            label: label(setting, axes),
            queue: setting.queue.to_owned(),
            informer: setting.informer.to_owned(),
            resync_period_ns: setting.period_ms.map(|ms| ms * 1_000_000),
            object_count: setting.objects,
            object_source: "pod-6k".to_owned(),
            resource: "pods".to_owned(),
            object_size_bytes_mean: 6_144,
            handler: "inline".to_owned(),
            handler_cost_kind: "sleep".to_owned(),
            handler_cost_ns: setting.cost_us * 1_000,
            churn_per_second: setting.churn,
            loss_share: setting.loss,
        },
        round,
        order,
        implementation: "informer-bench 0.1.0 (synthetic)".to_owned(),
        decode_mode: "raw".to_owned(),
        environment: Environment {
            commit: "0000000".to_owned(),
            dirty: false,
            rustc: "rustc 1.95.0".to_owned(),
            profile: "release".to_owned(),
            cpu: "Synthetic CPU é中😀".to_owned(),
            cores: 2,
            memory_bytes: 8 << 30,
            kernel: "6.1.0".to_owned(),
            placement: "server on core 0, client on core 1".to_owned(),
        },
        seed: 7,
        trace_checksum: format!("00{round}c0ffee"),
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        command: "loadgen compare </script> & more".to_owned(),
        outcome: Outcome::Verified,
        warnings: vec![Warning::afterwards("TooFewSamples", "two rounds".to_owned())],
        measurements: Some(measurements(setting, round)),
    }
}

fn measurements(setting: Setting, round: u32) -> Measurements {
    let cost = setting.cost_us as f64 / 1e6;
    let live_load = setting.churn * cost;
    let work_ms = setting.objects as f64 * cost * 1e3;
    let fired = setting
        .period_ms
        .map_or(0, |period| WINDOW_MS / (period + 9));
    let share = setting.period_ms.map_or(0.0, |period| {
        (1.0 - period as f64 * (1.0 - live_load) / work_ms).max(0.0)
    });
    let share = if setting.informer == "shared" {
        0.0
    } else {
        share * 0.97
    };
    let ticks: Vec<ResyncTick> = (1..=fired)
        .map(|number| tick(setting, number, share))
        .collect();
    let live = rounded(setting.churn * WINDOW_MS as f64 / 1e3);
    let sync: u64 = ticks.iter().map(|tick| tick.enqueued).sum();
    let skipped: u64 = ticks
        .iter()
        .flat_map(|tick| tick.skipped_pending.values())
        .sum();
    let mut series = BTreeMap::new();
    series.insert("live".to_owned(), latency(live, 300_000 + fired * 400_000));
    series.insert("live.service".to_owned(), latency(live, 110_000));
    series.insert("live.handler".to_owned(), LatencySeries::default());
    Measurements {
        time_to_sync_ns: 800_000_000,
        window_ns: WINDOW_MS * 1_000_000,
        time_to_converge_ns: 100_000_000,
        generator: Generator {
            scheduled: live,
            committed: live,
            committed_by_kind: BTreeMap::from([("update".to_owned(), live)]),
            lateness: latency(live, 40_000),
        },
        latency: series,
        resync: ResyncSummary {
            expected: setting.period_ms.map_or(0, |period| WINDOW_MS / period),
            fired,
            effective_period_ns: setting
                .period_ms
                .filter(|_| fired > 1)
                .map(|period| (period + 9) * 1_000_000),
            ticks,
        },
        notifications: Notifications {
            live: live - 3,
            sync,
            skipped_pending: skipped,
            superseded: 3,
            ..Notifications::default()
        },
        accounting: Accounting {
            sent: live + 200,
            delivered: live + 187,
            superseded: 3,
            lost_on_purpose: 10,
            pending: 0,
        },
        repair: (setting.loss > 0.0).then(|| repair(setting)),
        cost: cost_of(setting, live + sync, sync, round),
        timeline: timeline(setting),
    }
}

fn tick(setting: Setting, number: u64, share: f64) -> ResyncTick {
    let period = setting.period_ms.unwrap_or(1) + 9;
    let skipped = if number == 1 {
        0
    } else {
        rounded(setting.objects as f64 * share)
    };
    let updated = skipped / 20;
    ResyncTick {
        at_ns: number * period * 1_000_000,
        known: setting.objects,
        enqueued: setting.objects - skipped,
        skipped_pending: BTreeMap::from([
            ("Sync".to_owned(), skipped - updated),
            ("Updated".to_owned(), updated),
        ]),
        missing: 0,
        lock_wait_ns: 60_000,
        lock_hold_ns: rounded((setting.objects as f64).powf(1.03) * 300.0) + number * 10_000,
        drain_ns: Some((setting.objects - skipped) * setting.cost_us * 1_013 + 1_000_000),
    }
}

fn repair(setting: Setting) -> Repair {
    let mean = setting.period_ms.map_or(2_400_000_000, |period| {
        period * 500_000 + setting.objects * setting.cost_us * 500
    });
    Repair {
        lost_adds: 1,
        lost_updates: 12,
        lost_deletes: 4,
        repaired_by_resync: setting.period_ms.map_or(0, |_| 9),
        repaired_by_live: 1,
        unrepaired: setting.period_ms.map_or(12, |_| 3),
        unrepaired_deletes: 4,
        time_to_repair: latency(if setting.period_ms.is_some() { 100 } else { 1 }, mean),
        expected_mean_ns: setting.period_ms.map(|_| mean as f64 * 1.35),
    }
}

fn timeline(setting: Setting) -> Timeline {
    let points = (1..=65_u64)
        .map(|step| {
            let phase = setting
                .period_ms
                .map_or(0, |period| step * 100 % (period + 9));
            let drained = setting.period_ms.map_or(0, |_| {
                setting
                    .objects
                    .saturating_sub(phase * 1_000 / setting.cost_us.max(1))
            });
            let plain = setting.informer == "plain";
            TimelinePoint {
                at_ns: step * 100_000_000,
                queue_keys: if plain { drained } else { 1 },
                queue_deltas: drained,
                listener: (!plain).then_some(drained),
                stale_keys: if setting.loss == 0.0 {
                    0
                } else if setting.period_ms.is_some() {
                    1 + phase / 400
                } else {
                    step / 4
                },
                client_rss_bytes: 30_000_000 + setting.objects * 7_000,
                client_cpu_ns: 4_000_000,
                live_p99_ns: Some(400_000 + drained * 150),
                live_count: 20,
                sync_count: drained.min(1_600),
            }
        })
        .collect();
    Timeline {
        step_ns: 100_000_000,
        points,
    }
}

/// `off`, 1, 2 and 3 s of both queues, two rounds.
pub(crate) fn periods() -> Vec<RunRecord> {
    let mut records = Vec::new();
    for round in 0..2 {
        for queue in ["delta-fifo", "atomic-fifo"] {
            for period_ms in [None, Some(1_000), Some(2_000), Some(3_000)] {
                let order = u32::try_from(records.len()).expect("few trials");
                records.push(record(
                    "resync-periods",
                    &["queue", "resync_period_ns"],
                    Setting {
                        queue,
                        period_ms,
                        ..COMPARE
                    },
                    round,
                    order,
                ));
            }
        }
    }
    records
}

/// One period, 1,000 to 300,000 objects.
pub(crate) fn scale() -> Vec<RunRecord> {
    let sizes = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000];
    let setting = |objects| Setting {
        period_ms: Some(3_000),
        objects,
        cost_us: 1,
        churn: 20.0,
        loss: 0.0,
        ..COMPARE
    };
    sizes
        .into_iter()
        .zip(0..)
        .map(|(objects, order)| {
            record(
                "resync-scale",
                &["object_count"],
                setting(objects),
                0,
                order,
            )
        })
        .collect()
}

/// Plain and shared informers over period, cost and churn.
pub(crate) fn dedup() -> Vec<RunRecord> {
    let mut records = Vec::new();
    for informer in ["plain", "shared"] {
        for cost_us in [100, 300, 600] {
            for period_ms in [1_000, 2_000] {
                let setting = Setting {
                    informer,
                    period_ms: Some(period_ms),
                    objects: 5_000,
                    cost_us,
                    loss: 0.0,
                    ..COMPARE
                };
                let order = u32::try_from(records.len()).expect("few trials");
                records.push(record(
                    "resync-dedup",
                    &["resync_period_ns", "handler_cost_ns", "informer"],
                    setting,
                    0,
                    order,
                ));
            }
        }
    }
    records
}

/// `record` as one that failed verification.
pub(crate) fn failed(mut record: RunRecord) -> RunRecord {
    record.outcome = Outcome::Failed {
        violations: vec!["synthetic: pod a/b differs between cache and server".to_owned()],
    };
    record.measurements = None;
    record
}

/// `record` as one that was interrupted two seconds into its window.
pub(crate) fn interrupted(mut record: RunRecord) -> RunRecord {
    record.outcome = Outcome::Interrupted {
        violations: Vec::new(),
    };
    let one = record.measurements.as_mut().expect("a verified trial");
    one.window_ns = 2_000_000_000;
    one.resync.fired = 77;
    record
}

fn cost_of(setting: Setting, calls: u64, sync: u64, round: u32) -> Cost {
    let wobble = 1.0 + 0.04 * f64::from(round);
    Cost {
        client_cpu_ns: rounded(calls as f64 * 9_000.0 * wobble) + 90_000_000,
        server_cpu_ns: 300_000_000,
        client_rss_peak_bytes: 30_000_000 + setting.objects * 7_000,
        server_rss_peak_bytes: 30_000_000 + setting.objects * 7_400,
        client_allocations: None,
        client_allocated_bytes: None,
        queue_keys_peak: if setting.informer == "plain" {
            setting.objects * u64::from(sync > 0) + 12
        } else {
            3
        },
        queue_deltas_peak: setting.objects + 12,
        listener_peak: (setting.informer == "shared").then_some(sync / 2 + 1),
    }
}
