//! Where a WATCH begins, and what never falls between it and a LIST.

use std::time::Duration;

use fake_apiserver::{
    config::{WatchConfig, WindowConfig},
    control::WriteKind::{Create, Delete, Update},
    storage::Storage,
};

use crate::client::{Client, load, load_pods};

const WATCH: &str = "/api/v1/pods?watch=true";

/// Pods x and y at 2 and 3, y changed at 4.
fn three_writes() -> Client {
    let client = Client::with_pods(&["a/x", "a/y"]);
    client.write(Update, "a/y");
    client
}

#[tokio::test]
async fn without_a_version_the_state_comes_first_each_object_at_its_own_version() {
    for query in ["", "&resourceVersion=0", "&resourceVersion="] {
        let client = three_writes();
        client.write(Create, "a/b");
        client.write(Update, "a/x");
        let mut watch = client.watch(&format!("{WATCH}{query}")).await;
        assert_eq!(
            watch.ready(),
            ["ADDED a/b@5", "ADDED a/x@6", "ADDED a/y@4"],
            "{query}"
        );
        client.write(Delete, "a/x");
        assert_eq!(watch.ready(), ["DELETED a/x@7"], "{query}");
    }
}

#[tokio::test]
async fn from_a_version_come_the_events_after_it_and_never_its_own() {
    let client = three_writes();
    client.write(Delete, "a/x");
    client.write(Create, "a/x");
    let mut watch = client.watch(&format!("{WATCH}&resourceVersion=4")).await;
    assert_eq!(watch.ready(), ["DELETED a/x@5", "ADDED a/x@6"]);
    let mut watch = client.watch(&format!("{WATCH}&resourceVersion=6")).await;
    assert_eq!(watch.ready(), [""; 0]);
}

#[tokio::test]
async fn a_removal_carries_the_last_state_with_the_version_of_the_removal() {
    let client = three_writes();
    client.write(Delete, "a/y");
    let mut watch = client.watch(&format!("{WATCH}&resourceVersion=4")).await;
    assert_eq!(
        watch.next_line().await.unwrap(),
        r#"{"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"y","namespace":"a","uid":"uid-of-y","resourceVersion":"5","creationTimestamp":"2026-01-01T00:00:00Z","annotations":{"informer-bench/write":"4"}}}}"#
    );
}

#[tokio::test]
async fn a_version_from_the_future_opens_and_hides_what_comes_up_to_it() {
    let client = three_writes();
    let mut watch = client.watch(&format!("{WATCH}&resourceVersion=6")).await;
    client.write(Update, "a/x");
    client.write(Update, "a/x");
    assert_eq!(watch.ready(), [""; 0]);
    client.write(Update, "a/x");
    assert_eq!(watch.ready(), ["MODIFIED a/x@7"]);
}

