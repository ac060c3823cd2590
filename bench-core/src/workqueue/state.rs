//! The base queue without lock and waking: first in, first out, with a dirty and a processing set.
//!
//! Mirrors `queue.go` of client-go's `util/workqueue`.

use std::{
    collections::{HashSet, VecDeque},
    hash::Hash,
};

/// Where items wait (`Queue` upstream). The order in which they come out is its own.
pub trait WaitingItems<T> {
    /// An item that waits was added again.
    fn touch(&mut self, item: &T) {
        let _ = item;
    }

    /// Takes an item in that does not wait yet.
    fn push(&mut self, item: T);

    /// Takes the next item out.
    fn pop(&mut self) -> Option<T>;

    /// How many items wait.
    fn len(&self) -> usize;

    /// Whether none does.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// First in, first out.
impl<T> WaitingItems<T> for VecDeque<T> {
    fn push(&mut self, item: T) {
        self.push_back(item);
    }

    fn pop(&mut self) -> Option<T> {
        self.pop_front()
    }

    fn len(&self) -> usize {
        Self::len(self)
    }
}

/// Items that wait to be worked on.
///
/// - An item is never handed out while it is being processed.
/// - However often an item is added while it waits, it is handed out once; however often while it is processed, once more.
/// - Items are handed out in the order in which they were first added, unless they wait elsewhere than in a [`VecDeque`]; one
///   that was added while processed queues up when done.
#[derive(Debug, Clone)]
pub struct WorkQueueState<T, W = VecDeque<T>> {
    // Invariant: without duplicates; every item is in `dirty` and not in `processing`.
    queue: W,
    // Added since last handed out.
    dirty: HashSet<T>,
    // Handed out and not done.
    processing: HashSet<T>,
    shutting_down: bool,
}

/// What became of an addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// The item waits now.
    Queued,
    /// The item is being processed and will wait when done.
    AfterProcessing,
    /// The item had been added already; nothing changed.
    Collapsed,
    /// The queue is shutting down; nothing changed.
    ShutDown,
}

/// What a worker gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Got<T> {
    /// An item, which is being processed from now on.
    Item(T),
    /// Nothing waits now.
    Empty,
    /// Nothing waits and no addition will be taken. An item that is processed and dirty may still come back.
    ShutDown,
}

/// What became of an item that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finished {
    /// It had been added meanwhile and waits again, even in a queue that is shutting down.
    Requeued,
    /// It is gone.
    Gone,
    /// Nobody processed it; nothing changed. Upstream queues such an item a second time if it waits.
    NotProcessing,
}

impl<T: Hash + Eq + Clone> WorkQueueState<T> {
    /// An empty queue, first in, first out.
    pub fn new() -> Self {
        Self::with_waiting_items(VecDeque::new())
    }
}

impl<T: Hash + Eq + Clone, W: WaitingItems<T>> WorkQueueState<T, W> {
    /// An empty queue whose items wait in `queue`, which must be empty.
    pub fn with_waiting_items(queue: W) -> Self {
        Self {
            queue,
            dirty: HashSet::new(),
            processing: HashSet::new(),
            shutting_down: false,
        }
    }

    /// Marks an item as needing work.
    pub fn add(&mut self, item: T) -> Added {
        if self.shutting_down {
            return Added::ShutDown;
        }
        if self.dirty.contains(&item) {
            if !self.processing.contains(&item) {
                self.queue.touch(&item);
            }
            return Added::Collapsed;
        }
        self.dirty.insert(item.clone());
        if self.processing.contains(&item) {
            return Added::AfterProcessing;
        }
        self.queue.push(item);
        Added::Queued
    }

    /// Hands out the oldest item. [`Self::done`] must follow.
    pub fn get(&mut self) -> Got<T> {
        let Some(item) = self.queue.pop() else {
            return if self.shutting_down {
                Got::ShutDown
            } else {
                Got::Empty
            };
        };
        self.dirty.remove(&item);
        let not_processed = self.processing.insert(item.clone());
        debug_assert!(not_processed, "an item waited while it was processed");
        Got::Item(item)
    }

    /// Ends the processing of an item.
    pub fn done(&mut self, item: &T) -> Finished {
        let Some(item) = self.processing.take(item) else {
            return Finished::NotProcessing;
        };
        if self.dirty.contains(&item) {
            self.queue.push(item);
            return Finished::Requeued;
        }
        Finished::Gone
    }

    /// Takes no further additions. What waits is still handed out.
    pub fn shut_down(&mut self) {
        self.shutting_down = true;
    }

    /// Whether [`Self::shut_down`] was called.
    pub fn is_shutting_down(&self) -> bool {
        self.shutting_down
    }

    /// Items that wait; those being processed are not counted, even if they will wait again.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Items handed out and not done.
    pub fn processing(&self) -> usize {
        self.processing.len()
    }

    /// Every item that waits or is handed out, in no order.
    pub fn unfinished(&self) -> Vec<T> {
        self.dirty.union(&self.processing).cloned().collect()
    }
}

impl<T: Hash + Eq + Clone> Default for WorkQueueState<T> {
    fn default() -> Self {
        Self::new()
    }
}
