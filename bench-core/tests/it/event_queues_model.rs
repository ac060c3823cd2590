//! `RealFifo`, `AtomicFifo`, the cache behind them and what a handler is told, against their models: random operations on few
//! keys, hostile ones among them, everything compared after each.

use std::{
    collections::{BTreeMap, HashMap},
    num::NonZeroUsize,
    sync::Arc,
};

use bench_core::{
    api::{KubeObject as _, Object, ObjectKey, ResourceVersion},
    cache::{
        AddOrigin, AnyQueue, AtomicFifo, AtomicFifoSettings, DeltaObject, EventQueue as _, Indexer,
        KnownObjects, LockWhileProcessing, PopUnit, Popped, PoppedItem, ProcessError, QueueError,
        RealFifo, RealFifoSettings, Tombstone, Transformer, process_popped,
    },
};
use parking_lot::Mutex;
use proptest::prelude::*;

use crate::{
    model::{
        cache::ModelCache,
        events::{Known, Lookup, ModelEvents, Preset, Taken, Transformed},
    },
    rendering::{letter, pending, render_call, render_entry, render_item},
};

/// Namespaces and names. Some render to one key and hence are one object to a queue, as upstream; the last has no key.
const SUBJECTS: [(&str, &str); 8] = [
    ("t", "a"),
    ("t", "b"),
    ("", "t/a"),
    ("t", "c"),
    ("t/a", "b"),
    ("t", "a/b"),
    ("\u{202e}ü\u{0}\"", "名/"),
    ("t", ""),
];

const NAMELESS: usize = 7;

#[derive(Debug, Clone, Copy)]
enum Grave {
    WithObject,
    WithoutObject,
}

#[derive(Debug, Clone)]
enum Op {
    Add(usize),
    Update(usize),
    Delete(usize),
    Bury(usize, Grave),
    Replace(Vec<usize>),
    Resync,
    Bookmark,
    /// Lookups of this subject in the cache do this from now on.
    Lookup(usize, Lookup),
    /// Finishes what is being processed, then pops; what the queue unlocks for stays in process.
    Pop,
}

fn operation() -> impl Strategy<Value = Op> {
    let subject = || prop_oneof![6 => 0..4_usize, 2 => 4..7_usize, 1 => Just(NAMELESS)];
    let named = || prop_oneof![3 => 0..4_usize, 1 => 4..7_usize];
    let lookup = prop::sample::select(vec![Lookup::Works, Lookup::Vanished, Lookup::Fails]);
    let grave = prop::sample::select(vec![Grave::WithObject, Grave::WithoutObject]);
    prop_oneof![
        3 => subject().prop_map(Op::Add),
        3 => subject().prop_map(Op::Update),
        2 => subject().prop_map(Op::Delete),
        1 => (named(), grave).prop_map(|(subject, grave)| Op::Bury(subject, grave)),
        1 => prop::collection::vec(named(), 0..5).prop_map(Op::Replace),
        1 => prop::collection::vec(subject(), 0..4).prop_map(Op::Replace),
        1 => Just(Op::Resync),
        1 => Just(Op::Bookmark),
        1 => (named(), lookup).prop_map(|(subject, lookup)| Op::Lookup(subject, lookup)),
        4 => Just(Op::Pop),
    ]
}

fn object((namespace, name): (&str, &str), version: u64) -> Arc<Object> {
    let json = serde_json::json!({
        "metadata": {"namespace": namespace, "name": name, "resourceVersion": version.to_string()}
    });
    Arc::new(Object::decode(json.to_string().as_bytes()).expect("valid JSON"))
}

fn key_text(subject: usize) -> Option<String> {
    match SUBJECTS[subject] {
        (_, "") => None,
        ("", name) => Some(name.to_owned()),
        (namespace, name) => Some(format!("{namespace}/{name}")),
    }
}

/// Whether the queue has a transformer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Objects {
    AsSent,
    Transformed,
}

