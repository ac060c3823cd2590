//! What a reflector does about errors within a cycle; cases of client-go's `tools/cache/reflector_test.go`.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bench_core::{
    api::{KubeObject, Object, ObjectKey, Status, WatchEvent},
    cache::{
        DeltaFifo, Indexer, KnownObjects, NoObserver, QueueHandle, Reflector, ReflectorSettings,
        ResyncTimer,
    },
    list_watch::{ApiError, FrameError},
};
use tokio::sync::mpsc;

use crate::{
    reflector::{drain, ended, error_event, rig_with, run_to_the_end_of_the_script},
    scripted::{Answer, ScriptedServer, expired, object, page, text},
};

fn internal_errors(count: usize, longer: Option<usize>) -> Vec<Answer> {
    let mut answers = vec![page(1, vec![])];
    answers.extend((1..=count).map(|number| {
        let seconds = if longer == Some(number) { 61 } else { 1 };
        let error = error_event(Status::failure(
            500,
            "InternalError",
            "etcdserver: no leader",
        ));
        Answer::After(Duration::from_secs(seconds), Box::new(error))
    }));
    answers
}

/// `TestRetryInternalError`.
#[tokio::test(start_paused = true)]
async fn internal_errors_are_retried_at_once_for_as_long_as_asked_for() {
    for (seconds, longer, retries) in [(0, None, 0), (30, None, 31), (30, Some(10), 40)] {
        let settings = ReflectorSettings {
            max_internal_error_retry: Duration::from_secs(seconds),
            ..ReflectorSettings::client_go_0_27(7)
        };
        let mut rig = rig_with(internal_errors(50, longer), settings, None);
        rig.reflector.list_and_watch().await.expect("no error");
        assert_eq!(rig.server.requests().len(), 1 + 1 + retries);
    }
}

