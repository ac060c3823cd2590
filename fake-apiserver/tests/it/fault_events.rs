//! Faults of events and bookmarks.

use fake_apiserver::control::WriteKind::{Create, Delete, Update};
use tokio::time::advance;

use crate::{client::Client, fault_requests::set_faults};

const WATCH: &str = "/api/v1/pods?watch=true&resourceVersion=2";
const STREAMING_LIST: &str = "/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

/// What the victim and another client see of: x updated, y created, y updated, x updated, y deleted.
async fn events(fault: &str) -> [Vec<String>; 2] {
    let client = Client::with_pods(&["a/x"]);
    let script = format!("seed: 5\nfaults: [{{match: {{user_agent: victim}}, fault: {fault}}}]");
    set_faults(&client.server, &script);
    let mut watches = [
        client.watch_as(WATCH, "victim").await,
        client.watch_as(WATCH, "control").await,
    ];
    let mut seen = [Vec::new(), Vec::new()];
    for (op, key) in [
        (Update, "a/x"),
        (Create, "a/y"),
        (Update, "a/y"),
        (Update, "a/x"),
        (Delete, "a/y"),
    ] {
        client.write(op, key);
        for (watch, seen) in watches.iter_mut().zip(&mut seen) {
            seen.extend(watch.ready());
        }
    }
    client.server.close_watches();
    for (watch, seen) in watches.iter_mut().zip(&mut seen) {
        seen.extend(watch.ready());
    }
    seen
}

const ALL: [&str; 6] = [
    "MODIFIED a/x@3",
    "ADDED a/y@4",
    "MODIFIED a/y@5",
    "MODIFIED a/x@6",
    "DELETED a/y@7",
    "END",
];

/// Which of `ALL` come, in order.
async fn places(fault: &str) -> Vec<usize> {
    let [victim, control] = events(fault).await;
    assert_eq!(control, ALL, "the healthy control");
    let place = |event: &String| ALL.iter().position(|other| other == event).unwrap();
    victim.iter().map(place).collect()
}

#[tokio::test(start_paused = true)]
async fn events_are_lost_by_number_by_type_and_by_lot() {
    assert_eq!(places("{drop_events: {nth: 2}}").await, [0, 2, 3, 4, 5]);
    assert_eq!(places("{drop_events: {every: 2}}").await, [0, 2, 4, 5]);
    assert_eq!(
        places("{drop_events: {types: [MODIFIED], nth: 2}}").await,
        [0, 1, 3, 4, 5]
    );
    assert_eq!(
        places("{drop_events: {types: [ADDED, DELETED]}}").await,
        [0, 2, 3, 5]
    );
    assert_eq!(
        places("{drop_events: {probability: 0}}").await,
        [0, 1, 2, 3, 4, 5]
    );
    assert_eq!(places("{drop_events: {probability: 1}}").await, [5]);
    let by_lot = places("{drop_events: {probability: 0.5}}").await;
    assert!((2..=5).contains(&by_lot.len()), "{by_lot:?}");
    assert_eq!(places("{drop_events: {probability: 0.5}}").await, by_lot);
}

#[tokio::test(start_paused = true)]
async fn events_come_twice() {
    assert_eq!(
        places("{duplicate_events: {nth: 2}}").await,
        [0, 1, 1, 2, 3, 4, 5]
    );
    assert_eq!(
        places("{duplicate_events: {types: [DELETED]}}").await,
        [0, 1, 2, 3, 4, 4, 5]
    );
}

#[tokio::test(start_paused = true)]
async fn events_come_after_later_ones_and_at_the_end_at_the_latest() {
    assert_eq!(
        places("{reorder_events: {events: {nth: 1}}}").await,
        [1, 0, 2, 3, 4, 5]
    );
    assert_eq!(
        places("{reorder_events: {events: {nth: 2}, distance: 2}}").await,
        [0, 2, 3, 1, 4, 5]
    );
    assert_eq!(
        places("{reorder_events: {events: {nth: 5}}}").await,
        [0, 1, 2, 3, 4, 5]
    );
    assert_eq!(
        places("{reorder_events: {events: {nth: 4}, distance: 9}}").await,
        [0, 1, 2, 4, 3, 5]
    );
}

/// What a streaming list and a bookmark a minute later look like to the victim and to another client.
async fn bookmarks(fault: &str) -> [Vec<String>; 2] {
    let client = Client::with_pods(&["a/x"]);
    let script = format!("faults: [{{match: {{user_agent: victim}}, fault: {fault}}}]");
    set_faults(&client.server, &script);
    let mut seen = [Vec::new(), Vec::new()];
    let mut watches = [
        client.watch_as(STREAMING_LIST, "victim").await,
        client.watch_as(STREAMING_LIST, "control").await,
    ];
    for (watch, seen) in watches.iter_mut().zip(&mut seen) {
        seen.extend(watch.ready());
    }
    client.write(Update, "a/x");
    for (watch, seen) in watches.iter_mut().zip(&mut seen) {
        seen.extend(watch.ready());
    }
    advance(std::time::Duration::from_secs(61)).await;
    for (watch, seen) in watches.iter_mut().zip(&mut seen) {
        seen.extend(watch.ready());
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn bookmarks_are_missing_or_wrong_and_the_end_mark_can_be_missing_alone() {
    let healthy = [
        "ADDED a/x@2",
        "BOOKMARK @2",
        "MODIFIED a/x@3",
        "BOOKMARK @3",
    ];
    for (fault, expected) in [
        (
            "{bookmarks: missing}",
            vec!["ADDED a/x@2", "BOOKMARK @2", "MODIFIED a/x@3"],
        ),
        (
            "no_end_mark",
            vec!["ADDED a/x@2", "MODIFIED a/x@3", "BOOKMARK @3"],
        ),
        (
            "{bookmarks: {wrong_version: {offset: 100}}}",
            vec![
                "ADDED a/x@2",
                "BOOKMARK @102",
                "MODIFIED a/x@3",
                "BOOKMARK @103",
            ],
        ),
        (
            "{bookmarks: {wrong_version: {offset: -2}}}",
            vec![
                "ADDED a/x@2",
                "BOOKMARK @1",
                "MODIFIED a/x@3",
                "BOOKMARK @1",
            ],
        ),
    ] {
        let [victim, control] = bookmarks(fault).await;
        assert_eq!(victim, expected, "{fault}");
        assert_eq!(control, healthy, "{fault}: the healthy control");
    }
}
