//! The priority queue's driver; cases of controller-runtime's `pkg/controller/priorityqueue/priorityqueue_test.go`.

use std::{collections::HashMap, sync::Arc, time::Duration};

use bench_core::{
    api::Object,
    cache::{AddOrigin, DeltaObject, Notification},
    workqueue::{
        AddOptions, ItemFastSlowRateLimiter, LOW_PRIORITY, Novelty, Pace, PriorityQueue, Ready,
    },
};
use tokio::{
    task::JoinSet,
    time::{Instant, advance, timeout},
};

use crate::{scripted::object, workqueue_metrics::Metrics};

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn at(priority: i32) -> AddOptions {
    AddOptions {
        priority,
        ..AddOptions::now()
    }
}

fn after(milliseconds: u64) -> AddOptions {
    AddOptions {
        after: ms(milliseconds),
        ..AddOptions::now()
    }
}

/// A queue with metrics, and its additions so far: item and options.
fn queue(additions: &[(&'static str, AddOptions)]) -> (PriorityQueue<&'static str>, Arc<Metrics>) {
    let metrics = Arc::<Metrics>::default();
    let limiter = ItemFastSlowRateLimiter::new(ms(5), ms(1_000), 2);
    let told: Arc<Metrics> = Arc::clone(&metrics);
    let queue = PriorityQueue::with_metrics(limiter, told);
    for (item, options) in additions {
        queue.add_with(*item, *options);
    }
    (queue, metrics)
}

/// What is to be had at once.
async fn got(queue: &PriorityQueue<&'static str>) -> (&'static str, i32) {
    let ready = timeout(ms(0), queue.get()).await;
    let Ready { item, priority } = ready
        .expect("something is to be had")
        .expect("not shut down");
    (item, priority)
}

fn depths(depths: &[(i32, i64)]) -> HashMap<i32, i64> {
    depths.iter().copied().collect()
}

/// "returns an item" and "returns items in order".
#[tokio::test(start_paused = true)]
async fn items_of_one_priority_come_in_the_order_of_their_addition() {
    let (queue, metrics) = queue(&[("foo", at(0)), ("bar", at(0))]);
    assert_eq!(got(&queue).await, ("foo", 0));
    assert_eq!(got(&queue).await, ("bar", 0));
    assert_eq!(metrics.depths(), depths(&[(0, 0)]));
    assert_eq!((metrics.adds(), metrics.retries()), (2, 0));
}

/// "doesn't return an item that is currently locked" and "returns an item as soon as its unlocked".
#[tokio::test(start_paused = true)]
async fn an_item_that_a_worker_has_is_kept_back_until_it_is_done_and_keeps_its_place() {
    let (queue, metrics) = queue(&[("foo", at(0))]);
    assert_eq!(got(&queue).await, ("foo", 0));
    for item in ["foo", "bar", "baz"] {
        queue.add(item);
    }
    assert_eq!(got(&queue).await, ("bar", 0));
    queue.done(&"foo");
    assert_eq!(got(&queue).await, ("foo", 0));
    assert_eq!(metrics.depths(), depths(&[(0, 1)]));
    assert_eq!(metrics.adds(), 4);
}

/// "de-duplicates items" and "enqueues a locked item".
#[tokio::test(start_paused = true)]
async fn additions_of_a_waiting_item_collapse_and_one_meanwhile_counts() {
    let (queue, metrics) = queue(&[("foo", at(0)), ("foo", at(0))]);
    assert_eq!(queue.len(), 1);
    assert_eq!(metrics.depths(), depths(&[(0, 1)]));
    assert_eq!(metrics.adds(), 1);
    assert_eq!(got(&queue).await, ("foo", 0));
    queue.add("foo");
    assert_eq!(queue.len(), 1);
    queue.done(&"foo");
    assert_eq!(got(&queue).await, ("foo", 0));
    assert_eq!((metrics.depths(), metrics.adds()), (depths(&[(0, 0)]), 2));
}

/// "retains the highest priority" and "will not decrease the priority".
#[tokio::test(start_paused = true)]
async fn of_two_priorities_of_an_item_the_higher_one_counts() {
    for (additions, expected) in [
        ([("foo", at(1)), ("foo", at(2))], depths(&[(1, 0), (2, 0)])),
        ([("foo", at(2)), ("foo", at(1))], depths(&[(2, 0)])),
    ] {
        let (queue, metrics) = queue(&additions);
        assert_eq!(got(&queue).await, ("foo", 2));
        assert_eq!(queue.len(), 0);
        assert_eq!((metrics.depths(), metrics.adds()), (expected, 1));
    }
}

/// "gets pushed to the front if the priority increases".
#[tokio::test(start_paused = true)]
async fn an_item_whose_priority_rises_overtakes_lower_ones() {
    let additions = [
        ("foo", at(0)),
        ("bar", at(0)),
        ("baz", at(0)),
        ("baz", at(1)),
    ];
    let (queue, metrics) = queue(&additions);
    assert_eq!(got(&queue).await, ("baz", 1));
    assert_eq!(queue.len(), 2);
    assert_eq!(metrics.depths(), depths(&[(0, 2), (1, 0)]));
    assert_eq!(metrics.adds(), 3);
}

/// "follows FIFO order in the new priority queue when item priority changes".
#[tokio::test(start_paused = true)]
async fn an_item_whose_priority_rises_goes_behind_its_new_equals() {
    let (queue, _) = queue(&[("foo", at(0)), ("bar", at(1)), ("foo", at(1))]);
    assert_eq!(got(&queue).await, ("bar", 1));
    assert_eq!(got(&queue).await, ("foo", 1));
}

/// "retains the lowest after duration".
#[tokio::test(start_paused = true)]
async fn an_item_that_can_be_had_is_not_delayed_by_a_later_addition() {
    let (queue, metrics) = queue(&[("foo", at(0)), ("foo", after(3_600_000))]);
    assert_eq!(got(&queue).await, ("foo", 0));
    assert_eq!((queue.len(), metrics.adds(), metrics.retries()), (0, 1, 1));
}

/// "doesn't include non-ready items in `Len()`".
#[tokio::test(start_paused = true)]
async fn the_length_counts_only_items_whose_time_has_come() {
    let additions = [
        ("foo", after(60_000)),
        ("baz", at(0)),
        ("bar", after(60_000)),
        ("bal", at(0)),
    ];
    let (queue, metrics) = queue(&additions);
    assert_eq!(queue.len(), 2);
    assert_eq!(metrics.depths(), depths(&[(0, 2)]));
    advance(ms(59_999)).await;
    assert_eq!(queue.len(), 2);
    advance(ms(1)).await;
    assert_eq!(queue.len(), 4);
}

/// "Get from priority queue might get stuck when the priority queue is shut down".
#[tokio::test(start_paused = true)]
async fn once_shut_down_nothing_is_taken_and_nothing_handed_out() {
    let (queue, _) = queue(&[("baz", at(0))]);
    queue.shut_down();
    queue.add_with("foo", after(1_000));
    queue.add("bar");
    advance(ms(2_000)).await;
    assert_eq!(queue.get().await, None);
    assert_eq!(queue.get().await, None);
    assert!(queue.is_shutting_down());
}

#[tokio::test(start_paused = true)]
async fn every_waiting_worker_ends_at_the_shutdown() {
    let (queue, _) = queue(&[]);
    let mut workers = JoinSet::new();
    for _ in 0..5 {
        let queue = queue.clone();
        workers.spawn(async move { queue.get().await });
    }
    tokio::task::yield_now().await;
    queue.shut_down();
    assert_eq!(workers.join_all().await, vec![None; 5]);
}

/// "returns many items".
#[tokio::test(start_paused = true)]
async fn many_workers_get_each_of_many_items_once() {
    let queue = PriorityQueue::new();
    for round in 0..20 {
        for item in 0..1_000_u32 {
            let pick = (item * 7 + round) % 100;
            let options = if pick < 10 {
                after(u64::from(pick))
            } else {
                at(i32::try_from(pick).expect("small"))
            };
            queue.add_with(item, options);
        }
        let mut workers = JoinSet::new();
        for _ in 0..100 {
            let queue = queue.clone();
            workers.spawn(async move {
                let mut items = Vec::new();
                for _ in 0..10 {
                    let ready = queue.get().await.expect("not shut down");
                    queue.done(&ready.item);
                    items.push(ready.item);
                }
                items
            });
        }
        let mut items: Vec<_> = workers.join_all().await.concat();
        items.sort_unstable();
        assert_eq!(items, (0..1_000).collect::<Vec<_>>());
    }
}

/// "updates metrics correctly" for an item with a delay and then without, at the same and at a higher priority.
#[tokio::test(start_paused = true)]
async fn an_item_whose_wait_is_cut_short_is_counted_once() {
    for priority in [0, 1] {
        let (queue, metrics) = queue(&[("foo", after(3_600_000))]);
        assert_eq!((queue.len(), metrics.depths()), (0, depths(&[])));
        queue.add_with("foo", at(priority));
        assert_eq!(
            (queue.len(), metrics.depths()),
            (1, depths(&[(priority, 1)]))
        );
        assert_eq!(got(&queue).await, ("foo", priority));
        assert_eq!(
            (queue.len(), metrics.depths()),
            (0, depths(&[(priority, 0)]))
        );
        assert_eq!(metrics.adds(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_item_whose_time_comes_goes_behind_those_that_are_ready_and_wakes_a_worker() {
    let (queue, metrics) = queue(&[("late", after(50))]);
    let began = Instant::now();
    assert_eq!(queue.get().await.map(|it| it.item), Some("late"));
    assert_eq!(began.elapsed(), ms(50));
    assert_eq!(
        metrics.queue_durations(),
        [ms(0)],
        "from the instant it was due"
    );
    queue.add_with("due", after(10));
    queue.add("early");
    advance(ms(20)).await;
    assert_eq!(got(&queue).await, ("early", 0));
    assert_eq!(got(&queue).await, ("due", 0));
    assert_eq!(metrics.queue_durations()[1..], [ms(20), ms(10)]);
}

#[tokio::test(start_paused = true)]
async fn with_a_delay_and_the_limiter_the_shorter_one_counts() {
    let limited = |milliseconds| AddOptions {
        pace: Pace::RateLimited,
        ..after(milliseconds)
    };
    for (asked, waited) in [(0, 5), (3, 3), (9, 5)] {
        let (queue, _) = queue(&[("foo", limited(asked))]);
        let began = Instant::now();
        queue.get().await.expect("not shut down");
        assert_eq!(began.elapsed(), ms(waited));
        assert_eq!(queue.num_requeues(&"foo"), 1);
        queue.forget(&"foo");
        assert_eq!(queue.num_requeues(&"foo"), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_limiter_of_ones_own_each_item_waits_5_ms_doubled() {
    let queue = PriorityQueue::new();
    for delay in [5, 10, 20] {
        let began = Instant::now();
        queue.add_rate_limited("foo");
        assert!(queue.get().await.is_some());
        queue.done(&"foo");
        assert_eq!(began.elapsed(), ms(delay));
    }
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_gives_up_after_it_was_woken_leaves_the_item_to_another() {
    let queue = PriorityQueue::<&str>::new();
    let mut first = Box::pin(queue.get());
    let mut second = Box::pin(queue.get());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    queue.add("foo");
    drop(first);
    let got = timeout(ms(1), second).await.expect("woken");
    assert_eq!(got.map(|it| it.item), Some("foo"));
}

/// `WithLowPriorityWhenUnchanged`.
#[tokio::test(start_paused = true)]
async fn what_was_known_already_is_of_low_priority_and_comes_after_every_change() {
    let added = |name, origin| Notification::Added {
        object: object(name, 1),
        origin,
    };
    let updated = |name, old, new| Notification::Updated {
        old: object(name, old),
        new: object(name, new),
    };
    let notifications: [(&'static str, Notification<Object>, i32); 5] = [
        (
            "listed",
            added("listed", AddOrigin::InitialList),
            LOW_PRIORITY,
        ),
        ("resynced", updated("resynced", 1, 1), LOW_PRIORITY),
        ("created", added("created", AddOrigin::Live), 0),
        ("changed", updated("changed", 1, 2), 0),
        (
            "deleted",
            Notification::Deleted {
                object: DeltaObject::Object(object("deleted", 3)),
            },
            0,
        ),
    ];
    let queue = PriorityQueue::new();
    for (name, notification, priority) in &notifications {
        let novelty = Novelty::of(notification);
        assert_eq!(novelty.priority(), *priority, "{name}");
        queue.add_with(*name, at(novelty.priority()));
    }
    for expected in ["created", "changed", "deleted", "listed", "resynced"] {
        assert_eq!(got(&queue).await.0, expected);
    }
}
