//! The seam between a reflector, which fills a queue, and a controller, which empties it.

use std::{collections::BTreeMap, sync::Arc};

use crate::api::{KeyError, ObjectKey, ResourceVersion};

use super::{AddOrigin, DeltaObject, DeltaType, Deltas};

/// The generations of upstream's queue, by the name that results carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QueueKind {
    /// `DeltaFIFO` with known objects: up to client-go 0.32.
    DeltaFifo,
}

/// Whether the queue stays locked while a popped item is processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWhileProcessing {
    /// Producers wait for the handler: every queue up to client-go 0.35.
    Hold,
    /// Producers go on.
    Release,
}

/// What one pop hands to the consumer.
#[derive(Debug)]
pub struct Popped<T> {
    /// Key of the object.
    pub key: ObjectKey,
    /// Its changes, oldest first; never empty.
    pub deltas: Deltas<T>,
    /// Whether this belongs to the first list.
    pub origin: AddOrigin,
    /// What becomes of the queue's lock until [`EventQueue::processed`].
    pub lock: LockWhileProcessing,
}

/// What a resync did. `known = enqueued + skipped + missing`.
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
pub trait EventQueue<T>: Send {
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

    /// Takes the next item, or nothing if the queue is empty.
    fn pop(&mut self) -> Option<Popped<T>>;

    /// The item of the last pop has been processed.
    fn processed(&mut self);

    /// Whether the whole first list has been popped.
    fn has_synced(&self) -> bool;

    /// Keys with pending deltas.
    fn len(&self) -> usize;

    /// Pending deltas.
    fn delta_count(&self) -> usize;

    /// Whether nothing is pending.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl QueueKind {
    /// Every generation that exists here, oldest first.
    pub const ALL: [Self; 1] = [Self::DeltaFifo];

    /// The name in commands and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::DeltaFifo => "delta-fifo",
        }
    }
}

impl ResyncOutcome {
    /// Keys left alone since deltas were pending.
    pub fn skipped(&self) -> u64 {
        self.skipped_pending.values().sum()
    }
}
