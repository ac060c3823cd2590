//! What is finished and what is lost when work queues end, and pieces of work in parallel: public report B31, cases of
//! `queue_test.go` and `parallelizer_test.go` of client-go's `util/workqueue`.

use std::{
    collections::VecDeque,
    num::NonZeroUsize,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bench_core::workqueue::{
    Added, Delayed, Got, WaitingItems, WorkQueue, WorkQueueState, default_controller_rate_limiter,
    parallelize,
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A worker that needs a second for each item.
async fn work(queue: WorkQueue<u32>, seen: Arc<Mutex<Vec<u32>>>) {
    while let Some(item) = queue.get().await {
        sleep(ms(1_000)).await; // its cost, in paused time
        seen.lock().expect("not poisoned").push(item);
        queue.done(&item);
        // Whoever waits for the end of this item looks before the next one is taken.
        tokio::task::yield_now().await;
    }
}

fn with_five_items_and_one_worker() -> (WorkQueue<u32>, JoinSet<()>, Arc<Mutex<Vec<u32>>>) {
    let queue = WorkQueue::new();
    for item in 1..=5 {
        queue.add(item);
    }
    let seen = Arc::<Mutex<Vec<u32>>>::default();
    let mut worker = JoinSet::new();
    worker.spawn(work(queue.clone(), Arc::clone(&seen)));
    (queue, worker, seen)
}

/// Public report B31: what upstream does.
#[tokio::test(start_paused = true)]
async fn a_drain_returns_while_items_wait_as_soon_as_none_is_processed() {
    let (queue, mut worker, seen) = with_five_items_and_one_worker();
    tokio::task::yield_now().await;
    queue.add(1);
    queue.shut_down_with_drain().await;
    assert_eq!(*seen.lock().unwrap(), [1]);
    // They are worked on all the same, the one that was added meanwhile last.
    worker
        .join_next()
        .await
        .expect("one worker")
        .expect("no panic");
    assert_eq!(*seen.lock().unwrap(), [1, 2, 3, 4, 5, 1]);
}

/// Public report B31, on the variant that is not upstream's: two callers, and an item that was added while processed.
#[tokio::test(start_paused = true)]
async fn a_finishing_shutdown_waits_for_everything_that_was_added() {
    let (queue, _worker, seen) = with_five_items_and_one_worker();
    tokio::task::yield_now().await;
    queue.add(1);
    let began = Instant::now();
    let other = queue.clone();
    let late = async {
        tokio::task::yield_now().await;
        queue.add(6);
        queue.done(&9);
    };
    let minute = Duration::from_mins(1);
    let (first, second, ()) = tokio::join!(
        queue.shut_down_and_finish(minute),
        other.shut_down_and_finish(minute),
        late
    );
    assert_eq!((first.len(), second.len()), (0, 0));
    assert_eq!(began.elapsed(), ms(6_000));
    assert_eq!(*seen.lock().unwrap(), [1, 2, 3, 4, 5, 1]);
}

/// Public report B31: a worker that dies without `done`.
#[tokio::test(start_paused = true)]
async fn a_finishing_shutdown_ends_in_time_with_what_was_not_done() {
    let queue = WorkQueue::new();
    for item in 1..=3 {
        queue.add(item);
    }
    assert_eq!(queue.get().await, Some(1));
    assert_eq!(queue.get().await, Some(2));
    queue.done(&2);
    let began = Instant::now();
    let mut unfinished = queue.shut_down_and_finish(ms(500)).await;
    unfinished.sort_unstable();
    assert_eq!(unfinished, [1, 3]);
    assert_eq!(began.elapsed(), ms(500));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_calls_a_finishing_one_off() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let called_off = async {
        queue.shut_down();
    };
    let minute = Duration::from_mins(1);
    let (unfinished, ()) = tokio::join!(queue.shut_down_and_finish(minute), called_off);
    assert_eq!(unfinished, ["foo"]);
    let empty = WorkQueue::<u32>::new();
    let finished = timeout(ms(0), empty.shut_down_and_finish(ms(1_000))).await;
    assert_eq!(finished, Ok(vec![]));
}

/// `TestGarbageCollection`.
#[tokio::test(start_paused = true)]
async fn an_item_that_is_done_is_not_kept_by_the_queue() {
    let queue = WorkQueue::new();
    let item = Arc::new(7);
    queue.add(Arc::clone(&item));
    let got = queue.get().await.expect("it was added");
    queue.done(&got);
    drop(got);
    assert_eq!(Arc::strong_count(&item), 1);
    assert!(queue.is_empty());
}

/// Public report B34: what the default limiter's bucket comes to.
#[tokio::test(start_paused = true)]
async fn ten_thousand_keys_put_the_last_one_990_s_away_and_the_wait_is_told() {
    let queue = WorkQueue::new();
    for key in 0..10_000 {
        queue.add_rate_limited(key);
    }
    assert_eq!(
        queue.delayed(),
        Delayed {
            items: 10_000,
            longest: ms(990_000)
        }
    );
    for key in 0..10_000 {
        queue.forget(&key);
    }
    // Nothing gives the bucket's tokens back.
    queue.add_rate_limited(10_000);
    assert_eq!(queue.delayed().longest, ms(990_100));
}

/// Public report B34: repeats of one key.
#[tokio::test(start_paused = true)]
async fn repeats_of_a_key_take_tokens_though_the_key_keeps_its_first_instant() {
    let queue = WorkQueue::with_rate_limiter(default_controller_rate_limiter());
    for _ in 0..1_000 {
        queue.add_rate_limited("again");
    }
    assert_eq!(
        queue.delayed(),
        Delayed {
            items: 1,
            longest: ms(5)
        }
    );
    queue.add_rate_limited("other");
    assert_eq!(queue.delayed().longest, ms(90_100));
}

/// A place to wait that keeps what it was told.
#[derive(Default)]
struct Kept {
    items: VecDeque<&'static str>,
    touched: Arc<Mutex<Vec<&'static str>>>,
}

impl WaitingItems<&'static str> for Kept {
    fn touch(&mut self, item: &&'static str) {
        self.touched.lock().expect("not poisoned").push(item);
    }

    fn push(&mut self, item: &'static str) {
        self.items.push_front(item);
    }

    fn pop(&mut self) -> Option<&'static str> {
        self.items.pop_front()
    }

    fn len(&self) -> usize {
        self.items.len()
    }
}

