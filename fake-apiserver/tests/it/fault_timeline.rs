//! Faults of the whole server: its timeline and its limits.

use std::{sync::Arc, time::Duration};

use fake_apiserver::{config::WatchBuffer, control::WriteKind::Update};
use tokio::{task::JoinSet, time::advance};

use crate::{client::Client, fault_requests::set_faults};

const WATCH: &str = "/api/v1/pods?watch=true&resourceVersion=2";
const NOTHING: [&str; 0] = [];

/// A client whose server follows timelines until the set is dropped.
fn followed(keys: &[&str]) -> (Client, JoinSet<()>) {
    let client = Client::with_pods(keys);
    let mut tasks = JoinSet::new();
    tasks.spawn(Arc::clone(&client.server).follow_fault_timeline());
    (client, tasks)
}

/// Lets time pass, and the timeline's task run.
async fn pass(time: Duration) {
    // The task must have looked at the script before time moves.
    tokio::task::yield_now().await;
    advance(time).await;
    tokio::task::yield_now().await;
}

#[tokio::test(start_paused = true)]
async fn all_watches_close_at_once_as_often_as_the_timeline_says() {
    let (client, _tasks) = followed(&["a/x"]);
    set_faults(
        &client.server,
        "timeline: [{at: 5s, every: 10s, times: 2, action: close_watches}]",
    );
    let mut ends = Vec::new();
    for second in 1..=40 {
        let mut watches = [
            client.watch(WATCH).await,
            client.watch("/api/v1/nodes?watch=1").await,
        ];
        pass(Duration::from_secs(1)).await;
        match watches.each_mut().map(|watch| watch.ready() == ["END"]) {
            [true, true] => ends.push(second),
            [false, false] => {}
            mixed => panic!("{mixed:?}"),
        }
    }
    assert_eq!(ends, [5, 15]);
}

#[tokio::test(start_paused = true)]
async fn a_compaction_at_a_time_expires_older_versions_and_no_others() {
    let (client, _tasks) = followed(&["a/x"]);
    set_faults(&client.server, "timeline: [{at: 5s, action: compact}]");
    client.write(Update, "a/x");
    client.write(Update, "a/x");
    pass(Duration::from_millis(4999)).await;
    assert_eq!(
        client.watch(WATCH).await.ready().len(),
        2,
        "healthy until then"
    );
    pass(Duration::from_millis(1)).await;
    let mut late = client.watch(WATCH).await;
    assert_eq!(
        late.ready(),
        ["ERROR 410: too old resource version: 2 (4)", "END"]
    );
    let mut present = client.watch("/api/v1/pods?watch=1&resourceVersion=4").await;
    client.write(Update, "a/x");
    assert_eq!(present.ready(), ["MODIFIED a/x@5"]);
}

#[tokio::test(start_paused = true)]
async fn a_new_script_takes_over_the_timeline() {
    let (client, _tasks) = followed(&["a/x"]);
    set_faults(
        &client.server,
        "timeline: [{at: 5s, action: close_watches}]",
    );
    pass(Duration::from_secs(4)).await;
    set_faults(
        &client.server,
        "timeline: [{at: 3s, action: close_watches}]",
    );
    let mut watch = client.watch(WATCH).await;
    pass(Duration::from_millis(2999)).await;
    assert_eq!(watch.ready(), NOTHING);
    pass(Duration::from_millis(1)).await;
    assert_eq!(watch.ready(), ["END"]);
}

#[tokio::test(start_paused = true)]
async fn after_a_reset_of_versions_objects_are_the_same_at_low_versions_and_the_old_ones_lie_ahead()
{
    let (client, _tasks) = followed(&["a/x", "a/y"]);
    for _ in 0..10 {
        client.write(Update, "a/x");
    }
    let before = client.get("/api/v1/pods").await;
    assert_eq!(before.items(), ["a/x@13", "a/y@3"]);
    set_faults(
        &client.server,
        "timeline: [{at: 1s, action: reset_versions}]",
    );
    let mut open = client
        .watch("/api/v1/pods?watch=1&resourceVersion=13")
        .await;
    assert_eq!(open.ready(), NOTHING);
    pass(Duration::from_secs(1)).await;
    assert_eq!(open.ready(), ["END"]);
    let after = client.get("/api/v1/pods").await;
    assert_eq!(after.items(), ["a/x@3", "a/y@2"]);
    assert_eq!(after.json()["metadata"]["resourceVersion"], "3");
    let uids = |answer: &crate::client::Answer| {
        let items = answer.json()["items"].as_array().unwrap().clone();
        items
            .into_iter()
            .map(|item| item["metadata"]["uid"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(uids(&after), uids(&before));
    let stale = client.get("/api/v1/pods?resourceVersion=13").await;
    assert_eq!(
        (stale.code, &stale.json()["reason"]),
        (504, &"Timeout".into())
    );
    let mut stale = client
        .watch("/api/v1/pods?watch=1&resourceVersion=13")
        .await;
    let mut fresh = client.watch("/api/v1/pods?watch=1&resourceVersion=3").await;
    assert_eq!(client.write(Update, "a/y"), 4);
    assert_eq!(fresh.ready(), ["MODIFIED a/y@4"]);
    assert_eq!(stale.ready(), NOTHING, "versions up to 13 count as seen");
}

#[tokio::test(start_paused = true)]
async fn a_small_history_expires_versions_until_the_script_is_removed() {
    let client = Client::with_pods(&["a/x"]);
    for _ in 0..5 {
        client.write(Update, "a/x");
    }
    assert_eq!(
        client.watch(WATCH).await.ready().len(),
        5,
        "the healthy control"
    );
    set_faults(&client.server, "limits: {history_events: 2}");
    let oldest = "ERROR 410: too old resource version: 2 (5)";
    assert_eq!(client.watch(WATCH).await.ready(), [oldest, "END"]);
    client.write(Update, "a/x");
    assert_eq!(
        client
            .watch("/api/v1/pods?watch=1&resourceVersion=6")
            .await
            .ready(),
        ["MODIFIED a/x@7", "MODIFIED a/x@8"]
    );
    client.server.set_faults(None);
    for _ in 0..50 {
        client.write(Update, "a/x");
    }
    assert_eq!(
        client
            .watch("/api/v1/pods?watch=1&resourceVersion=8")
            .await
            .ready()
            .len(),
        50
    );
}

#[tokio::test(start_paused = true)]
async fn a_small_watch_buffer_ends_slow_watches() {
    assert_eq!(
        WatchBuffer::KubeApiserver.events(&bench_core::api::Resource::pods()),
        1000
    );
    let ended = async |script: &str| {
        let client = Client::with_pods(&["a/x"]);
        set_faults(&client.server, script);
        let mut slow = client.watch(WATCH).await;
        assert_eq!(slow.ready(), NOTHING);
        for _ in 0..10 {
            client.write(Update, "a/x");
        }
        advance(Duration::from_millis(101)).await;
        client.write(Update, "a/x");
        let seen = slow.ready();
        (
            seen.last().unwrap().clone(),
            client.server.state().terminated_watchers,
        )
    };
    assert_eq!(
        ended("limits: {watch_buffer_events: 5}").await,
        ("END".to_owned(), 1)
    );
    assert_eq!(ended("limits: {}").await, ("MODIFIED a/x@13".to_owned(), 0));
}
