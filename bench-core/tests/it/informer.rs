//! The plain informer: a scripted server, and its controller as a task under a paused clock.

use std::{collections::HashMap, sync::Arc, time::Duration};

use bench_core::{
    api::{Object, WatchEvent},
    cache::{
        AddOrigin, ControllerPlacement, DeltaObject, Informer, InformerSettings,
        InlineEventHandler, NoObserver, QueueKind, ReflectorSettings, RunningInformer,
    },
};
use tokio::sync::mpsc;

use crate::scripted::{Answer, ScriptedServer, object, page, text};

pub(crate) struct Log(mpsc::UnboundedSender<String>);

impl InlineEventHandler<Object> for Log {
    fn on_add(&mut self, object: &Arc<Object>, origin: AddOrigin) {
        let origin = if origin == AddOrigin::InitialList {
            "initial "
        } else {
            ""
        };
        self.0
            .send(format!("{origin}add {}", text(object)))
            .expect("the test listens");
    }

    fn on_update(&mut self, old: &Arc<Object>, new: &Arc<Object>) {
        self.0
            .send(format!("update {} {}", text(old), text(new)))
            .expect("the test listens");
    }

    fn on_delete(&mut self, object: &DeltaObject<Object>) {
        let unknown = if object.is_final_state_unknown() {
            "unknown "
        } else {
            ""
        };
        let object = object
            .last_known()
            .expect("every object of these tests was seen");
        self.0
            .send(format!("{unknown}delete {}", text(object)))
            .expect("the test listens");
    }
}

fn start(
    queue: QueueKind,
    server: &ScriptedServer,
    period: Option<Duration>,
    placement: ControllerPlacement,
) -> (
    RunningInformer<Object, NoObserver>,
    mpsc::UnboundedReceiver<String>,
) {
    let (log, receiver) = log();
    let settings = settings(queue, period, placement);
    let informer = Informer::start(server.clone(), settings, log, HashMap::new(), NoObserver);
    (informer.expect("a thread"), receiver)
}

pub(crate) fn settings(
    queue: QueueKind,
    period: Option<Duration>,
    placement: ControllerPlacement,
) -> InformerSettings {
    InformerSettings {
        queue,
        resync_period: period,
        placement,
        reflector: ReflectorSettings::client_go(7),
    }
}

/// A handler that notes its calls.
pub(crate) fn log() -> (Log, mpsc::UnboundedReceiver<String>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Log(sender), receiver)
}

