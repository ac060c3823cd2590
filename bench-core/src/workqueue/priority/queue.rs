//! The driver of a priority queue that tasks share: lock, waking, time.

use std::{
    fmt,
    hash::Hash,
    ops::ControlFlow,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    task::JoinSet,
    time::{Instant, interval_at},
};

use super::{
    super::{
        Got, ItemExponentialFailureRateLimiter, RateLimiter, WorkQueueMetrics,
        metrics::{Instruments, UNFINISHED_WORK_UPDATE_PERIOD},
        waiters::Waiters,
    },
    PriorityAdded, PriorityQueueState, Ready,
};

/// A delaying, rate-limited work queue with priorities; a clone is another handle to the same queue. For the order and for
/// what additions of one item come to, see [`PriorityQueueState`].
///
/// Unlike upstream, an addition is made by the call itself and not by a goroutine that empties a buffer.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use bench_core::workqueue::{AddOptions, LOW_PRIORITY, PriorityQueue};
///
/// let queue = PriorityQueue::new();
/// queue.add_with("seen-again", AddOptions { priority: LOW_PRIORITY, ..AddOptions::now() });
/// queue.add("changed");
/// let first = queue.get().await.unwrap();
/// assert_eq!((first.item, first.priority), ("changed", 0));
/// queue.done(&first.item);
/// # }
/// ```
pub struct PriorityQueue<T> {
    shared: Arc<Shared<T>>,
}

/// How an item is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddOptions {
    /// The delay; zero is none.
    pub after: Duration,
    /// Whether the rate limiter is asked, too.
    pub pace: Pace,
    /// Higher is earlier.
    pub priority: i32,
}

/// Whether an addition waits for the rate limiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// The limiter is not asked.
    Free,
    /// The limiter counts a failure, and the delay is its, or the one asked for if that is shorter and not zero.
    RateLimited,
}

struct Shared<T> {
    inner: Mutex<Inner<T>>,
    // Not under `inner`: a limiter is the user's code.
    limiter: Mutex<Box<dyn RateLimiter<T>>>,
    waiters: Waiters,
    start: Instant,
    refresh: Mutex<JoinSet<()>>,
}

struct Inner<T> {
    state: PriorityQueueState<T>,
    instruments: Option<Instruments<T>>,
}

impl AddOptions {
    /// Without a delay and at priority 0.
    pub fn now() -> Self {
        Self {
            after: Duration::ZERO,
            pace: Pace::Free,
            priority: 0,
        }
    }
}

impl<T: Hash + Eq + Clone + fmt::Debug + Send + 'static> PriorityQueue<T> {
    /// An empty queue with controller-runtime's limiter: 5 ms doubled up to 1000 s for each item.
    pub fn new() -> Self {
        Self::with_rate_limiter(ItemExponentialFailureRateLimiter::new(
            Duration::from_millis(5),
            Duration::from_secs(1000),
        ))
    }
}

impl<T: Hash + Eq + Clone + fmt::Debug + Send + 'static> Default for PriorityQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Hash + Eq + Clone + Send + 'static> PriorityQueue<T> {
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

impl<T: Hash + Eq + Clone> PriorityQueue<T> {
    /// An empty queue. The limiter's time starts now.
    pub fn with_rate_limiter(limiter: impl RateLimiter<T> + 'static) -> Self {
        Self {
            shared: Arc::new(Shared {
                inner: Mutex::new(Inner {
                    state: PriorityQueueState::new(),
                    instruments: None,
                }),
                limiter: Mutex::new(Box::new(limiter)),
                waiters: Waiters::default(),
                start: Instant::now(),
                refresh: Mutex::new(JoinSet::new()),
            }),
        }
    }

    /// Marks an item as needing work, at priority 0.
    pub fn add(&self, item: T) {
        self.add_with(item, AddOptions::now());
    }

    /// Adds an item after a delay, at priority 0.
    pub fn add_after(&self, item: T, after: Duration) {
        let options = AddOptions {
            after,
            ..AddOptions::now()
        };
        self.add_with(item, options);
    }

    /// Adds an item after the delay that the rate limiter gives it, at priority 0.
    pub fn add_rate_limited(&self, item: T) {
        let options = AddOptions {
            pace: Pace::RateLimited,
            ..AddOptions::now()
        };
        self.add_with(item, options);
    }

