//! Handlers of a shared informer: adding, removing, shutting down, panics. Cases of client-go's
//! `tools/cache/shared_informer_test.go`, and public reports B16, B37 and B38.

use std::{
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use bench_core::{
    api::{Object, Status, WatchEvent},
    cache::{
        AddHandlerError, AddOrigin, DeltaObject, NoObserver, QueueKind, ResourceEventHandler,
        SharedInformer, SyncError,
    },
    list_watch::ApiError,
};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout},
};

use crate::{
    informer_warnings::told_informer,
    scripted::{Answer, ScriptedServer, object, page},
    shared_informer::{Log, informer, log, server, within},
};

/// Takes so long for each addition, and then says so.
pub(crate) struct Slow(Duration, mpsc::UnboundedSender<String>);

impl ResourceEventHandler<Object> for Slow {
    async fn on_add(&mut self, object: Arc<Object>, _: AddOrigin) {
        sleep(self.0).await; // its cost, in paused time
        // Nobody may listen any more.
        let _ = self.1.send(crate::scripted::text(&object));
    }
    async fn on_update(&mut self, _: Arc<Object>, _: Arc<Object>) {
        sleep(self.0).await; // its cost, in paused time
    }
    async fn on_delete(&mut self, _: DeltaObject<Object>) {}
}

/// Listens and does nothing.
pub(crate) struct Silent;

impl ResourceEventHandler<Object> for Silent {
    async fn on_add(&mut self, _: Arc<Object>, _: AddOrigin) {}
    async fn on_update(&mut self, _: Arc<Object>, _: Arc<Object>) {}
    async fn on_delete(&mut self, _: DeltaObject<Object>) {}
}

pub(crate) fn slow(seconds: u64) -> (Slow, mpsc::UnboundedReceiver<String>) {
    let (calls, receiver) = mpsc::unbounded_channel();
    (Slow(Duration::from_secs(seconds), calls), receiver)
}

/// `TestSharedInformerRemoveHandler` and `TestRemovingRemovedSharedInformer`.
#[tokio::test(start_paused = true)]
async fn each_removal_takes_one_handler_away_and_a_second_one_none() {
    let informer = informer(QueueKind::DeltaFifo, 1);
    let first = informer.add_event_handler(Silent).unwrap();
    let second = informer.add_event_handler(Silent).unwrap();
    for (registration, left) in [(&second, 1), (&second, 1), (&first, 0), (&first, 0)] {
        informer.remove_event_handler(registration);
        assert_eq!(informer.handler_count(), left);
    }
}

/// `TestSharedInformerRemoveForeignHandler`.
#[tokio::test(start_paused = true)]
async fn a_registration_of_another_informer_removes_nothing() {
    let (ours, theirs) = (
        informer(QueueKind::DeltaFifo, 1),
        informer(QueueKind::DeltaFifo, 1),
    );
    let registration = ours.add_event_handler(Silent).unwrap();
    ours.add_event_handler(Silent).unwrap();
    theirs.remove_event_handler(&registration);
    theirs.shut_down_event_handler(&registration).await;
    assert_eq!((ours.handler_count(), theirs.handler_count()), (2, 0));
    ours.remove_event_handler(&registration);
    assert_eq!(ours.handler_count(), 1);
}

/// `TestSharedInformerMultipleRegistration`.
#[tokio::test(start_paused = true)]
async fn two_registrations_of_one_handler_are_independent() {
    #[derive(Clone)]
    struct Counts(Arc<Mutex<u32>>);
    impl ResourceEventHandler<Object> for Counts {
        async fn on_add(&mut self, _: Arc<Object>, _: AddOrigin) {
            *self.0.lock().expect("not poisoned") += 1;
        }
        async fn on_update(&mut self, _: Arc<Object>, _: Arc<Object>) {}
        async fn on_delete(&mut self, _: DeltaObject<Object>) {}
    }
    let counts = Counts(Arc::default());
    let informer = informer(QueueKind::DeltaFifo, 0);
    let first = informer.add_event_handler(counts.clone()).unwrap();
    let second = informer.add_event_handler(counts.clone()).unwrap();
    let (server, feed) = server(&["a"]);
    informer.start(server);
    first.wait_until_synced().await.unwrap();
    second.wait_until_synced().await.unwrap();
    assert_eq!(*counts.0.lock().unwrap(), 2);
    informer.shut_down_event_handler(&first).await;
    feed.send(Ok(WatchEvent::Added(object("b", 11)))).unwrap();
    timeout(Duration::from_secs(1), std::future::pending::<()>())
        .await
        .expect_err("nothing ends this");
    assert_eq!(
        (*counts.0.lock().unwrap(), informer.handler_count()),
        (3, 1)
    );
}

