//! What a queue holds of one change.
//!
//! Mirrors `Delta`, `Deltas`, `DeltaType` and `DeletedFinalStateUnknown` of client-go's `tools/cache/delta_fifo.go`.

use std::sync::Arc;

use crate::api::{KeyError, KubeObject, ObjectKey};

/// How an object came into the queue. It does not decide what a handler is told: membership in the store does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeltaType {
    /// A watch event.
    Added,
    /// A watch event.
    Updated,
    /// A watch event, or an absence in a list.
    Deleted,
    /// An item of a list.
    Replaced,
    /// A periodic resync.
    Sync,
}

/// A deletion that was inferred from a list: the object's last known state may be stale, or unknown altogether.
#[derive(Debug, PartialEq, Eq)]
pub struct Tombstone<T> {
    /// Key of the deleted object.
    pub key: ObjectKey,
    /// Last state that was known.
    pub object: Option<Arc<T>>,
}

/// An object or, for some deletions, a tombstone.
#[derive(Debug, PartialEq, Eq)]
pub enum DeltaObject<T> {
    /// The object as the server sent it.
    Object(Arc<T>),
    /// What is known of an object whose deletion was missed.
    FinalStateUnknown(Box<Tombstone<T>>),
}

/// One change.
#[derive(Debug, PartialEq, Eq)]
pub struct Delta<T> {
    /// How it came into the queue.
    pub delta_type: DeltaType,
    /// What changed.
    pub object: DeltaObject<T>,
}

/// The changes of one object since it was last popped, oldest first; never empty when popped.
pub type Deltas<T> = Vec<Delta<T>>;

impl DeltaType {
    /// The name as upstream writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "Added",
            Self::Updated => "Updated",
            Self::Deleted => "Deleted",
            Self::Replaced => "Replaced",
            Self::Sync => "Sync",
        }
    }
}

impl<T> Delta<T> {
    /// Makes a delta of an object.
    pub fn new(delta_type: DeltaType, object: Arc<T>) -> Self {
        Self {
            delta_type,
            object: DeltaObject::Object(object),
        }
    }

    /// Makes a deletion of which only `object`, the last known state, is known.
    pub fn tombstone(key: ObjectKey, object: Option<Arc<T>>) -> Self {
        let object = DeltaObject::FinalStateUnknown(Box::new(Tombstone { key, object }));
        Self {
            delta_type: DeltaType::Deleted,
            object,
        }
    }
}

impl<T> DeltaObject<T> {
    /// The object; for a tombstone the last known state, if there is one.
    pub fn last_known(&self) -> Option<&Arc<T>> {
        match self {
            Self::Object(object) => Some(object),
            Self::FinalStateUnknown(tombstone) => tombstone.object.as_ref(),
        }
    }

    /// Whether this is a tombstone.
    pub fn is_final_state_unknown(&self) -> bool {
        matches!(self, Self::FinalStateUnknown(_))
    }
}

impl<T: KubeObject> DeltaObject<T> {
    /// The object's key; a tombstone carries its own (`DeletionHandlingMetaNamespaceKeyFunc`).
    ///
    /// # Errors
    /// [`KeyError::NoName`] if the object has no name.
    pub fn key(&self) -> Result<ObjectKey, KeyError> {
        match self {
            Self::Object(object) => object.key(),
            Self::FinalStateUnknown(tombstone) => Ok(tombstone.key.clone()),
        }
    }
}

// Written by hand: a derive would ask that T be Clone.
impl<T> Clone for Tombstone<T> {
    fn clone(&self) -> Self {
        Self {
            key: self.key.clone(),
            object: self.object.clone(),
        }
    }
}

impl<T> Clone for DeltaObject<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Object(object) => Self::Object(Arc::clone(object)),
            Self::FinalStateUnknown(tombstone) => Self::FinalStateUnknown(tombstone.clone()),
        }
    }
}

impl<T> Clone for Delta<T> {
    fn clone(&self) -> Self {
        Self {
            delta_type: self.delta_type,
            object: self.object.clone(),
        }
    }
}
