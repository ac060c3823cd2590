//! Handlers that come and go while events flow, on several threads and in real time; nothing here is measured. Cases of
//! client-go's `tools/cache/shared_informer_test.go`, and public report B37.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use bench_core::{
    api::{KubeObject as _, Object, WatchEvent},
    cache::{
        AddHandlerError, AddOrigin, DeltaObject, NoObserver, QueueKind, QueueLength,
        ResourceEventHandler, SharedInformer,
    },
};
use tokio::{task::JoinSet, time::timeout};

use crate::{
    scripted::object,
    shared_informer::{Feed, informer, server},
};

/// What a handler was told of one object: its first version, then each change.
#[derive(Clone, Default)]
struct Versions(Arc<Mutex<Vec<u64>>>);

impl Versions {
    fn push(&self, object: &Object) {
        let version = object.resource_version().number().expect("a number");
        self.0.lock().expect("not poisoned").push(version);
    }
}

impl ResourceEventHandler<Object> for Versions {
    async fn on_add(&mut self, object: Arc<Object>, _: AddOrigin) {
        self.push(&object);
    }
    async fn on_update(&mut self, old: Arc<Object>, new: Arc<Object>) {
        assert_eq!(
            old.resource_version().number().map(|version| version + 1),
            new.resource_version().number()
        );
        self.push(&new);
    }
    async fn on_delete(&mut self, _: DeltaObject<Object>) {}
}

/// Sends so many changes of `a`, each one version on, and lets others run between.
async fn change(feed: Feed, changes: u64) {
    for version in 0..changes {
        let event = WatchEvent::Modified(object("a", 6 + version));
        // An informer that was stopped does not listen any more.
        let _ = feed.send(Ok(event));
        if version % 16 == 0 {
            tokio::task::yield_now().await;
        }
    }
}

async fn started(queue: QueueKind) -> (Arc<SharedInformer<Object, NoObserver>>, Feed) {
    let informer = Arc::new(informer(queue, 1));
    let (server, feed) = server(&["a"]);
    informer.start(server);
    informer.wait_until_synced().await;
    (informer, feed)
}

/// `TestSharedInformerHandlerAbuse`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_come_and_go_while_events_flow_and_the_informer_stops() {
    for queue in QueueKind::ALL {
        let (informer, feed) = started(queue).await;
        let stopping = Arc::new(AtomicBool::new(false));
        let mut tasks = JoinSet::new();
        for _ in 0..100 {
            let (informer, stopping) = (Arc::clone(&informer), Arc::clone(&stopping));
            tasks.spawn(async move {
                for _ in 0..100 {
                    match informer.add_event_handler(Versions::default()) {
                        Ok(registration) => informer.remove_event_handler(&registration),
                        Err(AddHandlerError::Stopped) => {
                            assert!(stopping.load(Ordering::SeqCst), "not before the stop");
                            return;
                        }
                    }
                    tokio::task::yield_now().await;
                }
            });
        }
        change(feed, 5_000).await;
        stopping.store(true, Ordering::SeqCst);
        timeout(Duration::from_mins(1), informer.stop())
            .await
            .expect("no deadlock");
        timeout(Duration::from_mins(1), tasks.join_all())
            .await
            .expect("no deadlock");
        assert_eq!(informer.handler_count(), 0);
    }
}

/// Public report B37: no gap and no double against live events, whenever a handler comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_comes_while_events_flow_misses_none_and_gets_none_twice() {
    const CHANGES: u64 = 5_000;
    for queue in QueueKind::ALL {
        let (informer, feed) = started(queue).await;
        let mut tasks = JoinSet::new();
        for _ in 0..20 {
            let informer = Arc::clone(&informer);
            tasks.spawn(async move {
                let versions = Versions::default();
                informer.add_event_handler(versions.clone()).expect("runs");
                versions
            });
        }
        change(feed, CHANGES).await;
        let all_seen = async {
            for versions in tasks.join_all().await {
                while versions.0.lock().expect("not poisoned").last() != Some(&(5 + CHANGES)) {
                    tokio::task::yield_now().await;
                }
                let versions = versions.0.lock().expect("not poisoned");
                let first = versions[0];
                assert!(
                    versions.iter().copied().eq(first..=5 + CHANGES),
                    "{queue:?}"
                );
            }
        };
        timeout(Duration::from_mins(1), all_seen)
            .await
            .expect("every handler sees the last version");
        informer.stop().await;
    }
}