pub(crate) async fn next(log: &mut mpsc::UnboundedReceiver<String>, calls: usize) -> Vec<String> {
    let mut seen = Vec::new();
    for _ in 0..calls {
        seen.push(log.recv().await.expect("the informer runs"));
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn the_cache_and_not_the_delta_decides_between_add_and_update() {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        let events = [
            WatchEvent::Modified(object("b", 11)),
            WatchEvent::Added(object("a", 12)),
            WatchEvent::Deleted(object("b", 13)),
        ];
        let server = ScriptedServer::new(vec![
            page(10, vec![object("a", 5)]),
            Answer::Stream(events.map(Ok).into()),
        ]);
        let (informer, mut log) = start(queue, &server, None, ControllerPlacement::Task);
        let (a, b) = ("update a@5 a@12", "add b@11");
        let [second, third] = match queue {
            // All was queued before the first pop, and `a` kept the place of its list item.
            QueueKind::DeltaFifo => [a, b],
            _ => [b, a],
        };
        assert_eq!(
            next(&mut log, 4).await,
            ["initial add a@5", second, third, "delete b@13"]
        );
        assert!(informer.has_synced());
        let indexer = informer.stop().await;
        assert_eq!(
            indexer
                .list()
                .iter()
                .map(|object| text(object))
                .collect::<Vec<_>>(),
            ["a@12"]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_missing_from_a_relist_is_deleted_with_its_last_known_state() {
    for queue in QueueKind::ALL {
        let expired = WatchEvent::Error(Box::new(crate::scripted::expired()));
        let answers = vec![
            page(10, vec![object("a", 5), object("b", 6)]),
            Answer::Stream(vec![Ok(expired)]),
            page(20, vec![object("b", 6)]),
        ];
        let server = ScriptedServer::new(answers);
        let (informer, mut log) = start(queue, &server, None, ControllerPlacement::Task);
        let mut first = next(&mut log, 2).await;
        first.sort_unstable();
        assert_eq!(first, ["initial add a@5", "initial add b@6"]);
        let expected = match queue {
            QueueKind::DeltaFifo => ["update b@6 b@6", "unknown delete a@5"],
            _ => ["unknown delete a@5", "update b@6 b@6"],
        };
        assert_eq!(next(&mut log, 2).await, expected, "{}", queue.name());
        assert_eq!(informer.indexer().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_resync_delivers_every_cached_object_again_and_a_period_of_zero_never_does() {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        for (period, resyncs) in [
            (Some(Duration::from_secs(30)), 3),
            (Some(Duration::ZERO), 0),
            (None, 0),
        ] {
            let (_feed, stream) = mpsc::unbounded_channel();
            let server =
                ScriptedServer::new(vec![page(10, vec![object("a", 5)]), Answer::Fed(stream)]);
            let (informer, mut log) = start(queue, &server, period, ControllerPlacement::Task);
            assert_eq!(next(&mut log, 1).await, ["initial add a@5"]);
            let hundred_seconds = tokio::time::timeout(Duration::from_secs(100), async {
                loop {
                    assert_eq!(next(&mut log, 1).await, ["update a@5 a@5"]);
                }
            });
            let before = server.requests().len();
            assert!(hundred_seconds.await.is_err());
            drop(informer);
            assert_eq!(
                server.requests().len(),
                before.max(2),
                "{resyncs} resyncs sent no request"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_deletion_is_never_brought_back_by_a_resync() {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        let (feed, stream) = mpsc::unbounded_channel();
        let server = ScriptedServer::new(vec![
            page(10, vec![object("a", 5), object("b", 6)]),
            Answer::Fed(stream),
        ]);
        let (_informer, mut log) = start(
            queue,
            &server,
            Some(Duration::from_secs(30)),
            ControllerPlacement::Task,
        );
        next(&mut log, 2).await;
        feed.send(Ok(WatchEvent::Deleted(object("a", 11)))).unwrap();
        assert_eq!(
            next(&mut log, 1).await,
            ["delete a@11"],
            "suppose that the controller loses this one"
        );
        // Ten resyncs later nothing has named `a` again: its key is gone from the cache.
        assert_eq!(next(&mut log, 10).await, vec!["update b@6 b@6"; 10]);
    }
}

struct Blocking(mpsc::UnboundedSender<String>, std::sync::mpsc::Receiver<()>);

impl InlineEventHandler<Object> for Blocking {
    fn on_add(&mut self, object: &Arc<Object>, _: AddOrigin) {
        self.0
            .send(format!("add {}", text(object)))
            .expect("the test listens");
        self.1.recv().expect("the test releases the handler");
    }
    fn on_update(&mut self, _: &Arc<Object>, _: &Arc<Object>) {}
    fn on_delete(&mut self, object: &DeltaObject<Object>) {
        self.0
            .send(format!(
                "delete {}",
                text(object.last_known().expect("seen"))
            ))
            .expect("the test listens");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_that_arrives_while_the_addition_is_handled_follows_it() {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        let (feed, stream) = mpsc::unbounded_channel();
        let server = ScriptedServer::new(vec![page(10, vec![object("a", 5)]), Answer::Fed(stream)]);
        let (sender, mut log) = mpsc::unbounded_channel();
        let (release, released) = std::sync::mpsc::channel();
        let settings = settings(queue, None, ControllerPlacement::Thread);
        let informer = Informer::start(
            server,
            settings,
            Blocking(sender, released),
            HashMap::new(),
            NoObserver,
        )
        .unwrap();
        assert_eq!(next(&mut log, 1).await, ["add a@5"]);
        feed.send(Ok(WatchEvent::Deleted(object("a", 6)))).unwrap();
        release.send(()).unwrap();
        assert_eq!(next(&mut log, 1).await, ["delete a@6"]);
        assert!(informer.stop().await.is_empty());
    }
}
