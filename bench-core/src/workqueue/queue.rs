//! The driver that tasks share: lock, waking, time.

use std::{fmt, hash::Hash, ops::ControlFlow, pin::pin, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use super::{
    DelayingState, Finished, Got, RateLimiter, WorkQueueState, default_controller_rate_limiter,
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

struct Shared<T> {
    inner: Mutex<Inner<T>>,
    // Not under `inner`: a limiter is the user's code.
    limiter: Mutex<Box<dyn RateLimiter<T>>>,
    // Woken once for each item that joins, and by all changes to what a waiter waits for.
    filled: Notify,
    // Woken when nothing is processed any more, and when a drain is called off.
    drained: Notify,
    start: Instant,
}

struct Inner<T> {
    state: WorkQueueState<T>,
    delaying: DelayingState<T>,
    // Calls of `get` that are about to wait, or do; nobody is notified without one.
    waiting: usize,
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

impl<T: Hash + Eq + Clone> WorkQueue<T> {
    /// An empty queue. The limiter's time starts now.
    pub fn with_rate_limiter(limiter: impl RateLimiter<T> + 'static) -> Self {
        Self {
            shared: Arc::new(Shared {
                inner: Mutex::new(Inner {
                    state: WorkQueueState::new(),
                    delaying: DelayingState::new(),
                    waiting: 0,
                    drain: Drain::NotWanted,
                    was_shut_down: false,
                }),
                limiter: Mutex::new(Box::new(limiter)),
                filled: Notify::new(),
                drained: Notify::new(),
                start: Instant::now(),
            }),
        }
    }

    /// Marks an item as needing work. Nothing happens if it already waits, or if the queue is shutting down. Never waits.
    pub fn add(&self, item: T) {
        self.change(|inner| {
            inner.state.add(item);
        });
    }

    /// Waits for an item and hands it out; [`Self::done`] must follow. Nothing if the queue is shutting down and no item
    /// waits.
    ///
    /// Cancel safe: a dropped call has taken no item, and its wake-up goes to another waiter.
    pub async fn get(&self) -> Option<T> {
        loop {
            if let ControlFlow::Break(answer) = self.try_get() {
                return answer;
            }
            let mut filled = pin!(self.shared.filled.notified());
            let _waiter = Waiter::count(&self.shared);
            // From here no wake-up is missed; what came since the look above is seen by another.
            filled.as_mut().enable();
            if let ControlFlow::Break(answer) = self.try_get() {
                return answer;
            }
            match self.next_delayed() {
                None => filled.await,
                Some(ready_at) => tokio::select! {
                    biased;
                    () = filled => {}
                    () = sleep_until(ready_at) => {}
                },
            }
        }
    }

    /// Ends the processing of an item; if it was added meanwhile, it now waits again. Nothing happens if nobody processes it.
    pub fn done(&self, item: &T) {
        let drained = self.change(|inner| {
            let finished = inner.state.done(item);
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
        if delay.is_zero() {
            return self.add(item);
        }
        let ready_at = self.now().saturating_add(delay);
        let earliest_changed = self.change(|inner| {
            if inner.state.is_shutting_down() {
                return false;
            }
            let before = inner.delaying.next_ready_at();
            inner.delaying.add(item, ready_at);
            inner.waiting > 0 && inner.delaying.next_ready_at() != before
        });
        if earliest_changed {
            self.shared.filled.notify_waiters();
        }
    }

    /// Adds an item after the delay that the rate limiter gives it.
    pub fn add_rate_limited(&self, item: T) {
        let delay = self.shared.limiter.lock().when(&item, self.now());
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
        self.change(|inner| inner.state.len())
    }

    /// Whether no item waits to be handed out.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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

    /// Takes no further additions and waits until no item is being processed, or until [`Self::shut_down`] is
    /// called for the first time. Items
    /// that wait without a worker do not hold it up. Dropping the call ends the waiting, not the shutting down.
    pub async fn shut_down_with_drain(&self) {
        self.begin_shut_down(Drain::Wanted);
        loop {
            let mut drained = pin!(self.shared.drained.notified());
            drained.as_mut().enable();
            {
                let inner = self.shared.inner.lock();
                if inner.state.processing() == 0 || inner.drain == Drain::NotWanted {
                    return;
                }
            }
            drained.await;
        }
    }

    fn begin_shut_down(&self, drain: Drain) {
        self.change(|inner| {
            inner.drain = drain;
            inner.state.shut_down();
            inner.delaying.clear();
        });
        self.shared.filled.notify_waiters();
    }

    // To continue is to wait.
    fn try_get(&self) -> ControlFlow<Option<T>> {
        self.change(|inner| match inner.state.get() {
            Got::Item(item) => ControlFlow::Break(Some(item)),
            Got::ShutDown => ControlFlow::Break(None),
            Got::Empty => ControlFlow::Continue(()),
        })
    }

    // Every access to the state: first what is due joins, then the change is made, then a waiter is woken for each new item.
    fn change<R>(&self, change: impl FnOnce(&mut Inner<T>) -> R) -> R {
        let mut inner = self.shared.inner.lock();
        let before = inner.state.len();
        // The clock is read only where something waits for it.
        if !inner.delaying.is_empty() {
            let now = self.now();
            while let Some(item) = inner.delaying.pop_ready(now) {
                inner.state.add(item);
            }
        }
        let result = change(&mut inner);
        let wake = inner.state.len().saturating_sub(before).min(inner.waiting);
        drop(inner);
        for _ in 0..wake {
            self.shared.filled.notify_one();
        }
        result
    }

    fn next_delayed(&self) -> Option<Instant> {
        let ready_at = self.shared.inner.lock().delaying.next_ready_at()?;
        // An instant beyond the clock's range never comes.
        self.shared.start.checked_add(ready_at)
    }

    fn now(&self) -> Duration {
        self.shared.start.elapsed()
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

// One waiting call of `get`, also if it is dropped.
struct Waiter<'a, T>(&'a Shared<T>);

impl<'a, T> Waiter<'a, T> {
    fn count(shared: &'a Shared<T>) -> Self {
        shared.inner.lock().waiting += 1;
        Self(shared)
    }
}

impl<T> Drop for Waiter<'_, T> {
    fn drop(&mut self) {
        self.0.inner.lock().waiting -= 1;
    }
}
