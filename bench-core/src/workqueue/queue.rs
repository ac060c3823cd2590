//! The driver that tasks share: lock, waking, time.

use std::{
    fmt,
    hash::Hash,
    ops::ControlFlow,
    pin::pin,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    task::JoinSet,
    time::{Instant, interval_at, timeout},
};

use super::{
    Added, DelayingState, Finished, Got, RateLimiter, WorkQueueMetrics, WorkQueueState,
    default_controller_rate_limiter,
    metrics::{Instruments, UNFINISHED_WORK_UPDATE_PERIOD},
    waiters::Waiters,
};

/// A rate-limited, delaying work queue; a clone is another handle to the same queue.
///
/// An item is worked on by one worker at a time, additions of a waiting item collapse, and items come in the order in which
/// they were first added: see [`WorkQueueState`]. Items of [`Self::add_after`] join when their time has come.
///
/// Unlike upstream there is no goroutine for the delays. Whoever waits in [`Self::get`] also waits for the next delayed item,
/// and every call first lets those join whose time has come, so order and length are as if a task had moved them.
/// That also means no channel of 1000 places that makes `add_after` block, and no heartbeat.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use bench_core::workqueue::WorkQueue;
///
/// let queue = WorkQueue::new();
/// queue.add("default/web");
/// queue.add("default/web");
/// queue.shut_down();
/// while let Some(key) = queue.get().await {
///     assert_eq!(key, "default/web");
///     queue.forget(&key);
///     queue.done(&key);
/// }
/// # }
/// ```
pub struct WorkQueue<T> {
    shared: Arc<Shared<T>>,
}

/// Items that wait for their time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delayed {
    /// How many.
    pub items: usize,
    /// How long the last of them still waits.
    pub longest: Duration,
}

struct Shared<T> {
    inner: Mutex<Inner<T>>,
    // Not under `inner`: a limiter is the user's code.
    limiter: Mutex<Box<dyn RateLimiter<T>>>,
    waiters: Waiters,
    // Woken when nothing is processed any more, and when a drain is called off.
    drained: Notify,
    start: Instant,
    // The task that sets the gauges; none without metrics, and none after the shutdown.
    refresh: Mutex<JoinSet<()>>,
}

struct Inner<T> {
    state: WorkQueueState<T>,
    delaying: DelayingState<T>,
    instruments: Option<Instruments<T>>,
    drain: Drain,
    // Whether `shut_down` was called, not the drain; only its first call calls off a drain.
    was_shut_down: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Drain {
    Wanted,
    NotWanted,
}

impl<T: Hash + Eq + Clone + fmt::Debug + Send + 'static> WorkQueue<T> {
    /// An empty queue with [`default_controller_rate_limiter`].
    pub fn new() -> Self {
        Self::with_rate_limiter(default_controller_rate_limiter())
    }
}

impl<T: Hash + Eq + Clone + fmt::Debug + Send + 'static> Default for WorkQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Hash + Eq + Clone + Send + 'static> WorkQueue<T> {
    /// An empty queue that tells of itself. Must be called in a tokio runtime, whose task sets the gauges until the queue is
    /// shut down or its last handle dropped.
    pub fn with_metrics(
        limiter: impl RateLimiter<T> + 'static,
        metrics: Arc<dyn WorkQueueMetrics>,
    ) -> Self {
        let queue = Self::with_rate_limiter(limiter);
        let instruments = Instruments::new(metrics, queue.shared.start);
        queue.shared.inner.lock().instruments = Some(instruments);
        let first = queue.shared.start + UNFINISHED_WORK_UPDATE_PERIOD;
        let refresh = refresh(Arc::downgrade(&queue.shared), first);
        queue.shared.refresh.lock().spawn(refresh);
        queue
    }
}

impl<T: Hash + Eq + Clone> WorkQueue<T> {
    /// An empty queue. The limiter's time starts now.
    pub fn with_rate_limiter(limiter: impl RateLimiter<T> + 'static) -> Self {
        Self {
            shared: Arc::new(Shared {
                inner: Mutex::new(Inner {
                    state: WorkQueueState::new(),
                    delaying: DelayingState::new(),
                    instruments: None,
                    drain: Drain::NotWanted,
                    was_shut_down: false,
                }),
                limiter: Mutex::new(Box::new(limiter)),
                waiters: Waiters::default(),
                drained: Notify::new(),
                start: Instant::now(),
                refresh: Mutex::new(JoinSet::new()),
            }),
        }
    }

