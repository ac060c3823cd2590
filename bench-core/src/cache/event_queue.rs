//! The seam between a reflector, which fills a queue, and a controller, which empties it.

use std::{collections::BTreeMap, sync::Arc};

use crate::api::{KeyError, ResourceVersion};

use super::{AddOrigin, Delta, DeltaObject, DeltaType, Deltas};

/// The generations of upstream's queue, by the name that results carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QueueKind {
    /// `DeltaFIFO` with known objects: up to client-go 0.32.
    DeltaFifo,
    /// `RealFIFO` with known objects, one event a pop: client-go 0.33 and 0.34.
    RealFifoPerEvent,
    /// The same with pops of many events and one store transaction for each: client-go 0.35.
    RealFifo,
    /// `RealFIFO` in which a list and a resync are one entry each, unlocked while it is processed: client-go 0.36 and later.
    AtomicFifo,
}

/// What a controller does with entries that are still queued when its queue is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterClose {
    /// Works them off: the process loop ends when a pop finds the queue closed and empty.
    Drain,
    /// Leaves them: the process loop looks whether it is to stop before each pop.
    Abandon,
}

/// Whether the queue stays locked while a popped item is processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWhileProcessing {
    /// Producers wait for the handler: every queue up to client-go 0.35.
    Hold,
    /// Producers go on; decided anew by each pop.
    Release,
}

/// What one pop hands to the consumer.
#[derive(Debug)]
pub struct Popped<T> {
    /// What is to be processed.
    pub item: PoppedItem<T>,
    /// Whether this belongs to the first list.
    pub origin: AddOrigin,
    /// What becomes of the queue's lock until [`EventQueue::processed`].
    pub lock: LockWhileProcessing,
}

/// The unit of a pop, which decides how it is processed: see [`super::process_popped`].
#[derive(Debug, PartialEq, Eq)]
pub enum PoppedItem<T> {
    /// Changes of one object, oldest first; never empty, and more than one only from a [`super::DeltaFifo`].
    Deltas(Deltas<T>),
    /// Changes of distinct objects in the order of their arrival; never empty. An object without a key can only be the last.
    Batch(Vec<Delta<T>>),
    /// A whole list.
    ReplacedAll(ReplacedAll<T>),
    /// The whole cache is to be delivered again.
    SyncAll,
    /// A watch reported only that it has reached this version.
    Bookmark(ResourceVersion),
}

/// A whole list as one entry of the queue.
#[derive(Debug, PartialEq, Eq)]
pub struct ReplacedAll<T> {
    /// The version of the list.
    pub resource_version: ResourceVersion,
    /// All there is, in the list's order, each transformed already.
    pub objects: Vec<Arc<T>>,
}

/// What a resync did. `known = enqueued + skipped + missing`.
///
/// An [`super::AtomicFifo`] only leaves a marker: the cache is read when the marker is processed, so `known` and `enqueued`
/// are 0 here, nothing is skipped, and what was delivered is the number of Sync notifications that follow the pop of
/// [`PoppedItem::SyncAll`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResyncOutcome {
    /// Keys that the cache listed.
    pub known: u64,
    /// Keys that got a Sync delta.
    pub enqueued: u64,
    /// Keys left alone since deltas were pending, by the type of the first pending delta.
    pub skipped_pending: BTreeMap<DeltaType, u64>,
    /// Keys that the cache listed and then did not have, or whose lookup failed.
    pub missing: u64,
    /// `SyncAll` markers put into the queue, each for the whole cache as it will be then.
    pub markers: u64,
}

/// A write was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// The object has no usable key.
    #[error("couldn't create key for object")]
    Key(#[from] KeyError),
    /// The transformer failed; what was written before it in the same call stays.
    #[error("transformer failed: {0}")]
    Transform(String),
}

/// The state of a queue generation. Pure: no lock, no clock; [`super::QueueHandle`] is the locked, waking driver.
///
/// Each call of [`EventQueue::pop`] that yields something is followed by one of [`EventQueue::processed`] before the next pop:
/// there is one consumer.
pub trait EventQueue<T>: Send {
    /// Which generation this is.
    fn kind(&self) -> QueueKind;

    /// A watch reported a new object.
    ///
    /// # Errors
    /// [`QueueError`] if the object has no key or the transformer failed.
    fn add(&mut self, object: Arc<T>) -> Result<(), QueueError>;

    /// A watch reported a change.
    ///
    /// # Errors
    /// As [`EventQueue::add`].
    fn update(&mut self, object: Arc<T>) -> Result<(), QueueError>;

    /// A watch reported a deletion.
    ///
    /// # Errors
    /// As [`EventQueue::add`].
    fn delete(&mut self, object: DeltaObject<T>) -> Result<(), QueueError>;

    /// A list was received: `objects` is all there is.
    ///
    /// # Errors
    /// As [`EventQueue::add`]; what was written before the error stays.
    fn replace(
        &mut self,
        objects: Vec<Arc<T>>,
        resource_version: &ResourceVersion,
    ) -> Result<(), QueueError>;

    /// Puts known objects back into the queue as Sync deltas, by the generation's own rule.
    ///
    /// # Errors
    /// As [`EventQueue::add`].
    fn resync(&mut self) -> Result<ResyncOutcome, QueueError>;

    /// A watch reported only that it has reached this version. Nothing happens where the generation has no bookmarks.
    fn bookmark(&mut self, resource_version: &ResourceVersion) {
        let _ = resource_version;
    }

    /// Takes the next item as the generation's informers do, or nothing if the queue is empty.
    fn pop(&mut self) -> Option<Popped<T>>;

    /// The item of the last pop has been processed.
    fn processed(&mut self);

    /// Whether the whole first list has been popped; where the generation says so, and processed.
    fn has_synced(&self) -> bool;

    /// Entries: keys with pending deltas in a [`super::DeltaFifo`], events in the others, whose keys may repeat.
    fn len(&self) -> usize;

    /// Pending deltas; a whole list, a whole resync and a bookmark count as one each.
    fn delta_count(&self) -> usize;

    /// Whether nothing is pending.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl QueueKind {
    /// Every generation, oldest first.
    pub const ALL: [Self; 4] = [
        Self::DeltaFifo,
        Self::RealFifoPerEvent,
        Self::RealFifo,
        Self::AtomicFifo,
    ];

    /// The name in commands and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::DeltaFifo => "delta-fifo",
            Self::RealFifoPerEvent => "real-fifo-per-event",
            Self::RealFifo => "real-fifo",
            Self::AtomicFifo => "atomic-fifo",
        }
    }

    /// What this generation's controller leaves in a closed queue.
    pub fn after_close(self) -> AfterClose {
        match self {
            Self::DeltaFifo => AfterClose::Drain,
            Self::RealFifoPerEvent | Self::RealFifo | Self::AtomicFifo => AfterClose::Abandon,
        }
    }

    /// Whether this generation queues bookmarks.
    pub fn takes_bookmarks(self) -> bool {
        self == Self::AtomicFifo
    }
}

impl<T> PoppedItem<T> {
    /// The deltas of one object or of a batch; empty for the others.
    pub fn deltas(&self) -> &[Delta<T>] {
        match self {
            Self::Deltas(deltas) | Self::Batch(deltas) => deltas,
            Self::ReplacedAll(_) | Self::SyncAll | Self::Bookmark(_) => &[],
        }
    }
}

impl ResyncOutcome {
    /// Keys left alone since deltas were pending.
    pub fn skipped(&self) -> u64 {
        self.skipped_pending.values().sum()
    }
}