/// By the version's last digit: refused, without a name, renamed, or left as it is.
fn transformer() -> Transformer<Object> {
    Box::new(|seen: Arc<Object>| {
        let version = seen.resource_version().number().expect("a number");
        match version % 10 {
            7 => Err("refused".to_owned()),
            8 => Ok(object(("t", ""), version)),
            9 => Ok(object(("t", "c"), version)),
            _ => Ok(seen),
        }
    })
}

fn transformed(key: &str, version: u64) -> Transformed {
    match version.to_string().chars().last() {
        Some('7') => Err(()),
        Some('8') => Ok(None),
        Some('9') => Ok(Some("t/c".to_owned())),
        _ => Ok((!key.is_empty()).then(|| key.to_owned())),
    }
}

/// The cache as known objects: its keys sorted, so that the outcome does not depend on a map's, and lookups that go wrong.
struct FaultyKnown {
    indexer: Arc<Indexer<Object>>,
    lookups: Mutex<BTreeMap<String, Lookup>>,
}

impl KnownObjects<Object> for FaultyKnown {
    fn list_keys(&self) -> Vec<ObjectKey> {
        let mut keys = self.indexer.list_keys();
        keys.sort_unstable();
        keys
    }

    fn get_by_key(&self, key: &ObjectKey) -> Result<Option<Arc<Object>>, String> {
        match self.lookups.lock().get(key.as_str()) {
            Some(Lookup::Fails) => Err("broken".to_owned()),
            Some(Lookup::Vanished) => Ok(None),
            Some(Lookup::Works) | None => Ok(self.indexer.get_by_key(key)),
        }
    }
}

/// The real thing and the model, side by side.
struct Pair {
    queue: AnyQueue<Object>,
    known: Arc<FaultyKnown>,
    in_process: Option<(Popped<Object>, Taken)>,
    model: ModelEvents,
    cache: ModelCache,
    version: u64,
}

impl Pair {
    fn new(preset: Preset, objects: Objects) -> Self {
        let indexer = Arc::new(Indexer::new(HashMap::new()));
        let known = Arc::new(FaultyKnown {
            indexer,
            lookups: Mutex::default(),
        });
        let transformer = (objects == Objects::Transformed).then(transformer);
        let most = |most| NonZeroUsize::new(most).expect("at least one");
        let known_objects: Arc<dyn KnownObjects<Object>> = Arc::<FaultyKnown>::clone(&known);
        let real = |unit, transformer| {
            AnyQueue::Real(RealFifo::new(RealFifoSettings {
                known_objects,
                unit,
                transformer,
            }))
        };
        let queue = match preset {
            Preset::PerEvent => real(PopUnit::Event, transformer),
            Preset::Batched(size) => real(PopUnit::Batch(most(size)), transformer),
            Preset::Atomic(size) => AnyQueue::Atomic(AtomicFifo::new(AtomicFifoSettings {
                batch_size: most(size),
                transformer,
            })),
        };
        let transform: Option<fn(&str, u64) -> Transformed> =
            (objects == Objects::Transformed).then_some(transformed);
        Self {
            queue,
            known,
            in_process: None,
            model: ModelEvents::new(preset, transform),
            cache: ModelCache::default(),
            version: 0,
        }
    }

    fn next(&mut self, subject: usize) -> Arc<Object> {
        self.version += 1;
        object(SUBJECTS[subject], self.version)
    }

    fn model_known(&self) -> Known {
        let lookups = self.known.lookups.lock();
        let lookup = |key: &String| lookups.get(key).copied().unwrap_or(Lookup::Works);
        let objects = self.cache.objects.iter();
        objects
            .map(|(key, version)| (key.clone(), (*version, lookup(key))))
            .collect()
    }