#[tokio::test(start_paused = true)]
async fn each_cycle_has_a_window_of_its_own_for_internal_errors() {
    let internal = || error_event(Status::failure(500, "InternalError", "boom"));
    let late = |answer| Answer::After(Duration::from_secs(25), Box::new(answer));
    let answers = vec![
        page(1, vec![]),
        internal(),
        late(error_event(expired())),
        page(2, vec![]),
        late(internal()),
        ended(vec![]),
    ];
    let settings = ReflectorSettings {
        max_internal_error_retry: Duration::from_secs(30),
        ..ReflectorSettings::client_go_0_27(7)
    };
    let (requests, _) = run_to_the_end_of_the_script(rig_with(answers, settings, None)).await;
    // The second internal error is 50 s after the first, but the first of its cycle.
    assert!(requests[5].starts_with("WATCH"), "{requests:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_cannot_be_decoded_is_an_internal_error() {
    for (seconds, next) in [(0, "LIST"), (30, "WATCH")] {
        let broken = FrameError::UnknownType("MOVED".to_owned());
        let answers = vec![
            page(1, vec![]),
            Answer::Stream(vec![Err(ApiError::Frame(broken))]),
        ];
        let settings = ReflectorSettings {
            max_internal_error_retry: Duration::from_secs(seconds),
            ..ReflectorSettings::client_go_0_27(7)
        };
        let (requests, _) = run_to_the_end_of_the_script(rig_with(answers, settings, None)).await;
        assert!(requests[2].starts_with(next), "{requests:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_without_events_counts_as_failed_if_it_lasted_less_than_a_second() {
    for (milliseconds, next) in [(999, "LIST"), (1_000, "WATCH")] {
        let open_for = Duration::from_millis(milliseconds);
        let answers = vec![page(1, vec![]), Answer::StreamFor(open_for, vec![])];
        let settings = ReflectorSettings::client_go_0_27(7);
        let (requests, _) = run_to_the_end_of_the_script(rig_with(answers, settings, None)).await;
        assert!(requests[2].starts_with(next), "{requests:?}");
    }
}

/// `TestReflectorReplacesStoreOnUnsafeDelete`: a read error of the server's store is an error like any other.
#[tokio::test(start_paused = true)]
async fn an_error_of_the_servers_store_relists_and_what_is_gone_is_deleted() {
    let corrupt = Status::failure(500, "StoreReadError", "corrupt object deleted");
    let known = || vec![object("a", 1), object("b", 2)];
    let answers = vec![
        page(3, known()),
        ended(vec![
            WatchEvent::Added(object("c", 4)),
            WatchEvent::Error(Box::new(corrupt)),
        ]),
        page(5, known()),
    ];
    let settings = ReflectorSettings {
        max_internal_error_retry: Duration::from_secs(30),
        ..ReflectorSettings::client_go_0_27(7)
    };
    let (requests, queue) = run_to_the_end_of_the_script(rig_with(answers, settings, None)).await;
    assert_eq!(requests[2], "LIST resourceVersion=4");
    assert!(drain(&queue).contains(&"A c:4, D †c:4".to_owned()));
}

/// Knows one object; to the second look-up it answers with one without a name.
struct BreaksOnTheSecondResync(AtomicUsize);

impl KnownObjects<Object> for BreaksOnTheSecondResync {
    fn list_keys(&self) -> Vec<ObjectKey> {
        vec![ObjectKey::new("t", "a")]
    }

    fn get_by_key(&self, _: &ObjectKey) -> Result<Option<Arc<Object>>, String> {
        let resync = self.0.fetch_add(1, Ordering::Relaxed);
        let nameless = Object::decode(b"{}").expect("JSON");
        Ok(Some(if resync == 0 {
            object("a", 1)
        } else {
            Arc::new(nameless)
        }))
    }
}

/// `TestReflectorResync`.
#[tokio::test(start_paused = true)]
async fn a_resync_that_fails_ends_the_cycle_without_an_error() {
    let known = Arc::new(BreaksOnTheSecondResync(AtomicUsize::new(0)));
    let known_objects: Arc<dyn KnownObjects<Object>> =
        Arc::<BreaksOnTheSecondResync>::clone(&known);
    let queue = QueueHandle::new(DeltaFifo::for_informer(known_objects), NoObserver);
    let (_feed, stream) = mpsc::unbounded_channel();
    let listed = vec![object("a", 1)];
    let server = ScriptedServer::new(vec![page(10, listed), Answer::Fed(stream)]);
    let resync = ResyncTimer {
        period: Some(Duration::from_millis(1)),
        should_resync: None,
    };
    let settings = ReflectorSettings::client_go_0_27(7);
    let mut reflector = Reflector::new(server, queue, NoObserver, settings, resync);
    reflector.list_and_watch().await.expect("no error");
    assert_eq!(known.0.load(Ordering::Relaxed), 2);
}

/// Applies pops as `drain` writes them; the last delta of a pop decides.
fn apply(pops: &[String], cache: &Indexer<Object>) {
    for pop in pops {
        let last = pop.rsplit(", ").next().expect("a delta");
        let (kind, rest) = last.split_once(' ').expect("type and object");
        let (name, version) = rest
            .trim_start_matches('†')
            .split_once(':')
            .expect("name and version");
        if kind == "D" {
            cache.remove(&ObjectKey::new("t", name));
        } else {
            let version = version.parse().expect("a number");
            cache.add(&object(name, version)).expect("named");
        }
    }
}

/// `TestReflectorListAndWatchWithErrors`: six cycles on one queue, emptied into one cache.
#[tokio::test(start_paused = true)]
async fn whatever_fails_on_the_way_the_queue_tells_what_the_server_holds() {
    let unavailable = || ApiError::Status(Box::new(Status::failure(503, "", "gone for a moment")));
    let answers = vec![
        page(1, vec![]),
        ended(vec![
            WatchEvent::Added(object("foo", 2)),
            WatchEvent::Added(object("bar", 3)),
        ]),
        ended(vec![]),
        page(3, vec![object("foo", 2), object("bar", 3)]),
        ended(vec![
            WatchEvent::Deleted(object("foo", 4)),
            WatchEvent::Added(object("qux", 5)),
        ]),
        ended(vec![]),
        Answer::ListFails(unavailable()),
        page(5, vec![object("bar", 3), object("qux", 5)]),
        Answer::WatchFails(unavailable()),
        page(5, vec![object("bar", 3), object("qux", 5)]),
        ended(vec![WatchEvent::Added(object("baz", 6))]),
        ended(vec![]),
        page(
            6,
            vec![object("bar", 3), object("qux", 5), object("baz", 6)],
        ),
        ended(vec![]),
    ];
    let cache = Arc::new(Indexer::new(HashMap::new()));
    let known: Arc<dyn KnownObjects<Object>> = Arc::<Indexer<Object>>::clone(&cache);
    let queue = QueueHandle::new(DeltaFifo::for_informer(known), NoObserver);
    let server = ScriptedServer::new(answers);
    let resync = ResyncTimer {
        period: None,
        should_resync: None,
    };
    let settings = ReflectorSettings::client_go_0_27(7);
    let mut reflector = Reflector::new(server, queue.clone(), NoObserver, settings, resync);
    let expected = [
        (true, "bar@3 foo@2"),
        (true, "bar@3 qux@5"),
        (false, "bar@3 qux@5"),
        (false, "bar@3 qux@5"),
        (true, "bar@3 baz@6 qux@5"),
        (true, "bar@3 baz@6 qux@5"),
    ];
    for (cycle, (succeeds, content)) in expected.into_iter().enumerate() {
        let outcome = reflector.list_and_watch().await;
        assert_eq!(outcome.is_ok(), succeeds, "cycle {cycle}: {outcome:?}");
        apply(&drain(&queue), &cache);
        let mut objects: Vec<_> = cache.list().iter().map(|it| text(it)).collect();
        objects.sort_unstable();
        assert_eq!(objects.join(" "), content, "cycle {cycle}");
    }
}
