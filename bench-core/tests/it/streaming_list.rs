//! The first list as a stream; cases of client-go's `tools/cache/reflector_watchlist_test.go`.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bench_core::{
    api::{Object, ResourceVersion, Status, StatusDetails, WatchEvent},
    cache::{
        DeltaFifo, DeltaFifoSettings, EmittedOnReplace, Indexer, InformerObserver, InformerWarning,
        Popped, PoppedItem, QueueHandle, Reflector, ReflectorError, ReflectorSettings, RelistCause,
        ResyncTimer, StreamingList,
    },
    list_watch::{ApiError, FrameError},
};

use crate::{
    delta_fifo::render,
    reflector::ended,
    scripted::{Answer, ScriptedServer, expired, object, page},
};

pub(crate) type Events = Vec<WatchEvent<Object>>;

/// Keeps what the reflector tells.
#[derive(Default)]
pub(crate) struct Told(pub(crate) Mutex<Vec<String>>);

impl Told {
    fn tell(&self, what: String) {
        self.0.lock().expect("not poisoned").push(what);
    }
}

impl InformerObserver<Object> for Told {
    fn list_began(&self, cause: RelistCause) {
        self.tell(format!("list {cause:?}"));
    }

    fn streaming_list_began(&self, cause: RelistCause) {
        self.tell(format!("stream {cause:?}"));
    }

    fn list_ended(&self, objects: usize, resource_version: &ResourceVersion) {
        self.tell(format!("{objects} objects at {resource_version}"));
    }

    fn event_received(&self, key: &bench_core::api::ObjectKey, version: &ResourceVersion) {
        self.tell(format!("event {}@{version}", key.name()));
    }

    fn list_and_watch_failed(&self, error: &ReflectorError) {
        self.tell(format!("failed: {error}"));
    }

    fn warned(&self, warning: &InformerWarning) {
        self.tell(warning.to_string());
    }
}

pub(crate) type Queue = QueueHandle<Object, DeltaFifo<Object>, Arc<Told>>;

pub(crate) struct Rig {
    pub(crate) server: ScriptedServer,
    pub(crate) queue: Queue,
    pub(crate) told: Arc<Told>,
    pub(crate) reflector: Reflector<Object, ScriptedServer, DeltaFifo<Object>, Arc<Told>>,
}

pub(crate) fn rig_with(answers: Vec<Answer>, settings: ReflectorSettings) -> Rig {
    let told = Arc::<Told>::default();
    let known = Arc::new(Indexer::new(HashMap::new()));
    let queue = QueueHandle::new(DeltaFifo::for_informer(known), Arc::clone(&told));
    let server = ScriptedServer::new(answers);
    let resync = ResyncTimer {
        period: None,
        should_resync: None,
    };
    let reflector = Reflector::new(
        server.clone(),
        queue.clone(),
        Arc::clone(&told),
        settings,
        resync,
    );
    Rig {
        server,
        queue,
        told,
        reflector,
    }
}

pub(crate) fn rig(answers: Vec<Answer>) -> Rig {
    rig_with(answers, ReflectorSettings::client_go_0_36(7))
}

/// As 0.27 does if streaming is turned on.
pub(crate) fn settings_0_27() -> ReflectorSettings {
    ReflectorSettings {
        streaming_list: StreamingList::FallBackOnInvalid,
        ..ReflectorSettings::client_go_0_27(7)
    }
}

/// What was asked for, what is in the queue and what was told, once a request hangs.
pub(crate) struct End {
    pub(crate) requests: Vec<String>,
    pub(crate) queued: String,
    pub(crate) told: Vec<String>,
}

impl Rig {
    pub(crate) async fn run_to_the_end_of_the_script(self) -> End {
        let run = tokio::time::timeout(Duration::from_hours(1), self.reflector.run());
        assert!(run.await.is_err(), "a reflector runs for ever");
        let mut queued = Vec::new();
        let mut pop = |popped: &Popped<Object>| {
            if let PoppedItem::Deltas(deltas) = &popped.item {
                queued.extend(deltas.iter().map(render));
            }
        };
        while self.queue.try_pop(&mut pop).is_ok() {}
        End {
            requests: self.server.requests(),
            queued: queued.join(", "),
            told: self.told.0.lock().expect("not poisoned").clone(),
        }
    }
}

