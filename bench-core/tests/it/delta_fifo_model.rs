//! `DeltaFifo` against its model: random operations on few keys, everything compared after each.

use std::sync::Arc;

use bench_core::{
    api::{Object, ObjectKey, ResourceVersion},
    cache::{AddOrigin, DeltaFifo, DeltaObject, EventQueue, KnownObjects},
};
use parking_lot::Mutex;
use proptest::prelude::*;

use crate::{
    delta_fifo::render,
    model::delta_fifo::{Known, ModelFifo},
    scripted::object,
};

#[derive(Debug, Clone)]
enum Op {
    Add(char),
    Update(char),
    Delete(char),
    Replace(Vec<char>),
    Resync,
    /// Pops and applies the item to the known objects, as a controller does.
    Pop,
}

/// Known objects whose keys are listed in order, so that the outcome does not depend on a map's.
struct SortedKnown(Mutex<Known>);

impl KnownObjects<Object> for SortedKnown {
    fn list_keys(&self) -> Vec<ObjectKey> {
        let mut keys: Vec<_> = self
            .0
            .lock()
            .iter()
            .map(|(key, _)| key.to_string())
            .collect();
        keys.sort_unstable();
        keys.iter().map(|name| ObjectKey::new("t", name)).collect()
    }

    fn get_by_key(&self, key: &ObjectKey) -> Result<Option<Arc<Object>>, String> {
        let known = self.0.lock();
        let found = known
            .iter()
            .find(|(name, _)| name.to_string() == key.name());
        Ok(found.map(|(name, version)| object(&name.to_string(), *version)))
    }
}

fn operation() -> impl Strategy<Value = Op> {
    let key = || prop::sample::select(vec!['a', 'b', 'c']);
    prop_oneof![
        1 => key().prop_map(Op::Add),
        1 => key().prop_map(Op::Update),
        2 => key().prop_map(Op::Delete),
        1 => prop::collection::vec(key(), 0..4).prop_map(Op::Replace),
        1 => Just(Op::Resync),
        3 => Just(Op::Pop),
    ]
}

fn apply(known: &mut Known, deltas: &[String]) {
    for delta in deltas {
        let key = delta
            .chars()
            .find(char::is_ascii_lowercase)
            .expect("every delta names its key");
        known.retain(|(name, _)| *name != key);
        if !delta.starts_with('D') {
            let value = delta
                .rsplit(':')
                .next()
                .and_then(|value| value.parse().ok())
                .expect("a number");
            known.push((key, value));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(crate::model::cases()) })]

    #[test]
    fn the_queue_does_what_the_model_does(operations in prop::collection::vec(operation(), 1..24)) {
        let known = Arc::new(SortedKnown(Mutex::new(Vec::new())));
        let mut fifo = DeltaFifo::for_informer(Arc::<SortedKnown>::clone(&known));
        let mut model = ModelFifo::default();
        for (step, operation) in operations.into_iter().enumerate() {
            let version = step as u64 + 1;
            let model_known = known.0.lock().clone();
            match operation {
                Op::Add(key) => {
                    fifo.add(object(&key.to_string(), version)).unwrap();
                    model.write('A', key, version);
                }
                Op::Update(key) => {
                    fifo.update(object(&key.to_string(), version)).unwrap();
                    model.write('U', key, version);
                }
                Op::Delete(key) => {
                    fifo.delete(DeltaObject::Object(object(&key.to_string(), version))).unwrap();
                    model.delete(&model_known, key, version);
                }
                Op::Replace(keys) => {
                    let list: Vec<_> = keys.iter().map(|key| (*key, version)).collect();
                    let objects = keys.iter().map(|key| object(&key.to_string(), version)).collect();
                    fifo.replace(objects, &ResourceVersion::from(version)).unwrap();
                    model.replace(&model_known, &list);
                }
                Op::Resync => {
                    let outcome = fifo.resync().unwrap();
                    let expected = model.resync(&model_known);
                    prop_assert_eq!((outcome.enqueued, outcome.skipped()), expected);
                    prop_assert_eq!(outcome.known, outcome.enqueued + outcome.skipped() + outcome.missing);
                }
                Op::Pop => {
                    let popped = fifo.pop().map(|popped| {
                        let deltas = popped.item.deltas();
                        let key = DeltaFifo::key_of(deltas).expect("never empty");
                        let name = key.name().chars().next().expect("one letter");
                        (name, deltas.iter().map(render).collect::<Vec<_>>(), popped.origin == AddOrigin::InitialList)
                    });
                    fifo.processed();
                    let expected = model.pop();
                    prop_assert_eq!(&popped, &expected);
                    if let Some((_, deltas, _)) = expected {
                        apply(&mut known.0.lock(), &deltas);
                    }
                }
            }
            let queued: Vec<_> = fifo
                .list_keys()
                .iter()
                .map(|key| fifo.get_by_key(key).expect("queued").iter().map(render).collect::<Vec<_>>())
                .collect();
            let expected: Vec<_> = model.queue.iter().map(|(_, deltas)| deltas.clone()).collect();
            prop_assert_eq!(queued, expected);
            prop_assert_eq!(fifo.has_synced(), model.has_synced());
            prop_assert_eq!(fifo.delta_count(), model.queue.iter().map(|(_, deltas)| deltas.len()).sum::<usize>());
        }
    }
}
