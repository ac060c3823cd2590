//! What an informer's user is told of: backlogs, periods that are not had, updates that are withheld. Public reports B02, B20
//! and B65, and the traps of `tools/cache/shared_informer.go` of client-go.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use bench_core::{
    api::{Object, WatchEvent},
    cache::{
        InformerObserver, InformerWarning, QueueKind, ReflectorError, ReflectorSettings,
        SharedInformer, SharedInformerSettings,
    },
};
use tokio::{sync::mpsc, time::timeout};

use crate::{
    handlers::{Silent, slow},
    scripted::{Answer, ScriptedServer, expired, object, page},
    shared_informer::{log, server, within},
};

/// Keeps warnings, panics and errors.
#[derive(Default)]
pub(crate) struct Told(Mutex<Vec<String>>);

impl Told {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("not poisoned"))
    }
}

impl InformerObserver<Object> for Told {
    fn handler_panicked(&self) {
        self.0
            .lock()
            .expect("not poisoned")
            .push("panic".to_owned());
    }

    fn warned(&self, warning: &InformerWarning) {
        self.0
            .lock()
            .expect("not poisoned")
            .push(warning.to_string());
    }

    fn list_and_watch_failed(&self, error: &ReflectorError) {
        self.0.lock().expect("not poisoned").push(error.to_string());
    }
}

pub(crate) fn told_informer(
    queue: QueueKind,
    period: u64,
) -> (SharedInformer<Object, Arc<Told>>, Arc<Told>) {
    let told = Arc::<Told>::default();
    let settings = SharedInformerSettings {
        queue,
        default_resync_period: Duration::from_secs(period),
        reflector: ReflectorSettings::client_go(7),
    };
    let observer: Arc<Told> = Arc::clone(&told);
    (
        SharedInformer::new(settings, HashMap::new(), observer),
        told,
    )
}

/// Public report B20.
#[tokio::test(start_paused = true)]
async fn a_stalled_handlers_backlog_is_told_and_hurts_nobody_else() {
    for queue in QueueKind::ALL {
        let (informer, told) = told_informer(queue, 0);
        let (stalled, _calls) = slow(1);
        let stalled = informer.add_event_handler(stalled).unwrap();
        let (fast, mut fast_calls) = log("");
        let fast = informer.add_event_handler(fast).unwrap();
        let (server, feed) = server(&["a"]);
        informer.start(server);
        within(&mut fast_calls, 0.5).await;
        for version in 0..5_000 {
            feed.send(Ok(WatchEvent::Modified(object("a", 11 + version))))
                .unwrap();
        }
        assert_eq!(within(&mut fast_calls, 0.1).await.len(), 5_000);
        assert_eq!((fast.pending(), stalled.pending()), (0, 5_001));
        assert_eq!(stalled.most_pending(), 5_001);
        assert_eq!(
            told.take(),
            [
                "1024 notifications wait for one handler",
                "2048 notifications wait for one handler",
                "4096 notifications wait for one handler"
            ]
        );
        timeout(Duration::from_secs(5_002), std::future::pending::<()>())
            .await
            .expect_err("nothing ends this");
        assert_eq!((stalled.pending(), stalled.most_pending()), (0, 5_001));
        assert_eq!(told.take(), [""; 0]);
    }
}

/// Public report B65.
#[tokio::test(start_paused = true)]
async fn a_period_that_a_handler_does_not_get_is_told() {
    for queue in QueueKind::ALL {
        let ten_seconds = Duration::from_secs(10);
        let (without, told) = told_informer(queue, 0);
        without
            .add_event_handler_with_resync_period(Silent, ten_seconds)
            .unwrap();
        without
            .add_event_handler_with_resync_period(Silent, Duration::ZERO)
            .unwrap();
        assert_eq!(
            told.take(),
            [
                "a handler asked for a resync every 10s of an informer that does not resync: it gets none"
            ]
        );
        let (running, told) = told_informer(queue, 30);
        let (server, _feed) = server(&["a"]);
        running
            .add_event_handler_with_resync_period(Silent, Duration::from_mins(1))
            .unwrap();
        running.start(server);
        running
            .add_event_handler_with_resync_period(Silent, ten_seconds)
            .unwrap();
        assert_eq!(
            told.take(),
            ["a handler asked for a resync every 10s of a running informer: it gets one every 30s"]
        );
    }
}

