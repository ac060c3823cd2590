//! `Reflector` against a scripted server under a paused clock.

use std::{collections::HashMap, sync::Arc, time::Duration};

use bench_core::{
    api::{Object, ResourceVersion, Status, StatusDetails, WatchEvent},
    cache::{
        DeltaFifo, Indexer, KnownObjects, NoObserver, Popped, QueueHandle, Reflector,
        ReflectorSettings, ResyncTimer,
    },
    list_watch::ApiError,
};
use tokio::sync::mpsc;

use crate::{
    delta_fifo::render,
    scripted::{Answer, ScriptedServer, expired, object, page},
};

pub(crate) type Queue = QueueHandle<Object, DeltaFifo<Object>, NoObserver>;

pub(crate) struct Rig {
    pub(crate) server: ScriptedServer,
    pub(crate) queue: Queue,
    pub(crate) reflector: Reflector<Object, ScriptedServer, DeltaFifo<Object>, NoObserver>,
}

pub(crate) fn rig_with(
    answers: Vec<Answer>,
    settings: ReflectorSettings,
    period: Option<Duration>,
) -> Rig {
    let indexer = Arc::new(Indexer::new(HashMap::new()));
    indexer.add(&object("known", 1)).expect("named");
    let known: Arc<dyn KnownObjects<Object>> = indexer;
    let queue = QueueHandle::new(DeltaFifo::for_informer(known), NoObserver);
    let server = ScriptedServer::new(answers);
    let resync = ResyncTimer {
        period,
        should_resync: None,
    };
    let reflector = Reflector::new(server.clone(), queue.clone(), NoObserver, settings, resync);
    Rig {
        server,
        queue,
        reflector,
    }
}

fn rig(answers: Vec<Answer>) -> Rig {
    rig_with(answers, ReflectorSettings::client_go(7), None)
}

pub(crate) fn drain(queue: &Queue) -> Vec<String> {
    let mut pops = Vec::new();
    let mut render_pop = |popped: &Popped<Object>| {
        let deltas: Vec<_> = popped.item.deltas().iter().map(render).collect();
        pops.push(deltas.join(", "));
    };
    while queue.try_pop(&mut render_pop).is_ok() {}
    pops
}

/// Runs until the script is over and one request hangs.
pub(crate) async fn run_to_the_end_of_the_script(rig: Rig) -> (Vec<String>, Queue) {
    let run = tokio::time::timeout(Duration::from_hours(1), rig.reflector.run());
    assert!(run.await.is_err(), "a reflector runs for ever");
    (rig.server.requests(), rig.queue)
}

pub(crate) fn ended(events: Vec<WatchEvent<Object>>) -> Answer {
    Answer::Stream(events.into_iter().map(Ok).collect())
}

pub(crate) fn error_event(status: Status) -> Answer {
    ended(vec![WatchEvent::Error(Box::new(status))])
}

const FIRST_LIST: &str = "LIST limit=500&resourceVersion=0";

