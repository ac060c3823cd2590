//! Informers that change objects before they are queued; cases of client-go's `tools/cache/controller_test.go` and
//! `shared_informer_test.go`.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bench_core::{
    api::{KubeObject as _, Object, WatchEvent},
    cache::{
        AddOrigin, DeltaObject, NoObserver, QueueKind, ReflectorSettings, ResourceEventHandler,
        SharedInformer, SharedInformerSettings, SharedTransformer, StreamingList,
    },
};
use tokio::sync::mpsc;

use crate::{
    scripted::{Answer, ScriptedServer, object, page, text},
    shared_informer::{Feed, within},
};

/// Puts a mark into the object and counts the call.
fn marking(calls: &Arc<AtomicUsize>) -> SharedTransformer<Object> {
    let calls = Arc::clone(calls);
    Arc::new(move |object: Arc<Object>| {
        calls.fetch_add(1, Ordering::Relaxed);
        let json = std::str::from_utf8(object.json()).expect("JSON");
        let marked = json.replacen(r#""kind":"Pod""#, r#""kind":"Pod","mark":1"#, 1);
        // Later marks take over the earlier's place, since a key may come only once.
        let marked = marked.replace(r#""mark":1,"mark":"#, r#""mark":1"#);
        Ok(Arc::new(Object::decode(marked.as_bytes()).expect("JSON")))
    })
}

/// How often it was transformed: `"mark":1`, `"mark":11` and so on.
fn marks(object: &Object) -> usize {
    let json = std::str::from_utf8(object.json()).expect("JSON");
    let mark = json.split_once(r#""mark":"#).map_or("", |(_, rest)| rest);
    mark.chars().take_while(|digit| *digit == '1').count()
}

/// Says what it is told, with the marks.
struct Log(mpsc::UnboundedSender<String>);

impl Log {
    fn say(&self, what: &str, object: &Object) {
        let said = format!("{what} {} {}", text(object), marks(object));
        // Nobody may listen any more.
        let _ = self.0.send(said);
    }
}

impl ResourceEventHandler<Object> for Log {
    async fn on_add(&mut self, object: Arc<Object>, _: AddOrigin) {
        self.say("add", &object);
    }
    async fn on_update(&mut self, _: Arc<Object>, new: Arc<Object>) {
        self.say("update", &new);
    }
    async fn on_delete(&mut self, object: DeltaObject<Object>) {
        self.say("delete", object.last_known().expect("seen"));
    }
}

struct Rig {
    informer: Arc<SharedInformer<Object, NoObserver>>,
    feed: Feed,
    calls: mpsc::UnboundedReceiver<String>,
    transformed: Arc<AtomicUsize>,
}

fn started(queue: QueueKind, period: Duration, listed: &[&str]) -> Rig {
    let settings = SharedInformerSettings {
        queue,
        default_resync_period: period,
        reflector: ReflectorSettings {
            streaming_list: StreamingList::Off,
            ..ReflectorSettings::client_go(7)
        },
    };
    let transformed = Arc::<AtomicUsize>::default();
    let marking = marking(&transformed);
    let informer = SharedInformer::transforming(settings, HashMap::new(), NoObserver, marking);
    let (log, calls) = mpsc::unbounded_channel();
    informer.add_event_handler(Log(log)).expect("not stopped");
    let (feed, stream) = mpsc::unbounded_channel();
    let listed = listed.iter().map(|name| object(name, 2)).collect();
    let answers = vec![page(2, listed), Answer::Fed(stream)];
    informer.start(ScriptedServer::new(answers));
    Rig {
        informer: Arc::new(informer),
        feed,
        calls,
        transformed,
    }
}

/// `TestTransformingInformer` and `TestSharedInformerTransformer`.
#[tokio::test(start_paused = true)]
async fn cache_and_handlers_know_only_what_the_transformer_made() {
    for queue in QueueKind::ALL {
        let mut rig = started(queue, Duration::ZERO, &["a"]);
        assert_eq!(within(&mut rig.calls, 0.5).await, ["add a@2 1"]);
        for event in [
            WatchEvent::Added(object("b", 3)),
            WatchEvent::Added(object("c", 4)),
            WatchEvent::Modified(object("b", 5)),
            WatchEvent::Deleted(object("a", 6)),
        ] {
            rig.feed.send(Ok(event)).expect("open");
        }
        assert_eq!(
            within(&mut rig.calls, 0.5).await,
            ["add b@3 1", "add c@4 1", "delete a@6 1", "update b@5 1"],
            "{queue:?}"
        );
        let cached = rig.informer.lister().list();
        assert!(cached.iter().all(|object| marks(object) == 1));
        assert_eq!(cached.len(), 2);
        assert_eq!(rig.transformed.load(Ordering::Relaxed), 5);
    }
}

/// Up to 0.30 resynced objects are transformed again; later queues hand on what is cached.
#[tokio::test(start_paused = true)]
async fn a_resync_transforms_again_only_in_a_delta_fifo() {
    for queue in QueueKind::ALL {
        let mut rig = started(queue, Duration::from_secs(1), &["a"]);
        within(&mut rig.calls, 0.5).await;
        let resynced = within(&mut rig.calls, 2.0).await;
        let expected = match queue {
            QueueKind::DeltaFifo => ["update a@2 11", "update a@2 111"],
            _ => ["update a@2 1"; 2],
        };
        let expected = expected.map(|call| {
            let (call, marks) = call.rsplit_once(' ').expect("marks");
            format!("{call} {}", marks.len())
        });
        assert_eq!(resynced, expected, "{queue:?}");
    }
}

/// `TestTransformingInformerRace`: of the queues that do not transform resynced objects again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_beside_changes_see_each_object_transformed_once() {
    let later = QueueKind::ALL.into_iter().skip(1);
    for queue in later {
        let listed = ["a", "b", "c", "d", "e"];
        let rig = started(queue, Duration::from_secs(1), &listed);
        rig.informer.wait_until_synced().await;
        let mut readers = tokio::task::JoinSet::new();
        for _ in 0..2 {
            let informer = Arc::clone(&rig.informer);
            readers.spawn(async move {
                for _ in 0..500 {
                    let cached = informer.lister().list();
                    assert!(cached.iter().all(|object| marks(object) == 1));
                    tokio::task::yield_now().await;
                }
            });
        }
        for version in 3..500 {
            let event = WatchEvent::Modified(object("a", version));
            rig.feed.send(Ok(event)).expect("open");
            tokio::task::yield_now().await;
        }
        readers.join_all().await;
        rig.informer.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_streamed_first_list_is_transformed_twice_but_not_as_0_27_streams() {
    let marked = async |reflector| {
        let settings = SharedInformerSettings {
            queue: QueueKind::AtomicFifo,
            default_resync_period: Duration::ZERO,
            reflector,
        };
        let calls = Arc::<AtomicUsize>::default();
        let informer =
            SharedInformer::transforming(settings, HashMap::new(), NoObserver, marking(&calls));
        let (feed, stream) = mpsc::unbounded_channel();
        let end = WatchEvent::Bookmark {
            kind: "Pod".into(),
            resource_version: 2.into(),
            initial_events_end: Some("true".to_owned()),
        };
        for event in [WatchEvent::Added(object("a", 1)), end] {
            feed.send(Ok(event)).expect("open");
        }
        informer.start(ScriptedServer::new(vec![Answer::Fed(stream)]));
        informer.wait_until_synced().await;
        marks(&informer.lister().list()[0])
    };
    assert_eq!(marked(ReflectorSettings::client_go_0_36(7)).await, 2);
    let as_0_27 = ReflectorSettings {
        streaming_list: StreamingList::FallBackOnInvalid,
        ..ReflectorSettings::client_go_0_27(7)
    };
    assert_eq!(marked(as_0_27).await, 1);
}
