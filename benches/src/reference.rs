//! The queue that anybody would write first: what the generations' cost is held against where there is no Go.
//!
//! Text keys, a map of pending deltas, the keys in order, one lock. It follows `DeltaFIFO`'s rules for the operations that are
//! benched and knows nothing of waking, of first lists or of tombstones' order.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bench_core::{
    api::{KubeObject as _, Object},
    cache::DeltaType,
};

/// What happened to one key, oldest first.
pub type PendingDeltas = Vec<(DeltaType, Arc<Object>)>;

/// The plain queue with its cache.
#[derive(Debug, Default)]
pub struct ReferenceQueue {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    pending: HashMap<String, PendingDeltas>,
    order: VecDeque<String>,
    cache: BTreeMap<String, Arc<Object>>,
}

impl ReferenceQueue {
    /// An empty queue whose cache holds `known`.
    ///
    /// # Panics
    /// If an object has no name.
    pub fn new(known: &[Arc<Object>]) -> Self {
        let cache = known
            .iter()
            .map(|object| (key(object), Arc::clone(object)))
            .collect();
        Self {
            state: Mutex::new(State {
                cache,
                ..State::default()
            }),
        }
    }

    /// Writes a delta; `DeltaType::Deleted` of a key that is neither pending nor cached is dropped.
    ///
    /// # Panics
    /// If the object has no name.
    pub fn write(&self, delta_type: DeltaType, object: &Arc<Object>) {
        let mut state = self.state();
        let key = key(object);
        let known = state.pending.contains_key(&key) || state.cache.contains_key(&key);
        if delta_type != DeltaType::Deleted || known {
            state.push(key, delta_type, object);
        }
    }

    /// Puts a whole list: its objects as replaced, and a deletion for each that is pending or cached and not in it.
    ///
    /// # Panics
    /// If an object has no name.
    pub fn replace(&self, objects: &[Arc<Object>]) {
        let mut state = self.state();
        let mut listed = HashSet::with_capacity(objects.len());
        for object in objects {
            let key = key(object);
            listed.insert(key.clone());
            state.push(key, DeltaType::Replaced, object);
        }
        let mut gone = BTreeMap::new();
        for (key, deltas) in &state.pending {
            if !listed.contains(key) {
                gone.insert(
                    key.clone(),
                    Arc::clone(&deltas.last().expect("not empty").1),
                );
            }
        }
        for (key, object) in &state.cache {
            if !listed.contains(key) && !gone.contains_key(key) {
                gone.insert(key.clone(), Arc::clone(object));
            }
        }
        for (key, object) in gone {
            state.push(key, DeltaType::Deleted, &object);
        }
    }

    /// Puts each cached object that has nothing pending back; returns how many.
    pub fn resync(&self) -> usize {
        let mut state = self.state();
        let due: Vec<(String, Arc<Object>)> = state
            .cache
            .iter()
            .filter(|(key, _)| !state.pending.contains_key(*key))
            .map(|(key, object)| (key.clone(), Arc::clone(object)))
            .collect();
        for (key, object) in &due {
            state.push(key.clone(), DeltaType::Sync, object);
        }
        due.len()
    }

    /// Takes the oldest key with its deltas.
    pub fn pop(&self) -> Option<(String, PendingDeltas)> {
        let mut state = self.state();
        let key = state.order.pop_front()?;
        let deltas = state
            .pending
            .remove(&key)
            .expect("what is in order is pending");
        Some((key, deltas))
    }

    /// Pops everything into the cache and returns how many notifications that made.
    pub fn drain(&self) -> usize {
        let mut notifications = 0;
        while let Some((key, deltas)) = self.pop() {
            let mut state = self.state();
            for (delta_type, object) in deltas {
                if delta_type == DeltaType::Deleted {
                    state.cache.remove(&key);
                } else {
                    state.cache.insert(key.clone(), object);
                }
                notifications += 1;
            }
        }
        notifications
    }

    /// Keys with something pending.
    pub fn len(&self) -> usize {
        self.state().order.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn push(&mut self, key: String, delta_type: DeltaType, object: &Arc<Object>) {
        let delta = (delta_type, Arc::clone(object));
        if let Some(deltas) = self.pending.get_mut(&key) {
            let twice_deleted = delta_type == DeltaType::Deleted
                && deltas
                    .last()
                    .is_some_and(|last| last.0 == DeltaType::Deleted);
            if !twice_deleted {
                deltas.push(delta);
            }
        } else {
            self.order.push_back(key.clone());
            self.pending.insert(key, vec![delta]);
        }
    }
}

fn key(object: &Object) -> String {
    object.key().expect("named").as_str().to_owned()
}