    /// Adds an item (`AddWithOpts` upstream). Nothing happens if the queue is shutting down. Never waits.
    pub fn add_with(&self, item: T, options: AddOptions) {
        let shared = &self.shared;
        if shared.inner.lock().state.is_shutting_down() {
            return;
        }
        let now = shared.start.elapsed();
        let after = match options.pace {
            Pace::Free => options.after,
            Pace::RateLimited => {
                let limited = shared.limiter.lock().when(&item, now);
                if options.after.is_zero() {
                    limited
                } else {
                    limited.min(options.after)
                }
            }
        };
        let ready_at = (!after.is_zero()).then(|| now.saturating_add(after));
        let earliest_changed = shared.change(|inner| {
            let before = inner.state.next_ready_at();
            inner.add(item, options.priority, ready_at);
            inner.state.next_ready_at() != before
        });
        if earliest_changed {
            shared.waiters.wake_all();
        }
    }

    /// Waits for an item and hands it out with its priority; [`Self::done`] must follow. Nothing once the queue is shutting
    /// down, whatever waits in it.
    ///
    /// Cancel safe: a dropped call has taken no item, and its wake-up goes to another waiter.
    pub async fn get(&self) -> Option<Ready<T>> {
        let look = || {
            self.shared.change(|inner| match inner.get() {
                Got::Item(ready) => ControlFlow::Break(Some(ready)),
                Got::ShutDown => ControlFlow::Break(None),
                Got::Empty => ControlFlow::Continue(()),
            })
        };
        let waiters = &self.shared.waiters;
        waiters.wait(look, || self.shared.next_ready()).await
    }

    /// Ends the work on an item. If it was added meanwhile, it can be handed out again. Nothing happens if nobody has it.
    pub fn done(&self, item: &T) {
        self.shared.change(|inner| {
            if let Some(instruments) = &mut inner.instruments {
                instruments.done(item);
            }
            inner.state.done(item);
        });
    }

    /// Forgets the failures of an item.
    pub fn forget(&self, item: &T) {
        self.shared.limiter.lock().forget(item);
    }

    /// Failures of an item as the rate limiter counts them.
    pub fn num_requeues(&self, item: &T) -> u32 {
        self.shared.limiter.lock().num_requeues(item)
    }

    /// Items whose time has come, those included that were added again while a worker has them.
    pub fn len(&self) -> usize {
        self.shared.change(|inner| inner.state.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the queue was told to shut down.
    pub fn is_shutting_down(&self) -> bool {
        self.shared.inner.lock().state.is_shutting_down()
    }

    /// Takes no further additions, hands nothing out any more, and lets every waiter go. There is no drain, as upstream.
    pub fn shut_down(&self) {
        self.shared.inner.lock().state.shut_down();
        self.shared.waiters.wake_all();
        self.shared.refresh.lock().abort_all();
    }
}

impl<T: Hash + Eq + Clone> Shared<T> {
    // Every access to the state: first items become ready whose time has come, then the change is made, then a waiter is
    // woken for each item that can be had now and could not before.
    fn change<R>(&self, change: impl FnOnce(&mut Inner<T>) -> R) -> R {
        let mut inner = self.inner.lock();
        let before = inner.state.available();
        if inner.state.waiting() > 0 {
            let now = self.start.elapsed();
            while let Some((ready, since)) = inner.state.make_ready(now) {
                if let Some(instruments) = &mut inner.instruments {
                    instruments.added(ready.item, Some(since), ready.priority);
                }
            }
        }
        let result = change(&mut inner);
        let items = inner.state.available().saturating_sub(before);
        drop(inner);
        self.waiters.wake(items);
        result
    }

    fn next_ready(&self) -> Option<Instant> {
        let ready_at = self.inner.lock().state.next_ready_at()?;
        // An instant beyond the clock's range never comes.
        self.start.checked_add(ready_at)
    }
}

impl<T: Hash + Eq + Clone> Inner<T> {
    fn add(&mut self, item: T, priority: i32, ready_at: Option<Duration>) {
        let Some(instruments) = &mut self.instruments else {
            self.state.add(item, priority, ready_at);
            return;
        };
        if ready_at.is_some() {
            instruments.retried();
        }
        match self.state.add(item.clone(), priority, ready_at) {
            PriorityAdded::Ready => {
                let priority = self.state.priority(&item).unwrap_or(priority);
                instruments.added(item, None, priority);
            }
            PriorityAdded::Raised(from) => instruments.priority_raised(from, priority),
            PriorityAdded::Waits | PriorityAdded::Collapsed | PriorityAdded::ShutDown => {}
        }
    }

    fn get(&mut self) -> Got<Ready<T>> {
        let got = self.state.get();
        if let (Got::Item(ready), Some(instruments)) = (&got, &mut self.instruments) {
            instruments.got(&ready.item, ready.priority);
        }
        got
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
            if let Some(instruments) = &inner.instruments {
                instruments.update_unfinished_work();
            }
        });
    }
}

impl<T> Clone for PriorityQueue<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T> fmt::Debug for PriorityQueue<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PriorityQueue")
            .finish_non_exhaustive()
    }
}
