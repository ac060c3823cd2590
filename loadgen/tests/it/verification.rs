//! A trial whose events or counts were tampered with fails, and one that was left alone does not.

use std::{fs, sync::atomic::Ordering, time::Duration};

use bench_core::{api::Resource, cache::QueueKind, measure::record::Outcome};
use fake_apiserver::control::{Arrivals, ChurnMix, ChurnRequest, KeyChoice};
use loadgen::{
    drive::{DriveSettings, Driven, Losses, drive},
    handler_cost::HandlerCost,
    interrupt::Interrupt,
    scenario::choice::{HandlerKind, InformerKind},
};

use crate::{
    meddler::{Meddled, Meddling},
    program::{loadgen, records},
};

/// The article's queue in both informers, and today's.
const INFORMERS: [(QueueKind, InformerKind); 3] = [
    (QueueKind::DeltaFifo, InformerKind::Plain),
    (QueueKind::DeltaFifo, InformerKind::Shared),
    (QueueKind::AtomicFifo, InformerKind::Plain),
];

async fn drive_through(meddling: Meddling, informer: (QueueKind, InformerKind)) -> Driven {
    let server = Meddled::start(meddling).await;
    let churn = ChurnRequest {
        resource: "pods".to_owned(),
        rate_per_second: 300.0,
        mix: ChurnMix {
            create: 1.0,
            update: 8.0,
            delete: 1.0,
        },
        arrivals: Arrivals::Constant,
        keys: KeyChoice::Uniform,
        seed: 5,
        start_at_ns: None,
    };
    let window = Duration::from_secs(match meddling {
        // Before it lists again, the informer backs off for up to 1.6 s.
        Meddling::Expire(..) => 3,
        _ => 1,
    });
    let settings = DriveSettings {
        queue: informer.0,
        base_url: server.base_url.clone(),
        resource: Resource::pods(),
        peer: None,
        informer: informer.1,
        handler: HandlerKind::Inline,
        workers: 1,
        handler_cost: HandlerCost::None,
        losses: Losses {
            adds_and_updates: 0.05,
            deletes: 0.0,
        },
        resync_period: Some(Duration::from_millis(300)),
        churn: Some(churn),
        warm_up: Duration::ZERO,
        window,
        seed: 5,
    };
    let driven = drive(&settings, &Interrupt::default()).await.unwrap();
    let hits = server.hits.load(Ordering::Relaxed);
    let is_event = !matches!(
        meddling,
        Meddling::None | Meddling::HideCommit | Meddling::InventCommit
    );
    assert_eq!(hits, u64::from(is_event), "{meddling:?} did not come to it");
    driven
}

#[track_caller]
fn assert_fails(driven: &Driven, meddling: Meddling) {
    assert!(
        matches!(driven.outcome(), Outcome::Failed { .. }) && !driven.violations.is_empty(),
        "{meddling:?} went unnoticed"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn what_is_left_alone_is_verified() {
    for informer in INFORMERS {
        let driven = drive_through(Meddling::None, informer).await;
        assert_eq!(driven.outcome(), Outcome::Verified);
        let accounting = driven.measurements.unwrap().accounting;
        assert!(accounting.sent > 100 && accounting.lost_on_purpose > 0);
        assert_eq!(accounting.superseded + accounting.pending, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_dropped_event_fails_the_trial() {
    for meddling in [
        Meddling::Drop("ADDED", 5),
        Meddling::Drop("MODIFIED", 50),
        Meddling::Drop("DELETED", 5),
    ] {
        for informer in INFORMERS {
            assert_fails(&drive_through(meddling, informer).await, meddling);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_tampered_list_of_writes_fails_the_trial() {
    for meddling in [Meddling::HideCommit, Meddling::InventCommit] {
        let driven = drive_through(meddling, INFORMERS[0]).await;
        assert_fails(&driven, meddling);
    }
}

/// As after a watch that was resumed from an older version.
#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_repeated_event_is_counted_apart_and_is_in_no_latency() {
    for informer in INFORMERS {
        let driven = drive_through(Meddling::Repeat("MODIFIED", 50), informer).await;
        assert_eq!(driven.outcome(), Outcome::Verified);
        let one = driven.measurements.unwrap();
        assert_eq!(one.notifications.replay, 1);
        assert!(one.latency["live"].count <= one.generator.scheduled);
    }
}

/// The control of the above: the informer recovers by itself from a watch that ends with 410, so nothing is wrong.
#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_forced_relist_is_no_failure() {
    for informer in INFORMERS {
        let driven = drive_through(Meddling::Expire("MODIFIED", 50), informer).await;
        assert_eq!(driven.outcome(), Outcome::Verified, "{informer:?}");
        let one = driven.measurements.unwrap();
        assert!(one.notifications.relist > 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn a_failed_trial_is_exit_code_1_and_shown_without_numbers() {
    let meddling = Meddling::Drop("MODIFIED", 50);
    let driven = drive_through(meddling, INFORMERS[0]).await;
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (out, failed) = (path("out"), path("failed"));
    let small = ["--count", "20", "--resync", "off", "--window", "100ms"];
    let mut arguments = vec!["compare", "--warm-up", "0", "--rounds", "1", "--out", &out];
    arguments.extend(["--queue", "delta-fifo"].iter().chain(&small));
    assert_eq!(loadgen(&arguments).code, Some(0));
    let mut record = records(out.as_ref()).remove(0);
    record.outcome = driven.outcome();
    record.measurements = None;
    fs::create_dir_all(path("failed/records")).unwrap();
    let json = serde_json::to_vec(&record).unwrap();
    fs::write(path("failed/records/000.json"), json).unwrap();
    let ran = loadgen(&["report", &failed]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(ran.stdout.contains("No verdict: no trial was verified."));
    assert!(words(&ran.stdout).contains(&words(&driven.violations[0])));
}
