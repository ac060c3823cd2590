//! What a queue tells of itself, under the names of client-go's `util/workqueue`.

use std::{fmt, hash::Hash, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::WorkTimes;

/// How often the gauges of unfinished work are set.
pub(super) const UNFINISHED_WORK_UPDATE_PERIOD: Duration = Duration::from_millis(500);

/// The metrics of one queue (`MetricsProvider` upstream, for one name). Every method does nothing by default, and a queue
/// without metrics reads no clock for them.
///
/// The methods are called with the queue locked: they must be short and must not call the queue. Delayed items count when
/// they join the queue, from the instant at which they were due; a queue that nobody uses looks for them twice a second.
pub trait WorkQueueMetrics: Send + Sync + 'static {
    /// `workqueue_depth` goes up by one: an item needs work. It counts also if the item is being processed and waits only
    /// for that to end. The priority is 0 in queues without priorities.
    fn depth_raised(&self, priority: i32) {
        let _ = priority;
    }

    /// `workqueue_depth` goes down by one: an item was handed out, or now has another priority.
    fn depth_lowered(&self, priority: i32) {
        let _ = priority;
    }

    /// `workqueue_adds_total` goes up by one. Additions that collapse are not counted.
    fn added(&self) {}

    /// `workqueue_queue_duration_seconds`: from an item's first addition until it was handed out.
    fn queue_duration(&self, duration: Duration) {
        let _ = duration;
    }

    /// `workqueue_work_duration_seconds`: from an item's handing out until it was done.
    fn work_duration(&self, duration: Duration) {
        let _ = duration;
    }

    /// `workqueue_unfinished_work_seconds` is now this: the ages of all items being processed together. Twice a second,
    /// until the shutdown.
    fn unfinished_work(&self, total: Duration) {
        let _ = total;
    }

    /// `workqueue_longest_running_processor_seconds` is now this: the age of the oldest item being processed. Twice a
    /// second, until the shutdown.
    fn longest_running_processor(&self, longest: Duration) {
        let _ = longest;
    }

    /// `workqueue_retries_total` goes up by one. A plain queue counts every delayed addition, even one whose delay is zero;
    /// a priority queue those with a delay.
    fn retried(&self) {}
}

/// The metrics with the state that they need.
pub(super) struct Instruments<T> {
    metrics: Arc<dyn WorkQueueMetrics>,
    times: WorkTimes<T>,
    start: Instant,
}

impl<T: Hash + Eq + Clone> Instruments<T> {
    pub(super) fn new(metrics: Arc<dyn WorkQueueMetrics>, start: Instant) -> Self {
        Self {
            metrics,
            times: WorkTimes::new(),
            start,
        }
    }

    /// An item needs work, from now or since an instant.
    pub(super) fn added(&mut self, item: T, since: Option<Duration>, priority: i32) {
        self.metrics.added();
        self.metrics.depth_raised(priority);
        let since = since.unwrap_or_else(|| self.start.elapsed());
        self.times.added(item, since);
    }

    pub(super) fn got(&mut self, item: &T, priority: i32) {
        self.metrics.depth_lowered(priority);
        if let Some(waited) = self.times.got(item, self.start.elapsed()) {
            self.metrics.queue_duration(waited);
        }
    }

    pub(super) fn done(&mut self, item: &T) {
        if let Some(worked) = self.times.done(item, self.start.elapsed()) {
            self.metrics.work_duration(worked);
        }
    }

    pub(super) fn priority_raised(&self, from: i32, to: i32) {
        self.metrics.depth_lowered(from);
        self.metrics.depth_raised(to);
    }

    pub(super) fn retried(&self) {
        self.metrics.retried();
    }

    pub(super) fn update_unfinished_work(&self) {
        let unfinished = self.times.unfinished(self.start.elapsed());
        self.metrics.unfinished_work(unfinished.total);
        self.metrics.longest_running_processor(unfinished.longest);
    }
}

impl<T> fmt::Debug for Instruments<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Instruments")
            .finish_non_exhaustive()
    }
}
