//! What the measurer is told. The measured code reads no clock; whoever wants times brings an observer that does.

use std::sync::Arc;

use crate::api::{ObjectKey, ResourceVersion};

use super::{
    AddOrigin, DeltaObject, DeltaType, InformerWarning, Popped, ReflectorError, ResyncOutcome,
};

/// Which operation wants or holds the queue's lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QueueOperation {
    /// A pop and, where the queue stays locked, its processing. Where it does not, the lock is released before the processing
    /// and taken once more for a moment after it.
    Pop,
    /// A whole list.
    Replace,
    /// A resync.
    Resync,
    /// One watch event, bookmarks included where the queue takes them.
    Write,
}

/// Why a reflector lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RelistCause {
    /// It had never listed.
    First,
    /// The version was older than the server's history.
    Expired,
    /// Anything else that ended the watch with an error.
    Other,
}

/// What a handler is told.
#[derive(Debug)]
pub enum Notification<T> {
    /// An object is new to the cache.
    Added {
        /// The object.
        object: Arc<T>,
        /// Whether it was in the first list.
        origin: AddOrigin,
    },
    /// An object of the cache changed, or is delivered again.
    Updated {
        /// The cached state before.
        old: Arc<T>,
        /// The cached state now.
        new: Arc<T>,
    },
    /// An object is gone from the cache.
    Deleted {
        /// Its last state, or what is known of it.
        object: DeltaObject<T>,
    },
}

impl<T> Clone for Notification<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Added { object, origin } => Self::Added {
                object: Arc::clone(object),
                origin: *origin,
            },
            Self::Updated { old, new } => Self::Updated {
                old: Arc::clone(old),
                new: Arc::clone(new),
            },
            Self::Deleted { object } => Self::Deleted {
                object: object.clone(),
            },
        }
    }
}

/// Called by the informer as it works; every method is empty by default, and the calls are static.
///
/// Methods run inside the informer's own critical sections: they must be short and must not call back.
pub trait InformerObserver<T>: Send + Sync + 'static {
    /// A caller is about to ask for the queue's lock.
    fn lock_requested(&self, operation: QueueOperation) {
        let _ = operation;
    }

    /// The lock was given.
    fn lock_acquired(&self, operation: QueueOperation) {
        let _ = operation;
    }

    /// The lock is about to be given back.
    fn lock_released(&self, operation: QueueOperation) {
        let _ = operation;
    }

    /// The resync timer fired and the informer decided to resync; the lock has not been asked for.
    fn resync_began(&self) {}

    /// A resync is done; the lock is still held.
    fn resync_ended(&self, outcome: &ResyncOutcome) {
        let _ = outcome;
    }

    /// A watch event was decoded and is about to be written into the queue.
    fn event_received(&self, key: &ObjectKey, resource_version: &ResourceVersion) {
        let _ = (key, resource_version);
    }

    /// An item was popped; the lock is held. What it makes the informer deliver follows: for a whole resync the number of
    /// Sync notifications is known only then.
    fn popped(&self, popped: &Popped<T>) {
        let _ = popped;
    }

    /// A plain informer's handler is about to be called, or a shared informer is about to distribute.
    fn delivering(&self, delta_type: DeltaType, notification: &Notification<T>) {
        let _ = (delta_type, notification);
    }

    /// A plain informer's handler has returned, or a shared informer has distributed.
    fn delivered(&self, delta_type: DeltaType, notification: &Notification<T>) {
        let _ = (delta_type, notification);
    }

    /// A list is about to be requested.
    fn list_began(&self, cause: RelistCause) {
        let _ = cause;
    }

    /// A streaming list is about to be requested: a watch, for which [`InformerObserver::watch_began`] is called too. If it
    /// fails for good, [`InformerObserver::list_began`] follows.
    fn streaming_list_began(&self, cause: RelistCause) {
        let _ = cause;
    }

    /// A list was received, or streamed to its end, and put into the queue.
    fn list_ended(&self, objects: usize, resource_version: &ResourceVersion) {
        let _ = (objects, resource_version);
    }

    /// A watch is about to be requested.
    fn watch_began(&self, resource_version: &ResourceVersion) {
        let _ = resource_version;
    }

    /// A cycle of listing and watching ended with an error (`WatchErrorHandler` upstream); the backoff follows.
    fn list_and_watch_failed(&self, error: &ReflectorError) {
        let _ = error;
    }

    /// A handler panicked; the notification is lost to it.
    fn handler_panicked(&self) {}

    /// Something that its user should be told.
    fn warned(&self, warning: &InformerWarning) {
        let _ = warning;
    }
}

/// Observes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoObserver;

impl<T> InformerObserver<T> for NoObserver {}

impl<T: 'static, O: InformerObserver<T>> InformerObserver<T> for Arc<O> {
    fn lock_requested(&self, operation: QueueOperation) {
        (**self).lock_requested(operation);
    }

    fn lock_acquired(&self, operation: QueueOperation) {
        (**self).lock_acquired(operation);
    }

    fn lock_released(&self, operation: QueueOperation) {
        (**self).lock_released(operation);
    }

    fn resync_began(&self) {
        (**self).resync_began();
    }

    fn resync_ended(&self, outcome: &ResyncOutcome) {
        (**self).resync_ended(outcome);
    }

    fn event_received(&self, key: &ObjectKey, resource_version: &ResourceVersion) {
        (**self).event_received(key, resource_version);
    }

    fn popped(&self, popped: &Popped<T>) {
        (**self).popped(popped);
    }

    fn delivering(&self, delta_type: DeltaType, notification: &Notification<T>) {
        (**self).delivering(delta_type, notification);
    }

    fn delivered(&self, delta_type: DeltaType, notification: &Notification<T>) {
        (**self).delivered(delta_type, notification);
    }

    fn list_began(&self, cause: RelistCause) {
        (**self).list_began(cause);
    }

    fn streaming_list_began(&self, cause: RelistCause) {
        (**self).streaming_list_began(cause);
    }

    fn list_ended(&self, objects: usize, resource_version: &ResourceVersion) {
        (**self).list_ended(objects, resource_version);
    }

    fn watch_began(&self, resource_version: &ResourceVersion) {
        (**self).watch_began(resource_version);
    }

    fn list_and_watch_failed(&self, error: &ReflectorError) {
        (**self).list_and_watch_failed(error);
    }

    fn handler_panicked(&self) {
        (**self).handler_panicked();
    }

    fn warned(&self, warning: &InformerWarning) {
        (**self).warned(warning);
    }
}