pub(crate) const STREAM: &str = "WATCH allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true";
pub(crate) const LIST: &str = "LIST limit=500&resourceVersion=0";

fn stream_from(version: u64) -> String {
    format!(
        "WATCH allowWatchBookmarks=true&resourceVersion={version}&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true"
    )
}

pub(crate) fn watch_from(version: u64) -> String {
    format!("WATCH allowWatchBookmarks=true&resourceVersion={version}&watch=true")
}

pub(crate) fn added(name: &str, version: u64) -> WatchEvent<Object> {
    WatchEvent::Added(object(name, version))
}

pub(crate) fn bookmark(version: &str, annotation: Option<&str>) -> WatchEvent<Object> {
    WatchEvent::Bookmark {
        kind: "Pod".into(),
        resource_version: ResourceVersion::from(version),
        initial_events_end: annotation.map(str::to_owned),
    }
}

pub(crate) fn end(version: u64) -> WatchEvent<Object> {
    bookmark(&version.to_string(), Some("true"))
}

pub(crate) fn open_for(time: Duration, events: Events) -> Answer {
    Answer::StreamFor(time, events.into_iter().map(Ok).collect())
}

/// A stream that stays open for a minute after its events.
pub(crate) fn open(events: Events) -> Answer {
    open_for(Duration::from_mins(1), events)
}

fn fails(status: Status) -> Answer {
    Answer::WatchFails(ApiError::Status(Box::new(status)))
}

fn invalid() -> Status {
    Status::failure(422, "Invalid", "sendInitialEvents is forbidden")
}

/// `TestNewReflectorWithDisablementWatchList`: which line streams.
#[test]
fn the_first_list_is_a_stream_from_0_35() {
    for (settings, streaming) in [
        (ReflectorSettings::client_go_0_27(7), false),
        (ReflectorSettings::client_go_0_28(7), false),
        (ReflectorSettings::client_go_0_35(7), true),
        (ReflectorSettings::client_go_0_36(7), true),
    ] {
        assert_eq!(settings.streaming_list != StreamingList::Off, streaming);
    }
}

/// `TestWatchList`: bookmark.
#[tokio::test(start_paused = true)]
async fn a_marked_stream_is_the_first_list_and_the_watch_in_one_request() {
    let events = vec![added("a", 1), added("b", 2), end(2), added("c", 3)];
    let end = rig(vec![open(events)]).run_to_the_end_of_the_script().await;
    assert_eq!(end.requests, [STREAM.to_owned(), watch_from(3)]);
    assert_eq!(end.queued, "R a:1, R b:2, A c:3");
    assert_eq!(
        end.told,
        ["stream First", "2 objects at 2", "event c@3"],
        "initial events are no events of the watch"
    );
}

/// `TestWatchList`: updates and deletes while streaming.
#[tokio::test(start_paused = true)]
async fn changes_within_the_stream_are_in_the_list_and_in_the_order_of_keys() {
    let events = vec![
        added("b", 1),
        added("a", 2),
        WatchEvent::Modified(object("b", 3)),
        added("c", 4),
        WatchEvent::Deleted(object("c", 5)),
        WatchEvent::Deleted(object("never-seen", 5)),
        end(5),
    ];
    let end = rig(vec![open(events)]).run_to_the_end_of_the_script().await;
    assert_eq!(end.queued, "R a:2, R b:3");
    assert_eq!(end.requests[1], watch_from(5));
}

/// `TestWatchList`: 429.
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_refused_for_now_is_asked_for_again_after_the_backoff() {
    let too_many = || fails(Status::failure(429, "TooManyRequests", "slow down"));
    let answers = vec![
        too_many(),
        Answer::WatchFails(ApiError::ConnectionRefused),
        ended(vec![WatchEvent::Error(Box::new(Status::failure(
            429,
            "TooManyRequests",
            "slow down",
        )))]),
        open(vec![added("a", 1), end(1)]),
    ];
    let rig = rig(answers);
    let server = rig.server.clone();
    let end = rig.run_to_the_end_of_the_script().await;
    assert_eq!(end.requests[..4], [STREAM; 4]);
    assert_eq!(end.queued, "R a:1");
    let at: Vec<_> = server.requests_in_full().iter().map(|it| it.at).collect();
    for (pair, base_ms) in at.windows(2).zip([800, 1_600, 3_200]) {
        let gap = pair[1].as_millis() - pair[0].as_millis();
        assert!((base_ms..=2 * base_ms).contains(&gap), "{gap} ms");
    }
}

