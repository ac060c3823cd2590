//! Whole informers in small stories; cases of client-go's `tools/cache/controller_test.go`, `reflector_test.go` and
//! `shared_informer_test.go`.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
    time::Duration,
};

use bench_core::{
    api::{KubeObject as _, Object, WatchEvent},
    cache::{
        AddOrigin, ControllerPlacement, DeltaObject, Informer, InlineEventHandler, NoObserver,
        QueueKind, ReflectorSettings,
    },
    list_watch::decode_list,
};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha12Rng};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, timeout},
};

use crate::{
    informer::settings,
    reflector::{Rig, rig_with},
    scripted::{Answer, ScriptedServer, expired, object, page, text},
    shared_informer::{Feed, informer, log, within},
};

fn idle(seconds: u64) -> impl Future<Output = ()> {
    let wait = timeout(Duration::from_secs(seconds), std::future::pending::<()>());
    async move {
        // It always elapses.
        let _ = wait.await;
    }
}

/// Deletes at the source what it is told of, and says which deletions it is told of.
struct DeletesAtTheSource {
    feed: Feed,
    deleted: mpsc::UnboundedSender<String>,
    next_version: u64,
}

impl InlineEventHandler<Object> for DeletesAtTheSource {
    fn on_add(&mut self, object: &Arc<Object>, _: AddOrigin) {
        let name = object.key().expect("named");
        let gone = crate::scripted::object(name.name(), self.next_version);
        self.next_version += 1;
        self.feed.send(Ok(WatchEvent::Deleted(gone))).expect("open");
    }
    fn on_update(&mut self, _: &Arc<Object>, _: &Arc<Object>) {}
    fn on_delete(&mut self, object: &DeltaObject<Object>) {
        let object = object.last_known().expect("seen");
        self.deleted.send(text(object)).expect("the test listens");
    }
}

/// `Example` and `ExampleNewInformer`.
#[tokio::test(start_paused = true)]
async fn a_handler_that_deletes_at_the_source_is_told_of_each_deletion() {
    for queue in QueueKind::ALL {
        let (feed, stream) = mpsc::unbounded_channel();
        let (deleted, mut deletions) = mpsc::unbounded_channel();
        let handler = DeletesAtTheSource {
            feed: feed.clone(),
            deleted,
            next_version: 20,
        };
        let server = ScriptedServer::new(vec![page(10, vec![]), Answer::Fed(stream)]);
        let period = Some(Duration::from_millis(100));
        let settings = settings(queue, period, ControllerPlacement::Task);
        let informer = Informer::start(server, settings, handler, HashMap::new(), NoObserver)
            .expect("no thread is needed");
        for (name, version) in [("a-hello", 11), ("b-controller", 12), ("c-framework", 13)] {
            let added = WatchEvent::Added(object(name, version));
            feed.send(Ok(added)).expect("open");
        }
        let mut names = Vec::new();
        for _ in 0..3 {
            names.push(deletions.recv().await.expect("the informer runs"));
        }
        assert_eq!(names, ["a-hello@20", "b-controller@21", "c-framework@22"]);
        assert!(informer.stop().await.is_empty());
    }
}

/// Says from what to what each object goes.
struct Transitions(mpsc::UnboundedSender<(u64, u64)>);

impl InlineEventHandler<Object> for Transitions {
    fn on_add(&mut self, _: &Arc<Object>, _: AddOrigin) {}
    fn on_update(&mut self, old: &Arc<Object>, new: &Arc<Object>) {
        let version = |object: &Object| object.resource_version().number().expect("a number");
        // Nobody may listen any more.
        let _ = self.0.send((version(old), version(new)));
    }
    fn on_delete(&mut self, _: &DeltaObject<Object>) {}
}

/// `TestUpdate`, with resyncs between: each state is followed by itself or by the next one.
#[tokio::test(start_paused = true)]
async fn an_update_goes_from_what_was_told_before_to_what_is_new() {
    for queue in QueueKind::ALL {
        let (feed, stream) = mpsc::unbounded_channel();
        let (told, mut transitions) = mpsc::unbounded_channel();
        let server = ScriptedServer::new(vec![page(1, vec![object("a", 1)]), Answer::Fed(stream)]);
        let period = Some(Duration::from_secs(1));
        let settings = settings(queue, period, ControllerPlacement::Task);
        let handler = Transitions(told);
        let informer = Informer::start(server, settings, handler, HashMap::new(), NoObserver)
            .expect("no thread is needed");
        for version in 2..5 {
            idle(3).await;
            let modified = WatchEvent::Modified(object("a", version));
            feed.send(Ok(modified)).expect("open");
        }
        idle(3).await;
        informer.stop().await;
        let mut last = 1;
        let (mut changes, mut repetitions) = (0, 0);
        while let Ok((old, new)) = transitions.try_recv() {
            assert_eq!(old, last, "{queue:?}");
            if new == old {
                repetitions += 1;
            } else {
                assert_eq!(new, old + 1);
                changes += 1;
            }
            last = new;
        }
        assert_eq!((changes, last), (3, 4));
        assert!(repetitions >= 8, "{repetitions} resyncs in 12 s");
    }
}

