//! What differs between the generations of the queue in an informer that runs.

use std::{collections::HashMap, sync::Arc, time::Duration};

use bench_core::{
    api::{Object, ResourceVersion, WatchEvent},
    cache::{
        AddOrigin, ControllerPlacement, DeltaObject, Informer, InformerObserver,
        InlineEventHandler, NoObserver, Popped, PoppedItem, QueueKind, QueueOperation,
        ResyncOutcome,
    },
};
use tokio::sync::mpsc;

use crate::{
    informer::{log, next, settings},
    scripted::{Answer, ScriptedServer, expired, object, page, text},
    shared_informer,
};

/// Tells what it observes.
#[derive(Clone)]
struct Tells(mpsc::UnboundedSender<String>);

impl Tells {
    fn new() -> (Self, mpsc::UnboundedReceiver<String>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    fn tell(&self, what: String) {
        // A test that has seen enough does not listen any more.
        let _ = self.0.send(what);
    }
}

impl InformerObserver<Object> for Tells {
    fn lock_requested(&self, operation: QueueOperation) {
        if operation == QueueOperation::Write {
            self.tell("write wants the lock".to_owned());
        }
    }

    fn lock_acquired(&self, operation: QueueOperation) {
        if operation == QueueOperation::Write {
            self.tell("write has the lock".to_owned());
        }
    }

    fn resync_ended(&self, outcome: &ResyncOutcome) {
        let ResyncOutcome {
            known,
            enqueued,
            markers,
            ..
        } = outcome;
        self.tell(format!("resync {known} {enqueued} {markers}"));
    }

