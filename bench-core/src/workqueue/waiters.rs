//! Waiting for an item without missing a wake-up and without waking for nothing.

use std::{
    ops::ControlFlow,
    pin::pin,
    sync::atomic::{AtomicUsize, Ordering},
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// The calls that wait for an item of one queue.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    // Given one permit for each item that can be had, and woken altogether by whatever changes what a waiter waits for.
    filled: Notify,
    // Calls that are about to wait, or do; nobody is notified without one.
    waiting: AtomicUsize,
}

impl Waiters {
    /// Looks until there is something to return. To continue is to wait: for a wake-up, or for the instant at which something
    /// comes due by itself. `look` takes the queue's lock.
    ///
    /// Cancel safe if `look` takes only what it returns: a wake-up that was not used goes to another waiter.
    pub(super) async fn wait<R>(
        &self,
        look: impl Fn() -> ControlFlow<R>,
        next_due: impl Fn() -> Option<Instant>,
    ) -> R {
        loop {
            if let ControlFlow::Break(found) = look() {
                return found;
            }
            let mut filled = pin!(self.filled.notified());
            let _waiter = Waiter::count(&self.waiting);
            // From here no wake-up is missed; what came since the look above is seen by another.
            filled.as_mut().enable();
            if let ControlFlow::Break(found) = look() {
                return found;
            }
            match next_due() {
                None => filled.await,
                Some(due) => tokio::select! {
                    biased;
                    () = filled => {}
                    () = sleep_until(due) => {}
                },
            }
        }
    }

    /// So many more items can be had. Called after the lock was given back: who counts itself later looks later.
    pub(super) fn wake(&self, items: usize) {
        for _ in 0..items.min(self.waiting.load(Ordering::SeqCst)) {
            self.filled.notify_one();
        }
    }

    /// Everybody looks again.
    pub(super) fn wake_all(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.filled.notify_waiters();
        }
    }
}

// One waiting call, also if it is dropped.
struct Waiter<'a>(&'a AtomicUsize);

impl<'a> Waiter<'a> {
    fn count(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        Self(waiting)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
