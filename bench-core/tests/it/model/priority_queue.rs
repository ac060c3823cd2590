//! A priority queue as one list in the order of arrival, searched from the start each time.

#[derive(Debug, Clone, Copy)]
struct Entry {
    item: u8,
    priority: i32,
    ready_at: Option<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct PriorityQueueModel {
    // Whoever gets a new standing goes to the end.
    entries: Vec<Entry>,
    with_workers: Vec<u8>,
    pub(crate) closed: bool,
}

impl PriorityQueueModel {
    pub(crate) fn add(&mut self, item: u8, priority: i32, ready_at: Option<u64>) {
        if self.closed {
            return;
        }
        let new = Entry {
            item,
            priority,
            ready_at,
        };
        let Some(place) = self.entries.iter().position(|it| it.item == item) else {
            self.entries.push(new);
            return;
        };
        let mut entry = self.entries[place];
        entry.ready_at = match (entry.ready_at, ready_at) {
            (Some(old), Some(new)) => Some(old.min(new)),
            _ => None,
        };
        if priority > entry.priority {
            entry.priority = priority;
            self.entries.remove(place);
            self.entries.push(entry);
        } else {
            self.entries[place] = entry;
        }
    }

    pub(crate) fn make_ready(&mut self, now: u64) -> Option<(u8, u64)> {
        let instant = self.next_ready_at().filter(|instant| *instant <= now)?;
        let due = |entry: &&Entry| entry.ready_at == Some(instant);
        let highest = self
            .entries
            .iter()
            .filter(due)
            .map(|it| it.priority)
            .max()?;
        let place = self
            .entries
            .iter()
            .position(|it| due(&it) && it.priority == highest)?;
        let mut entry = self.entries.remove(place);
        entry.ready_at = None;
        self.entries.push(entry);
        Some((entry.item, instant))
    }

    pub(crate) fn get(&mut self) -> Option<(u8, i32)> {
        if self.closed {
            return None;
        }
        let free =
            |entry: &&Entry| entry.ready_at.is_none() && !self.with_workers.contains(&entry.item);
        let highest = self
            .entries
            .iter()
            .filter(free)
            .map(|it| it.priority)
            .max()?;
        let place = self
            .entries
            .iter()
            .position(|it| free(&it) && it.priority == highest)?;
        let entry = self.entries.remove(place);
        self.with_workers.push(entry.item);
        Some((entry.item, entry.priority))
    }

    pub(crate) fn done(&mut self, item: u8) -> bool {
        let before = self.with_workers.len();
        self.with_workers.retain(|it| *it != item);
        self.with_workers.len() < before
    }

    pub(crate) fn next_ready_at(&self) -> Option<u64> {
        self.entries.iter().filter_map(|it| it.ready_at).min()
    }

    pub(crate) fn ready(&self) -> usize {
        let ready = self.entries.iter().filter(|it| it.ready_at.is_none());
        ready.count()
    }

    pub(crate) fn waiting(&self) -> usize {
        self.entries.len() - self.ready()
    }

    pub(crate) fn available(&self) -> usize {
        let free = |it: &&Entry| it.ready_at.is_none() && !self.with_workers.contains(&it.item);
        self.entries.iter().filter(free).count()
    }
}
