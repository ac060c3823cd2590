//! The window of past events of one resource, from which watches start and old lists are rebuilt.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bench_core::api::ObjectKey;
use imbl::OrdMap;

use crate::{config::WindowConfig, stored_object::StoredObject};

/// All objects of one resource at one version. Cloning is cheap and shares.
pub type Objects = OrdMap<ObjectKey, Arc<StoredObject>>;

/// One change. Its revision and type are those of `object`.
#[derive(Debug, Clone)]
pub struct Event {
    /// Whose change.
    pub key: ObjectKey,
    /// The state after the change; for a removal the last state, with the removal's version.
    pub object: Arc<StoredObject>,
    /// The state before it.
    pub previous: Option<Arc<StoredObject>>,
    recorded_at: Duration,
}

/// The version is older than the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooOld {
    /// The oldest version from which a watch could start.
    pub oldest: u64,
}

/// A ring of events, numbered from 0 without gaps. Sizes itself as a kube-apiserver's does; see [`WindowConfig`].
#[derive(Debug)]
pub struct WatchCache {
    config: WindowConfig,
    capacity: usize,
    // Invariant: revisions rise strictly.
    events: VecDeque<Event>,
    // Number of the event that is next to be recorded.
    head: u64,
    // Invariant: every event after this revision is in `events`.
    oldest_start: u64,
}

impl WatchCache {
    /// An empty window of a resource loaded at `revision`.
    pub fn new(config: WindowConfig, revision: u64) -> Self {
        Self {
            config,
            capacity: config.capacity_min.max(1),
            events: VecDeque::new(),
            head: 0,
            oldest_start: revision,
        }
    }

    /// Appends an event, whose version must be above all before it.
    pub fn record(
        &mut self,
        key: ObjectKey,
        object: Arc<StoredObject>,
        previous: Option<Arc<StoredObject>>,
        now: Duration,
    ) {
        debug_assert!(
            self.events
                .back()
                .is_none_or(|last| last.object.revision() < object.revision()),
            "versions rise"
        );
        self.resize(now);
        let evicted = self.events.len().saturating_sub(self.capacity - 1);
        self.events.drain(..evicted);
        self.events.push_back(Event {
            key,
            object,
            previous,
            recorded_at: now,
        });
        self.head += 1;
        if evicted > 0 {
            self.oldest_start = self.events[0].object.revision() - 1;
        }
    }

    /// Forgets all events: `revision`, the present one, becomes the oldest from which a watch can start.
    pub fn compact(&mut self, revision: u64) {
        self.events.clear();
        self.oldest_start = revision;
    }

    /// Changes the limits of the capacity; events beyond it are forgotten.
    pub fn set_window(&mut self, config: WindowConfig) {
        self.config = config;
        self.capacity = self
            .capacity
            .clamp(config.capacity_min.max(1), config.capacity_max.max(1));
        let evicted = self.events.len().saturating_sub(self.capacity);
        self.events.drain(..evicted);
        if evicted > 0 {
            self.oldest_start = self.events[0].object.revision() - 1;
        }
    }

    /// The number of the next event; a watch that starts now reads from here.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// Present capacity in events.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The number of the first event after `revision`.
    ///
    /// # Errors
    /// [`TooOld`] if some event after `revision` has left the window.
    pub fn start_after(&self, revision: u64) -> Result<u64, TooOld> {
        self.check(revision)?;
        let index = self
            .events
            .partition_point(|event| event.object.revision() <= revision);
        Ok(self.first() + index as u64)
    }

    /// Events from number `from` on, or nothing if that one has left the window.
    pub fn events_from(&self, from: u64) -> Option<impl Iterator<Item = &Event>> {
        let index = usize::try_from(from.checked_sub(self.first())?).ok()?;
        Some(self.events.range(index.min(self.events.len())..))
    }

    /// The objects as they were at `revision`, made from the present ones by undoing what came later.
    ///
    /// # Errors
    /// [`TooOld`] if what came later has in part left the window.
    pub fn rewind(&self, objects: &Objects, revision: u64) -> Result<Objects, TooOld> {
        self.check(revision)?;
        let mut objects = objects.clone();
        let later = self
            .events
            .iter()
            .rev()
            .take_while(|event| event.object.revision() > revision);
        for event in later {
            match &event.previous {
                Some(previous) => objects.insert(event.key.clone(), Arc::clone(previous)),
                None => objects.remove(&event.key),
            };
        }
        Ok(objects)
    }

    fn check(&self, revision: u64) -> Result<(), TooOld> {
        if revision < self.oldest_start {
            return Err(TooOld {
                oldest: self.oldest_start,
            });
        }
        Ok(())
    }

    fn first(&self) -> u64 {
        self.head - self.events.len() as u64
    }

    fn resize(&mut self, now: Duration) {
        if self.events.len() < self.capacity {
            return;
        }
        let is_old = |event: &Event| now.saturating_sub(event.recorded_at) > self.config.keep;
        let oldest_is_old = self.events.front().is_some_and(is_old);
        let newest_quarter = self.events.len() - self.capacity / 4;
        let rest_is_old = self.events.get(newest_quarter).is_some_and(is_old);
        if !oldest_is_old {
            self.capacity = (self.capacity * 2).min(self.config.capacity_max.max(1));
        } else if rest_is_old {
            self.capacity = (self.capacity / 2).max(self.config.capacity_min.max(1));
        }
    }
}
