//! Whether the first list has been worked off, which every queue generation counts and none tags. Pure.

use super::AddOrigin;

/// The count of a queue's first list.
#[derive(Debug, Default)]
pub(super) struct InitialPopulation {
    // Set by the first write of any kind; from then on a list is no first list.
    populated: bool,
    // Entries of the first list, and deletions that it found, that have not been taken.
    outstanding: usize,
}

impl InitialPopulation {
    /// Something other than a list was written. Before the first list this makes the queue synced, for good.
    pub(super) fn written(&mut self) {
        self.populated = true;
    }

    /// A list was written; if it is the first, `entries` have to be taken until the queue is synced.
    pub(super) fn listed(&mut self, entries: usize) {
        if !self.populated {
            self.populated = true;
            self.outstanding = entries;
        }
    }

    /// So many entries were taken, whatever they are: the first ones count as the first list.
    pub(super) fn taken(&mut self, entries: usize) {
        self.outstanding = self.outstanding.saturating_sub(entries);
    }

    pub(super) fn outstanding(&self) -> usize {
        self.outstanding
    }

    pub(super) fn has_synced(&self) -> bool {
        self.populated && self.outstanding == 0
    }

    /// The origin of what is taken now.
    pub(super) fn origin(&self) -> AddOrigin {
        if self.has_synced() {
            AddOrigin::Live
        } else {
            AddOrigin::InitialList
        }
    }
}
