//! Whichever generation of the queue a setting names, dispatched by a match.

use std::sync::Arc;

use crate::api::{KubeObject, ResourceVersion};

use super::{
    AtomicFifo, AtomicFifoSettings, DEFAULT_BATCH_SIZE, DeltaFifo, DeltaFifoSettings, DeltaObject,
    EmittedOnReplace, EventQueue, KnownObjects, PopUnit, Popped, QueueError, QueueKind, RealFifo,
    RealFifoSettings, ResyncOutcome, SharedTransformer, Transformer,
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

    /// The same for an informer that changes every object before it is queued.
    pub fn for_transforming_informer(
        kind: QueueKind,
        known_objects: Arc<dyn KnownObjects<T>>,
        transformer: SharedTransformer<T>,
    ) -> Self {
        let transform: Transformer<T> = Box::new(move |object| transformer(object));
        let transformer = Some(transform);
        let real = |unit, known_objects, transformer| {
            Self::Real(RealFifo::new(RealFifoSettings {
                known_objects,
                unit,
                transformer,
            }))
        };
        match kind {
            QueueKind::DeltaFifo => Self::Delta(DeltaFifo::new(DeltaFifoSettings {
                known_objects: Some(known_objects),
                emitted_on_replace: EmittedOnReplace::Replaced,
                transformer,
            })),
            QueueKind::RealFifoPerEvent => real(PopUnit::Event, known_objects, transformer),
            QueueKind::RealFifo => real(
                PopUnit::Batch(DEFAULT_BATCH_SIZE),
                known_objects,
                transformer,
            ),
            QueueKind::AtomicFifo => Self::Atomic(AtomicFifo::new(AtomicFifoSettings {
                batch_size: DEFAULT_BATCH_SIZE,
                transformer,
            })),
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
