//! A work queue as a list of items, each with a state, and delayed items as a list that is searched.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Waiting { since: usize },
    Processed,
    ProcessedAndAdded,
}

#[derive(Debug, Default)]
pub(crate) struct WorkQueueModel {
    items: Vec<(u8, Standing)>,
    steps: usize,
    pub(crate) closed: bool,
}

impl WorkQueueModel {
    pub(crate) fn add(&mut self, item: u8) {
        self.steps += 1;
        if self.closed {
            return;
        }
        match self.items.iter().position(|entry| entry.0 == item) {
            None => self
                .items
                .push((item, Standing::Waiting { since: self.steps })),
            Some(place) if self.items[place].1 == Standing::Processed => {
                self.items[place].1 = Standing::ProcessedAndAdded;
            }
            Some(_) => {}
        }
    }

    pub(crate) fn get(&mut self) -> Option<u8> {
        let since = |standing| match standing {
            Standing::Waiting { since } => Some(since),
            _ => None,
        };
        let oldest = self.items.iter().filter_map(|entry| since(entry.1)).min()?;
        let entry = self
            .items
            .iter_mut()
            .find(|entry| since(entry.1) == Some(oldest))?;
        entry.1 = Standing::Processed;
        Some(entry.0)
    }

    pub(crate) fn done(&mut self, item: u8) {
        self.steps += 1;
        let Some(place) = self.items.iter().position(|entry| entry.0 == item) else {
            return;
        };
        match self.items[place].1 {
            Standing::Waiting { .. } => {}
            Standing::Processed => {
                self.items.remove(place);
            }
            Standing::ProcessedAndAdded => {
                self.items[place].1 = Standing::Waiting { since: self.steps };
            }
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        let waits = |entry: &&(u8, Standing)| matches!(entry.1, Standing::Waiting { .. });
        self.items.iter().filter(waits).count()
    }

    pub(crate) fn processed(&self) -> Vec<u8> {
        let waits = |entry: &&(u8, Standing)| matches!(entry.1, Standing::Waiting { .. });
        self.items
            .iter()
            .filter(|entry| !waits(entry))
            .map(|entry| entry.0)
            .collect()
    }
}

#[derive(Debug, Default)]
pub(crate) struct DelayingModel {
    // Every call as it was made.
    calls: Vec<(u8, u64)>,
}

impl DelayingModel {
    pub(crate) fn add(&mut self, item: u8, ready_at: u64) {
        self.calls.push((item, ready_at));
    }

    pub(crate) fn pop_ready(&mut self, now: u64) -> Option<u8> {
        let ready: Vec<_> = self.calls.iter().filter(|call| call.1 <= now).collect();
        let earliest = ready.iter().map(|call| call.1).min()?;
        let item = ready.iter().find(|call| call.1 == earliest)?.0;
        self.calls.retain(|call| call.0 != item);
        Some(item)
    }

    pub(crate) fn next(&self) -> Option<u64> {
        self.calls.iter().map(|call| call.1).min()
    }

    pub(crate) fn len(&self) -> usize {
        let mut items: Vec<_> = self.calls.iter().map(|call| call.0).collect();
        items.sort_unstable();
        items.dedup();
        items.len()
    }
}
