//! Faults of the body as a whole: silence, breaks, early ends, a trickle.

use std::time::Duration;

use fake_apiserver::control::WriteKind::Update;
use futures_util::FutureExt as _;
use tokio::time::{Instant, advance};

use crate::{
    client::{Client, Watch},
    fault_requests::set_faults,
};

const PODS: &str = "/api/v1/pods";
const WATCH: &str = "/api/v1/pods?watch=true&resourceVersion=2";
const NOTHING: [&str; 0] = [];

/// A client with one pod, a watch that meets the fault, and one that does not.
async fn watches(fault: &str) -> (Client, Watch, Watch) {
    let client = Client::with_pods(&["a/x"]);
    let script = format!("faults: [{{match: {{user_agent: victim}}, fault: {fault}}}]");
    set_faults(&client.server, &script);
    let victim = client.watch_as(WATCH, "victim").await;
    let control = client.watch_as(WATCH, "control").await;
    (client, victim, control)
}

#[tokio::test(start_paused = true)]
async fn a_stalled_watch_falls_silent_after_its_events_and_stays_open() {
    for fault in [
        "{stall: {after_events: 2}}",
        "{half_open: {after_events: 2}}",
    ] {
        let (client, mut victim, mut control) = watches(fault).await;
        for _ in 0..4 {
            client.write(Update, "a/x");
        }
        assert_eq!(victim.ready(), ["MODIFIED a/x@3", "MODIFIED a/x@4"]);
        assert_eq!(control.ready().len(), 4);
        advance(Duration::from_hours(2)).await;
        assert_eq!(victim.ready(), NOTHING, "not even its deadline ends it");
        assert_eq!(control.ready(), ["END"]);
        client.server.request_shutdown();
        assert_eq!(victim.ready(), ["END"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_stalls_at_once_or_at_a_time() {
    let (client, mut victim, _) = watches("{stall: {}}").await;
    client.write(Update, "a/x");
    assert_eq!(victim.ready(), NOTHING);
    let (client, mut victim, mut control) = watches("{stall: {after: 5s}}").await;
    client.write(Update, "a/x");
    assert_eq!(victim.ready(), ["MODIFIED a/x@3"]);
    advance(Duration::from_millis(4999)).await;
    client.write(Update, "a/x");
    assert_eq!(victim.ready(), ["MODIFIED a/x@4"]);
    advance(Duration::from_millis(1)).await;
    client.write(Update, "a/x");
    assert_eq!(victim.ready(), NOTHING);
    assert_eq!(control.ready().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_cut_watch_breaks_off_inside_the_line_after_its_events() {
    let (client, mut victim, mut control) = watches("{cut: {after_events: 1}}").await;
    client.write(Update, "a/x");
    client.write(Update, "a/x");
    assert_eq!(
        victim.next_line().await.unwrap().len() + 1,
        control.next_line().await.unwrap().len() + 1
    );
    let whole = control.next_line().await.unwrap();
    let half = victim.next_chunk().await.unwrap().unwrap();
    assert!(
        !half.is_empty() && half.len() < whole.len() && whole.starts_with(&half),
        "{half}"
    );
    let error = victim.next_chunk().await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "cut by a fault script");
    client.write(Update, "a/x");
    assert_eq!(control.ready(), ["MODIFIED a/x@5"]);
}

#[tokio::test(start_paused = true)]
async fn a_list_breaks_off_after_its_bytes() {
    let client = Client::with_pods(&["a/x", "a/y"]);
    set_faults(
        &client.server,
        "faults: [{match: {user_agent: victim}, fault: {cut: {after_bytes: 50}}}]",
    );
    let whole = client.send_as("GET", PODS, "control", "").await;
    assert_eq!(
        whole.headers["content-length"],
        (whole.text.len() + 1).to_string()
    );
    let mut broken = client.watch_as(PODS, "victim").await;
    assert_eq!(
        broken.next_chunk().await.unwrap().unwrap(),
        whole.text[..50]
    );
    assert!(broken.next_chunk().await.unwrap().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_cut_or_closed_at_a_time_even_between_events() {
    let (client, mut victim, mut control) = watches("{cut: {after: 3s}}").await;
    client.write(Update, "a/x");
    assert_eq!(victim.ready(), ["MODIFIED a/x@3"]);
    let begin = Instant::now();
    assert!(victim.next_chunk().await.unwrap().is_err());
    assert_eq!(begin.elapsed().as_secs(), 3);
    assert_eq!(control.ready(), ["MODIFIED a/x@3"]);
    let (_client, mut victim, mut control) = watches("{close: {after: 3s}}").await;
    assert_eq!(victim.next_line().await, None);
    assert_eq!(control.ready(), NOTHING);
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_cleanly_or_with_a_410_after_its_events() {
    for (fault, end) in [
        ("{close: {after_events: 2}}", vec!["END"]),
        (
            "{expired: {after_events: 2}}",
            vec![
                "ERROR 410: The resourceVersion for the provided watch is too old.",
                "END",
            ],
        ),
    ] {
        let (client, mut victim, mut control) = watches(fault).await;
        for _ in 0..3 {
            client.write(Update, "a/x");
        }
        let seen = victim.ready();
        assert_eq!(seen[..2], ["MODIFIED a/x@3", "MODIFIED a/x@4"]);
        assert_eq!(seen[2..], end);
        assert_eq!(control.ready().len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_trickle_brings_all_bytes_a_few_at_a_time() {
    let client = Client::with_pods(&["a/x"]);
    let script =
        "faults: [{match: {user_agent: victim}, fault: {slow_drip: {bytes: 100, every: 1s}}}]";
    set_faults(&client.server, script);
    let whole = client.send_as("GET", PODS, "control", "").await.text + "\n";
    let mut victim = client.watch_as(PODS, "victim").await;
    let mut dripped = String::new();
    let mut drops = Vec::new();
    let begin = Instant::now();
    while let Some(drop) = victim.next_chunk().await {
        let drop = drop.unwrap();
        drops.push((drop.len(), begin.elapsed().as_secs()));
        dripped.push_str(&drop);
    }
    assert_eq!(dripped, whole);
    let expected: Vec<_> = (0..)
        .zip(whole.as_bytes().chunks(100))
        .map(|(second, drop)| (drop.len(), second))
        .collect();
    assert!(expected.len() > 1);
    assert_eq!(drops, expected);
}

#[tokio::test(start_paused = true)]
async fn a_trickle_stalls_at_its_time_whatever_is_left() {
    let client = Client::with_pods(&["a/x"]);
    let script =
        "faults: [{fault: {slow_drip: {bytes: 10, every: 1s}}}, {fault: {stall: {after: 2500ms}}}]";
    set_faults(&client.server, script);
    let mut watch = client.watch_as("/api/v1/pods", "").await;
    for _ in 0..3 {
        assert_eq!(watch.next_chunk().await.unwrap().unwrap().len(), 10);
    }
    advance(Duration::from_mins(5)).await;
    assert!(watch.next_chunk().now_or_never().is_none());
}