/// `TestSharedInformerInitializationRace`, `TestSharedInformerStartRace` and `TestListenerResyncPeriodsDelayed`; public report
/// B37: before, at and after the start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_is_added_around_the_start_is_synced() {
    for round in 0..50 {
        let informer = Arc::new(informer(QueueKind::ALL[round % 4], 1));
        let (server, _feed) = server(&["a"]);
        let adding = Arc::clone(&informer);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let versions = Versions::default();
            let registration = adding.add_event_handler(versions.clone()).expect("runs");
            registration.wait_until_synced().await.expect("synced");
            assert_eq!(*versions.0.lock().expect("not poisoned"), [5]);
        });
        for _ in 0..round % 5 {
            tokio::task::yield_now().await;
        }
        informer.start(server);
        timeout(Duration::from_mins(1), tasks.join_all())
            .await
            .expect("no deadlock");
        // `TestShutdown`: every task is gone, so the last handle is ours.
        informer.stop().await;
        assert_eq!(Arc::strong_count(&informer), 1);
    }
}

/// Keeps its worker for itself, as one does that computes, until the other end of the channel is gone.
struct Computing(Mutex<mpsc::Receiver<()>>);

impl Computing {
    fn compute(&self) {
        // What ends it is the sender's end.
        let _ = self.0.lock().expect("not poisoned").recv();
    }
}

impl ResourceEventHandler<Object> for Computing {
    async fn on_add(&mut self, _: Arc<Object>, _: AddOrigin) {
        self.compute();
    }
    async fn on_update(&mut self, _: Arc<Object>, _: Arc<Object>) {
        self.compute();
    }
    async fn on_delete(&mut self, _: DeltaObject<Object>) {}
}

/// Upstream's handler and controller are goroutines of their own, so whatever the handler does the backlog is the listener's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_computes_holds_up_neither_list_nor_events() {
    let names: Vec<_> = (0..200).map(|index| format!("pod-{index}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    for queue in QueueKind::ALL {
        let (informer, (server, feed)) = (informer(queue, 0), server(&names));
        let (computes, computing) = mpsc::channel();
        let registration = informer
            .add_event_handler(Computing(Mutex::new(computing)))
            .expect("not stopped");
        informer.start(server);
        let all_wait_for_the_handler = |expected| {
            let (informer, registration) = (&informer, &registration);
            timeout(Duration::from_secs(10), async move {
                while registration.pending() < expected
                    || informer.queue_length() != QueueLength::default()
                {
                    tokio::task::yield_now().await;
                }
            })
        };
        let listed = all_wait_for_the_handler(200).await;
        assert!(listed.is_ok(), "{queue:?}: {:?}", informer.queue_length());
        for name in &names {
            let event = WatchEvent::Modified(object(name, 6));
            feed.send(Ok(event)).expect("the informer listens");
        }
        let changed = all_wait_for_the_handler(400).await;
        assert!(changed.is_ok(), "{queue:?}: {:?}", informer.queue_length());
        drop(computes);
        informer.stop().await;
    }
}

/// Computes, as [`Computing`] does, in its first resync, and says when.
struct ComputingInResync(mpsc::Sender<()>, Computing);

impl ResourceEventHandler<Object> for ComputingInResync {
    async fn on_add(&mut self, _: Arc<Object>, _: AddOrigin) {}
    async fn on_update(&mut self, _: Arc<Object>, _: Arc<Object>) {
        // Later resyncs are told to nobody.
        let _ = self.0.send(());
        self.1.compute();
    }
    async fn on_delete(&mut self, _: DeltaObject<Object>) {}
}

/// The worker that looks after timers and sockets may be the one on which resync, controller and handler run one after the other.
/// Upstream's runtime takes the processor away from a handler that computes.
#[test]
fn a_handler_that_computes_holds_up_no_timer_and_no_socket() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .expect("threads");
    let (ticks, ticked) = mpsc::channel();
    let (begins, began) = mpsc::channel();
    let (computes, computing) = mpsc::channel();
    let names: Vec<_> = (0..200).map(|index| format!("pod-{index}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let (informer, (server, _feed)) = (informer(QueueKind::AtomicFifo, 1), server(&names));
    runtime.block_on(async {
        let handler = ComputingInResync(begins, Computing(Mutex::new(computing)));
        informer.add_event_handler(handler).expect("not stopped");
        informer.start(server);
        informer.wait_until_synced().await;
    });
    let mut ticking = JoinSet::new();
    let tick = async move {
        while ticks.send(()).is_ok() {
            // Elapses.
            let _ = timeout(Duration::from_millis(20), std::future::pending::<()>()).await;
        }
    };
    ticking.spawn_on(tick, runtime.handle());
    let limit = Duration::from_secs(10);
    began.recv_timeout(limit).expect("a resync");
    // Those of before.
    while ticked.try_recv().is_ok() {}
    for _ in 0..3 {
        ticked.recv_timeout(limit).expect("the timers go on");
    }
    drop(computes);
    runtime.block_on(informer.stop());
}
