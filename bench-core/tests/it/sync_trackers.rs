//! Sync trackers and lazy values; cases of client-go's `tools/cache/synctrack`.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use bench_core::cache::{AsyncTracker, Lazy, SingleFileTracker};
use tokio::time::timeout;

/// What happens to a tracker.
#[derive(Debug, Clone, Copy)]
enum Step {
    Upstream,
    Start,
    Finish,
}

use Step::{Finish, Start, Upstream};

const CASES: [(&[Step], bool); 8] = [
    (&[], false),
    (&[Upstream], true),
    (&[Start], false),
    (&[Start, Finish], false),
    (&[Start, Upstream], false),
    (&[Start, Finish, Upstream], true),
    (&[Start, Upstream, Finish], true),
    // Once synced it stays so.
    (&[Upstream, Start], true),
];

/// `TestBasicLogic`.
#[test]
fn a_tracker_is_synced_when_upstream_is_and_everything_that_started_has_finished() {
    for (steps, synced) in CASES {
        let single = SingleFileTracker::new();
        let keyed = AsyncTracker::new();
        for step in steps {
            match step {
                Upstream => {
                    single.upstream_has_synced();
                    keyed.upstream_has_synced();
                }
                Start => {
                    single.start();
                    keyed.start("key");
                }
                Finish => {
                    single.finished();
                    keyed.finished(&"key");
                }
            }
        }
        assert_eq!(single.has_synced(), synced, "{steps:?}");
        assert_eq!(keyed.has_synced(), synced, "{steps:?}");
    }
}

/// `TestSingleFileCounting`.
#[test]
fn a_hundred_starts_need_a_hundred_ends_and_one_more_is_an_error() {
    let tracker = Arc::new(SingleFileTracker::new());
    for _ in 0..100 {
        tracker.start();
    }
    tracker.upstream_has_synced();
    for _ in 0..99 {
        tracker.finished();
    }
    assert!(!tracker.has_synced());
    tracker.finished();
    assert!(tracker.has_synced());
    let another = Arc::clone(&tracker);
    let panic = thread::spawn(move || another.finished())
        .join()
        .expect_err("one too many");
    let message = panic.downcast_ref::<&str>().expect("a message");
    assert!(message.contains("negative counter"), "{message}");
    assert!(tracker.has_synced());
}

/// `TestSingleFile`.
#[tokio::test(start_paused = true)]
async fn a_waiter_is_woken_by_the_last_end_and_by_upstream() {
    let second = Duration::from_secs(1);
    let tracker = SingleFileTracker::new();
    tracker.start();
    tracker.upstream_has_synced();
    assert!(timeout(second, tracker.wait_until_synced()).await.is_err());
    let (woken, ()) = tokio::join!(timeout(second, tracker.wait_until_synced()), async {
        tracker.finished();
    });
    woken.expect("by the end");
    let tracker = AsyncTracker::new();
    tracker.start(1);
    tracker.finished(&1);
    let (woken, ()) = tokio::join!(timeout(second, tracker.wait_until_synced()), async {
        tracker.upstream_has_synced();
    });
    woken.expect("by upstream");
}

#[test]
fn a_keyed_tracker_counts_a_key_once_and_ignores_strangers() {
    let tracker = AsyncTracker::new();
    tracker.start("a");
    tracker.start("a");
    tracker.start("b");
    tracker.upstream_has_synced();
    tracker.finished(&"stranger");
    tracker.finished(&"a");
    assert!(!tracker.has_synced());
    tracker.finished(&"b");
    assert!(tracker.has_synced());
}

/// `TestAsyncLocking`.
#[test]
fn keys_may_start_and_end_on_many_threads() {
    let tracker = AsyncTracker::new();
    thread::scope(|scope| {
        for key in 0..8 {
            let tracker = &tracker;
            scope.spawn(move || {
                for round in 0..100 {
                    tracker.start((key, round));
                    tracker.finished(&(key, round));
                }
            });
        }
    });
    assert!(!tracker.has_synced());
    tracker.upstream_has_synced();
    assert!(tracker.has_synced());
}

fn lazy(source: &AtomicU64) -> Lazy<u64, impl Fn() -> Result<u64, String>> {
    Lazy::new(|| Ok(source.load(Ordering::SeqCst)))
}

/// `TestLazy`.
#[test]
fn a_lazy_value_is_the_old_one_until_it_is_notified() {
    let source = AtomicU64::new(1);
    let lazy = lazy(&source);
    assert_eq!(lazy.get(), Ok(1));
    source.store(2, Ordering::SeqCst);
    assert_eq!(lazy.get(), Ok(1));
    lazy.notify();
    assert_eq!(lazy.get(), Ok(2));
}

/// `TestLazyThroughput`: never older than the last notification.
#[test]
fn whoever_asks_gets_no_value_older_than_the_last_notification() {
    let source = AtomicU64::new(0);
    let notified = AtomicU64::new(0);
    let lazy = lazy(&source);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    let least = notified.load(Ordering::SeqCst);
                    assert!(lazy.get().expect("no failure") >= least);
                }
            });
        }
        scope.spawn(|| {
            for value in 1..2_000 {
                source.store(value, Ordering::SeqCst);
                lazy.notify();
                notified.store(value, Ordering::SeqCst);
            }
        });
    });
}

/// `TestLazySlowEval` and `TestLazySlowEval2`.
#[test]
fn a_slow_computation_neither_holds_up_nor_replaces_a_newer_one() {
    let (signal, began) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let released = parking_lot::Mutex::new(released);
    let calls = AtomicUsize::new(0);
    let lazy = Lazy::new(|| {
        let call = calls.fetch_add(1, Ordering::SeqCst);
        if call == 0 {
            signal.send(()).expect("the test listens");
            released.lock().recv().expect("the test releases it");
        }
        Ok::<_, String>(call)
    });
    thread::scope(|scope| {
        let slow = scope.spawn(|| lazy.get());
        began.recv().expect("it begins");
        lazy.notify();
        assert_eq!(lazy.get(), Ok(1), "not held up");
        release.send(()).expect("it waits");
        assert_eq!(slow.join().expect("no panic"), Ok(0));
    });
    assert_eq!((lazy.get(), calls.into_inner()), (Ok(1), 2));
}

/// `TestLazyOnlyOnce`.
#[test]
fn calls_that_come_together_share_one_computation() {
    let calls = AtomicUsize::new(0);
    let lazy = Lazy::new(|| {
        thread::yield_now();
        Ok::<_, String>(calls.fetch_add(1, Ordering::SeqCst))
    });
    let together = Barrier::new(8);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                together.wait();
                assert_eq!(lazy.get(), Ok(0));
            });
        }
    });
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

/// `TestLazyError`.
#[test]
fn a_failure_is_not_kept() {
    let calls = AtomicUsize::new(0);
    let lazy = Lazy::new(|| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => Err("not yet"),
        call => Ok(call),
    });
    assert_eq!(lazy.get(), Err("not yet"));
    assert_eq!(lazy.get(), Ok(1));
    assert_eq!(lazy.get(), Ok(1));
}
