//! Shared set-up of the criterion benches: objects, a filled informer queue, and settings.
//!
//! Benches go through the drivers that users run: [`QueueHandle`], locked and waking, over any generation. What times pure
//! state has `pure` in its name.

pub mod differential;
pub mod exchange;
pub mod reference;
pub mod transport;

use std::{collections::HashMap, sync::Arc, time::Duration};

use bench_core::{
    api::{KubeObject as _, Object, ResourceVersion},
    cache::{
        AnyQueue, Indexer, KnownObjects, NoObserver, Popped, QueueHandle, QueueKind, process_popped,
    },
};
use criterion::Criterion;
use fake_apiserver::{config::WindowConfig, profiles::Profile, storage::Storage};

/// The queue of an informer that nobody observes.
pub type Queue = QueueHandle<Object, AnyQueue<Object>, NoObserver>;

/// A queue and the cache that it knows.
#[derive(Debug)]
pub struct Rig {
    /// The queue.
    pub queue: Queue,
    /// The cache, in the place of known objects.
    pub indexer: Arc<Indexer<Object>>,
}

/// Warm-up 0.5 s, measurement 1 s, 10 samples.
pub fn settings() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(1))
        .sample_size(10)
        .configure_from_args()
}

/// `count` small pods in 100 namespaces, all at one version.
///
/// # Panics
/// Never: the JSON is ours.
pub fn objects(count: usize, version: u64) -> Vec<Arc<Object>> {
    (0..count)
        .map(|number| {
            let json = format!(
                r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"web-7f9c5b6d4-{number:07}","namespace":"namespace-{:02}","uid":"u{number}","resourceVersion":"{version}"}}}}"#,
                number % 100
            );
            Arc::new(Object::decode(json.as_bytes()).expect("the JSON is ours"))
        })
        .collect()
}

/// The JSON of the first `count` objects of a profile.
///
/// # Panics
/// Never: profiles make JSON.
pub fn pods_json(profile: &Profile, count: usize) -> Vec<String> {
    let mut storage = Storage::new(WindowConfig::kube_apiserver());
    let id = storage.register(&profile.kind().resource());
    for draft in profile.population(count, 1) {
        storage.load(id, &draft).expect("no two share a key");
    }
    let objects = storage.store(id).objects().values();
    objects
        .map(|object| String::from_utf8(object.json().to_vec()).expect("JSON is text"))
        .collect()
}

/// An empty queue of a generation whose cache holds `known`.
///
/// # Panics
/// If an object has no name.
pub fn rig(kind: QueueKind, known: &[Arc<Object>]) -> Rig {
    let indexer = Arc::new(Indexer::new(HashMap::new()));
    for object in known {
        indexer.put(&object.key().expect("named"), object);
    }
    let known_objects: Arc<dyn KnownObjects<Object>> = Arc::<Indexer<Object>>::clone(&indexer);
    Rig {
        queue: QueueHandle::new(AnyQueue::for_informer(kind, known_objects), NoObserver),
        indexer,
    }
}

impl Rig {
    /// Pops everything into the cache as a controller does and returns how many notifications that made.
    ///
    /// # Panics
    /// If an object has no name.
    pub fn drain(&self) -> usize {
        let mut notifications = 0;
        let mut process = |popped: &Popped<Object>| {
            process_popped(popped, &self.indexer, |_, _| notifications += 1).expect("named");
        };
        while self.queue.try_pop(&mut process).is_ok() {}
        notifications
    }

    /// Pops everything and throws it away; returns how many deltas there were, a whole list or resync counting as none.
    pub fn discard(&self) -> usize {
        let mut deltas = 0;
        while self
            .queue
            .try_pop(|popped| deltas += popped.item.deltas().len())
            .is_ok()
        {}
        deltas
    }

    /// Writes an addition for each of `objects`.
    ///
    /// # Panics
    /// If an object has no name.
    pub fn add_all(&self, objects: &[Arc<Object>]) {
        for object in objects {
            self.queue.add(Arc::clone(object)).expect("named");
        }
    }

    /// Writes an update for each of `objects`.
    ///
    /// # Panics
    /// If an object has no name.
    pub fn update_all(&self, objects: &[Arc<Object>]) {
        for object in objects {
            self.queue.update(Arc::clone(object)).expect("named");
        }
    }

    /// Puts a whole list.
    ///
    /// # Panics
    /// If an object has no name.
    pub fn replace(&self, objects: Vec<Arc<Object>>) {
        self.queue
            .replace(objects, &ResourceVersion::from(1))
            .expect("named");
    }
}
