//! The state of a work queue. Pure. Mirrors client-go's `util/workqueue/queue.go`.

use std::{
    collections::{HashSet, VecDeque},
    hash::Hash,
};

/// What waits, what is worked on, and what has changed meanwhile.
#[derive(Debug)]
pub struct WorkQueueState<T> {
    // Invariant: holds each item of `dirty` that is not in `processing`, once, and nothing else.
    queue: VecDeque<T>,
    // Items to be worked on.
    dirty: HashSet<T>,
    // Items that a worker has.
    processing: HashSet<T>,
    shutting_down: bool,
}

impl<T: Hash + Eq + Clone> WorkQueueState<T> {
    /// An empty queue.
    pub fn new() -> Self {
        Self { queue: VecDeque::new(), dirty: HashSet::new(), processing: HashSet::new(), shutting_down: false }
    }

    /// Adds an item; true if a worker should be woken. An item that waits already is not added again; one that is worked on
    /// waits until that is done. Ignored after shut-down.
    pub fn add(&mut self, item: T) -> bool {
        if self.shutting_down || !self.dirty.insert(item.clone()) || self.processing.contains(&item) {
            return false;
        }
        self.queue.push_back(item);
        true
    }

    /// Takes the next item, which is then worked on until [`WorkQueueState::done`].
    pub fn get(&mut self) -> Option<T> {
        let item = self.queue.pop_front()?;
        self.processing.insert(item.clone());
        self.dirty.remove(&item);
        Some(item)
    }

    /// Ends the work on an item; true if a waiter should be woken. An item that was added meanwhile goes to the back, even
    /// while shutting down.
    pub fn done(&mut self, item: &T) -> bool {
        self.processing.remove(item);
        if self.dirty.contains(item) {
            self.queue.push_back(item.clone());
            return true;
        }
        self.processing.is_empty()
    }

    /// Takes no more items; those that wait are still handed out.
    pub fn shut_down(&mut self) {
        self.shutting_down = true;
    }

    /// Whether it takes no more items.
    pub fn is_shutting_down(&self) -> bool {
        self.shutting_down
    }

    /// Whether no worker has an item.
    pub fn is_idle(&self) -> bool {
        self.processing.is_empty()
    }

    /// Items that wait; those that are worked on do not count.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl<T: Hash + Eq + Clone> Default for WorkQueueState<T> {
    fn default() -> Self {
        Self::new()
    }
}