/// `TestWatchList`: closed before sync.
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_cut_before_its_mark_changes_nothing_and_is_asked_for_again_at_once() {
    let answers = vec![
        ended(vec![added("a", 1)]),
        ended(vec![added("b", 1)]),
        open(vec![added("c", 1), end(1)]),
    ];
    let rig = rig(answers);
    let server = rig.server.clone();
    let end = rig.run_to_the_end_of_the_script().await;
    assert_eq!(end.requests[..3], [STREAM; 3]);
    assert_eq!(end.queued, "R c:1");
    assert_eq!(server.requests_in_full()[2].at, Duration::ZERO);
}

/// `TestWatchList`: closed after sync.
#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_after_its_mark_is_followed_by_a_plain_watch() {
    let answers = vec![
        ended(vec![added("a", 1), added("b", 2), end(2), added("c", 3)]),
        open(vec![added("d", 4)]),
    ];
    let end = rig(answers).run_to_the_end_of_the_script().await;
    assert_eq!(
        end.requests,
        [STREAM.to_owned(), watch_from(3), watch_from(4)]
    );
    assert_eq!(end.queued, "R a:1, R b:2, A c:3, A d:4");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_at_its_mark_counts_as_a_very_short_watch() {
    let answers = vec![ended(vec![added("a", 1), end(1)])];
    let end = rig(answers).run_to_the_end_of_the_script().await;
    assert_eq!(end.requests, [STREAM.to_owned(), stream_from(1)]);
}

