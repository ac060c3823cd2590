//! The driver: workers wait for items.

use std::{hash::Hash, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::WorkQueueState;

/// A work queue. Cheap to clone; every clone is the same queue.
#[derive(Debug)]
pub struct WorkQueue<T> {
    shared: Arc<Shared<T>>,
}

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<WorkQueueState<T>>,
    changed: Notify,
}

impl<T: Hash + Eq + Clone> WorkQueue<T> {
    /// An empty queue.
    pub fn new() -> Self {
        Self { shared: Arc::new(Shared { state: Mutex::new(WorkQueueState::new()), changed: Notify::new() }) }
    }

    /// Adds an item; see [`WorkQueueState::add`].
    pub fn add(&self, item: T) {
        if self.shared.state.lock().add(item) {
            self.shared.changed.notify_one();
        }
    }

    /// Waits for the next item; nothing once the queue is shut down and empty. Cancel safe.
    pub async fn get(&self) -> Option<T> {
        loop {
            let changed = self.shared.changed.notified();
            {
                let mut state = self.shared.state.lock();
                if let Some(item) = state.get() {
                    if !state.is_empty() {
                        // The wake-up that this worker may have taken was for one of them.
                        self.shared.changed.notify_one();
                    }
                    return Some(item);
                }
                if state.is_shutting_down() {
                    return None;
                }
            }
            changed.await;
        }
    }

    /// Ends the work on an item that [`WorkQueue::get`] gave.
    pub fn done(&self, item: &T) {
        if self.shared.state.lock().done(item) {
            self.shared.changed.notify_one();
        }
    }

    /// Takes no more items and lets workers end once nothing waits.
    pub fn shut_down(&self) {
        self.shared.state.lock().shut_down();
        self.shared.changed.notify_waiters();
        self.shared.changed.notify_one();
    }

    /// Items that wait.
    pub fn len(&self) -> usize {
        self.shared.state.lock().len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Hash + Eq + Clone> Default for WorkQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for WorkQueue<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}