#[tokio::test]
async fn a_streaming_list_ends_with_one_annotated_bookmark() {
    let client = three_writes();
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    for version in ["", "&resourceVersion=0", "&resourceVersion=3"] {
        let mut watch = client.watch(&format!("{WATCH}&{query}{version}")).await;
        assert!(
            watch
                .next_line()
                .await
                .unwrap()
                .starts_with(r#"{"type":"ADDED","object":{"kind":"Pod","#)
        );
        watch.next_line().await.unwrap();
        assert_eq!(
            watch.next_line().await.unwrap(),
            r#"{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"4","annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null},"status":{}}}"#
        );
        assert_eq!(watch.ready(), [""; 0]);
    }
}

#[tokio::test]
async fn a_streaming_list_without_bookmarks_ends_in_silence() {
    let client = three_writes();
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let mut watch = client.watch(&format!("{WATCH}&{query}")).await;
    assert_eq!(watch.ready(), ["ADDED a/x@2", "ADDED a/y@4"]);
}

#[tokio::test]
async fn refused_initial_events_start_with_the_next_event() {
    let client = three_writes();
    let query = "sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    let mut now = client.watch(&format!("{WATCH}&{query}")).await;
    let mut from_three = client
        .watch(&format!("{WATCH}&{query}&resourceVersion=3"))
        .await;
    client.write(Update, "a/x");
    assert_eq!(now.ready(), ["MODIFIED a/x@5"]);
    assert_eq!(from_three.ready(), ["MODIFIED a/y@4", "MODIFIED a/x@5"]);
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_of_the_future_is_an_error_event_after_three_seconds() {
    let client = three_writes();
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99";
    let before = tokio::time::Instant::now();
    let mut watch = client.watch(&format!("{WATCH}&{query}")).await;
    assert_eq!(before.elapsed(), Duration::from_secs(3));
    assert_eq!(
        watch.ready(),
        [
            "ERROR 504: Timeout: Too large resource version: 99, current: 4",
            "END"
        ]
    );
}

#[tokio::test]
async fn options_that_do_not_go_together_are_refused_before_the_stream() {
    let client = three_writes();
    for (query, code, reason) in [
        ("sendInitialEvents=true", 422, "Invalid"),
        (
            "sendInitialEvents=true&resourceVersion=3&resourceVersionMatch=Exact",
            422,
            "Invalid",
        ),
        (
            "resourceVersion=3&resourceVersionMatch=NotOlderThan",
            422,
            "Invalid",
        ),
        ("timeoutSeconds=soon", 400, "BadRequest"),
    ] {
        let answer = client.get(&format!("{WATCH}&{query}")).await;
        assert_eq!(
            (answer.code, answer.json()["reason"].as_str()),
            (code, Some(reason)),
            "{query}"
        );
    }
    let answer = client.get(&format!("{WATCH}&resourceVersion=abc")).await;
    assert_eq!(
        (answer.code, &*answer.text),
        (
            500,
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax","code":500}"#
        )
    );
}

#[tokio::test]
async fn watch_is_a_boolean_that_only_0_and_false_deny() {
    let client = three_writes();
    for denied in ["watch=0", "watch=false", "watch=False"] {
        assert_eq!(
            client.get(&format!("/api/v1/pods?{denied}")).await.json()["kind"],
            "PodList"
        );
    }
    for granted in ["watch", "watch=", "watch=1", "watch=yes"] {
        let mut watch = client.watch(&format!("/api/v1/pods?{granted}")).await;
        assert_eq!(watch.ready().len(), 2, "{granted}");
    }
}

#[tokio::test]
async fn a_watch_of_one_namespace_sees_no_other() {
    let client = Client::with_pods(&["a/x", "a-b/x", "b/x"]);
    let mut watch = client.watch("/api/v1/namespaces/a/pods?watch=1").await;
    assert_eq!(watch.ready(), ["ADDED a/x@2"]);
    client.write(Update, "b/x");
    client.write(Update, "a/x");
    assert_eq!(watch.ready(), ["MODIFIED a/x@6"]);
}

#[tokio::test]
async fn a_delete_between_list_and_watch_is_delivered() {
    let client = Client::with_pods(&["a/a", "a/b"]);
    let version = client.get("/api/v1/pods").await.json()["metadata"]["resourceVersion"].clone();
    client.write(Delete, "a/a");
    let mut watch = client
        .watch(&format!(
            "{WATCH}&resourceVersion={}",
            version.as_str().unwrap()
        ))
        .await;
    assert_eq!(watch.ready(), ["DELETED a/a@4"]);
}

#[tokio::test]
async fn too_old_a_version_is_one_error_event_in_a_stream_that_succeeds_and_ends() {
    let client = three_writes();
    let mut watch = client.watch(&format!("{WATCH}&resourceVersion=1")).await;
    assert_eq!(
        watch.next_line().await.unwrap(),
        r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (3)","reason":"Expired","code":410}}"#
    );
    assert_eq!(watch.next_line().await, None);
}

/// Versions up to 8 are of other resources; pod events have 9, 10, 11 and 12, of which the window keeps three.
fn history_of_three() -> Client {
    let mut storage = Storage::new(WindowConfig::fixed(3));
    load_pods(&mut storage, &["a/x"]);
    load(
        &mut storage,
        "ConfigMap",
        &["a/1", "a/2", "a/3", "a/4", "a/5", "a/6"],
    );
    let client = Client::new(storage, WatchConfig::kube_apiserver());
    for _ in 0..4 {
        client.write(Update, "a/x");
    }
    assert_eq!(client.server.state().revision, 12);
    client
}

#[tokio::test]
async fn the_edge_of_history_neither_hides_nor_repeats_an_event() {
    let client = history_of_three();
    for (from, events) in [
        (8, "ERROR 410: too old resource version: 8 (9), END"),
        (9, "MODIFIED a/x@10, MODIFIED a/x@11, MODIFIED a/x@12"),
        (10, "MODIFIED a/x@11, MODIFIED a/x@12"),
        (12, ""),
        (13, ""),
        (1_000_000, ""),
    ] {
        let mut watch = client
            .watch(&format!("{WATCH}&resourceVersion={from}"))
            .await;
        assert_eq!(watch.ready().join(", "), events, "from {from}");
    }
}

#[tokio::test]
async fn an_empty_window_serves_the_version_it_was_loaded_at_and_none_before() {
    let mut storage = Storage::new(WindowConfig::fixed(3));
    load_pods(
        &mut storage,
        &[
            "a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "a/7", "a/8", "a/9", "a/10",
        ],
    );
    let client = Client::new(storage, WatchConfig::kube_apiserver());
    let mut refused = client.watch(&format!("{WATCH}&resourceVersion=10")).await;
    assert_eq!(
        refused.ready(),
        ["ERROR 410: too old resource version: 10 (11)", "END"]
    );
    let mut accepted = client.watch(&format!("{WATCH}&resourceVersion=11")).await;
    client.write(Create, "a/new");
    assert_eq!(accepted.ready(), ["ADDED a/new@12"]);
}

#[tokio::test]
async fn compaction_expires_what_was_before_it() {
    let client = three_writes();
    let mut live = client.watch(&format!("{WATCH}&resourceVersion=4")).await;
    client.server.compact();
    let mut old = client.watch(&format!("{WATCH}&resourceVersion=3")).await;
    assert_eq!(
        old.ready(),
        ["ERROR 410: too old resource version: 3 (4)", "END"]
    );
    client.write(Update, "a/x");
    assert_eq!(live.ready(), ["MODIFIED a/x@5"]);
}
