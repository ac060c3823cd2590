//! Bookmarks, deadlines and forced ends of a WATCH.

use std::time::Duration;

use fake_apiserver::{
    config::{WatchBuffer, WatchConfig, WindowConfig},
    control::WriteKind::{Create, Update},
    storage::Storage,
};
use tokio::time::{Instant, advance};

use crate::client::{Client, load_pods};

const WATCH: &str = "/api/v1/pods?watch=true&resourceVersion=2";
const NOTHING: [&str; 0] = [];

#[tokio::test(start_paused = true)]
async fn bookmarks_come_once_a_minute_if_asked_for_and_something_was_written() {
    let client = Client::with_pods(&["a/x"]);
    let mut asked = client
        .watch(&format!("{WATCH}&allowWatchBookmarks=true"))
        .await;
    let mut not_asked = client.watch(WATCH).await;
    assert_eq!(asked.ready(), NOTHING);
    advance(Duration::from_secs(61)).await;
    assert_eq!(
        asked.ready(),
        NOTHING,
        "nothing was written since the watch's version"
    );
    client.write(Update, "a/x");
    assert_eq!(asked.ready(), ["MODIFIED a/x@3"]);
    advance(Duration::from_secs(59)).await;
    assert_eq!(asked.ready(), NOTHING);
    advance(Duration::from_secs(2)).await;
    assert_eq!(asked.ready(), ["BOOKMARK @3"]);
    assert_eq!(asked.ready(), NOTHING);
    assert_eq!(not_asked.ready(), ["MODIFIED a/x@3"]);
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_carries_versions_of_other_resources_too() {
    let client = Client::with_pods(&["a/x"]);
    let mut watch = client
        .watch(&format!("{WATCH}&allowWatchBookmarks=true"))
        .await;
    assert_eq!(watch.ready(), NOTHING);
    let request = fake_apiserver::control::WriteRequest {
        resource: "configmaps".to_owned(),
        op: Create,
        key: None,
    };
    client.server.write(&request).unwrap();
    advance(Duration::from_mins(1)).await;
    assert_eq!(
        watch.next_line().await.unwrap(),
        r#"{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"3"},"spec":{"containers":null},"status":{}}}"#
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_cleanly_at_its_deadline_with_a_bookmark_two_seconds_before() {
    let client = Client::with_pods(&["a/x"]);
    let mut watch = client
        .watch(&format!("{WATCH}&allowWatchBookmarks=1&timeoutSeconds=10"))
        .await;
    client.write(Update, "a/x");
    assert_eq!(watch.ready(), ["MODIFIED a/x@3"]);
    advance(Duration::from_millis(7999)).await;
    assert_eq!(watch.ready(), NOTHING);
    advance(Duration::from_millis(2)).await;
    assert_eq!(watch.ready(), ["BOOKMARK @3"]);
    advance(Duration::from_millis(1998)).await;
    assert_eq!(watch.ready(), NOTHING);
    advance(Duration::from_millis(2)).await;
    assert_eq!(watch.ready(), ["END"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_names_no_deadline_gets_one_between_half_an_hour_and_an_hour() {
    let client = Client::with_pods(&["a/x"]);
    let start = Instant::now();
    let mut watch = client.watch(WATCH).await;
    assert_eq!(watch.next_line().await, None);
    let first = start.elapsed();
    let mut watch = client.watch(WATCH).await;
    assert_eq!(watch.next_line().await, None);
    let second = start.elapsed().checked_sub(first).unwrap();
    for lasted in [first, second] {
        assert!((1800..3600).contains(&lasted.as_secs()), "{lasted:?}");
    }
    assert_ne!(first, second);
}

#[tokio::test(start_paused = true)]
async fn a_slow_watcher_is_ended_at_an_event_border_and_resumes_from_its_last_version() {
    let mut storage = Storage::new(WindowConfig::kube_apiserver());
    load_pods(&mut storage, &["a/x"]);
    let buffer = WatchBuffer::Fixed(10);
    let config = WatchConfig {
        buffer,
        ..WatchConfig::kube_apiserver()
    };
    let client = Client::new(storage, config);
    let mut slow = client.watch(WATCH).await;
    let mut fast = client.watch(WATCH).await;
    for _ in 0..3 {
        client.write(Update, "a/x");
    }
    assert_eq!(slow.ready().last().unwrap(), "MODIFIED a/x@5");
    let mut write_and_read_fast = || {
        client.write(Update, "a/x");
        fast.ready()
    };
    for _ in 0..11 {
        write_and_read_fast();
    }
    assert_eq!(
        client.server.state().terminated_watchers,
        0,
        "its budget begins now"
    );
    advance(Duration::from_millis(100)).await;
    write_and_read_fast();
    assert_eq!(
        client.server.state().terminated_watchers,
        0,
        "the budget is used up and not exceeded"
    );
    advance(Duration::from_millis(1)).await;
    assert_eq!(write_and_read_fast(), ["MODIFIED a/x@18"]);
    assert_eq!(client.server.state().terminated_watchers, 1);
    assert_eq!(slow.ready(), ["END"]);
    drop(slow);
    assert_eq!(client.server.state().watchers, 1);
    let mut resumed = client
        .watch("/api/v1/pods?watch=true&resourceVersion=5")
        .await;
    let events = resumed.ready();
    assert_eq!((events.len(), &*events[0]), (13, "MODIFIED a/x@6"));
}

#[tokio::test(start_paused = true)]
async fn a_watcher_that_catches_up_within_its_budget_stays() {
    let mut storage = Storage::new(WindowConfig::kube_apiserver());
    load_pods(&mut storage, &["a/x"]);
    let buffer = WatchBuffer::Fixed(2);
    let client = Client::new(
        storage,
        WatchConfig {
            buffer,
            ..WatchConfig::kube_apiserver()
        },
    );
    let mut watch = client.watch(WATCH).await;
    for _ in 0..5 {
        for _ in 0..3 {
            client.write(Update, "a/x");
        }
        advance(Duration::from_millis(99)).await;
        assert_eq!(watch.ready().len(), 3);
    }
    assert_eq!(client.server.state().terminated_watchers, 0);
}

#[tokio::test(start_paused = true)]
async fn a_watch_whose_backlog_leaves_the_window_is_closed_and_the_next_one_is_told_why() {
    let mut storage = Storage::new(WindowConfig::fixed(2));
    load_pods(&mut storage, &["a/x"]);
    let client = Client::new(storage, WatchConfig::kube_apiserver());
    let mut watch = client.watch(WATCH).await;
    for _ in 0..3 {
        client.write(Update, "a/x");
    }
    assert_eq!(watch.ready(), ["END"]);
    let mut next = client.watch(WATCH).await;
    assert_eq!(
        next.ready(),
        ["ERROR 410: too old resource version: 2 (3)", "END"]
    );
}

#[tokio::test(start_paused = true)]
async fn closing_watches_ends_those_that_are_open_and_none_that_come_later() {
    let client = Client::with_pods(&["a/x"]);
    let mut idle = client.watch(WATCH).await;
    let mut in_its_state = client.watch("/api/v1/pods?watch=true").await;
    assert_eq!(idle.ready(), NOTHING);
    assert_eq!(client.server.state().watchers, 2);
    assert_eq!(
        client
            .send("POST", "/informer-bench/v1/close-watches")
            .await
            .code,
        204
    );
    assert_eq!(idle.ready(), ["END"]);
    assert_eq!(in_its_state.ready(), ["END"]);
    let mut later = client.watch(WATCH).await;
    client.write(Update, "a/x");
    assert_eq!(later.ready(), ["MODIFIED a/x@3"]);
    drop((idle, in_its_state));
    assert_eq!(client.server.state().watchers, 1);
}