    fn step(&mut self, operation: Op) -> Result<(), TestCaseError> {
        match operation {
            Op::Add(subject) => {
                let outcome = {
                    let object = self.next(subject);
                    self.queue.add(object)
                };
                self.expect_write('A', subject, outcome)
            }
            Op::Update(subject) => {
                let outcome = {
                    let object = self.next(subject);
                    self.queue.update(object)
                };
                self.expect_write('U', subject, outcome)
            }
            Op::Delete(subject) => {
                let object = DeltaObject::Object(self.next(subject));
                let outcome = self.queue.delete(object);
                self.expect_write('D', subject, outcome)
            }
            Op::Bury(subject, grave) => {
                let object = self.next(subject);
                let key = object.key().expect("named");
                let object = matches!(grave, Grave::WithObject).then_some(object);
                let version = object.as_ref().map(|_| self.version);
                self.model.bury(key.as_str(), version);
                let tombstone = Box::new(Tombstone { key, object });
                let outcome = self.queue.delete(DeltaObject::FinalStateUnknown(tombstone));
                prop_assert_eq!(outcome, Ok(()));
                Ok(())
            }
            Op::Replace(subjects) => self.replace(&subjects),
            Op::Resync => self.resync(),
            Op::Bookmark => {
                self.version += 1;
                self.queue.bookmark(&ResourceVersion::from(self.version));
                self.model.bookmark(self.version);
                Ok(())
            }
            Op::Lookup(subject, lookup) => {
                let key = key_text(subject).expect("named");
                self.known.lookups.lock().insert(key, lookup);
                Ok(())
            }
            Op::Pop => self.pop().map(|_| ()),
        }
    }

    fn expect_write(
        &mut self,
        letter: char,
        subject: usize,
        outcome: Result<(), QueueError>,
    ) -> Result<(), TestCaseError> {
        let key = key_text(subject);
        let expected = self.model.write(letter, key.as_deref(), self.version);
        prop_assert_eq!(outcome.map_err(|error| kind_of(&error)), expected);
        Ok(())
    }

    fn replace(&mut self, subjects: &[usize]) -> Result<(), TestCaseError> {
        let known = self.model_known();
        let objects: Vec<_> = subjects.iter().map(|subject| self.next(*subject)).collect();
        let versions = objects
            .iter()
            .map(|object| object.resource_version().number().expect("a number"));
        let keys: Vec<_> = subjects.iter().map(|subject| key_text(*subject)).collect();
        let list: Vec<_> = keys
            .iter()
            .map(|key| key.as_deref())
            .zip(versions)
            .collect();
        self.version += 1;
        let expected = self.model.replace(&list, self.version, &known);
        let version = ResourceVersion::from(self.version);
        let outcome = self.queue.replace(objects, &version);
        prop_assert_eq!(outcome.map_err(|error| kind_of(&error)), expected);
        Ok(())
    }

    fn resync(&mut self) -> Result<(), TestCaseError> {
        let known = self.model_known();
        match (self.queue.resync(), self.model.resync(&known)) {
            (Ok(outcome), Ok(expected)) => {
                prop_assert_eq!(
                    outcome.known,
                    outcome.enqueued + outcome.skipped() + outcome.missing
                );
                let skipped = outcome.skipped_pending.into_iter();
                let skipped: BTreeMap<_, _> = skipped
                    .map(|(delta_type, count)| (letter(delta_type), count))
                    .collect();
                prop_assert_eq!(skipped, expected.skipped);
                prop_assert_eq!(
                    (
                        outcome.known,
                        outcome.enqueued,
                        outcome.missing,
                        outcome.markers
                    ),
                    (
                        expected.known,
                        expected.enqueued,
                        expected.missing,
                        expected.markers
                    )
                );
                Ok(())
            }
            (outcome, expected) => {
                let outcome = outcome.map(|_| ()).map_err(|error| kind_of(&error));
                prop_assert_eq!(outcome, expected.map(|_| ()));
                Ok(())
            }
        }
    }