/// A period of 1.1 s is served every 2 s by an informer that looks every second.
#[tokio::test(start_paused = true)]
async fn a_period_between_two_checks_is_told_at_the_start_and_after_it_at_once() {
    for queue in QueueKind::ALL {
        let (informer, told) = told_informer(queue, 1);
        let (handler, mut calls) = log("");
        let ms = Duration::from_millis;
        informer
            .add_event_handler_with_resync_period(handler, ms(1_100))
            .unwrap();
        let add = |period| {
            informer
                .add_event_handler_with_resync_period(Silent, period)
                .unwrap();
        };
        add(ms(3_000));
        assert_eq!(told.take(), [""; 0], "the check period may still change");
        let (server, _feed) = server(&["a"]);
        informer.start(server);
        let expected = |asked: &str, got| {
            format!(
                "a handler asked for a resync every {asked} of an informer that looks every 1s: it gets one every {got}"
            )
        };
        assert_eq!(told.take(), [expected("1.1s", "2s")]);
        assert_eq!(within(&mut calls, 1.9).await, ["initial add a@5"]);
        for _ in 0..3 {
            assert_eq!(within(&mut calls, 0.2).await, ["update a@5 a@5"]);
            assert_eq!(within(&mut calls, 1.8).await, [""; 0]);
        }
        add(ms(2_500));
        add(ms(2_000));
        assert_eq!(told.take(), [expected("2.5s", "3s")]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_period_below_a_second_is_raised_and_told() {
    let (informer, told) = told_informer(QueueKind::DeltaFifo, 1);
    let ask = |milliseconds| {
        let period = Duration::from_millis(milliseconds);
        informer
            .add_event_handler_with_resync_period(Silent, period)
            .unwrap();
    };
    let raised = "a handler asked for a resync every 999ms, which is raised to a second";
    for (milliseconds, expected) in [(0, &[][..]), (999, &[raised]), (1_000, &[])] {
        ask(milliseconds);
        assert_eq!(told.take(), expected);
    }
    let (server, _feed) = server(&["a"]);
    informer.start(server);
    ask(999);
    assert_eq!(told.take(), [raised]);
}

/// Public report B02: what a relist brings in the cached version counts as a resync upstream.
#[tokio::test(start_paused = true)]
async fn an_unchanged_object_of_a_relist_that_a_handler_is_not_told_is_told_as_withheld() {
    for queue in QueueKind::ALL {
        let (feed, first) = mpsc::unbounded_channel();
        let (_feed, second) = mpsc::unbounded_channel();
        let answers = vec![
            page(10, vec![object("a", 5), object("b", 5), object("c", 5)]),
            Answer::Fed(first),
            page(20, vec![object("a", 8), object("b", 5), object("c", 5)]),
            Answer::Fed(second),
        ];
        let (informer, told) = told_informer(queue, 3);
        let (never, mut calls) = log("");
        informer
            .add_event_handler_with_resync_period(never, Duration::ZERO)
            .unwrap();
        let (due, mut due_calls) = log("");
        informer.add_event_handler(due).unwrap();
        informer.start(ScriptedServer::new(answers));
        assert_eq!(within(&mut calls, 4.0).await.len(), 3);
        assert_eq!(told.take(), [""; 0], "a resync withholds nothing");
        feed.send(Ok(WatchEvent::Error(Box::new(expired()))))
            .expect("open");
        assert_eq!(within(&mut calls, 1.7).await, ["update a@5 a@8"]);
        let withheld = "a relist or replay brought an object in the version that was cached: handlers not due for a resync were not told";
        assert_eq!(told.take(), [withheld; 2], "{}", queue.name());
        // Three additions, the resync at 3 s, and every item of the relist, since it was due at the last round.
        assert_eq!(within(&mut due_calls, 0.0).await.len(), 9);
    }
}

#[test]
fn a_warning_has_a_stable_name_and_a_sentence() {
    let second = Duration::from_secs(1);
    let missing = |last_event| InformerWarning::InitialEventsEndMissing {
        open_for: second,
        last_event,
    };
    for (warning, kind, sentence) in [
        (
            missing(None),
            "InitialEventsEndMissing",
            "a streaming list has had neither an event nor the mark of its end for 1s",
        ),
        (
            missing(Some(second)),
            "InitialEventsEndMissing",
            "a streaming list has no mark of its end, its last event was 1s ago",
        ),
        (
            InformerWarning::StreamingListFellBack,
            "StreamingListFellBack",
            "the streaming list failed and a LIST took its place",
        ),
        (
            InformerWarning::HandlerBacklog { pending: 1_024 },
            "HandlerBacklog",
            "1024 notifications wait for one handler",
        ),
    ] {
        assert_eq!(
            (warning.kind(), warning.to_string()),
            (kind, sentence.to_owned())
        );
    }
    let without = InformerWarning::HandlerWithoutResync { requested: second };
    let raised = InformerWarning::HandlerPeriodRaised {
        requested: second,
        effective: 2 * second,
    };
    let below = InformerWarning::HandlerPeriodBelowMinimum { requested: second };
    let rounded = InformerWarning::HandlerPeriodRounded {
        requested: 3 * second,
        check_period: 2 * second,
        effective: 4 * second,
    };
    let withheld = InformerWarning::UnchangedUpdateWithheld;
    assert_eq!(
        [without, raised, below, rounded, withheld].map(|warning| warning.kind()),
        [
            "HandlerWithoutResync",
            "HandlerPeriodRaised",
            "HandlerPeriodBelowMinimum",
            "HandlerPeriodRounded",
            "UnchangedUpdateWithheld"
        ]
    );
}
