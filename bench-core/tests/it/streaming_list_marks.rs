//! Streaming lists whose mark of the end is wrong, late or absent: public report B18 (client's side).

use std::time::Duration;

use bench_core::cache::{ReflectorSettings, StreamingList};

use crate::{
    reflector::ended,
    scripted::{Answer, expired, object, page},
    streaming_list::{
        LIST, Rig, STREAM, added, bookmark, end, open, open_for, rig, rig_with, watch_from,
    },
};

/// `TestWatchList`: no bookmark, and annotation value "false"; public report B18.
#[tokio::test(start_paused = true)]
async fn a_stream_without_the_right_mark_never_syncs_and_that_is_warned_of() {
    for mark in [None, Some("false"), Some("True"), Some("1"), Some("")] {
        let answers = vec![open_for(
            Duration::from_secs(35),
            vec![added("a", 1), bookmark("7", mark)],
        )];
        let end = rig(answers).run_to_the_end_of_the_script().await;
        // It is asked for again when it ends, and so for ever.
        assert_eq!(end.requests, [STREAM; 2], "{mark:?}");
        assert_eq!(end.queued, "", "{mark:?}");
        assert_eq!(
            end.told,
            [
                "stream First",
                "a streaming list has no mark of its end, its last event was 10s ago",
                "a streaming list has no mark of its end, its last event was 20s ago",
                "a streaming list has no mark of its end, its last event was 30s ago",
            ],
            "{mark:?}"
        );
    }
}

/// `TestInitialEventsEndBookmarkTicker`.
#[tokio::test(start_paused = true)]
async fn a_silent_stream_is_warned_of_every_ten_seconds_and_one_with_events_is_not() {
    let (feed, stream) = tokio::sync::mpsc::unbounded_channel();
    let Rig {
        told, reflector, ..
    } = rig(vec![Answer::Fed(stream)]);
    let warnings = async {
        let mut counts = Vec::new();
        let mut wait = async |seconds: u64| {
            let wait = Duration::from_secs(seconds);
            let _ = tokio::time::timeout(wait, std::future::pending::<()>()).await;
            counts.push(told.0.lock().expect("not poisoned").len() - 1);
        };
        wait(9).await;
        wait(2).await;
        // At 11 s, 15 s and 27 s an event comes; warnings are due at 20 s, 30 s and 40 s.
        feed.send(Ok(added("a", 1))).expect("open");
        wait(4).await;
        feed.send(Ok(added("b", 1))).expect("open");
        wait(6).await;
        wait(6).await;
        feed.send(Ok(added("c", 1))).expect("open");
        wait(4).await;
        wait(10).await;
        counts
    };
    let counts = tokio::select! {
        biased;
        () = reflector.run() => panic!("a reflector runs for ever"),
        counts = warnings => counts,
    };
    assert_eq!(counts, [0, 1, 1, 1, 1, 1, 2]);
    assert_eq!(
        told.0.lock().expect("not poisoned")[1..],
        [
            "a streaming list has had neither an event nor the mark of its end for 10s",
            "a streaming list has no mark of its end, its last event was 13s ago"
        ]
    );
}

/// Public report B18, on the variant that is not upstream's.
#[tokio::test(start_paused = true)]
async fn a_variant_falls_back_to_a_list_when_no_mark_comes_and_loses_and_doubles_nothing() {
    let settings = ReflectorSettings {
        streaming_list: StreamingList::FallBackOnSilence(Duration::from_secs(20)),
        ..ReflectorSettings::client_go_0_36(7)
    };
    let answers = vec![
        open(vec![added("a", 1), added("b", 2), bookmark("2", None)]),
        page(3, vec![object("a", 1), object("b", 2), object("c", 3)]),
        open(vec![added("d", 4)]),
    ];
    let rig = rig_with(answers, settings);
    let server = rig.server.clone();
    let end = rig.run_to_the_end_of_the_script().await;
    assert_eq!(
        end.requests[..3],
        [STREAM.to_owned(), LIST.to_owned(), watch_from(3)]
    );
    assert_eq!(server.requests_in_full()[1].at, Duration::from_secs(20));
    assert_eq!(end.queued, "R a:1, R b:2, R c:3, A d:4");
}

/// Public report B18: no objects, a mark without version, a second mark.
#[tokio::test(start_paused = true)]
async fn an_empty_stream_syncs_and_a_second_mark_is_a_bookmark() {
    let answers = vec![open(vec![end(7), end(8)])];
    let rig = rig(answers);
    let synced = rig.queue.synced();
    let end = rig.run_to_the_end_of_the_script().await;
    assert!(*synced.borrow());
    assert_eq!(
        (end.requests[1].clone(), end.queued.as_str()),
        (watch_from(8), "")
    );
    assert_eq!(end.told, ["stream First", "0 objects at 7"]);
}

#[tokio::test(start_paused = true)]
async fn after_a_mark_without_a_version_the_watch_that_follows_begins_anywhere() {
    let answers = vec![open_for(
        Duration::from_secs(2),
        vec![added("a", 5), bookmark("", Some("true"))],
    )];
    let end = rig(answers).run_to_the_end_of_the_script().await;
    assert_eq!(end.queued, "R a:5");
    assert_eq!(
        end.requests,
        [STREAM, "WATCH allowWatchBookmarks=true&watch=true"]
    );
}

/// A mark without a version leaves the watch that follows to begin anywhere, so its additions may be in no order; those that
/// follow a later mark are in order again.
#[tokio::test(start_paused = true)]
async fn after_a_mark_with_a_version_every_event_moves_it_again() {
    let gone = || bench_core::api::WatchEvent::Error(Box::new(expired()));
    let answers = vec![
        open_for(
            Duration::from_secs(2),
            vec![added("a", 5), bookmark("", Some("true"))],
        ),
        ended(vec![added("b", 6), gone()]),
        open_for(
            Duration::from_secs(2),
            vec![added("a", 5), added("b", 6), end(7), added("c", 8)],
        ),
    ];
    let end = rig(answers).run_to_the_end_of_the_script().await;
    let anywhere = "WATCH allowWatchBookmarks=true&watch=true".to_owned();
    let expected = [
        STREAM.to_owned(),
        anywhere,
        STREAM.to_owned(),
        watch_from(8),
    ];
    assert_eq!(end.requests, expected);
}
