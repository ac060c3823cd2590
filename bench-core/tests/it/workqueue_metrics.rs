//! What work queues tell of themselves; cases of `metrics_test.go` of client-go's `util/workqueue`.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use bench_core::workqueue::{
    PriorityQueue, WorkQueue, WorkQueueMetrics, default_item_based_rate_limiter,
};
use tokio::time::advance;

/// Keeps every value.
#[derive(Default)]
pub(crate) struct Metrics(Mutex<Values>);

#[derive(Default)]
struct Values {
    depths: HashMap<i32, i64>,
    adds: u64,
    retries: u64,
    queue_durations: Vec<Duration>,
    work_durations: Vec<Duration>,
    unfinished: Vec<Duration>,
    longest: Vec<Duration>,
}

impl Metrics {
    fn with<R>(&self, look: impl FnOnce(&mut Values) -> R) -> R {
        look(&mut self.0.lock().expect("not poisoned"))
    }

    pub(crate) fn depths(&self) -> HashMap<i32, i64> {
        self.with(|values| values.depths.clone())
    }

    pub(crate) fn adds(&self) -> u64 {
        self.with(|values| values.adds)
    }

    pub(crate) fn retries(&self) -> u64 {
        self.with(|values| values.retries)
    }

    pub(crate) fn queue_durations(&self) -> Vec<Duration> {
        self.with(|values| values.queue_durations.clone())
    }

    fn depth(&self) -> i64 {
        self.with(|values| values.depths.get(&0).copied().unwrap_or(0))
    }

    fn work_durations(&self) -> Vec<Duration> {
        self.with(|values| values.work_durations.clone())
    }

    /// The gauges of unfinished work as they were set: total and longest.
    fn unfinished(&self) -> Vec<(Duration, Duration)> {
        self.with(|values| {
            let totals = values.unfinished.iter().copied();
            totals.zip(values.longest.iter().copied()).collect()
        })
    }
}

impl WorkQueueMetrics for Metrics {
    fn depth_raised(&self, priority: i32) {
        self.with(|values| *values.depths.entry(priority).or_default() += 1);
    }

    fn depth_lowered(&self, priority: i32) {
        self.with(|values| *values.depths.entry(priority).or_default() -= 1);
    }

    fn added(&self) {
        self.with(|values| values.adds += 1);
    }

    fn queue_duration(&self, duration: Duration) {
        self.with(|values| values.queue_durations.push(duration));
    }

    fn work_duration(&self, duration: Duration) {
        self.with(|values| values.work_durations.push(duration));
    }

    fn unfinished_work(&self, total: Duration) {
        self.with(|values| values.unfinished.push(total));
    }

    fn longest_running_processor(&self, longest: Duration) {
        self.with(|values| values.longest.push(longest));
    }

    fn retried(&self) {
        self.with(|values| values.retries += 1);
    }
}

