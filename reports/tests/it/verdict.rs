//! The verdict's words.

use expect_test::expect;
use reports::{
    aggregate::cells,
    column::{Column, Mark},
    figure::delivery::skip_against_load,
    summary::summarise,
    verdict::Question,
};

use crate::synthetic;

#[test]
fn periods() {
    let summary = summarise(&synthetic::periods());
    expect!["At 20,000 objects, 60 µs a handler call, 200 changes/s, the smallest safe resync period is 1.21 s with delta-fifo and atomic-fifo of informer-bench 0.1.0 (synthetic); of those measured, take 2 s or longer."].assert_eq(&summary.verdict.headline);
    expect!["delta-fifo, plain informer, informer-bench 0.1.0 (synthetic): off costs 1.57 % of a core; 1 s costs 16.1 % of a core, repairs a lost event in 1.41 s on average (load 1.21 is above 1, skipped 14.3 % of the keys); 2 s costs 10 % of a core, repairs a lost event in 2.05 s on average; 3 s costs 7.22 % of a core, repairs a lost event in 2.69 s on average."].assert_eq(&summary.verdict.details[0]);
    let order: Vec<&str> = summary
        .rows
        .iter()
        .map(|row| row.label.as_str())
        .take(4)
        .collect();
    assert_eq!(
        order,
        [
            "delta-fifo resync off",
            "delta-fifo resync 1s",
            "delta-fifo resync 2s",
            "delta-fifo resync 3s"
        ]
    );
    let marked: Vec<&str> = summary
        .rows
        .iter()
        .filter(|row| row.mark(Column::Load) == Mark::Bad)
        .map(|row| row.label.as_str())
        .collect();
    assert_eq!(marked, ["delta-fifo resync 1s", "atomic-fifo resync 1s"]);
}

#[test]
fn a_run_that_measured_no_period_calls_none_unsafe() {
    let mut records = synthetic::periods();
    for record in &mut records {
        if record.variant.resync_period_ns.is_some() {
            *record = synthetic::interrupted(record.clone());
        }
    }
    let headline = summarise(&records).verdict.headline;
    assert!(
        headline.ends_with("; no period was measured."),
        "{headline}"
    );
}

#[test]
fn scale() {
    expect!["One resync of 300,000 objects with delta-fifo of informer-bench 0.1.0 (synthetic) holds the queue's lock for 131 ms and takes 305 ms to be handled."].assert_eq(&summarise(&synthetic::scale()).verdict.headline);
}

#[test]
fn dedup() {
    expect!["With informer-bench 0.1.0 (synthetic), at or below load 1 a resync skipped none of the keys; above it at most 57.1 %; the shared informer skipped none."].assert_eq(&summarise(&synthetic::dedup()).verdict.headline);
}

#[test]
fn both_informers_that_lose_events_ask_for_a_period() {
    let mut records = synthetic::periods();
    for record in &mut records {
        record.scenario.axes.push("informer".to_owned());
    }
    assert_eq!(Question::of(&records), Question::Periods);
    for record in &mut records {
        record.variant.loss_share = 0.0;
    }
    assert_eq!(Question::of(&records), Question::Dedup);
}

#[test]
fn dedup_is_judged_at_the_measured_interval() {
    let mut records = synthetic::dedup();
    records.retain(|record| record.variant.label == "delta-fifo resync 1s plain 300us");
    let one = records[0].measurements.as_mut().expect("numbers");
    // 5,000 objects at 300 µs are 1.5 s of work: load 1.56 as asked for, 0.81 as it came.
    one.resync.effective_period_ns = Some(2_000_000_000);
    for tick in &mut one.resync.ticks {
        tick.enqueued = tick.known;
        tick.skipped_pending.clear();
    }
    let cells = cells(&records);
    let load = cells[0].measured_load().expect("a resync");
    assert!((load - 0.81).abs() < 1e-9, "{load}");
    assert_eq!(cells[0].balanced_skip_share(), Some(0.0));
    expect!["With informer-bench 0.1.0 (synthetic), at or below load 1 a resync skipped none of the keys."]
        .assert_eq(&summarise(&records).verdict.headline);
    let figure = skip_against_load(&cells, "").expect("no failure");
    assert!(figure.is_none(), "nothing skipped, nothing to draw");
    let one = records[0].measurements.as_mut().expect("numbers");
    one.resync.effective_period_ns = Some(1_250_000_000);
    let cells = reports::aggregate::cells(&records);
    let figure = skip_against_load(&cells, "")
        .expect("no failure")
        .expect("a load above 1");
    assert!(
        figure.csv.contains("point,\"load at the measured interval, N·cost/I + c·cost [1]\",1.26,share of keys skipped [share],0,"),
        "{}",
        figure.csv
    );
}
