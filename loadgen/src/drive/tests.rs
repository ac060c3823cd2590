//! Made-up trials whose numbers are known beforehand.

use std::time::Duration;

use bench_core::{
    api::{ObjectKey, Resource},
    cache::QueueKind,
    measure::{clock::MonotonicTime, latency::LatencyRecorder, record::LatencySeries},
};
use fake_apiserver::control::{
    Arrivals, ChurnMix, ChurnRequest, CommitRecord, KeyChoice, WriteKind,
};

use super::{
    DriveSettings, Losses,
    analysis::{Inputs, analyse},
    recorder::{Call, Cause, Delivery, Log},
};
use crate::{
    handler_cost::HandlerCost,
    scenario::choice::{HandlerKind, InformerKind},
};

const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;

/// Begin of the window; the clock has run for a while.
const BEGAN: u64 = 1_000 * SECOND;

/// Commit to the handler's return.
const SERVICE: u64 = 2 * MILLISECOND;

fn settings(rate_per_second: f64) -> DriveSettings {
    DriveSettings {
        queue: QueueKind::DeltaFifo,
        base_url: String::new(),
        resource: Resource::pods(),
        peer: None,
        informer: InformerKind::Plain,
        handler: HandlerKind::Probe,
        workers: 1,
        handler_cost: HandlerCost::None,
        losses: Losses {
            adds_and_updates: 0.0,
            deletes: 0.0,
        },
        resync_period: None,
        churn: Some(ChurnRequest {
            resource: "pods".to_owned(),
            rate_per_second,
            mix: ChurnMix::updates_only(),
            arrivals: Arrivals::Constant,
            keys: KeyChoice::Uniform,
            seed: 1,
            start_at_ns: None,
        }),
        warm_up: Duration::ZERO,
        window: Duration::from_secs(30),
        seed: 1,
    }
}

/// Updates of one object: (due, committed), from the window's begin.
fn commits(times: impl IntoIterator<Item = (u64, u64)>) -> Vec<CommitRecord> {
    let commit = |(version, (due, committed))| CommitRecord {
        resource_version: version,
        kind: WriteKind::Update,
        key: "t/a".to_owned(),
        scheduled_ns: BEGAN + due,
        committed_ns: BEGAN + committed,
    };
    (1..).zip(times).map(commit).collect()
}

fn call(version: u64, cause: Cause, returned_ns: u64) -> Delivery {
    Delivery {
        key: ObjectKey::new("t", "a"),
        uid: "u".into(),
        call: Call::Update,
        cause,
        old_version: Some(version - 1),
        version,
        began_ns: returned_ns - 1,
        returned_ns,
        lost: false,
    }
}

fn inputs(settings: &DriveSettings, commits: Vec<CommitRecord>, log: Log) -> Inputs<'_> {
    let at = |nanoseconds| MonotonicTime { nanoseconds };
    Inputs {
        settings,
        known: 1,
        began: at(BEGAN - 2 * SECOND),
        synced_at: at(BEGAN - SECOND),
        window_began: at(BEGAN),
        window_ended: at(BEGAN + 30 * SECOND),
        converged_at: at(BEGAN + 31 * SECOND),
        client_cpu: Duration::ZERO,
        client_rss_peak_bytes: 0,
        client_allocations: None,
        server_cpu: Duration::ZERO,
        server_rss_peak_bytes: 0,
        commits,
        undone: 0,
        log,
        samples: Vec::new(),
    }
}

/// Share of the samples above 0.1 s.
fn slow_share(series: &LatencySeries) -> f64 {
    let slow = series
        .buckets
        .iter()
        .filter(|(value, _)| *value > 100 * MILLISECOND);
    slow.map(|(_, count)| count).sum::<u64>() as f64 / series.count as f64
}