const fn us(microseconds: u64) -> Duration {
    Duration::from_micros(microseconds)
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn queue() -> (WorkQueue<&'static str>, Arc<Metrics>) {
    let metrics = Arc::<Metrics>::default();
    let told: Arc<Metrics> = Arc::clone(&metrics);
    let queue = WorkQueue::with_metrics(default_item_based_rate_limiter(), told);
    (queue, metrics)
}

/// Lets the task that sets the gauges run.
async fn settle() {
    for _ in 0..4 {
        tokio::task::yield_now().await;
    }
}

/// `TestMetrics`.
#[tokio::test(start_paused = true)]
async fn an_item_is_followed_from_its_first_addition_to_its_end() {
    let (queue, metrics) = queue();
    queue.add("foo");
    assert_eq!((metrics.adds(), metrics.depth()), (1, 1));
    advance(us(50)).await;
    assert_eq!(queue.get().await, Some("foo"));
    assert_eq!(metrics.queue_durations(), [us(50)]);
    assert_eq!(metrics.depth(), 0);
    // Added while it is processed: one addition, and the depth counts it although the length does not.
    for _ in 0..5 {
        queue.add("foo");
    }
    assert_eq!((metrics.adds(), metrics.depth(), queue.len()), (2, 1, 0));
    advance(us(25)).await;
    queue.done(&"foo");
    assert_eq!(metrics.work_durations(), [us(25)]);
    assert_eq!((metrics.depth(), queue.len()), (1, 1));
    assert_eq!(queue.get().await, Some("foo"));
    assert_eq!(metrics.queue_durations(), [us(50), us(25)]);
    advance(ms(500)).await;
    settle().await;
    let age = ms(500);
    assert_eq!(metrics.unfinished(), [(age, age)]);
    queue.done(&"foo");
    assert_eq!(metrics.work_durations(), [us(25), age]);
}

#[tokio::test(start_paused = true)]
async fn the_gauges_are_set_twice_a_second_to_the_sum_and_to_the_oldest() {
    let (queue, metrics) = queue();
    queue.add("foo");
    queue.add("bar");
    queue.get().await;
    advance(ms(200)).await;
    queue.get().await;
    advance(ms(299)).await;
    settle().await;
    assert_eq!(metrics.unfinished(), []);
    advance(ms(1)).await;
    settle().await;
    assert_eq!(metrics.unfinished(), [(ms(800), ms(500))]);
    queue.done(&"foo");
    advance(ms(500)).await;
    settle().await;
    assert_eq!(metrics.unfinished()[1..], [(ms(800), ms(800))]);
    queue.done(&"bar");
    advance(ms(500)).await;
    settle().await;
    assert_eq!(metrics.unfinished()[2..], [(ms(0), ms(0))]);
}

/// `TestMetricShutdown`.
#[tokio::test(start_paused = true)]
async fn after_the_shutdown_the_gauges_are_set_no_more() {
    let (queue, metrics) = queue();
    queue.add("foo");
    queue.get().await;
    advance(ms(500)).await;
    settle().await;
    assert_eq!(metrics.unfinished().len(), 1);
    queue.shut_down();
    advance(Duration::from_hours(1)).await;
    settle().await;
    assert_eq!(metrics.unfinished().len(), 1);
    // What was handed out is still followed.
    queue.done(&"foo");
    assert_eq!(metrics.work_durations().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_queue_whose_handles_are_gone_sets_no_gauge() {
    let (queue, metrics) = queue();
    drop(queue);
    advance(Duration::from_hours(1)).await;
    settle().await;
    assert_eq!(metrics.unfinished().len(), 0);
    assert_eq!(Arc::strong_count(&metrics), 1);
}

#[tokio::test(start_paused = true)]
async fn every_delayed_addition_is_a_retry_even_without_a_delay_but_not_after_the_shutdown() {
    let (queue, metrics) = queue();
    queue.add_after("foo", ms(0));
    queue.add_after("bar", ms(10));
    queue.add_after("bar", ms(20));
    queue.add_rate_limited("baz");
    queue.add("qux");
    assert_eq!((metrics.retries(), metrics.adds()), (4, 2));
    queue.shut_down();
    queue.add_after("foo", ms(10));
    queue.add("more");
    assert_eq!((metrics.retries(), metrics.adds()), (4, 2));
}

#[tokio::test(start_paused = true)]
async fn a_delayed_item_counts_from_the_instant_at_which_it_was_due() {
    let (queue, metrics) = queue();
    queue.add_after("foo", ms(100));
    assert_eq!(metrics.depth(), 0);
    advance(ms(130)).await;
    assert_eq!(queue.get().await, Some("foo"));
    assert_eq!(metrics.queue_durations(), [ms(30)]);
    queue.done(&"foo");
    queue.add_after("foo", ms(100));
    // Nobody asks, and yet it is seen within half a second.
    advance(ms(500)).await;
    settle().await;
    assert_eq!((metrics.depth(), metrics.adds()), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn done_of_an_item_that_nobody_processes_is_no_work() {
    let (queue, metrics) = queue();
    queue.add("foo");
    queue.done(&"foo");
    assert_eq!(metrics.work_durations(), []);
    assert_eq!(metrics.depth(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_priority_queue_sets_the_gauges_too_until_it_is_shut_down() {
    let metrics = Arc::<Metrics>::default();
    let told: Arc<Metrics> = Arc::clone(&metrics);
    let queue = PriorityQueue::with_metrics(default_item_based_rate_limiter(), told);
    queue.add("foo");
    queue.get().await;
    advance(ms(500)).await;
    settle().await;
    assert_eq!(metrics.unfinished(), [(ms(500), ms(500))]);
    queue.done(&"foo");
    assert_eq!(metrics.work_durations(), [ms(500)]);
    queue.shut_down();
    advance(ms(5_000)).await;
    settle().await;
    assert_eq!(metrics.unfinished().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn metrics_that_nobody_implements_are_nothing() {
    struct Nothing;
    impl WorkQueueMetrics for Nothing {}
    let queue = WorkQueue::with_metrics(default_item_based_rate_limiter(), Arc::new(Nothing));
    queue.add("foo");
    assert_eq!(queue.get().await, Some("foo"));
    queue.done(&"foo");
    queue.shut_down_with_drain().await;
    assert_eq!(queue.get().await, None);
}
