//! Items that shall be added later, without a clock.
//!
//! Mirrors `delaying_queue.go` of client-go's `util/workqueue`.

use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    hash::Hash,
    time::Duration,
};

/// Items with the instant at which they are ready, as time since the queue's start.
///
/// An item waits once, for the earliest instant it was given. Equal instants come in the order in which they were given
/// (upstream leaves that order open).
#[derive(Debug, Clone)]
pub struct DelayingState<T> {
    // Invariant: `by_instant` and `places` hold the same items.
    by_instant: BTreeMap<Place, T>,
    places: HashMap<T, Place>,
    given: u64,
}

// The instant, then the order of giving.
type Place = (Duration, u64);

impl<T: Hash + Eq + Clone> DelayingState<T> {
    /// Nothing waits.
    pub fn new() -> Self {
        Self {
            by_instant: BTreeMap::new(),
            places: HashMap::new(),
            given: 0,
        }
    }

    /// Lets an item wait until `ready_at`, unless it already waits for an instant as early.
    pub fn add(&mut self, item: T, ready_at: Duration) {
        let place = (ready_at, self.given);
        self.given += 1;
        match self.places.entry(item.clone()) {
            Entry::Occupied(known) if known.get().0 <= ready_at => return,
            Entry::Occupied(mut known) => {
                self.by_instant.remove(known.get());
                known.insert(place);
            }
            Entry::Vacant(unknown) => {
                unknown.insert(place);
            }
        }
        self.by_instant.insert(place, item);
    }

    /// Takes out the earliest item if it is ready; an item is ready at its very instant.
    pub fn pop_ready(&mut self, now: Duration) -> Option<T> {
        let first = self.by_instant.first_entry()?;
        if first.key().0 > now {
            return None;
        }
        let item = first.remove();
        self.places.remove(&item);
        Some(item)
    }

    /// When the earliest item is ready.
    pub fn next_ready_at(&self) -> Option<Duration> {
        self.by_instant.first_key_value().map(|(place, _)| place.0)
    }

    /// When the latest item is ready.
    pub fn last_ready_at(&self) -> Option<Duration> {
        self.by_instant.last_key_value().map(|(place, _)| place.0)
    }

    /// Forgets everything that waits.
    pub fn clear(&mut self) {
        self.by_instant.clear();
        self.places.clear();
    }

    /// Items that wait.
    pub fn len(&self) -> usize {
        self.by_instant.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.by_instant.is_empty()
    }
}

impl<T: Hash + Eq + Clone> Default for DelayingState<T> {
    fn default() -> Self {
        Self::new()
    }
}