    /// Marks an item as needing work. Nothing happens if it already waits, or if the queue is shutting down. Never waits.
    pub fn add(&self, item: T) {
        self.shared.change(|inner| inner.add(item, None));
    }

    /// Waits for an item and hands it out; [`Self::done`] must follow. Nothing if the queue is shutting down and no item
    /// waits.
    ///
    /// Cancel safe: a dropped call has taken no item, and its wake-up goes to another waiter.
    pub async fn get(&self) -> Option<T> {
        let look = || {
            self.shared.change(|inner| match inner.get() {
                Got::Item(item) => ControlFlow::Break(Some(item)),
                Got::ShutDown => ControlFlow::Break(None),
                Got::Empty => ControlFlow::Continue(()),
            })
        };
        let waiters = &self.shared.waiters;
        waiters.wait(look, || self.shared.next_delayed()).await
    }

    /// Ends the processing of an item; if it was added meanwhile, it now waits again. Nothing happens if nobody processes it.
    pub fn done(&self, item: &T) {
        let drained = self.shared.change(|inner| {
            let finished = inner.done(item);
            finished != Finished::NotProcessing
                && inner.drain == Drain::Wanted
                && inner.state.processing() == 0
        });
        if drained {
            self.shared.drained.notify_waiters();
        }
    }

    /// Adds an item after a delay; at once if it is zero. Nothing happens if the queue is shutting down. An item that already
    /// waits for its time keeps the earlier of the two instants; one that waits in the queue itself comes again.
    pub fn add_after(&self, item: T, delay: Duration) {
        let ready_at = self.shared.now().saturating_add(delay);
        let earliest_changed = self.shared.change(|inner| {
            if inner.state.is_shutting_down() {
                return false;
            }
            if let Some(instruments) = &inner.instruments {
                instruments.retried();
            }
            if delay.is_zero() {
                inner.add(item, None);
                return false;
            }
            let before = inner.delaying.next_ready_at();
            inner.delaying.add(item, ready_at);
            inner.delaying.next_ready_at() != before
        });
        if earliest_changed {
            self.shared.waiters.wake_all();
        }
    }

    /// Adds an item after the delay that the rate limiter gives it.
    pub fn add_rate_limited(&self, item: T) {
        let now = self.shared.now();
        let delay = self.shared.limiter.lock().when(&item, now);
        self.add_after(item, delay);
    }

    /// Forgets the failures of an item. It stays in the queue, and [`Self::done`] is still due.
    pub fn forget(&self, item: &T) {
        self.shared.limiter.lock().forget(item);
    }

    /// Failures of an item as the rate limiter counts them.
    pub fn num_requeues(&self, item: &T) -> u32 {
        self.shared.limiter.lock().num_requeues(item)
    }

    /// Items that wait to be handed out: neither those being processed nor those whose time has not come.
    pub fn len(&self) -> usize {
        self.shared.change(|inner| inner.state.len())
    }

    /// Whether no item waits to be handed out.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Items whose time has not come. Upstream tells nothing of them.
    pub fn delayed(&self) -> Delayed {
        let now = self.shared.now();
        self.shared.change(|inner| Delayed {
            items: inner.delaying.len(),
            longest: inner
                .delaying
                .last_ready_at()
                .map_or(Duration::ZERO, |last| last.saturating_sub(now)),
        })
    }

    /// Whether the queue was told to shut down.
    pub fn is_shutting_down(&self) -> bool {
        self.shared.inner.lock().state.is_shutting_down()
    }

    /// Takes no further additions. What waits is still handed out, what waits for its time is lost, and a drain under way is
    /// called off. Does not wait for anything. A second call does nothing, as with upstream's delaying queue: a drain that
    /// began after the first goes on.
    pub fn shut_down(&self) {
        if std::mem::replace(&mut self.shared.inner.lock().was_shut_down, true) {
            return;
        }
        self.begin_shut_down(Drain::NotWanted);
        self.shared.drained.notify_waiters();
    }

