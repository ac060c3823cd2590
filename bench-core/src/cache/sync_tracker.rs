//! Whether work that a first list caused is done. Mirrors client-go's `tools/cache/synctrack/synctrack.go`.

use std::{collections::HashSet, fmt, hash::Hash};

use tokio::sync::watch;

/// Tracks items that are worked on one after another: only their number counts.
///
/// Once synced it stays so. [`SingleFileTracker::upstream_has_synced`] must be called only after all starts that belong to
/// the first list.
pub struct SingleFileTracker(watch::Sender<Progress<i64>>);

/// Tracks items that are worked on in any order, such as by the workers of a queue: each is known by its key. A consumer of a
/// work queue is synced when every key that the first list brought has been worked on.
///
/// Once synced it stays so.
pub struct AsyncTracker<K>(watch::Sender<Progress<HashSet<K>>>);

struct Progress<W> {
    work: W,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    // More may start that belongs to the first list.
    UpstreamGoesOn,
    UpstreamSynced,
    Synced,
}

impl<W> Progress<W> {
    fn upstream_synced(&mut self) {
        if self.stage == Stage::UpstreamGoesOn {
            self.stage = Stage::UpstreamSynced;
        }
    }

    /// Nothing is being worked on; tells whether this made it synced.
    fn idle(&mut self) -> bool {
        let synced = self.stage == Stage::UpstreamSynced;
        if synced {
            self.stage = Stage::Synced;
        }
        synced
    }
}

impl SingleFileTracker {
    /// Nothing has started.
    pub fn new() -> Self {
        Self(watch::Sender::new(Progress {
            work: 0,
            stage: Stage::UpstreamGoesOn,
        }))
    }

    /// An item of the first list is handed over.
    pub fn start(&self) {
        self.0.send_if_modified(|progress| {
            progress.work += 1;
            false
        });
    }

    /// An item of the first list is done.
    ///
    /// # Panics
    /// If more items are done than have started: the answer of [`SingleFileTracker::has_synced`] was wrong then.
    pub fn finished(&self) {
        self.0.send_if_modified(|progress| {
            progress.work -= 1;
            progress.work == 0 && progress.idle()
        });
        // Not above, under the channel's lock.
        assert!(
            self.0.borrow().work >= 0,
            "negative counter: more items are done than have started"
        );
    }

    /// The first list has been handed over.
    pub fn upstream_has_synced(&self) {
        self.0.send_if_modified(|progress| {
            progress.upstream_synced();
            progress.work == 0 && progress.idle()
        });
    }

    /// Whether the first list has been handed over and every item of it is done.
    pub fn has_synced(&self) -> bool {
        self.0.borrow().stage == Stage::Synced
    }

    /// Waits until [`SingleFileTracker::has_synced`]. Cancel safe.
    pub async fn wait_until_synced(&self) {
        wait(&self.0).await;
    }
}

impl<K: Hash + Eq> AsyncTracker<K> {
    /// Nothing has started.
    pub fn new() -> Self {
        Self(watch::Sender::new(Progress {
            work: HashSet::new(),
            stage: Stage::UpstreamGoesOn,
        }))
    }

    /// A key of the first list is handed over. A key that is there already counts once.
    pub fn start(&self, key: K) {
        self.0.send_if_modified(|progress| {
            progress.work.insert(key);
            false
        });
    }

    /// A key is done; one that never started is ignored, so a worker need not know whether it belonged to the first list.
    pub fn finished(&self, key: &K) {
        self.0.send_if_modified(|progress| {
            progress.work.remove(key);
            progress.work.is_empty() && progress.idle()
        });
    }

    /// The first list has been handed over.
    pub fn upstream_has_synced(&self) {
        self.0.send_if_modified(|progress| {
            progress.upstream_synced();
            progress.work.is_empty() && progress.idle()
        });
    }

    /// Whether the first list has been handed over and every key of it is done.
    pub fn has_synced(&self) -> bool {
        self.0.borrow().stage == Stage::Synced
    }

    /// Waits until [`AsyncTracker::has_synced`]. Cancel safe.
    pub async fn wait_until_synced(&self) {
        wait(&self.0).await;
    }
}

async fn wait<W>(progress: &watch::Sender<Progress<W>>) {
    let mut synced = progress.subscribe();
    // The sender lives as long as this borrow.
    let _ = synced
        .wait_for(|progress| progress.stage == Stage::Synced)
        .await;
}

impl Default for SingleFileTracker {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Hash + Eq> Default for AsyncTracker<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for SingleFileTracker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let progress = self.0.borrow();
        formatter
            .debug_struct("SingleFileTracker")
            .field("outstanding", &progress.work)
            .field("stage", &progress.stage)
            .finish()
    }
}

impl<K> fmt::Debug for AsyncTracker<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let progress = self.0.borrow();
        formatter
            .debug_struct("AsyncTracker")
            .field("outstanding", &progress.work.len())
            .field("stage", &progress.stage)
            .finish()
    }
}