/// `TestRemoveWhileActive`, `TestRemoveOnStoppedSharedInformer`, `TestAddOnStoppedSharedInformer` and
/// `TestStateSharedInformer`.
#[tokio::test(start_paused = true)]
async fn handlers_can_be_removed_at_any_time_and_added_until_the_stop() {
    let informer = informer(QueueKind::DeltaFifo, 0);
    let before = informer.add_event_handler(Silent).unwrap();
    let (server, _feed) = server(&["a"]);
    informer.start(server);
    let during = informer.add_event_handler(Silent).unwrap();
    informer.remove_event_handler(&before);
    informer.stop().await;
    informer.remove_event_handler(&during);
    informer.shut_down_event_handler(&during).await;
    assert_eq!(informer.handler_count(), 0);
    let late = informer.add_event_handler(Silent);
    assert_eq!(late.unwrap_err(), AddHandlerError::Stopped);
}

/// `TestRemoveEventHandler_AsynchronousPanic` and `TestRemoveEventHandler_SynchronousShutdown`: only one of them waits.
#[tokio::test(start_paused = true)]
async fn a_removal_does_not_wait_for_the_call_in_progress_and_a_shutdown_does() {
    for (waits, seconds) in [(false, 0), (true, 9)] {
        let informer = informer(QueueKind::DeltaFifo, 0);
        let (handler, mut calls) = slow(10);
        let registration = informer.add_event_handler(handler).unwrap();
        let (server, _feed) = server(&["a", "b"]);
        informer.start(server);
        assert_eq!(within(&mut calls, 1.0).await.len(), 0, "it is in a call");
        let began = Instant::now();
        if waits {
            informer.shut_down_event_handler(&registration).await;
        } else {
            informer.remove_event_handler(&registration);
        }
        assert_eq!(began.elapsed().as_secs(), seconds);
        // The call in progress ends, and what was buffered is dropped.
        assert_eq!(within(&mut calls, 100.0).await, ["a@5"]);
    }
}

/// `TestShutDownEventHandler_Lifecycles`.
#[tokio::test(start_paused = true)]
async fn a_handler_can_be_shut_down_before_the_start_and_after_it_wherever_it_was_added() {
    let never_started = informer(QueueKind::DeltaFifo, 0);
    let registration = never_started.add_event_handler(Silent).unwrap();
    never_started.shut_down_event_handler(&registration).await;
    let informer = informer(QueueKind::DeltaFifo, 0);
    let before = informer.add_event_handler(Silent).unwrap();
    let (server, _feed) = server(&["a"]);
    informer.start(server);
    let after = informer.add_event_handler(Silent).unwrap();
    for registration in [before, after] {
        let shut_down = informer.shut_down_event_handler(&registration);
        timeout(Duration::from_secs(1), shut_down)
            .await
            .expect("idle");
        let waiting = registration.wait_until_synced();
        let waited = timeout(Duration::from_secs(1), waiting)
            .await
            .expect("told");
        assert!(
            matches!(waited, Ok(()) | Err(SyncError::Removed)),
            "{waited:?}"
        );
    }
}

/// `TestAddWhileActive`.
#[tokio::test(start_paused = true)]
async fn a_handler_that_comes_later_is_synced_only_when_it_has_been_told_of_the_cache() {
    let informer = informer(QueueKind::DeltaFifo, 0);
    let (first, mut first_calls) = log("");
    let first = informer.add_event_handler(first).unwrap();
    assert!(!first.has_synced());
    let (server, feed) = server(&["a"]);
    informer.start(server);
    first.wait_until_synced().await.unwrap();
    let (second, mut second_calls) = slow(10);
    let second = informer.add_event_handler(second).unwrap();
    assert!(!second.has_synced());
    feed.send(Ok(WatchEvent::Added(object("b", 11)))).unwrap();
    assert_eq!(
        within(&mut first_calls, 9.0).await,
        ["add b@11", "initial add a@5"]
    );
    assert!(!second.has_synced() && first.has_synced());
    assert_eq!(within(&mut second_calls, 2.0).await, ["a@5"]);
    assert!(second.has_synced());
    assert_eq!(within(&mut second_calls, 10.0).await, ["b@11"]);
}

