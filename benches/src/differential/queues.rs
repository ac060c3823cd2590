//! Our queues behind one type, so that a replay can look inside what its [`QueueHandle`](bench_core::cache::QueueHandle)
//! drives.

use std::sync::Arc;

use bench_core::{
    api::{ObjectKey, ResourceVersion},
    cache::{
        DeltaFifo, DeltaFifoSettings, DeltaObject, EmittedOnReplace, EventQueue, Indexer,
        KnownObjects, Popped, QueueError, ResyncOutcome,
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
pub(super) struct SharedQueue(pub(super) Arc<Mutex<DeltaFifo<TraceObject>>>);

impl SharedQueue {
    /// The queue of a trace; nothing if it does not exist here.
    pub(super) fn new(header: &Header, known: &Arc<Known>) -> Self {
        assert_eq!(header.preset, Preset::DeltaFifo, "exists");
        let known_objects: Arc<dyn KnownObjects<TraceObject>> = Arc::<Known>::clone(known);
        let transformer = header.has(SetupOption::Transformer);
        let queue = DeltaFifo::new(DeltaFifoSettings {
            known_objects: (!header.has(SetupOption::NoKnownObjects)).then_some(known_objects),
            emitted_on_replace: if header.has(SetupOption::EmitSync) {
                EmittedOnReplace::Sync
            } else {
                EmittedOnReplace::Replaced
            },
            transformer: transformer.then(|| Box::new(transform) as _),
        });
        Self(Arc::new(Mutex::new(queue)))
    }

    /// Appends what waits.
    pub(super) fn push_pending(&self, out: &mut String) {
        let queue = self.0.lock();
        text::push_strings(out, "queue", queue.list_keys(), |out, key| {
            text::push_escaped(out, key.as_str());
            out.push(':');
            for delta in queue.get_by_key(&key).expect("it waits") {
                out.push(' ');
                text::push_delta(out, delta);
            }
        });
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
    fn add(&mut self, object: Arc<TraceObject>) -> Result<(), QueueError> {
        self.0.lock().add(object)
    }

    fn update(&mut self, object: Arc<TraceObject>) -> Result<(), QueueError> {
        self.0.lock().update(object)
    }

    fn delete(&mut self, object: DeltaObject<TraceObject>) -> Result<(), QueueError> {
        self.0.lock().delete(object)
    }

    fn replace(
        &mut self,
        objects: Vec<Arc<TraceObject>>,
        resource_version: &ResourceVersion,
    ) -> Result<(), QueueError> {
        self.0.lock().replace(objects, resource_version)
    }

    fn resync(&mut self) -> Result<ResyncOutcome, QueueError> {
        self.0.lock().resync()
    }

    fn pop(&mut self) -> Option<Popped<TraceObject>> {
        self.0.lock().pop()
    }

    fn processed(&mut self) {
        self.0.lock().processed();
    }

    fn has_synced(&self) -> bool {
        self.0.lock().has_synced()
    }

    fn len(&self) -> usize {
        self.0.lock().len()
    }

    fn delta_count(&self) -> usize {
        self.0.lock().delta_count()
    }
}