#[tokio::test(start_paused = true)]
async fn after_a_clean_end_the_watch_resumes_from_the_last_event_and_not_from_the_highest() {
    let events = vec![
        WatchEvent::Added(object("a", 55)),
        WatchEvent::Modified(object("b", 32)),
    ];
    let (requests, queue) =
        run_to_the_end_of_the_script(rig(vec![page(10, vec![object("x", 3)]), ended(events)]))
            .await;
    let watch =
        |version| format!("WATCH allowWatchBookmarks=true&resourceVersion={version}&watch=true");
    assert_eq!(requests, [FIRST_LIST.to_owned(), watch(10), watch(32)]);
    assert_eq!(drain(&queue), ["R x:3", "D †known:1", "A a:55", "U b:32"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_resumes_from_the_list_and_not_from_the_last_listed_item() {
    let list = page(100, vec![object("a", 90), object("b", 20)]);
    let bookmark = WatchEvent::Bookmark {
        kind: "Pod".into(),
        resource_version: ResourceVersion::from(140),
        initial_events_end: None,
    };
    let (requests, _) = run_to_the_end_of_the_script(rig(vec![list, ended(vec![bookmark])])).await;
    assert!(requests[1].contains("resourceVersion=100&"), "{requests:?}");
    assert!(
        requests[2].contains("resourceVersion=140&"),
        "a bookmark moves the resume point: {requests:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn expired_in_any_form_in_a_stream_leads_to_one_relist_at_the_last_version() {
    let code_only = Status {
        reason: String::new(),
        ..expired()
    };
    let gone = Status {
        reason: "Gone".to_owned(),
        ..expired()
    };
    let no_code = Status {
        code: 0,
        ..expired()
    };
    for status in [expired(), code_only, gone, no_code] {
        let answers = vec![
            page(10, vec![]),
            ended(vec![WatchEvent::Error(Box::new(status.clone()))]),
            page(20, vec![]),
        ];
        let (requests, queue) = run_to_the_end_of_the_script(rig(answers)).await;
        assert_eq!(requests.len(), 4, "{status:?}");
        assert_eq!(requests[2], "LIST resourceVersion=10", "{status:?}");
        assert!(requests[3].contains("resourceVersion=20"), "{status:?}");
        assert!(
            drain(&queue).iter().all(|pop| pop.starts_with('D')),
            "the Status never reaches the queue"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn expired_on_the_watch_call_is_an_error_and_relists() {
    let refused = Answer::WatchFails(ApiError::Status(Box::new(expired())));
    let mut rig = rig(vec![page(10, vec![]), refused]);
    let error = rig.reflector.list_and_watch().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "server answered 410 Expired: too old resource version: 1 (900)"
    );
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_expired_or_from_the_future_is_made_again_without_a_version() {
    let too_large = Status {
        details: Some(StatusDetails::default()),
        ..Status::failure(
            504,
            "Timeout",
            "Timeout: Too large resource version: 10, current: 5",
        )
    };
    for status in [expired(), too_large] {
        let fails = Answer::ListFails(ApiError::Status(Box::new(status)));
        let answers = vec![
            page(10, vec![]),
            ended(vec![WatchEvent::Error(Box::new(expired()))]),
            fails,
            page(20, vec![]),
        ];
        let (requests, _) = run_to_the_end_of_the_script(rig(answers)).await;
        assert_eq!(requests[2..4], ["LIST resourceVersion=10", "LIST "]);
    }
}

#[tokio::test(start_paused = true)]
async fn every_page_is_kept_and_follow_ups_carry_the_token_and_no_version() {
    let first = Answer::Page {
        version: 5,
        items: vec![object("a", 1)],
        continue_token: "C1",
    };
    let second = Answer::Page {
        version: 9,
        items: vec![object("b", 2)],
        continue_token: "C2",
    };
    let (requests, queue) =
        run_to_the_end_of_the_script(rig(vec![first, second, page(9, vec![object("c", 3)])])).await;
    assert_eq!(
        requests[..3],
        [
            FIRST_LIST,
            "LIST continue=C1&limit=500",
            "LIST continue=C2&limit=500"
        ]
    );
    assert!(
        requests[3].contains("resourceVersion=5&"),
        "the first page's version counts"
    );
    assert_eq!(drain(&queue), ["R a:1", "R b:2", "R c:3", "D †known:1"]);
}

#[tokio::test(start_paused = true)]
async fn an_expired_token_leads_to_one_full_list_at_the_original_version() {
    let first = Answer::Page {
        version: 5,
        items: vec![object("a", 1)],
        continue_token: "C1",
    };
    let fails = Answer::ListFails(ApiError::Status(Box::new(expired())));
    let answers = vec![first, fails, page(7, vec![object("a", 1), object("b", 2)])];
    let (requests, queue) = run_to_the_end_of_the_script(rig(answers)).await;
    assert_eq!(requests[2], "LIST resourceVersion=0");
    assert_eq!(drain(&queue), ["R a:1", "R b:2", "D †known:1"]);
}

#[tokio::test(start_paused = true)]
async fn refused_watches_are_tried_again_without_a_relist() {
    let too_many = || {
        Answer::WatchFails(ApiError::Status(Box::new(Status::failure(
            429,
            "TooManyRequests",
            "slow down",
        ))))
    };
    let answers = vec![
        page(10, vec![]),
        too_many(),
        Answer::WatchFails(ApiError::ConnectionRefused),
        too_many(),
    ];
    let (requests, _) = run_to_the_end_of_the_script(rig(answers)).await;
    assert_eq!(requests.len(), 5);
    assert!(
        requests[1..]
            .iter()
            .all(|request| request.contains("resourceVersion=10&")),
        "{requests:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_at_once_without_an_event_leads_to_a_relist() {
    let (requests, _) =
        run_to_the_end_of_the_script(rig(vec![page(10, vec![]), ended(vec![])])).await;
    assert_eq!(requests[2], "LIST resourceVersion=10");
}

#[tokio::test(start_paused = true)]
async fn internal_errors_are_answered_with_watches_only_within_the_window_asked_for() {
    let internal = || {
        ended(vec![WatchEvent::Error(Box::new(Status::failure(
            500,
            "InternalError",
            "boom",
        )))])
    };
    let (requests, _) = run_to_the_end_of_the_script(rig(vec![page(10, vec![]), internal()])).await;
    assert!(requests[2].starts_with("LIST"), "by default never");
    let settings = ReflectorSettings {
        max_internal_error_retry: Duration::from_secs(30),
        ..ReflectorSettings::client_go(7)
    };
    let rig = rig_with(
        vec![page(10, vec![]), internal(), internal()],
        settings,
        None,
    );
    let (requests, _) = run_to_the_end_of_the_script(rig).await;
    assert!(
        requests[2..]
            .iter()
            .all(|request| request.starts_with("WATCH")),
        "{requests:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_resync_comes_each_period_and_sends_no_request() {
    let (_feed, stream) = mpsc::unbounded_channel();
    let answers = vec![page(10, vec![object("known", 1)]), Answer::Fed(stream)];
    let Rig {
        server,
        queue,
        mut reflector,
    } = rig_with(
        answers,
        ReflectorSettings::client_go(7),
        Some(Duration::from_secs(10)),
    );
    let counted = async {
        let mut resyncs = Vec::new();
        tokio::task::yield_now().await;
        for milliseconds in [9_990, 20, 9_970, 30] {
            tokio::time::advance(Duration::from_millis(milliseconds)).await;
            for _ in 0..8 {
                tokio::task::yield_now().await;
            }
            resyncs.push(
                drain(&queue)
                    .into_iter()
                    .filter(|pop| pop.starts_with('S'))
                    .count(),
            );
        }
        resyncs
    };
    tokio::select! {
        biased;
        _ = reflector.list_and_watch() => panic!("the watch stays open"),
        resyncs = counted => assert_eq!(resyncs, [0, 1, 0, 1], "before and after each period"),
    }
    assert_eq!(server.requests().len(), 2);
}
