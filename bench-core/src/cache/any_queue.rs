//! Whichever generation of the queue a setting names, dispatched by a match.

use std::sync::Arc;

use crate::api::{KubeObject, ResourceVersion};

use super::{
    AtomicFifo, DeltaFifo, DeltaObject, EventQueue, KnownObjects, Popped, QueueError, QueueKind,
    RealFifo, ResyncOutcome,
};

/// One of the generations, as an informer holds it.
#[derive(Debug)]
pub enum AnyQueue<T> {
    /// [`QueueKind::DeltaFifo`].
    Delta(DeltaFifo<T>),
    /// [`QueueKind::RealFifoPerEvent`] or [`QueueKind::RealFifo`].
    Real(RealFifo<T>),
    /// [`QueueKind::AtomicFifo`].
    Atomic(AtomicFifo<T>),
}

impl<T: KubeObject> AnyQueue<T> {
    /// Makes the queue of an informer whose cache is `known_objects`; an [`AtomicFifo`] does not look at it.
    pub fn for_informer(kind: QueueKind, known_objects: Arc<dyn KnownObjects<T>>) -> Self {
        match kind {
            QueueKind::DeltaFifo => Self::Delta(DeltaFifo::for_informer(known_objects)),
            QueueKind::RealFifoPerEvent => Self::Real(RealFifo::per_event(known_objects)),
            QueueKind::RealFifo => Self::Real(RealFifo::batched(known_objects)),
            QueueKind::AtomicFifo => Self::Atomic(AtomicFifo::for_informer()),
        }
    }
}

/// Calls a method of whichever queue it is.
macro_rules! dispatch {
    ($queue:expr, $inner:ident => $call:expr) => {
        match $queue {
            AnyQueue::Delta($inner) => $call,
            AnyQueue::Real($inner) => $call,
            AnyQueue::Atomic($inner) => $call,
        }
    };
}

impl<T: KubeObject> EventQueue<T> for AnyQueue<T> {
    fn kind(&self) -> QueueKind {
        dispatch!(self, queue => queue.kind())
    }

    fn add(&mut self, object: Arc<T>) -> Result<(), QueueError> {
        dispatch!(self, queue => queue.add(object))
    }

    fn update(&mut self, object: Arc<T>) -> Result<(), QueueError> {
        dispatch!(self, queue => queue.update(object))
    }

    fn delete(&mut self, object: DeltaObject<T>) -> Result<(), QueueError> {
        dispatch!(self, queue => queue.delete(object))
    }

    fn replace(
        &mut self,
        objects: Vec<Arc<T>>,
        resource_version: &ResourceVersion,
    ) -> Result<(), QueueError> {
        dispatch!(self, queue => queue.replace(objects, resource_version))
    }

    fn resync(&mut self) -> Result<ResyncOutcome, QueueError> {
        dispatch!(self, queue => queue.resync())
    }

    fn bookmark(&mut self, resource_version: &ResourceVersion) {
        dispatch!(self, queue => queue.bookmark(resource_version));
    }

    fn pop(&mut self) -> Option<Popped<T>> {
        dispatch!(self, queue => queue.pop())
    }

    fn processed(&mut self) {
        dispatch!(self, queue => queue.processed());
    }

    fn has_synced(&self) -> bool {
        dispatch!(self, queue => queue.has_synced())
    }

    fn len(&self) -> usize {
        dispatch!(self, queue => queue.len())
    }

    fn delta_count(&self) -> usize {
        dispatch!(self, queue => queue.delta_count())
    }
}
