//! The queue's lock: a mutex that hands over to a waiter that has waited for a millisecond, as Go's does.

use std::{
    ops::{Deref, DerefMut},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use parking_lot::{Condvar, Mutex, MutexGuard};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    time::Instant,
};

/// Go's `starvationThresholdNs`.
const STARVATION_THRESHOLD: Duration = Duration::from_millis(1);

/// A mutex whose holder may take it again at once, until a waiter has waited for a millisecond: then the next release but one
/// hands the lock to it, and whoever comes later queues behind.
///
/// A controller pops under this lock in a loop, so which rule the lock follows decides where a backlog sits. A lock without any
/// such rule lets the controller keep it for a whole drain, and live events wait in the socket instead of joining their key in the
/// queue. Source: Go's `sync.Mutex`, normal mode and starvation mode.
pub(super) struct HandoverMutex<T> {
    mutex: Mutex<T>,
    // How many starts `waits` holds, so that a release without waiters looks no further.
    waiting: AtomicUsize,
    waits: Mutex<Vec<Instant>>,
    starving: AtomicBool,
}

/// Access to the value; releases the lock when dropped.
pub(super) struct HandoverGuard<'a, T> {
    lock: &'a HandoverMutex<T>,
    // Absent only while it is being dropped.
    guard: Option<MutexGuard<'a, T>>,
}

impl<T> HandoverMutex<T> {
    pub(super) fn new(value: T) -> Self {
        Self {
            mutex: Mutex::new(value),
            waiting: AtomicUsize::new(0),
            waits: Mutex::default(),
            starving: AtomicBool::new(false),
        }
    }

    /// Waits on the calling thread until the lock is free.
    pub(super) fn lock(&self) -> HandoverGuard<'_, T> {
        let guard = self
            .mutex
            .try_lock()
            .unwrap_or_else(|| self.lock_contended());
        HandoverGuard {
            lock: self,
            guard: Some(guard),
        }
    }

    #[cold]
    fn lock_contended(&self) -> MutexGuard<'_, T> {
        let began = Instant::now();
        self.waits.lock().push(began);
        self.waiting.fetch_add(1, Ordering::Release);
        let guard = without_stalling_the_runtime(|| self.mutex.lock());
        self.waiting.fetch_sub(1, Ordering::Release);
        let mut waits = self.waits.lock();
        if let Some(own) = waits.iter().position(|other| *other == began) {
            waits.remove(own);
        }
        // The last waiter, and one that had not to wait long, end the starvation.
        if waits.is_empty() || began.elapsed() < STARVATION_THRESHOLD {
            self.starving.store(false, Ordering::Relaxed);
        }
        guard
    }

    fn release(&self, guard: MutexGuard<'_, T>) {
        if self.waiting.load(Ordering::Acquire) == 0 {
            return drop(guard);
        }
        if self.starving.load(Ordering::Relaxed) {
            return MutexGuard::unlock_fair(guard);
        }
        let starves = self
            .waits
            .lock()
            .first()
            .is_some_and(|began| began.elapsed() > STARVATION_THRESHOLD);
        // The waiter wakes now; if it comes too late once more, the lock is handed to it next time.
        self.starving.store(starves, Ordering::Relaxed);
        drop(guard);
    }
}

/// Waits as a goroutine does, which leaves its thread to others: a task that blocks its worker may be holding the runtime's timers
/// and sockets, so that a resync would fire late and events stay unread while a reflector waits for the lock.
fn without_stalling_the_runtime<R>(wait: impl FnOnce() -> R) -> R {
    let several_workers = Handle::try_current()
        .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if several_workers {
        tokio::task::block_in_place(wait)
    } else {
        wait()
    }
}

impl<T> HandoverGuard<'_, T> {
    /// Releases the lock while `work` runs and takes it again after.
    pub(super) fn unlocked<R>(&mut self, work: impl FnOnce() -> R) -> R {
        MutexGuard::unlocked(self.inner(), work)
    }

    /// Releases the lock until `condvar` is notified.
    pub(super) fn wait(&mut self, condvar: &Condvar) {
        condvar.wait(self.inner());
    }
}

impl<'a, T> HandoverGuard<'a, T> {
    fn inner(&mut self) -> &mut MutexGuard<'a, T> {
        self.guard.as_mut().expect("a guard in use is held")
    }
}

impl<T> Deref for HandoverGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.guard.as_ref().expect("a guard in use is held")
    }
}

impl<T> DerefMut for HandoverGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner()
    }
}

impl<T> Drop for HandoverGuard<'_, T> {
    fn drop(&mut self) {
        if let Some(guard) = self.guard.take() {
            self.lock.release(guard);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};

    use super::*;

    #[test]
    fn a_waiter_gets_the_lock_from_a_holder_that_takes_it_again_at_once() {
        let lock = Arc::new(HandoverMutex::new(0_u64));
        let stop = Arc::new(AtomicBool::new(false));
        let (holding, wait_for_holding) = mpsc::channel();
        let holder = std::thread::spawn({
            let (lock, stop) = (Arc::clone(&lock), Arc::clone(&stop));
            // As a controller does in a drain.
            move || {
                while !stop.load(Ordering::Relaxed) {
                    let _guard = lock.lock();
                    // The test has gone on after the first.
                    let _ = holding.send(());
                    let began = Instant::now();
                    while began.elapsed() < Duration::from_millis(2) {
                        std::thread::yield_now();
                    }
                }
            }
        });
        wait_for_holding.recv().expect("the holder holds");
        // With a lock that does not hand over, this takes the scheduler's good will.
        for _ in 0..20 {
            *lock.lock() += 1;
        }
        stop.store(true, Ordering::Relaxed);
        holder.join().expect("the holder ends");
        assert_eq!(*lock.lock(), 20);
        assert!(lock.waits.lock().is_empty(), "nobody waits any more");
        assert_eq!(lock.waiting.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_release_hands_over_only_after_the_threshold() {
        let lock = HandoverMutex::new(());
        let guard = lock.lock();
        lock.waits.lock().push(Instant::now());
        lock.waiting.store(1, Ordering::Release);
        drop(guard);
        assert!(!lock.starving.load(Ordering::Relaxed), "it has just come");
        let long_ago = Instant::now().checked_sub(Duration::from_millis(5));
        lock.waits.lock()[0] = long_ago.expect("the machine runs for longer");
        drop(lock.lock());
        assert!(
            lock.starving.load(Ordering::Relaxed),
            "it has waited for long enough"
        );
    }
}