/// What a source holds, and the feed of its watch.
struct Source {
    feed: Feed,
    version: u64,
    held: BTreeMap<String, u64>,
}

impl Source {
    fn change(&mut self, name: &str, random: &mut ChaCha12Rng) {
        self.version += 1;
        let object = object(name, self.version);
        let event = if self.held.contains_key(name) {
            if random.random_bool(0.5) {
                self.held.remove(name);
                WatchEvent::Deleted(object)
            } else {
                self.held.insert(name.to_owned(), self.version);
                WatchEvent::Modified(object)
            }
        } else {
            self.held.insert(name.to_owned(), self.version);
            WatchEvent::Added(object)
        };
        self.feed.send(Ok(event)).expect("open");
    }
}

/// `TestHammerController`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_happens_at_the_source_the_cache_ends_as_the_source_does() {
    for queue in QueueKind::ALL {
        let (feed, stream) = mpsc::unbounded_channel();
        let server = ScriptedServer::new(vec![page(10, vec![]), Answer::Fed(stream)]);
        let settings = settings(queue, None, ControllerPlacement::Thread);
        let (told, _transitions) = mpsc::unbounded_channel();
        let handler = Transitions(told);
        let informer = Informer::start(server, settings, handler, HashMap::new(), NoObserver)
            .expect("a thread");
        let source = Arc::new(Mutex::new(Source {
            feed,
            version: 10,
            held: BTreeMap::new(),
        }));
        let mut changers = JoinSet::new();
        for seed in 0..3 {
            let source = Arc::clone(&source);
            changers.spawn(async move {
                let mut random = ChaCha12Rng::seed_from_u64(seed);
                for _ in 0..100 {
                    let name = ["a", "b", "c", "d"][random.random_range(0..4)];
                    source
                        .lock()
                        .expect("not poisoned")
                        .change(name, &mut random);
                    tokio::task::yield_now().await;
                }
            });
        }
        changers.join_all().await;
        while informer.last_sync_resource_version().number() != Some(310)
            || informer.queue_length().deltas > 0
        {
            tokio::task::yield_now().await;
        }
        let cache = informer.stop().await;
        let mut cached: Vec<_> = cache.list().iter().map(|it| text(it)).collect();
        cached.sort_unstable();
        let held = &source.lock().expect("not poisoned").held;
        let held: Vec<_> = held
            .iter()
            .map(|(name, version)| format!("{name}@{version}"))
            .collect();
        assert_eq!(cached, held, "{queue:?}");
    }
}

struct Panics;

impl InlineEventHandler<Object> for Panics {
    fn on_add(&mut self, _: &Arc<Object>, _: AddOrigin) {
        panic!("Just panic.");
    }
    fn on_update(&mut self, _: &Arc<Object>, _: &Arc<Object>) {}
    fn on_delete(&mut self, _: &DeltaObject<Object>) {}
}

/// `TestPanicPropagated`: upstream's `Run` panics; here it is who stops the informer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_of_a_plain_informers_handler_comes_out_where_it_is_stopped() {
    for queue in QueueKind::ALL {
        for placement in [ControllerPlacement::Task, ControllerPlacement::Thread] {
            let (_feed, stream) = mpsc::unbounded_channel();
            let answers = vec![page(10, vec![object("a", 5)]), Answer::Fed(stream)];
            let server = ScriptedServer::new(answers);
            let settings = settings(queue, None, placement);
            let informer = Informer::start(server, settings, Panics, HashMap::new(), NoObserver)
                .expect("a thread");
            // The cache is written before the handler is called.
            while informer.indexer().is_empty() {
                tokio::task::yield_now().await;
            }
            let mut stopping = JoinSet::new();
            stopping.spawn(async move { informer.stop().await.len() });
            let stopped = stopping.join_next().await.expect("one task");
            let panic = stopped.expect_err("it panics").into_panic();
            assert_eq!(panic.downcast_ref(), Some(&"Just panic."));
        }
    }
}

/// `TestSharedInformerWatchDisruption`.
#[tokio::test(start_paused = true)]
async fn after_a_broken_watch_everybody_hears_of_changes_and_the_due_of_the_rest() {
    for queue in QueueKind::ALL {
        let informer = informer(queue, 1);
        let (never, mut never_calls) = log("");
        let (due, mut due_calls) = log("");
        informer
            .add_event_handler_with_resync_period(never, Duration::ZERO)
            .unwrap();
        informer
            .add_event_handler_with_resync_period(due, Duration::from_secs(1))
            .unwrap();
        let (feed, stream) = mpsc::unbounded_channel();
        let (_second_feed, second) = mpsc::unbounded_channel();
        let answers = vec![
            page(10, vec![object("a", 5), object("b", 5)]),
            Answer::Fed(stream),
            page(20, vec![object("a", 5), object("b", 12), object("c", 11)]),
            Answer::Fed(second),
        ];
        informer.start(ScriptedServer::new(answers));
        let both = ["initial add a@5", "initial add b@5"];
        assert_eq!(within(&mut never_calls, 0.5).await, both);
        assert_eq!(within(&mut due_calls, 0.0).await, both);
        // The first round of checks takes the mark away that every handler begins with.
        assert_eq!(within(&mut due_calls, 1.0).await.len(), 2);
        let gone = WatchEvent::Error(Box::new(expired()));
        feed.send(Ok(gone)).expect("open");
        let changes = ["add c@11", "update b@5 b@12"];
        assert_eq!(within(&mut never_calls, 2.0).await, changes, "{queue:?}");
        let due = within(&mut due_calls, 1.0).await;
        let told = |call: &str| due.iter().any(|told| told == call);
        assert!(changes.iter().all(|call| told(call)), "{due:?}");
        assert!(told("update a@5 a@5"), "{due:?}");
        assert_eq!(within(&mut never_calls, 0.0).await.len(), 0);
    }
}

