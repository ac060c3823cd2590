//! Since when items wait and are worked on, without a clock.
//!
//! Mirrors `metrics.go` of client-go's `util/workqueue`.

use std::{collections::HashMap, hash::Hash, time::Duration};

/// The instants that a queue's metrics need, as time since the queue's start.
#[derive(Debug, Clone)]
pub struct WorkTimes<T> {
    // When each item was first added since it was last handed out.
    added: HashMap<T, Duration>,
    // When each item that is being processed was handed out.
    started: HashMap<T, Duration>,
}

/// Work under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnfinishedWork {
    /// The ages of all items being processed together.
    pub total: Duration,
    /// The age of the oldest.
    pub longest: Duration,
}

impl<T: Hash + Eq + Clone> WorkTimes<T> {
    /// Nothing waits and nothing is processed.
    pub fn new() -> Self {
        Self {
            added: HashMap::new(),
            started: HashMap::new(),
        }
    }

    /// An item was added and needs work; if it had been added already, the earlier instant stays.
    pub fn added(&mut self, item: T, now: Duration) {
        self.added.entry(item).or_insert(now);
    }

    /// An item was handed out; how long it had waited since it was first added.
    pub fn got(&mut self, item: &T, now: Duration) -> Option<Duration> {
        self.started.insert(item.clone(), now);
        let added = self.added.remove(item)?;
        Some(now.saturating_sub(added))
    }

    /// An item is done; how long it was processed. Nothing if nobody had it.
    pub fn done(&mut self, item: &T, now: Duration) -> Option<Duration> {
        let started = self.started.remove(item)?;
        Some(now.saturating_sub(started))
    }

    /// The work under way.
    pub fn unfinished(&self, now: Duration) -> UnfinishedWork {
        let ages = self
            .started
            .values()
            .map(|started| now.saturating_sub(*started));
        ages.fold(UnfinishedWork::default(), |so_far, age| UnfinishedWork {
            total: so_far.total + age,
            longest: so_far.longest.max(age),
        })
    }
}

impl<T: Hash + Eq + Clone> Default for WorkTimes<T> {
    fn default() -> Self {
        Self::new()
    }
}