/// Public report B38: a hundred objects, ten milliseconds each, after three failed lists.
#[tokio::test(start_paused = true)]
async fn failed_lists_sync_nobody_and_a_synced_handler_has_returned_from_every_call() {
    for queue in QueueKind::ALL {
        let fails = || {
            let status = Status::failure(403, "Forbidden", "Access Denied");
            Answer::ListFails(ApiError::Status(Box::new(status)))
        };
        let objects = (0..100).map(|number| object(&format!("o{number}"), 5));
        let answers = vec![fails(), fails(), fails(), page(10, objects.collect())];
        let (informer, told) = told_informer(queue, 0);
        let (mut handler, mut calls) = slow(0);
        handler.0 = Duration::from_millis(10);
        let registration = informer.add_event_handler(handler).unwrap();
        informer.start(ScriptedServer::new(answers));
        timeout(Duration::from_millis(2_300), std::future::pending::<()>())
            .await
            .expect_err("nothing ends this");
        assert!(!informer.has_synced() && !registration.has_synced());
        informer.wait_until_synced().await;
        let began = Instant::now();
        assert!(!registration.has_synced());
        registration.wait_until_synced().await.unwrap();
        assert_eq!(began.elapsed(), Duration::from_secs(1));
        assert_eq!(within(&mut calls, 0.0).await.len(), 100);
        // `TestSharedInformerErrorHandling`: each failure was told.
        let told = told.take();
        assert_eq!(told.len(), 3);
        assert!(told.iter().all(|error| error.contains("Access Denied")));
    }
}

/// `TestEventPanics`; public report B16.
#[tokio::test(start_paused = true)]
async fn a_handler_that_always_panics_is_called_once_a_second_for_each_object() {
    for queue in QueueKind::ALL {
        let (informer, told) = told_informer(queue, 0);
        let (broken, mut broken_calls) = log("add");
        let (healthy, mut healthy_calls) = log("");
        let broken = informer.add_event_handler(broken).unwrap();
        informer.add_event_handler(healthy).unwrap();
        let (server, feed) = server(&["a", "b", "c", "d", "e"]);
        let began = Instant::now();
        informer.start(server);
        assert_eq!(within(&mut healthy_calls, 0.5).await.len(), 5);
        while broken.pending() > 0 {
            timeout(Duration::from_millis(10), std::future::pending::<()>())
                .await
                .expect_err("nothing ends this");
        }
        // The pause after the last panic is still to come.
        assert_eq!(began.elapsed().as_secs(), 4);
        assert_eq!(told.take(), ["panic"; 5]);
        feed.send(Ok(WatchEvent::Deleted(object("a", 11)))).unwrap();
        assert_eq!(within(&mut broken_calls, 5.0).await, ["delete a@11"]);
        assert_eq!(
            broken.wait_until_synced().await,
            Err(SyncError::HandlerPanicked)
        );
    }
}

/// Public report B37: a handler that stops its informer.
#[tokio::test(start_paused = true)]
async fn an_informer_can_be_told_to_stop_from_a_handler() {
    struct Stops {
        informer: Weak<SharedInformer<Object, NoObserver>>,
        log: Log,
    }
    impl ResourceEventHandler<Object> for Stops {
        async fn on_add(&mut self, object: Arc<Object>, origin: AddOrigin) {
            let informer = self.informer.upgrade().expect("the test holds it");
            informer.request_stop();
            assert_eq!(
                informer.add_event_handler(Silent).unwrap_err(),
                AddHandlerError::Stopped
            );
            self.log.on_add(object, origin).await;
        }
        async fn on_update(&mut self, _: Arc<Object>, _: Arc<Object>) {}
        async fn on_delete(&mut self, _: DeltaObject<Object>) {}
    }
    for queue in QueueKind::ALL {
        let informer = Arc::new(informer(queue, 1));
        let (log, mut calls) = log("");
        let handler = Stops {
            informer: Arc::downgrade(&informer),
            log,
        };
        let registration = informer.add_event_handler(handler).unwrap();
        let (server, feed) = server(&["a", "b", "c"]);
        informer.start(server.clone());
        assert_eq!(within(&mut calls, 100.0).await.len(), 1, "{queue:?}");
        assert!(feed.is_closed(), "the watch was closed");
        timeout(Duration::from_secs(5), informer.stop())
            .await
            .expect("nothing is left to wait for");
        assert_eq!(server.requests().len(), 2);
        let waited = timeout(Duration::from_secs(5), registration.wait_until_synced()).await;
        assert_eq!(waited, Ok(Err(SyncError::Removed)));
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_a_first_list_that_never_comes_is_told_of_the_stop() {
    let informer = informer(QueueKind::DeltaFifo, 0);
    let registration = informer.add_event_handler(Silent).unwrap();
    informer.start(ScriptedServer::new(vec![]));
    let (waited, ()) = tokio::join!(registration.wait_until_synced(), informer.stop());
    assert_eq!(waited, Err(SyncError::Removed));
}
