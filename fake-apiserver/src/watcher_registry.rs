//! How far each open watch has read, and the cut-off of those that are too slow.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use crate::storage::ResourceId;

/// One open watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WatcherId(u64);

/// Whether a watch may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It may.
    Open,
    /// It lagged behind for too long and must end.
    Terminated,
}

/// All open watches. A watch may lag behind the newest event by its buffer; whoever exceeds that for longer than the budget
/// is terminated. Events from before a watch was opened do not count.
#[derive(Debug)]
pub struct WatcherRegistry {
    budget: Duration,
    next: u64,
    watchers: BTreeMap<WatcherId, Watcher>,
    terminated: HashMap<ResourceId, u64>,
}

#[derive(Debug)]
struct Watcher {
    resource: ResourceId,
    cursor: u64,
    buffer: u64,
    behind_since: Option<Duration>,
    standing: Standing,
}

impl WatcherRegistry {
    /// Without watches.
    pub fn new(budget: Duration) -> Self {
        Self {
            budget,
            next: 0,
            watchers: BTreeMap::new(),
            terminated: HashMap::new(),
        }
    }

    /// Adds a watch that is owed nothing before event number `head`.
    pub fn open(&mut self, resource: ResourceId, head: u64, buffer: u64) -> WatcherId {
        let id = WatcherId(self.next);
        self.next += 1;
        let standing = Standing::Open;
        self.watchers.insert(
            id,
            Watcher {
                resource,
                cursor: head,
                buffer,
                behind_since: None,
                standing,
            },
        );
        id
    }

    /// Notes that a watch has taken all events before number `cursor`.
    pub fn advance(&mut self, id: WatcherId, cursor: u64, head: u64) {
        if let Some(watcher) = self.watchers.get_mut(&id) {
            watcher.cursor = watcher.cursor.max(cursor);
            if head.saturating_sub(watcher.cursor) <= watcher.buffer {
                watcher.behind_since = None;
            }
        }
    }

    /// Notes a new event, and terminates whoever has been too far behind for too long.
    pub fn event_recorded(&mut self, resource: ResourceId, head: u64, now: Duration) {
        let watchers = self.watchers.values_mut();
        for watcher in watchers.filter(|watcher| watcher.resource == resource) {
            if head.saturating_sub(watcher.cursor) <= watcher.buffer {
                watcher.behind_since = None;
                continue;
            }
            let since = *watcher.behind_since.get_or_insert(now);
            if now.saturating_sub(since) > self.budget && watcher.standing == Standing::Open {
                watcher.standing = Standing::Terminated;
                *self.terminated.entry(resource).or_default() += 1;
            }
        }
    }

    /// Counts a watch as terminated whose backlog left the window before it was read.
    pub fn terminate(&mut self, id: WatcherId) {
        if let Some(watcher) = self.watchers.get_mut(&id)
            && watcher.standing == Standing::Open
        {
            watcher.standing = Standing::Terminated;
            *self.terminated.entry(watcher.resource).or_default() += 1;
        }
    }

    /// Removes a watch.
    pub fn close(&mut self, id: WatcherId) {
        self.watchers.remove(&id);
    }

    /// Whether a watch may go on.
    pub fn standing(&self, id: WatcherId) -> Standing {
        self.watchers
            .get(&id)
            .map_or(Standing::Terminated, |watcher| watcher.standing)
    }

    /// Open watches, including those that must end and do not know yet.
    pub fn len(&self) -> usize {
        self.watchers.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.watchers.is_empty()
    }

    /// Watches terminated so far.
    pub fn terminated(&self) -> u64 {
        self.terminated.values().sum()
    }

    /// Watches of one resource terminated so far.
    pub fn terminated_of(&self, resource: ResourceId) -> u64 {
        self.terminated.get(&resource).copied().unwrap_or(0)
    }
}