    /// Whether there was something to pop.
    fn pop(&mut self) -> Result<bool, TestCaseError> {
        self.finish()?;
        let (Some(popped), Some(taken)) = (self.queue.pop(), self.model.pop()) else {
            prop_assert!(self.queue.is_empty() && self.model.log.is_empty());
            return Ok(false);
        };
        prop_assert_eq!(
            render_item(&popped.item),
            taken.entries.iter().map(render_entry).collect::<Vec<_>>()
        );
        let how = match popped.item {
            PoppedItem::Batch(_) => "batch",
            _ => "single",
        };
        prop_assert_eq!(how, taken.how);
        let initial = match popped.origin {
            AddOrigin::InitialList => "initial ",
            AddOrigin::Live => "",
        };
        prop_assert_eq!(initial, taken.initial);
        let lock = match popped.lock {
            LockWhileProcessing::Hold => "hold",
            LockWhileProcessing::Release => "release",
        };
        prop_assert_eq!(lock, taken.lock);
        self.in_process = Some((popped, taken));
        if lock == "hold" {
            self.finish()?;
        }
        Ok(true)
    }

    fn finish(&mut self) -> Result<(), TestCaseError> {
        let Some((popped, taken)) = self.in_process.take() else {
            return Ok(());
        };
        let mut calls = Vec::new();
        let outcome = process_popped(&popped, &self.known.indexer, |delta_type, notification| {
            calls.push(render_call(delta_type, &notification));
        });
        self.queue.processed();
        let (expected, failed) = self.cache.process(&taken);
        self.model.processed();
        if matches!(popped.item, PoppedItem::SyncAll) {
            calls.sort_unstable();
        }
        prop_assert_eq!(calls, expected);
        let outcome = match outcome {
            Ok(()) => None,
            Err(ProcessError::Key(_)) => Some((1, 1)),
            Err(ProcessError::Transaction(error)) => {
                prop_assert_eq!(
                    error.successful_indices.len() + error.errors.len(),
                    error.total
                );
                Some((error.errors.len(), error.total))
            }
        };
        prop_assert_eq!(outcome, failed);
        Ok(())
    }

    fn compare(&self) -> Result<(), TestCaseError> {
        let expected: Vec<_> = self.model.log.iter().map(render_entry).collect();
        prop_assert_eq!(pending(&self.queue), expected);
        prop_assert_eq!(self.queue.has_synced(), self.model.has_synced());
        prop_assert_eq!(self.queue.len(), self.model.log.len());
        prop_assert_eq!(self.queue.delta_count(), self.model.log.len());
        let cached = self.known.indexer.list();
        let cached: BTreeMap<_, _> = cached
            .iter()
            .map(|object| {
                let key = object.key().expect("named").to_string();
                (key, object.resource_version().number().expect("a number"))
            })
            .collect();
        prop_assert_eq!(&cached, &self.cache.objects);
        prop_assert_eq!(
            self.known.indexer.len(),
            cached.len(),
            "keys are those of the objects"
        );
        prop_assert_eq!(
            self.known.indexer.resource_version().number(),
            self.cache.version
        );
        Ok(())
    }
}

fn kind_of(error: &QueueError) -> &'static str {
    match error {
        QueueError::Key(_) => "key",
        QueueError::Transform(_) => "transform",
    }
}

fn run(preset: Preset, objects: Objects, operations: Vec<Op>) -> Result<(), TestCaseError> {
    let mut pair = Pair::new(preset, objects);
    for operation in operations {
        pair.step(operation)?;
        pair.compare()?;
    }
    while pair.pop()? {
        pair.compare()?;
    }
    pair.finish()?;
    pair.compare()
}

fn objects() -> impl Strategy<Value = Objects> {
    prop_oneof![Just(Objects::AsSent), Just(Objects::Transformed)]
}

fn batch_size() -> impl Strategy<Value = usize> {
    prop_oneof![Just(1), Just(2), Just(3), Just(1_000)]
}

fn operations() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(operation(), 1..32)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(crate::model::cases()) })]

    #[test]
    fn a_queue_of_0_34_does_what_the_model_does(objects in objects(), operations in operations()) {
        run(Preset::PerEvent, objects, operations)?;
    }

    #[test]
    fn a_queue_of_0_35_does_what_the_model_does(size in batch_size(), objects in objects(), operations in operations()) {
        run(Preset::Batched(size), objects, operations)?;
    }

    #[test]
    fn a_queue_of_0_36_does_what_the_model_does(size in batch_size(), objects in objects(), operations in operations()) {
        run(Preset::Atomic(size), objects, operations)?;
    }
}
