//! Our queues behind one type, so that a replay can look inside what its [`QueueHandle`](bench_core::cache::QueueHandle)
//! drives.

use std::{num::NonZeroUsize, sync::Arc};

use bench_core::{
    api::{ObjectKey, ResourceVersion},
    cache::{
        AtomicEntry, AtomicFifo, AtomicFifoSettings, DeltaFifo, DeltaFifoSettings, DeltaObject,
        Deltas, EmittedOnReplace, EventQueue, Indexer, KnownObjects, PopUnit, Popped, QueueError,
        QueueKind, RealFifo, RealFifoSettings, ResyncOutcome,
    },
};
use parking_lot::Mutex;

use super::{
    object::{TraceObject, transform},
    text,
    trace::{Header, Preset, SetupOption},
};

/// The store as a queue knows it: its keys come sorted, since a map's order is random on both sides, and lookups fail where
/// the trace says so.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) indexer: Arc<Indexer<TraceObject>>,
    pub(super) faults: Mutex<Faults>,
}

/// Keys whose lookup goes wrong.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) failing: Vec<String>,
    pub(super) missing: Vec<String>,
}

/// A queue that a handle drives and a replay looks into.
#[derive(Debug, Clone)]
pub(super) struct SharedQueue(Arc<Mutex<Queue>>);

#[derive(Debug)]
enum Queue {
    Delta(DeltaFifo<TraceObject>),
    Real(RealFifo<TraceObject>),
    Atomic(AtomicFifo<TraceObject>),
}

impl SharedQueue {
    /// The queue of a trace.
    ///
    /// # Panics
    /// If that is a work queue.
    pub(super) fn new(header: &Header, known: &Arc<Known>) -> Self {
        let known_objects: Arc<dyn KnownObjects<TraceObject>> = Arc::<Known>::clone(known);
        let transformer = header
            .has(SetupOption::Transformer)
            .then(|| Box::new(transform) as _);
        let batch_size = NonZeroUsize::new(header.batch).expect("a batch holds something");
        let real = |known_objects, transformer, unit| {
            Queue::Real(RealFifo::new(RealFifoSettings {
                known_objects,
                unit,
                transformer,
            }))
        };
        let queue = match header.preset {
            Preset::DeltaFifo => Queue::Delta(DeltaFifo::new(DeltaFifoSettings {
                known_objects: (!header.has(SetupOption::NoKnownObjects)).then_some(known_objects),
                emitted_on_replace: if header.has(SetupOption::EmitSync) {
                    EmittedOnReplace::Sync
                } else {
                    EmittedOnReplace::Replaced
                },
                transformer,
            })),
            Preset::RealFifoPerEvent => real(known_objects, transformer, PopUnit::Event),
            Preset::RealFifo => real(known_objects, transformer, PopUnit::Batch(batch_size)),
            Preset::AtomicFifo => Queue::Atomic(AtomicFifo::new(AtomicFifoSettings {
                batch_size,
                transformer,
            })),
            Preset::WorkQueue => panic!("a work queue is replayed elsewhere"),
        };
        Self(Arc::new(Mutex::new(queue)))
    }

    /// Puts popped deltas back.
    ///
    /// # Errors
    /// As [`DeltaFifo::add_if_not_present`].
    ///
    /// # Panics
    /// If it is no [`DeltaFifo`], for the others have no such method.
    pub(super) fn add_if_not_present(&self, deltas: Deltas<TraceObject>) -> Result<(), QueueError> {
        match &mut *self.0.lock() {
            Queue::Delta(queue) => queue.add_if_not_present(deltas),
            Queue::Real(_) | Queue::Atomic(_) => panic!("only DeltaFIFO has AddIfNotPresent"),
        }
    }

    /// Appends what waits.
    pub(super) fn push_pending(&self, out: &mut String) {
        match &*self.0.lock() {
            Queue::Delta(queue) => {
                text::push_strings(out, "queue", queue.list_keys(), |out, key| {
                    text::push_escaped(out, key.as_str());
                    out.push(':');
                    for delta in queue.get_by_key(&key).expect("it waits") {
                        out.push(' ');
                        text::push_delta(out, delta);
                    }
                });
            }
            Queue::Real(queue) => {
                text::push_strings(out, "queue", queue.pending(), text::push_delta);
            }
            Queue::Atomic(queue) => {
                text::push_strings(out, "queue", queue.pending(), |out, entry| match entry {
                    AtomicEntry::Event(delta) => text::push_delta(out, delta),
                    AtomicEntry::ReplacedAll(replaced) => text::push_replaced_all(out, replaced),
                    AtomicEntry::SyncAll => out.push_str("SA"),
                    AtomicEntry::Bookmark(version) => text::push_bookmark(out, version),
                });
            }
        }
    }

    fn with<R>(&self, operation: impl FnOnce(&mut dyn EventQueue<TraceObject>) -> R) -> R {
        match &mut *self.0.lock() {
            Queue::Delta(queue) => operation(queue),
            Queue::Real(queue) => operation(queue),
            Queue::Atomic(queue) => operation(queue),
        }
    }
}

impl KnownObjects<TraceObject> for Known {
    fn list_keys(&self) -> Vec<ObjectKey> {
        let mut keys = self.indexer.list_keys();
        keys.sort_unstable();
        keys
    }

    fn get_by_key(&self, key: &ObjectKey) -> Result<Option<Arc<TraceObject>>, String> {
        let faults = self.faults.lock();
        let is = |faulty: &String| faulty == key.as_str();
        if faults.failing.iter().any(is) {
            return Err("lookup fails".to_owned());
        }
        if faults.missing.iter().any(is) {
            return Ok(None);
        }
        Ok(self.indexer.get_by_key(key))
    }
}

impl EventQueue<TraceObject> for SharedQueue {
    fn kind(&self) -> QueueKind {
        self.with(|queue| queue.kind())
    }

    fn add(&mut self, object: Arc<TraceObject>) -> Result<(), QueueError> {
        self.with(|queue| queue.add(object))
    }

    fn update(&mut self, object: Arc<TraceObject>) -> Result<(), QueueError> {
        self.with(|queue| queue.update(object))
    }

    fn delete(&mut self, object: DeltaObject<TraceObject>) -> Result<(), QueueError> {
        self.with(|queue| queue.delete(object))
    }

    fn replace(
        &mut self,
        objects: Vec<Arc<TraceObject>>,
        resource_version: &ResourceVersion,
    ) -> Result<(), QueueError> {
        self.with(|queue| queue.replace(objects, resource_version))
    }

    fn resync(&mut self) -> Result<ResyncOutcome, QueueError> {
        self.with(|queue| queue.resync())
    }

    fn bookmark(&mut self, resource_version: &ResourceVersion) {
        self.with(|queue| queue.bookmark(resource_version));
    }

    fn pop(&mut self) -> Option<Popped<TraceObject>> {
        self.with(|queue| queue.pop())
    }

    fn processed(&mut self) {
        self.with(|queue| queue.processed());
    }

    fn has_synced(&self) -> bool {
        self.with(|queue| queue.has_synced())
    }

    fn len(&self) -> usize {
        self.with(|queue| queue.len())
    }

    fn delta_count(&self) -> usize {
        self.with(|queue| queue.delta_count())
    }
}