/// `TestIndexer`.
#[tokio::test(start_paused = true)]
async fn an_index_of_a_running_informer_follows_its_events_whenever_it_was_added() {
    let first_letter = |object: &Object| {
        let name = object.key().expect("named").name().to_owned();
        vec![name[..1].to_owned()]
    };
    let indexers = |name: &str| {
        let index: bench_core::cache::IndexFunc<Object> = Arc::new(first_letter);
        HashMap::from([(name.to_owned(), index)])
    };
    let informer = informer(QueueKind::AtomicFifo, 0);
    informer.indexer().add_indexers(indexers("before")).unwrap();
    let (server, feed) = crate::shared_informer::server(&["ab", "b"]);
    informer.start(server);
    informer.wait_until_synced().await;
    feed.send(Ok(WatchEvent::Added(object("ac", 11))))
        .expect("open");
    idle(1).await;
    informer
        .indexer()
        .add_indexers_at_any_time(indexers("after"))
        .unwrap();
    feed.send(Ok(WatchEvent::Added(object("ad", 12))))
        .expect("open");
    feed.send(Ok(WatchEvent::Deleted(object("ab", 13))))
        .expect("open");
    idle(1).await;
    for index in ["before", "after"] {
        let mut found: Vec<_> = informer
            .indexer()
            .by_index(index, "a")
            .unwrap()
            .iter()
            .map(|object| text(object))
            .collect();
        found.sort_unstable();
        assert_eq!(found, ["ac@11", "ad@12"]);
    }
}

/// `TestCloseWatchChannelOnError`.
#[tokio::test(start_paused = true)]
async fn an_error_in_a_stream_closes_it() {
    let (feed, stream) = mpsc::unbounded_channel();
    let answers = vec![page(1, vec![]), Answer::Fed(stream)];
    let Rig { mut reflector, .. } = rig_with(answers, ReflectorSettings::client_go(7), None);
    let error = WatchEvent::Error(Box::new(expired()));
    feed.send(Ok(error)).expect("open");
    reflector.list_and_watch().await.expect("no error");
    assert!(feed.is_closed());
}

/// `TestRunUntil`, `TestReflectorStopWatch` and the `TestReflectorWatchStopped*` and `TestReflectorHandleWatchStopped*` rows:
/// stopping is dropping.
#[tokio::test(start_paused = true)]
async fn a_reflector_that_is_dropped_asks_nothing_more_and_closes_its_watch() {
    let (feed, stream) = mpsc::unbounded_channel();
    let answers = || vec![page(1, vec![])];
    let Rig {
        server, reflector, ..
    } = rig_with(answers(), ReflectorSettings::client_go(7), None);
    drop(reflector.run());
    assert_eq!(server.requests().len(), 0, "before it began");
    let mut open = answers();
    open.push(Answer::Fed(stream));
    let Rig {
        server, reflector, ..
    } = rig_with(open, ReflectorSettings::client_go(7), None);
    feed.send(Ok(WatchEvent::Added(object("a", 2))))
        .expect("open");
    let began = Instant::now();
    let stopped = timeout(Duration::from_millis(10), reflector.run()).await;
    assert!(stopped.is_err(), "a reflector runs for ever");
    assert!(began.elapsed() < Duration::from_millis(20));
    assert!(feed.is_closed());
    assert_eq!(server.requests().len(), 2);
}

/// `TestReflectorListExtract`.
#[test]
fn an_object_that_is_kept_does_not_keep_the_rest_of_its_page() {
    let items: Vec<_> = (0..100)
        .map(|number| format!(r#"{{"metadata":{{"name":"o{number}","resourceVersion":"1"}}}}"#))
        .collect();
    let body = format!(
        r#"{{"metadata":{{"resourceVersion":"9"}},"items":[{}]}}"#,
        items.join(",")
    );
    let page = decode_list::<Object>(body.as_bytes()).expect("a list");
    drop(body);
    let kept = Arc::clone(&page.items[25]);
    let first = Arc::downgrade(&page.items[0]);
    drop(page);
    assert!(first.upgrade().is_none());
    // Its bytes are a copy of exactly its own.
    assert_eq!(kept.json(), items[25].as_bytes());
}
