//! The work queue's driver; cases of `queue_test.go` and `delaying_queue_test.go` of client-go's `util/workqueue`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bench_core::workqueue::{ItemExponentialFailureRateLimiter, WorkQueue};
use tokio::{
    task::JoinSet,
    time::{Instant, advance, sleep, timeout},
};

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// What is to be had at once.
async fn got<T>(queue: &WorkQueue<T>) -> Option<T>
where
    T: std::hash::Hash + Eq + Clone,
{
    let start = Instant::now();
    let item = timeout(ms(0), queue.get())
        .await
        .expect("something is to be had");
    assert_eq!(Instant::now(), start);
    item
}

#[track_caller]
fn is_pending<F: Future>(future: std::pin::Pin<&mut F>) -> bool {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    future.poll(&mut context).is_pending()
}

#[tokio::test(start_paused = true)]
async fn producers_and_consumers_end_and_later_adds_are_never_delivered() {
    for drain in [false, true] {
        let queue = WorkQueue::new();
        let mut producers = JoinSet::new();
        for id in 0..50 {
            let queue = queue.clone();
            producers.spawn(async move {
                for _ in 0..50 {
                    queue.add(id);
                    sleep(ms(1)).await; // its pace, in paused time
                }
            });
        }
        let seen = Arc::new(AtomicU32::new(0));
        let mut consumers = JoinSet::new();
        for _ in 0..10 {
            let (queue, seen) = (queue.clone(), Arc::clone(&seen));
            consumers.spawn(async move {
                while let Some(item) = queue.get().await {
                    assert_ne!(item, 1000, "added after the shutdown");
                    seen.fetch_add(1, Ordering::Relaxed);
                    sleep(ms(3)).await; // its cost, in paused time
                    queue.done(&item);
                }
            });
        }
        producers.join_all().await;
        if drain {
            queue.shut_down_with_drain().await;
        } else {
            queue.shut_down();
        }
        queue.add(1000);
        consumers.join_all().await;
        assert_eq!(queue.len(), 0);
        let seen = seen.load(Ordering::Relaxed);
        assert!(
            (50..2500).contains(&seen),
            "every id at least once, most collapsed: {seen}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_item_added_again_while_processed_comes_once_more() {
    let queue = WorkQueue::new();
    for item in 0..50 {
        queue.add(item);
    }
    let runs = Arc::new(AtomicU32::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..10 {
        let (queue, runs) = (queue.clone(), Arc::clone(&runs));
        workers.spawn(async move {
            let mut readded = std::collections::HashSet::new();
            while let Some(item) = queue.get().await {
                if runs.fetch_add(1, Ordering::Relaxed) < 50 && readded.insert(item) {
                    queue.add(item);
                }
                queue.done(&item);
                if runs.load(Ordering::Relaxed) == 100 {
                    queue.shut_down();
                }
            }
        });
    }
    workers.join_all().await;
    assert_eq!((queue.len(), runs.load(Ordering::Relaxed)), (0, 100));
}

#[tokio::test(start_paused = true)]
async fn the_length_counts_an_item_once() {
    let queue = WorkQueue::new();
    for (item, length) in [("foo", 1), ("bar", 2), ("foo", 2)] {
        queue.add(item);
        assert_eq!(queue.len(), length);
    }
}

#[tokio::test(start_paused = true)]
async fn an_item_added_while_processed_waits_until_it_is_done() {
    let queue = WorkQueue::new();
    queue.add("foo");
    assert_eq!(got(&queue).await, Some("foo"));
    queue.add("foo");
    queue.add("foo");
    assert_eq!(queue.len(), 0);
    let other = queue.clone();
    let mut other_worker = std::pin::pin!(other.get());
    assert!(
        is_pending(other_worker.as_mut()),
        "no two workers on one item"
    );
    queue.done(&"foo");
    assert_eq!(other_worker.await, Some("foo"));
    queue.done(&"foo");
    assert_eq!(queue.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn done_of_an_item_that_nobody_processes_changes_nothing() {
    let queue = WorkQueue::new();
    queue.add("foo");
    queue.done(&"foo");
    assert_eq!(queue.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_drain_waits_until_everything_processed_is_done() {
    let queue = WorkQueue::new();
    queue.add("foo");
    queue.add("bar");
    got(&queue).await;
    got(&queue).await;
    let mut drain = std::pin::pin!(queue.shut_down_with_drain());
    assert!(is_pending(drain.as_mut()));
    queue.done(&"foo");
    assert!(is_pending(drain.as_mut()));
    queue.done(&"bar");
    timeout(ms(1), drain).await.expect("drained");
}

#[tokio::test(start_paused = true)]
async fn a_drain_does_not_wait_for_items_without_a_worker() {
    let queue = WorkQueue::new();
    queue.add("foo");
    timeout(ms(1), queue.shut_down_with_drain())
        .await
        .expect("nothing is processed");
    assert_eq!(got(&queue).await, Some("foo"));
    assert_eq!(got(&queue).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_shut_down_waits_for_nothing_and_calls_a_drain_off() {
    let queue = WorkQueue::new();
    queue.add("foo");
    got(&queue).await;
    let mut drain = std::pin::pin!(queue.shut_down_with_drain());
    assert!(is_pending(drain.as_mut()));
    queue.shut_down();
    timeout(ms(1), drain).await.expect("called off");
    assert!(queue.is_shutting_down());
}

#[tokio::test(start_paused = true)]
async fn a_dirty_item_comes_back_even_while_draining() {
    let queue = WorkQueue::new();
    queue.add("foo");
    got(&queue).await;
    queue.add("foo");
    let mut drain = std::pin::pin!(queue.shut_down_with_drain());
    assert!(is_pending(drain.as_mut()));
    assert_eq!(got(&queue).await, None);
    queue.done(&"foo");
    assert_eq!(got(&queue).await, Some("foo"));
    queue.done(&"foo");
    assert_eq!(got(&queue).await, None);
    timeout(ms(1), drain).await.expect("drained");
}

#[tokio::test(start_paused = true)]
async fn every_waiting_worker_ends_at_a_shut_down() {
    let queue = WorkQueue::<u32>::new();
    let mut workers = JoinSet::new();
    for _ in 0..5 {
        let queue = queue.clone();
        workers.spawn(async move { queue.get().await });
    }
    tokio::task::yield_now().await;
    queue.shut_down();
    assert_eq!(workers.join_all().await, [None; 5]);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_gives_up_after_it_was_woken_leaves_the_item_to_another() {
    let queue = WorkQueue::new();
    let mut first = Box::pin(queue.get());
    let mut second = std::pin::pin!(queue.get());
    assert!(is_pending(first.as_mut()) && is_pending(second.as_mut()));
    queue.add("foo");
    drop(first);
    assert_eq!(timeout(ms(1), second).await, Ok(Some("foo")));
}

#[tokio::test(start_paused = true)]
async fn items_that_come_due_together_wake_as_many_workers() {
    let queue = WorkQueue::new();
    let mut workers = JoinSet::new();
    for _ in 0..3 {
        let queue = queue.clone();
        workers.spawn(async move { queue.get().await });
    }
    tokio::task::yield_now().await;
    for item in 0..3 {
        queue.add_after(item, ms(50));
    }
    let mut items = timeout(ms(60), workers.join_all())
        .await
        .expect("all are woken");
    items.sort_unstable();
    assert_eq!(items, [Some(0), Some(1), Some(2)]);
}

#[tokio::test(start_paused = true)]
async fn a_delayed_item_joins_at_its_instant_and_once() {
    let queue = WorkQueue::new();
    queue.add_after("foo", ms(50));
    assert_eq!(queue.len(), 0);
    advance(ms(49)).await;
    assert_eq!(queue.len(), 0);
    advance(ms(1)).await;
    assert_eq!(queue.len(), 1);
    assert_eq!(got(&queue).await, Some("foo"));
    queue.done(&"foo");
    advance(ms(10_000)).await;
    assert_eq!(queue.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn of_two_delays_of_one_item_the_earlier_instant_wins() {
    for (first, second, instant) in [(50, 70, 50), (50, 30, 30)] {
        let queue = WorkQueue::new();
        queue.add_after("foo", ms(first));
        queue.add_after("foo", ms(second));
        advance(ms(instant - 1)).await;
        assert_eq!(queue.len(), 0);
        advance(ms(1)).await;
        assert_eq!(got(&queue).await, Some("foo"));
        queue.done(&"foo");
        advance(ms(100)).await;
        assert_eq!(queue.len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn delayed_items_come_in_the_order_of_their_instants() {
    let queue = WorkQueue::new();
    queue.add_after("foo", ms(1000));
    queue.add_after("bar", ms(500));
    queue.add_after("baz", ms(250));
    advance(ms(2000)).await;
    assert_eq!(queue.len(), 3);
    for expected in ["baz", "bar", "foo"] {
        assert_eq!(got(&queue).await, Some(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn a_waiting_worker_wakes_at_the_earliest_instant_even_if_it_is_given_later() {
    let queue = WorkQueue::new();
    let start = Instant::now();
    let mut worker = std::pin::pin!(queue.get());
    assert!(is_pending(worker.as_mut()));
    queue.add_after("foo", ms(1000));
    assert!(is_pending(worker.as_mut()));
    queue.add_after("bar", ms(50));
    assert_eq!(worker.await, Some("bar"));
    assert_eq!(start.elapsed(), ms(50));
    assert_eq!(queue.get().await, Some("foo"));
    assert_eq!(start.elapsed(), ms(1000));
    queue.add_after("baz", ms(2000));
    assert_eq!(queue.get().await, Some("baz"));
    assert_eq!(start.elapsed(), ms(3000));
}

#[tokio::test(start_paused = true)]
async fn a_delayed_item_that_is_due_comes_before_one_added_after_that_instant() {
    let queue = WorkQueue::new();
    queue.add_after("delayed", ms(50));
    advance(ms(60)).await;
    queue.add("added");
    assert_eq!(got(&queue).await, Some("delayed"));
    assert_eq!(got(&queue).await, Some("added"));
}

#[tokio::test(start_paused = true)]
async fn a_delayed_item_is_independent_of_the_same_item_added_now_and_zero_is_now() {
    let queue = WorkQueue::new();
    queue.add_after("foo", ms(50));
    queue.add_after("foo", ms(0));
    assert_eq!(got(&queue).await, Some("foo"));
    queue.done(&"foo");
    advance(ms(50)).await;
    assert_eq!(got(&queue).await, Some("foo"));
}

#[tokio::test(start_paused = true)]
async fn delayed_items_are_lost_at_a_shut_down_and_none_is_taken_after_it() {
    let queue = WorkQueue::new();
    queue.add_after("due", ms(10));
    queue.add_after("later", ms(50));
    advance(ms(10)).await;
    queue.shut_down();
    queue.add_after("after", ms(10));
    queue.add_after("after", ms(0));
    advance(ms(100)).await;
    assert_eq!(got(&queue).await, Some("due"));
    assert_eq!(got(&queue).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_rate_limited_item_waits_as_its_limiter_says() {
    let limiter = ItemExponentialFailureRateLimiter::new(ms(1), ms(1000));
    let queue = WorkQueue::with_rate_limiter(limiter);
    let mut start = Instant::now();
    for (item, delay) in [("one", 1), ("one", 2), ("two", 1), ("two", 2)] {
        queue.add_rate_limited(item);
        assert_eq!(queue.get().await, Some(item));
        assert_eq!(start.elapsed(), ms(delay));
        queue.done(&item);
        start = Instant::now();
    }
    assert_eq!(queue.num_requeues(&"one"), 2);
    queue.forget(&"one");
    assert_eq!(queue.num_requeues(&"one"), 0);
    queue.add_rate_limited("one");
    assert_eq!(queue.get().await, Some("one"));
    assert_eq!(start.elapsed(), ms(1));
}