    /// Takes no further additions and waits until no item is being processed, or until [`Self::shut_down`] is called for the
    /// first time. Items that wait without a worker do not hold it up; a worker that takes its next item before the call has
    /// looked does, as upstream. Dropping the call ends the waiting, not the shutting down.
    pub async fn shut_down_with_drain(&self) {
        self.begin_shut_down(Drain::Wanted);
        self.wait_until(|state| state.processing() == 0).await;
    }

    /// Takes no further additions and waits until every item that was added has been handed out and done, or until
    /// [`Self::shut_down`] is called, or for so long. Returns the items that were not done then, in no order. Not upstream's,
    /// whose drain leaves items that wait.
    pub async fn shut_down_and_finish(&self, within: Duration) -> Vec<T> {
        self.begin_shut_down(Drain::Wanted);
        let finished = self.wait_until(|state| state.processing() == 0 && state.is_empty());
        // Whether it finished or not is seen below.
        let _ = timeout(within, finished).await;
        self.shared.inner.lock().state.unfinished()
    }

    fn begin_shut_down(&self, drain: Drain) {
        self.shared.change(|inner| {
            inner.drain = drain;
            inner.state.shut_down();
            inner.delaying.clear();
        });
        self.shared.waiters.wake_all();
        self.shared.refresh.lock().abort_all();
    }

    async fn wait_until(&self, ended: impl Fn(&WorkQueueState<T>) -> bool) {
        loop {
            let mut drained = pin!(self.shared.drained.notified());
            drained.as_mut().enable();
            {
                let inner = self.shared.inner.lock();
                if ended(&inner.state) || inner.drain == Drain::NotWanted {
                    return;
                }
            }
            drained.await;
        }
    }
}

impl<T: Hash + Eq + Clone> Shared<T> {
    // Every access to the state: first what is due joins, then the change is made, then a waiter is woken for each new item.
    fn change<R>(&self, change: impl FnOnce(&mut Inner<T>) -> R) -> R {
        let mut inner = self.inner.lock();
        let before = inner.state.len();
        // The clock is read only where something waits for it.
        if !inner.delaying.is_empty() {
            let now = self.now();
            while let Some(ready_at) = inner.delaying.next_ready_at() {
                let Some(item) = inner.delaying.pop_ready(now) else {
                    break;
                };
                inner.add(item, Some(ready_at));
            }
        }
        let result = change(&mut inner);
        let items = inner.state.len().saturating_sub(before);
        drop(inner);
        self.waiters.wake(items);
        result
    }

    fn next_delayed(&self) -> Option<Instant> {
        let ready_at = self.inner.lock().delaying.next_ready_at()?;
        // An instant beyond the clock's range never comes.
        self.start.checked_add(ready_at)
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

impl<T: Hash + Eq + Clone> Inner<T> {
    // `since` is when a delayed item was due.
    fn add(&mut self, item: T, since: Option<Duration>) {
        let Some(instruments) = &mut self.instruments else {
            self.state.add(item);
            return;
        };
        match self.state.add(item.clone()) {
            Added::Queued | Added::AfterProcessing => instruments.added(item, since, 0),
            Added::Collapsed | Added::ShutDown => {}
        }
    }

    fn get(&mut self) -> Got<T> {
        let got = self.state.get();
        if let (Got::Item(item), Some(instruments)) = (&got, &mut self.instruments) {
            instruments.got(item, 0);
        }
        got
    }

    fn done(&mut self, item: &T) -> Finished {
        if let Some(instruments) = &mut self.instruments {
            instruments.done(item);
        }
        self.state.done(item)
    }
}

/// Sets the gauges of unfinished work.
async fn refresh<T: Hash + Eq + Clone>(queue: Weak<Shared<T>>, first: Instant) {
    let mut ticks = interval_at(first, UNFINISHED_WORK_UPDATE_PERIOD);
    loop {
        ticks.tick().await;
        let Some(shared) = queue.upgrade() else {
            return;
        };
        shared.change(|inner| {
            if !inner.state.is_shutting_down()
                && let Some(instruments) = &inner.instruments
            {
                instruments.update_unfinished_work();
            }
        });
    }
}

impl<T> Clone for WorkQueue<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T> fmt::Debug for WorkQueue<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WorkQueue").finish_non_exhaustive()
    }
}
