//! The priority queue without lock, waking and clock.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
    hash::Hash,
    time::Duration,
};

use super::super::Got;

/// Items with priorities, some of which wait for their time first.
///
/// - An item is in the queue at most once, with the highest of the priorities it was added with and the earliest of the
///   instants. It is never handed out while a worker has it, but may be added meanwhile.
/// - Of the items whose time has come, one of the highest priority is handed out, and among those the one that has had this
///   priority, ready, for longest: an item that is raised, or whose time comes, goes behind its new equals.
/// - An item whose waiting is cut short by an addition without a delay keeps the place of its first addition.
/// - Once shut down, nothing is handed out any more, whatever waits.
#[derive(Debug, Clone)]
pub struct PriorityQueueState<T> {
    // Invariant: each item of `items` is in exactly one of `ready` and `waiting`, at its place.
    items: HashMap<T, Entry>,
    ready: BTreeMap<ReadyPlace, T>,
    waiting: BTreeMap<WaitingPlace, T>,
    // Handed out and not done. Such an item may be in `items`, too.
    handed_out: HashSet<T>,
    places_given: u64,
    shutting_down: bool,
}

type ReadyPlace = (Reverse<i32>, u64);
type WaitingPlace = (Duration, ReadyPlace);

#[derive(Debug, Clone, Copy)]
struct Entry {
    priority: i32,
    place: u64,
    // Absent once its time has come.
    ready_at: Option<Duration>,
}

/// An item that can be handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready<T> {
    /// The item.
    pub item: T,
    /// Its priority.
    pub priority: i32,
}

/// What became of an addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriorityAdded {
    /// The item can be handed out now: it is new, or waited for its time until now.
    Ready,
    /// The item waits for its time.
    Waits,
    /// The item could be handed out already; its priority has risen from this one.
    Raised(i32),
    /// The item could be handed out already and nothing changed.
    Collapsed,
    /// The queue is shutting down; nothing changed.
    ShutDown,
}

impl<T: Hash + Eq + Clone> PriorityQueueState<T> {
    /// An empty queue.
    pub fn new() -> Self {
        Self {
            items: HashMap::new(),
            ready: BTreeMap::new(),
            waiting: BTreeMap::new(),
            handed_out: HashSet::new(),
            places_given: 0,
            shutting_down: false,
        }
    }

    /// Marks an item as needing work, at once or from an instant on.
    pub fn add(&mut self, item: T, priority: i32, ready_at: Option<Duration>) -> PriorityAdded {
        if self.shutting_down {
            return PriorityAdded::ShutDown;
        }
        let known = self.items.get(&item).copied();
        let entry = match known {
            None => Entry {
                priority,
                place: self.next_place(),
                ready_at,
            },
            Some(known) => Entry {
                priority: known.priority.max(priority),
                place: if priority > known.priority {
                    self.next_place()
                } else {
                    known.place
                },
                // No instant is the earliest.
                ready_at: known.ready_at.and_then(|known| Some(known.min(ready_at?))),
            },
        };
        if let Some(known) = known {
            self.take_out(&known);
        }
        self.put_in(item, entry);
        match known {
            Some(Entry {
                ready_at: None,
                priority,
                ..
            }) if entry.priority == priority => PriorityAdded::Collapsed,
            Some(Entry {
                ready_at: None,
                priority,
                ..
            }) => PriorityAdded::Raised(priority),
            _ if entry.ready_at.is_none() => PriorityAdded::Ready,
            _ => PriorityAdded::Waits,
        }
    }

    /// Makes the earliest item ready if its time has come, and returns it with the instant. Items of one instant become
    /// ready in the order of their priorities.
    pub fn make_ready(&mut self, now: Duration) -> Option<(Ready<T>, Duration)> {
        let ((ready_at, _), item) = self.waiting.first_key_value()?;
        if *ready_at > now {
            return None;
        }
        let (ready_at, item) = (*ready_at, item.clone());
        let known = *self.items.get(&item)?;
        self.take_out(&known);
        let entry = Entry {
            priority: known.priority,
            place: self.next_place(),
            ready_at: None,
        };
        self.put_in(item.clone(), entry);
        let priority = known.priority;
        Some((Ready { item, priority }, ready_at))
    }

    /// When the earliest item that waits is ready.
    pub fn next_ready_at(&self) -> Option<Duration> {
        self.waiting.first_key_value().map(|(place, _)| place.0)
    }

    /// Hands out the first item that no worker has. [`Self::done`] must follow.
    pub fn get(&mut self) -> Got<Ready<T>> {
        if self.shutting_down {
            return Got::ShutDown;
        }
        let mut free = self
            .ready
            .iter()
            .filter(|(_, item)| !self.handed_out.contains(*item));
        let Some((&place, _)) = free.next() else {
            return Got::Empty;
        };
        let Some(item) = self.ready.remove(&place) else {
            return Got::Empty;
        };
        self.items.remove(&item);
        self.handed_out.insert(item.clone());
        let (Reverse(priority), _) = place;
        Got::Item(Ready { item, priority })
    }

    /// Ends the work on an item; tells whether somebody had it.
    pub fn done(&mut self, item: &T) -> bool {
        self.handed_out.remove(item)
    }

    /// Takes no further additions and hands nothing out.
    pub fn shut_down(&mut self) {
        self.shutting_down = true;
    }

    /// Whether [`Self::shut_down`] was called.
    pub fn is_shutting_down(&self) -> bool {
        self.shutting_down
    }

    /// Items whose time has come, those included that a worker has.
    pub fn len(&self) -> usize {
        self.ready.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// Items that can be handed out.
    pub fn available(&self) -> usize {
        let ready = |item: &&T| {
            let entry = self.items.get(*item);
            entry.is_some_and(|entry| entry.ready_at.is_none())
        };
        self.ready.len() - self.handed_out.iter().filter(ready).count()
    }

    /// The priority of an item that is in the queue.
    pub fn priority(&self, item: &T) -> Option<i32> {
        self.items.get(item).map(|entry| entry.priority)
    }

    /// Items that wait for their time.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn next_place(&mut self) -> u64 {
        let place = self.places_given;
        self.places_given += 1;
        place
    }

    fn take_out(&mut self, entry: &Entry) {
        let place = (Reverse(entry.priority), entry.place);
        match entry.ready_at {
            None => self.ready.remove(&place),
            Some(ready_at) => self.waiting.remove(&(ready_at, place)),
        };
    }

    fn put_in(&mut self, item: T, entry: Entry) {
        let place = (Reverse(entry.priority), entry.place);
        self.items.insert(item.clone(), entry);
        match entry.ready_at {
            None => self.ready.insert(place, item),
            Some(ready_at) => self.waiting.insert((ready_at, place), item),
        };
    }
}

impl<T: Hash + Eq + Clone> Default for PriorityQueueState<T> {
    fn default() -> Self {
        Self::new()
    }
}