/// `TestWatchList`: Expired after sync.
#[tokio::test(start_paused = true)]
async fn expired_on_the_watch_after_a_stream_is_an_error_and_the_next_stream_begins_at_the_version()
{
    let answers = vec![
        ended(vec![added("a", 1), end(2), added("b", 3)]),
        fails(expired()),
        open(vec![added("a", 1), end(9)]),
    ];
    let end = rig(answers).run_to_the_end_of_the_script().await;
    assert_eq!(
        end.requests[..3],
        [STREAM.to_owned(), watch_from(3), stream_from(3)]
    );
    assert!(
        end.told[3].starts_with("failed: server answered 410"),
        "{:?}",
        end.told
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_whose_version_is_of_no_use_is_asked_for_again_at_once_without_one() {
    let too_large = Status {
        details: Some(StatusDetails::default()),
        ..Status::failure(
            504,
            "Timeout",
            "Timeout: Too large resource version: 9, current: 5",
        )
    };
    let error = |status| WatchEvent::Error(Box::new(status));
    for refusal in [
        fails(expired()),
        fails(too_large.clone()),
        ended(vec![added("x", 1), error(expired())]),
        ended(vec![error(too_large)]),
    ] {
        let answers = vec![
            ended(vec![end(9)]),
            refusal,
            ended(vec![added("a", 1), end(20), error(expired())]),
        ];
        let end = rig(answers).run_to_the_end_of_the_script().await;
        assert_eq!(end.requests[1..3], [stream_from(9), STREAM.to_owned()]);
        // Once it has been given a version again, it is used.
        assert_eq!(end.requests[3], stream_from(20));
        assert_eq!(end.queued, "R a:1");
    }
}

/// `TestWatchList`: Invalid error, and other error at HEAD.
#[tokio::test(start_paused = true)]
async fn any_other_error_falls_back_to_a_list_for_this_cycle() {
    let internal = Status::failure(500, "InternalError", "boom");
    for refusal in [
        fails(invalid()),
        fails(Status::failure(400, "BadRequest", "unknown option")),
        fails(internal.clone()),
        Answer::WatchFails(ApiError::Transport("broken pipe".into())),
        ended(vec![added("x", 1), WatchEvent::Error(Box::new(internal))]),
        Answer::Stream(vec![Err(ApiError::Frame(FrameError::TooLong))]),
        // Very short.
        ended(vec![]),
    ] {
        let answers = vec![
            refusal,
            page(1, vec![object("a", 1)]),
            ended(vec![added("b", 2), WatchEvent::Error(Box::new(expired()))]),
            open(vec![added("a", 1), added("b", 2), end(2)]),
        ];
        let end = rig(answers).run_to_the_end_of_the_script().await;
        let expected = [
            STREAM.to_owned(),
            LIST.to_owned(),
            watch_from(1),
            stream_from(2),
        ];
        assert_eq!(end.requests[..4], expected);
        assert_eq!(end.queued, "R a:1, R a:1, A b:2, R b:2");
        assert_eq!(
            end.told,
            [
                "stream First",
                "the streaming list failed and a LIST took its place",
                "list First",
                "1 objects at 1",
                "event b@2",
                "stream Expired",
                "2 objects at 2"
            ]
        );
    }
}

/// `TestWatchList`: Invalid error and other error at 0.27.
#[tokio::test(start_paused = true)]
async fn in_0_27_only_invalid_falls_back_and_other_errors_end_the_cycle() {
    let falls_back = vec![fails(invalid()), page(1, vec![object("a", 1)])];
    let end = rig_with(falls_back, settings_0_27());
    let end = end.run_to_the_end_of_the_script().await;
    assert_eq!(
        end.requests,
        [STREAM.to_owned(), LIST.to_owned(), watch_from(1)]
    );
    for refusal in [
        fails(Status::failure(400, "BadRequest", "unknown option")),
        ended(vec![]),
    ] {
        let answers = vec![refusal, open(vec![added("a", 1), end_of_0_27(1)])];
        let end = rig_with(answers, settings_0_27());
        let end = end.run_to_the_end_of_the_script().await;
        assert_eq!(end.requests[..2], [STREAM; 2]);
        assert!(end.told[1].starts_with("failed: "), "{:?}", end.told);
        assert_eq!(end.queued, "R a:1");
    }
}

/// 0.27 takes the mark whatever its value is.
fn end_of_0_27(version: u64) -> WatchEvent<Object> {
    bookmark(&version.to_string(), Some("false"))
}

/// `TestWatchList`: streaming off.
#[tokio::test(start_paused = true)]
async fn without_streaming_there_is_a_list_and_a_watch() {
    let answers = vec![page(1, vec![object("a", 1)])];
    let settings = ReflectorSettings::client_go_0_28(7);
    let end = rig_with(answers, settings);
    let end = end.run_to_the_end_of_the_script().await;
    assert_eq!(end.requests, [LIST.to_owned(), watch_from(1)]);
}

/// `TestWatchListResourceVersion`: the list's version is the mark's and not that of an object.
#[tokio::test(start_paused = true)]
async fn the_version_of_a_streamed_list_is_that_of_its_mark() {
    for settings in [ReflectorSettings::client_go_0_36(7), settings_0_27()] {
        let answers = vec![open(vec![added("a", 9), end(4)])];
        let end = rig_with(answers, settings);
        let end = end.run_to_the_end_of_the_script().await;
        assert_eq!(end.told[1], "1 objects at 4");
    }
}

/// `TestReflectorRespectStoreTransformer`.
#[tokio::test(start_paused = true)]
async fn initial_events_are_transformed_twice_and_later_ones_once() {
    let calls = Arc::new(AtomicUsize::new(0));
    let transformer = || {
        let calls = Arc::clone(&calls);
        move |object: Arc<Object>| {
            calls.fetch_add(1, Ordering::Relaxed);
            Ok(object)
        }
    };
    let settings = DeltaFifoSettings {
        known_objects: None,
        emitted_on_replace: EmittedOnReplace::Replaced,
        transformer: Some(Box::new(transformer())),
    };
    let events = vec![added("a", 1), added("b", 2), end(3), added("c", 3)];
    let mut rig = rig(vec![open(events)]);
    rig.queue = QueueHandle::new(DeltaFifo::new(settings), Arc::clone(&rig.told));
    rig.reflector = Reflector::new(
        rig.server.clone(),
        rig.queue.clone(),
        Arc::clone(&rig.told),
        ReflectorSettings::client_go_0_36(7),
        ResyncTimer {
            period: None,
            should_resync: None,
        },
    )
    .with_transformer(Box::new(transformer()));
    let end = rig.run_to_the_end_of_the_script().await;
    assert_eq!(end.queued, "R a:1, R b:2, A c:3");
    assert_eq!(calls.load(Ordering::Relaxed), 2 + 2 + 1);
}
