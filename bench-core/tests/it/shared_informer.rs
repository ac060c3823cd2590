//! The shared informer against a scripted server under a paused clock.

use std::{collections::HashMap, sync::Arc, time::Duration};

use bench_core::{
    api::{Object, WatchEvent},
    cache::{
        AddHandlerError, AddOrigin, DeltaObject, NoObserver, QueueKind, ReflectorSettings,
        ResourceEventHandler, SharedInformer, SharedInformerSettings, SyncError,
    },
};
use tokio::sync::mpsc;

use crate::scripted::{Answer, ScriptedServer, object, page, text};

pub(crate) type Feed =
    mpsc::UnboundedSender<Result<WatchEvent<Object>, bench_core::list_watch::ApiError>>;

pub(crate) struct Log {
    calls: mpsc::UnboundedSender<String>,
    panics_on: &'static str,
}

impl Log {
    fn call(&self, call: String) {
        assert!(
            self.panics_on.is_empty() || !call.contains(self.panics_on),
            "this handler panics on purpose"
        );
        self.calls.send(call).expect("the test listens");
    }
}

impl ResourceEventHandler<Object> for Log {
    async fn on_add(&mut self, object: Arc<Object>, origin: AddOrigin) {
        let origin = if origin == AddOrigin::InitialList {
            "initial "
        } else {
            ""
        };
        self.call(format!("{origin}add {}", text(&object)));
    }

    async fn on_update(&mut self, old: Arc<Object>, new: Arc<Object>) {
        self.call(format!("update {} {}", text(&old), text(&new)));
    }

    async fn on_delete(&mut self, object: DeltaObject<Object>) {
        self.call(format!(
            "delete {}",
            text(object.last_known().expect("seen"))
        ));
    }
}

pub(crate) fn log(panics_on: &'static str) -> (Log, mpsc::UnboundedReceiver<String>) {
    let (calls, receiver) = mpsc::unbounded_channel();
    (Log { calls, panics_on }, receiver)
}

pub(crate) fn informer(queue: QueueKind, period: u64) -> SharedInformer<Object, NoObserver> {
    let default_resync_period = Duration::from_secs(period);
    let settings = SharedInformerSettings {
        queue,
        default_resync_period,
        reflector: ReflectorSettings::client_go(7),
    };
    SharedInformer::new(settings, HashMap::new(), NoObserver)
}

pub(crate) fn server(objects: &[&str]) -> (ScriptedServer, Feed) {
    let (feed, stream) = mpsc::unbounded_channel();
    let objects = objects.iter().map(|name| object(name, 5)).collect();
    (
        ScriptedServer::new(vec![page(10, objects), Answer::Fed(stream)]),
        feed,
    )
}

/// The calls until nothing more happens for `seconds`.
pub(crate) async fn within(
    calls: &mut mpsc::UnboundedReceiver<String>,
    seconds: f64,
) -> Vec<String> {
    let mut seen = Vec::new();
    let deadline = tokio::time::Instant::now() + Duration::from_secs_f64(seconds);
    while let Ok(Some(call)) = tokio::time::timeout_at(deadline, calls.recv()).await {
        seen.push(call);
    }
    seen.sort_unstable();
    seen
}