/// Ten changes a second for 30 s; those due while the server stands still are committed when it goes on.
fn at_ten_a_second(
    stands_still: std::ops::Range<u64>,
) -> bench_core::measure::record::Measurements {
    let times = (0..300).map(|index| {
        let due = index * SECOND / 10;
        let stalled = stands_still.contains(&due);
        (due, if stalled { stands_still.end } else { due })
    });
    let commits = commits(times);
    let deliveries = commits.iter().map(|commit| {
        call(
            commit.resource_version,
            Cause::Live,
            commit.committed_ns + SERVICE,
        )
    });
    let log = Log {
        deliveries: deliveries.collect(),
        ..Log::default()
    };
    let settings = settings(10.0);
    let (measurements, violations) = analyse(&inputs(&settings, commits, log));
    assert_eq!(violations, [""; 0]);
    measurements
}

#[test]
fn a_server_that_stands_still_is_in_live_latency_and_not_in_service_time() {
    let measured = at_ten_a_second(10 * SECOND..15 * SECOND);
    let (live, service) = (&measured.latency["live"], &measured.latency["live.service"]);
    assert_eq!((live.count, service.count), (300, 300));
    // 50 changes were due in the 5 s; they waited 5.0, 4.9, … 0.1 s.
    let p99 = live.p99_ns.unwrap();
    assert!((4_700 * MILLISECOND..5 * SECOND).contains(&p99), "{p99}");
    let share = slow_share(live);
    assert!((share - 50.0 / 300.0).abs() < 0.001, "{share}");
    assert_eq!(live.max_ns, Some(5 * SECOND + SERVICE));
    assert_eq!(service.p99_ns, Some(SERVICE));
    assert_eq!(service.max_ns, Some(SERVICE));
    let generator = &measured.generator;
    assert_eq!((generator.scheduled, generator.committed), (300, 300));
    assert_eq!(generator.lateness.max_ns, Some(5 * SECOND));
}

#[test]
fn without_a_standstill_live_latency_is_service_time() {
    let measured = at_ten_a_second(0..0);
    assert_eq!(measured.latency["live"], measured.latency["live.service"]);
    assert_eq!(measured.latency["live"].max_ns, Some(SERVICE));
}

#[test]
fn replayed_and_relisted_events_are_in_no_latency() {
    let commits = commits([(0, 0), (SECOND, SECOND), (2 * SECOND, 2 * SECOND)]);
    let minutes_later = BEGAN + 29 * SECOND;
    let deliveries = vec![
        call(1, Cause::Live, BEGAN + SERVICE),
        // While no watch was open, version 2 came, and 1 was then shown again.
        call(2, Cause::Relist, minutes_later),
        call(1, Cause::Replay, minutes_later),
        call(3, Cause::Live, BEGAN + 2 * SECOND + SERVICE),
    ];
    let log = Log {
        deliveries,
        // Both events that were shown live, and the replay.
        received: vec![
            (1, BEGAN + 1),
            (3, BEGAN + 2 * SECOND + 1),
            (1, minutes_later - 1),
        ],
        ..Log::default()
    };
    let settings = settings(1.0);
    let (measured, _) = analyse(&inputs(&settings, commits, log));
    let mut expected = LatencyRecorder::new();
    expected.record(Duration::from_nanos(SERVICE));
    expected.record(Duration::from_nanos(SERVICE));
    assert_eq!(measured.latency["live"], expected.to_series());
    assert_eq!(measured.latency["live.queue"].negative, 0);
    let counted = &measured.notifications;
    assert_eq!((counted.live, counted.relist, counted.replay), (2, 1, 1));
}

#[test]
fn what_a_late_generator_left_undone_counts_as_scheduled() {
    // 1,000 a second were due; in 30 s it did the first 3,000.
    let times = (0..3_000).map(|index| (index * MILLISECOND, index * 10 * MILLISECOND));
    let commits = commits(times);
    let settings = settings(1_000.0);
    let inputs = Inputs {
        undone: 27_500,
        ..inputs(&settings, commits, Log::default())
    };
    let (measured, _) = analyse(&inputs);
    let generator = &measured.generator;
    // 500 more came due after the window, before the churn was stopped.
    assert_eq!(generator.scheduled, 30_001);
    assert_eq!(generator.committed, 3_000);
    assert!(generator.lateness.p99_ns.unwrap() > 26 * SECOND);
}