/// `TestCollapse`, and `TestCollapseWhileProcessing` for the touch.
#[test]
fn an_item_that_waits_is_touched_when_it_is_added_again_and_one_that_is_processed_is_not() {
    let kept = Kept::default();
    let touched = Arc::clone(&kept.touched);
    let mut queue = WorkQueueState::with_waiting_items(kept);
    assert_eq!(queue.add("bar"), Added::Queued);
    assert_eq!(queue.add("bar"), Added::Collapsed);
    assert_eq!(*touched.lock().unwrap(), ["bar"]);
    assert_eq!((queue.get(), queue.len()), (Got::Item("bar"), 0));
    assert_eq!(queue.add("bar"), Added::AfterProcessing);
    assert_eq!(queue.add("bar"), Added::Collapsed);
    queue.done(&"bar");
    assert_eq!(queue.len(), 1);
    assert_eq!(*touched.lock().unwrap(), ["bar"]);
}

#[test]
fn the_order_is_that_of_the_place_where_items_wait() {
    let mut queue = WorkQueueState::with_waiting_items(Kept::default());
    for item in ["first", "second", "third"] {
        queue.add(item);
    }
    assert_eq!(queue.get(), Got::Item("third"));
    assert_eq!(queue.unfinished().len(), 3);
}

const fn many(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).expect("not zero")
}

/// `TestParallelizeUntil`.
#[tokio::test(start_paused = true)]
async fn each_piece_is_worked_on_once_whatever_the_chunks() {
    for (pieces, workers, chunk) in [
        (1000, 10, 1),
        (1000, 10, 10),
        (1000, 10, 100),
        (999, 10, 13),
        (5, 10, 2),
        (0, 10, 1),
    ] {
        let seen: Arc<Vec<AtomicUsize>> = Arc::new((0..pieces).map(|_| 0.into()).collect());
        let pieces_seen = Arc::clone(&seen);
        let work = move |piece: usize| {
            let seen = Arc::clone(&pieces_seen);
            async move {
                seen[piece].fetch_add(1, Ordering::Relaxed);
            }
        };
        parallelize(many(workers), pieces, many(chunk), work).await;
        let once = |count: &AtomicUsize| count.load(Ordering::Relaxed) == 1;
        assert!(seen.iter().all(once), "{pieces} {workers} {chunk}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_pieces_run_at_once_than_there_are_workers_and_chunks() {
    for (workers, chunk, seconds) in [(3, 1, 4), (100, 1, 1), (3, 5, 5), (1, 1, 10)] {
        let began = Instant::now();
        let work = |_| sleep(ms(1_000)); // its cost, in paused time
        parallelize(many(workers), 10, many(chunk), work).await;
        assert_eq!(began.elapsed().as_secs(), seconds);
    }
}

#[tokio::test(start_paused = true)]
async fn no_piece_is_begun_after_the_cancellation() {
    let begun = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&begun);
    let work = move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        sleep(ms(1_000)) // its cost, in paused time
    };
    let cancelled = timeout(ms(2_500), parallelize(many(4), 1_000, many(10), work)).await;
    assert!(cancelled.is_err());
    assert_eq!(begun.load(Ordering::Relaxed), 12);
    sleep(ms(5_000)).await; // nothing runs on, in paused time
    assert_eq!(begun.load(Ordering::Relaxed), 12);
}