#[tokio::test(start_paused = true)]
async fn each_handler_is_resynced_at_its_own_period_rounded_up_to_the_checks() {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        let informer = informer(queue, 1);
        let (never, mut never_calls) = log("");
        let (two, mut two_calls) = log("");
        let (three, mut three_calls) = log("");
        informer
            .add_event_handler_with_resync_period(never, Duration::ZERO)
            .unwrap();
        informer
            .add_event_handler_with_resync_period(two, Duration::from_secs(2))
            .unwrap();
        informer
            .add_event_handler_with_resync_period(three, Duration::from_secs(3))
            .unwrap();
        let (server, _feed) = server(&["a"]);
        informer.start(server);
        assert_eq!(within(&mut never_calls, 0.5).await, ["initial add a@5"]);
        assert_eq!(within(&mut two_calls, 0.0).await, ["initial add a@5"]);
        assert_eq!(within(&mut three_calls, 0.0).await, ["initial add a@5"]);
        assert_eq!(within(&mut two_calls, 1.4).await.len(), 0, "1.9 s");
        assert_eq!(
            within(&mut two_calls, 0.2).await,
            ["update a@5 a@5"],
            "2.1 s"
        );
        assert_eq!(within(&mut three_calls, 0.0).await.len(), 0, "2.1 s");
        assert_eq!(
            within(&mut three_calls, 1.1).await,
            ["update a@5 a@5"],
            "3.2 s"
        );
        assert_eq!(within(&mut never_calls, 0.0).await.len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn the_check_period_is_the_smallest_that_was_asked_for_before_the_start() {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        let informer = informer(queue, 12 * 3_600);
        for (asked, check) in [(0, 12 * 3_600), (60, 60), (55, 55), (5, 5)] {
            informer
                .add_event_handler_with_resync_period(log("").0, Duration::from_secs(asked))
                .unwrap();
            assert_eq!(informer.resync_check_period(), Duration::from_secs(check));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_does_not_resync_resyncs_no_handler_whatever_it_asks() {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        let informer = informer(queue, 0);
        let (handler, mut calls) = log("");
        informer
            .add_event_handler_with_resync_period(handler, Duration::from_secs(2))
            .unwrap();
        let (server, _feed) = server(&["a"]);
        informer.start(server);
        assert_eq!(within(&mut calls, 100.0).await, ["initial add a@5"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_relist_that_finds_a_change_tells_handlers_without_resync_and_one_that_finds_none_only_those_that_are_due()
 {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        let (_feed, stream) = mpsc::unbounded_channel();
        // The relist lies after the first round of checks, which takes the initial mark away.
        let (feed, first) = mpsc::unbounded_channel();
        let answers = vec![
            page(10, vec![object("a", 5), object("b", 5)]),
            Answer::Fed(first),
            page(20, vec![object("a", 8), object("b", 5)]),
            Answer::Fed(stream),
        ];
        let informer = informer(queue, 3);
        let (never, mut never_calls) = log("");
        informer
            .add_event_handler_with_resync_period(never, Duration::ZERO)
            .unwrap();
        informer.start(ScriptedServer::new(answers));
        assert_eq!(
            within(&mut never_calls, 4.0).await,
            ["initial add a@5", "initial add b@5"]
        );
        feed.send(Ok(WatchEvent::Error(Box::new(crate::scripted::expired()))))
            .expect("open");
        assert_eq!(within(&mut never_calls, 10.0).await, ["update a@5 a@8"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_handler_gets_every_cached_object_as_an_add_and_then_what_follows() {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        let informer = informer(queue, 0);
        let (server, feed) = server(&["a", "b"]);
        informer.start(server);
        informer.wait_until_synced().await;
        let (late, mut calls) = log("");
        let registration = informer.add_event_handler(late).unwrap();
        feed.send(Ok(WatchEvent::Added(object("c", 11)))).unwrap();
        assert_eq!(
            within(&mut calls, 1.0).await,
            ["add c@11", "initial add a@5", "initial add b@5"]
        );
        assert!(registration.has_synced());
        assert_eq!(registration.pending(), 0);
    }
}

struct Slow;

impl ResourceEventHandler<Object> for Slow {
    async fn on_add(&mut self, _: Arc<Object>, _: AddOrigin) {
        tokio::time::sleep(Duration::from_secs(10)).await; // its cost, in paused time
    }
    async fn on_update(&mut self, _: Arc<Object>, _: Arc<Object>) {}
    async fn on_delete(&mut self, _: DeltaObject<Object>) {}
}

#[tokio::test(start_paused = true)]
async fn a_handler_is_synced_when_its_calls_have_returned_and_the_informer_earlier() {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        let informer = informer(queue, 0);
        let registration = informer.add_event_handler(Slow).unwrap();
        assert!(!registration.has_synced() && !informer.has_synced());
        let (server, _feed) = server(&["a", "b"]);
        let start = tokio::time::Instant::now();
        informer.start(server);
        informer.wait_until_synced().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert!(!registration.has_synced());
        registration.wait_until_synced().await.unwrap();
        assert_eq!(start.elapsed().as_secs(), 20);
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_first_list_syncs_informer_and_handler() {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        let informer = informer(queue, 0);
        let registration = informer.add_event_handler(log("").0).unwrap();
        let (server, _feed) = server(&[]);
        informer.start(server);
        informer.wait_until_synced().await;
        registration.wait_until_synced().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_loses_one_notification_and_the_waiter_is_told_and_nobody_else_is_touched() {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        let informer = informer(queue, 0);
        let (broken, mut broken_calls) = log("b@5");
        let (healthy, mut healthy_calls) = log("");
        let broken_registration = informer.add_event_handler(broken).unwrap();
        let healthy_registration = informer.add_event_handler(healthy).unwrap();
        let (server, feed) = server(&["a", "b", "c"]);
        informer.start(server);
        healthy_registration.wait_until_synced().await.unwrap();
        assert_eq!(
            broken_registration.wait_until_synced().await,
            Err(SyncError::HandlerPanicked)
        );
        feed.send(Ok(WatchEvent::Added(object("d", 11)))).unwrap();
        assert_eq!(
            within(&mut broken_calls, 5.0).await,
            ["add d@11", "initial add a@5", "initial add c@5"]
        );
        assert_eq!(within(&mut healthy_calls, 0.0).await.len(), 4);
        assert!(
            !broken_registration.has_synced(),
            "as upstream, which would wait for ever"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_removed_handler_is_called_no_more_and_removing_it_again_is_no_error() {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        let informer = informer(queue, 0);
        let (handler, mut calls) = log("");
        let registration = informer.add_event_handler(handler).unwrap();
        let (server, feed) = server(&["a"]);
        informer.start(server);
        assert_eq!(within(&mut calls, 1.0).await, ["initial add a@5"]);
        informer.remove_event_handler(&registration);
        informer.remove_event_handler(&registration);
        assert_eq!(informer.handler_count(), 0);
        feed.send(Ok(WatchEvent::Added(object("b", 11)))).unwrap();
        assert_eq!(within(&mut calls, 5.0).await.len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopped_informer_takes_no_handler() {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        let informer = informer(queue, 0);
        let (server, _feed) = server(&["a"]);
        informer.start(server);
        informer.wait_until_synced().await;
        informer.stop().await;
        assert_eq!(
            informer.add_event_handler(log("").0).unwrap_err(),
            AddHandlerError::Stopped
        );
        assert_eq!(
            AddHandlerError::Stopped.to_string(),
            "handler was not added to shared informer because it has stopped already"
        );
    }
}

struct Adds {
    informer: std::sync::Weak<SharedInformer<Object, NoObserver>>,
    calls: Option<mpsc::UnboundedSender<String>>,
}

impl ResourceEventHandler<Object> for Adds {
    async fn on_add(&mut self, _: Arc<Object>, _: AddOrigin) {
        let informer = self.informer.upgrade().expect("the test holds it");
        let Some(calls) = self.calls.take() else {
            return;
        };
        let registration = informer.add_event_handler(log("").0).expect("running");
        informer.remove_event_handler(&registration);
        informer
            .add_event_handler(Log {
                calls,
                panics_on: "",
            })
            .expect("running");
        assert_eq!(informer.lister().list().len(), 2);
    }
    async fn on_update(&mut self, _: Arc<Object>, _: Arc<Object>) {}
    async fn on_delete(&mut self, _: DeltaObject<Object>) {}
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_add_and_remove_handlers_from_inside_a_call() {
    for queue in QueueKind::ALL {
        println!("{}", queue.name());
        let informer = Arc::new(informer(queue, 0));
        let (sender, mut calls) = mpsc::unbounded_channel();
        informer
            .add_event_handler(Adds {
                informer: Arc::downgrade(&informer),
                calls: Some(sender),
            })
            .unwrap();
        let (server, feed) = server(&["a", "b"]);
        informer.start(server);
        informer.wait_until_synced().await;
        assert_eq!(
            within(&mut calls, 1.0).await,
            ["initial add a@5", "initial add b@5"]
        );
        feed.send(Ok(WatchEvent::Added(object("c", 11)))).unwrap();
        assert_eq!(within(&mut calls, 1.0).await, ["add c@11"]);
    }
}