    fn popped(&self, popped: &Popped<Object>) {
        self.tell(match &popped.item {
            PoppedItem::Deltas(deltas) => format!("{} of one object", deltas.len()),
            PoppedItem::Batch(deltas) => format!("batch of {}", deltas.len()),
            PoppedItem::ReplacedAll(replaced) => format!("list of {}", replaced.objects.len()),
            PoppedItem::SyncAll => "everything".to_owned(),
            PoppedItem::Bookmark(version) => format!("bookmark {version}"),
        });
    }
}

/// Of the version table: what a first list of two and a resync are to the queue.
#[tokio::test(start_paused = true)]
async fn a_list_and_a_resync_are_popped_by_key_by_event_by_batch_or_whole() {
    for (queue, list, resync) in [
        (
            QueueKind::DeltaFifo,
            &["1 of one object"; 2][..],
            &["resync 2 2 0", "1 of one object", "1 of one object"][..],
        ),
        (
            QueueKind::RealFifoPerEvent,
            &["1 of one object"; 2],
            &["resync 2 2 0", "1 of one object", "1 of one object"],
        ),
        (
            QueueKind::RealFifo,
            &["batch of 2"],
            &["resync 2 2 0", "batch of 2"],
        ),
        (
            QueueKind::AtomicFifo,
            &["list of 2"],
            &["resync 0 0 1", "everything"],
        ),
    ] {
        let (_feed, stream) = mpsc::unbounded_channel();
        let list_page = page(10, vec![object("a", 5), object("b", 6)]);
        let server = ScriptedServer::new(vec![list_page, Answer::Fed(stream)]);
        let settings = settings(
            queue,
            Some(Duration::from_secs(30)),
            ControllerPlacement::Task,
        );
        let (observer, mut told) = Tells::new();
        let (handler, mut calls) = log();
        let _informer =
            Informer::start(server, settings, handler, HashMap::new(), observer).unwrap();
        assert_eq!(next(&mut told, list.len()).await, list, "{}", queue.name());
        assert_eq!(
            next(&mut calls, 2).await,
            ["initial add a@5", "initial add b@6"]
        );
        assert_eq!(next(&mut told, resync.len()).await, resync);
        let mut resynced = next(&mut calls, 2).await;
        resynced.sort_unstable();
        assert_eq!(resynced, ["update a@5 a@5", "update b@6 b@6"]);
    }
}

/// `TestResetWatch`.
#[tokio::test(start_paused = true)]
async fn what_changed_while_the_watch_was_gone_is_told_after_the_relist_and_not_as_initial() {
    for queue in QueueKind::ALL {
        let server = ScriptedServer::new(vec![
            page(1, vec![object("p1", 1)]),
            Answer::Stream(vec![Ok(WatchEvent::Error(Box::new(expired())))]),
            page(3, vec![object("p1", 2), object("p2", 3)]),
        ]);
        let settings = settings(queue, None, ControllerPlacement::Task);
        let (observer, _told) = Tells::new();
        let (handler, mut calls) = log();
        let _informer =
            Informer::start(server, settings, handler, HashMap::new(), observer).unwrap();
        assert_eq!(
            next(&mut calls, 3).await,
            ["initial add p1@1", "update p1@1 p1@2", "add p2@3"],
            "{}",
            queue.name()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_reaches_the_cache_of_an_atomic_queue_only_and_every_reflector() {
    for queue in QueueKind::ALL {
        let (feed, stream) = mpsc::unbounded_channel();
        let server = ScriptedServer::new(vec![page(10, vec![object("a", 5)]), Answer::Fed(stream)]);
        let settings = settings(queue, None, ControllerPlacement::Task);
        let (observer, mut told) = Tells::new();
        let (handler, mut calls) = log();
        let informer =
            Informer::start(server, settings, handler, HashMap::new(), observer).unwrap();
        informer.wait_until_synced().await;
        assert_eq!(next(&mut calls, 1).await, ["initial add a@5"]);
        let version = || informer.indexer().resource_version();
        let is_atomic = queue == QueueKind::AtomicFifo;
        let of_list = if is_atomic { 10 } else { 5 };
        assert_eq!(version(), ResourceVersion::from(of_list));
        told.recv().await.expect("the list was popped");
        let bookmark = WatchEvent::Bookmark {
            kind: "Pod".into(),
            resource_version: ResourceVersion::from(50),
            initial_events_end: None,
        };
        feed.send(Ok(bookmark)).unwrap();
        let quiet = tokio::time::timeout(Duration::from_secs(1), calls.recv());
        assert!(quiet.await.is_err(), "no handler is told of a bookmark");
        let reached = if is_atomic { 50 } else { 5 };
        assert_eq!(
            version(),
            ResourceVersion::from(reached),
            "{}",
            queue.name()
        );
        assert_eq!(
            informer.last_sync_resource_version(),
            ResourceVersion::from(50)
        );
    }
}

/// Waits in `on_add` for permission.
struct Blocking {
    calls: mpsc::UnboundedSender<String>,
    released: std::sync::mpsc::Receiver<()>,
}

impl InlineEventHandler<Object> for Blocking {
    fn on_add(&mut self, _: &Arc<Object>, _: AddOrigin) {
        self.calls.send("add".to_owned()).expect("the test listens");
        // Fails only once the test is over.
        let _ = self.released.recv();
    }

    fn on_update(&mut self, old: &Arc<Object>, new: &Arc<Object>) {
        let call = format!("update {} {}", text(old), text(new));
        self.calls.send(call).expect("the test listens");
    }

    fn on_delete(&mut self, object: &DeltaObject<Object>) {
        assert!(object.is_final_state_unknown());
        let call = format!(
            "unknown delete {}",
            text(object.last_known().expect("seen"))
        );
        self.calls.send(call).expect("the test listens");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_handler_holds_up_the_reflector_of_every_queue_but_the_atomic() {
    for queue in QueueKind::ALL {
        let (feed, stream) = mpsc::unbounded_channel();
        let server = ScriptedServer::new(vec![page(10, vec![object("a", 5)]), Answer::Fed(stream)]);
        let settings = settings(queue, None, ControllerPlacement::Thread);
        let (observer, mut told) = Tells::new();
        let (sender, mut calls) = mpsc::unbounded_channel();
        let (release, released) = std::sync::mpsc::channel();
        let handler = Blocking {
            calls: sender,
            released,
        };
        let informer =
            Informer::start(server, settings, handler, HashMap::new(), observer).unwrap();
        assert_eq!(calls.recv().await.as_deref(), Some("add"));
        told.recv().await.expect("the list was popped");
        for version in [11, 12] {
            let event = WatchEvent::Modified(object("a", version));
            feed.send(Ok(event)).unwrap();
        }
        let writes = ["write wants the lock", "write has the lock"].repeat(2);
        if queue == QueueKind::AtomicFifo {
            assert_eq!(next(&mut told, 4).await, writes);
            // Takes the lock, hence waits for the end of the second write.
            assert!(!informer.has_synced(), "the first list is in process");
            let length = informer.queue_length();
            assert_eq!((length.keys, length.deltas, length.in_process), (2, 2, 1));
            release.send(()).unwrap();
        } else {
            assert_eq!(next(&mut told, 1).await, writes[..1]);
            assert!(told.try_recv().is_err(), "{}", queue.name());
            let length = informer.queue_length();
            assert_eq!((length.keys, length.deltas, length.in_process), (0, 0, 1));
            release.send(()).unwrap();
            assert_eq!(next(&mut told, 1).await, writes[1..2]);
        }
        informer.wait_until_synced().await;
        for expected in ["update a@5 a@11", "update a@11 a@12"] {
            assert_eq!(calls.recv().await.as_deref(), Some(expected));
        }
        informer.stop().await;
    }
}

/// A case of a public report: the deletion of an object went by while the watch was broken.
#[tokio::test(start_paused = true)]
async fn an_object_that_came_and_went_around_a_broken_watch_is_told_as_come_and_gone() {
    for queue in QueueKind::ALL {
        let answers = || {
            let events = [
                WatchEvent::Added(object("a", 11)),
                WatchEvent::Error(Box::new(expired())),
            ];
            let stream = Answer::Stream(events.map(Ok).into());
            ScriptedServer::new(vec![page(10, Vec::new()), stream, page(20, Vec::new())])
        };
        let settings = settings(queue, None, ControllerPlacement::Task);
        let (handler, mut calls) = log();
        let plain =
            Informer::start(answers(), settings, handler, HashMap::new(), NoObserver).unwrap();
        assert_eq!(
            next(&mut calls, 2).await,
            ["add a@11", "unknown delete a@11"],
            "{}",
            queue.name()
        );
        assert!(plain.indexer().is_empty());
        let shared = shared_informer::informer(queue, 0);
        let (handler, mut calls) = shared_informer::log("");
        shared.add_event_handler(handler).unwrap();
        shared.start(answers());
        assert_eq!(next(&mut calls, 2).await, ["add a@11", "delete a@11"]);
        assert!(shared.indexer().is_empty());
    }
}

/// The same while the handler is busy, which only an unlocked queue can meet: addition and list are pending together.
#[tokio::test(start_paused = true)]
async fn an_object_that_came_and_went_while_the_handler_was_busy_is_told_as_come_and_gone() {
    /// Tells of lists in the queue.
    #[derive(Clone)]
    struct Lists(mpsc::UnboundedSender<usize>);
    impl InformerObserver<Object> for Lists {
        fn list_ended(&self, objects: usize, _: &ResourceVersion) {
            self.0.send(objects).expect("the test listens");
        }
    }
    let events = [
        WatchEvent::Added(object("a", 11)),
        WatchEvent::Error(Box::new(expired())),
    ];
    let server = ScriptedServer::new(vec![
        page(10, vec![object("x", 5)]),
        Answer::Stream(events.map(Ok).into()),
        page(20, vec![object("x", 5)]),
    ]);
    let settings = settings(QueueKind::AtomicFifo, None, ControllerPlacement::Thread);
    let (observer, mut lists) = mpsc::unbounded_channel();
    let (sender, mut calls) = mpsc::unbounded_channel();
    let (release, released) = std::sync::mpsc::channel();
    let handler = Blocking {
        calls: sender,
        released,
    };
    let observer = Lists(observer);
    let informer = Informer::start(server, settings, handler, HashMap::new(), observer).unwrap();
    assert_eq!(next(&mut calls, 1).await, ["add"]);
    assert_eq!((lists.recv().await, lists.recv().await), (Some(1), Some(1)));
    assert_eq!(informer.queue_length().deltas, 2);
    release.send(()).unwrap();
    release.send(()).unwrap();
    let expected = ["add", "unknown delete a@11", "update x@5 x@5"];
    assert_eq!(next(&mut calls, 3).await, expected);
    assert_eq!(informer.stop().await.len(), 1);
}

/// A case of a public report: a resync that hands out an older state after a newer one.
#[tokio::test(start_paused = true)]
async fn resyncs_between_changes_hand_out_no_older_state_and_nothing_after_the_deletion() {
    for queue in QueueKind::ALL {
        let (feed, stream) = mpsc::unbounded_channel();
        let list = page(10, vec![object("a", 5)]);
        let server = ScriptedServer::new(vec![list, Answer::Fed(stream)]);
        let informer = shared_informer::informer(queue, 1);
        let (handler, mut calls) = shared_informer::log("");
        informer.add_event_handler(handler).unwrap();
        informer.start(server);
        assert_eq!(next(&mut calls, 1).await, ["initial add a@5"]);
        for version in 6..9 {
            assert_eq!(
                next(&mut calls, 1).await,
                [format!("update a@{0} a@{0}", version - 1)],
                "{}",
                queue.name()
            );
            feed.send(Ok(WatchEvent::Modified(object("a", version))))
                .unwrap();
            assert_eq!(
                next(&mut calls, 1).await,
                [format!("update a@{} a@{version}", version - 1)]
            );
        }
        feed.send(Ok(WatchEvent::Deleted(object("a", 9)))).unwrap();
        assert_eq!(next(&mut calls, 1).await, ["delete a@9"]);
        let quiet = tokio::time::timeout(Duration::from_secs(10), calls.recv());
        assert!(quiet.await.is_err(), "{}", queue.name());
    }
}
