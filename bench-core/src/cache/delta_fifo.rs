//! `DeltaFIFO`: a queue of keys, each with its changes since it was last popped.
//!
//! Mirrors client-go's `tools/cache/delta_fifo.go` of 0.27. The contract, in our words:
//!
//! - A key is in the queue at most once and keeps its place however many deltas join it.
//! - Deltas are never merged, but for one case: of two deletions in a row one is kept, the newer if the older is a tombstone,
//!   else the older.
//! - A deletion of a key that neither the queue nor the consumer knows is dropped.
//! - A resync adds a Sync delta for each known key *that has nothing pending*, since a pending delta is newer than what is
//!   known.
//! - The first list counts as popped when as many keys have been popped as it had keys and found deletions.

use std::{
    collections::{HashMap, HashSet, VecDeque, hash_map::Entry},
    fmt,
    sync::Arc,
};

use crate::api::{KeyError, KubeObject, ObjectKey, ResourceVersion};

use super::{
    Delta, DeltaObject, DeltaType, Deltas, EventQueue, KnownObjects, LockWhileProcessing, Popped,
    PoppedItem, QueueError, QueueKind, ResyncOutcome, initial_population::InitialPopulation,
};

/// Changes an object before it is queued; the queue and everything after it see only the result.
pub type Transformer<T> = Box<dyn Fn(Arc<T>) -> Result<Arc<T>, String> + Send>;

/// The same for an informer, whose queue and reflector share it.
pub type SharedTransformer<T> = Arc<dyn Fn(Arc<T>) -> Result<Arc<T>, String> + Send + Sync>;

/// The delta type that a list's items get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmittedOnReplace {
    /// What informers use.
    Replaced,
    /// The default of upstream's bare constructor.
    Sync,
}

/// How a [`DeltaFifo`] is set up.
pub struct DeltaFifoSettings<T> {
    /// The consumer's cache; without it nothing is resynced and no deletion of a popped key is ever found.
    pub known_objects: Option<Arc<dyn KnownObjects<T>>>,
    /// The delta type of a list's items.
    pub emitted_on_replace: EmittedOnReplace,
    /// Applied to every delta's object, Sync deltas included, but not to tombstones: 0.27 hands its transformers the tombstone
    /// itself, which those for objects leave alone.
    pub transformer: Option<Transformer<T>>,
}

/// The queue. See the module's contract.
///
/// ```
/// use std::sync::Arc;
/// use bench_core::{
///     api::{KubeObject, Object},
///     cache::{DeltaFifo, DeltaType, EventQueue, Indexer, KnownObjects, PoppedItem, index_by_namespace},
/// };
///
/// let pod = |version| {
///     let json = format!(r#"{{"kind":"Pod","metadata":{{"namespace":"shop","name":"web","resourceVersion":"{version}"}}}}"#);
///     Arc::new(Object::decode(json.as_bytes()).unwrap())
/// };
/// let cache = Arc::new(Indexer::new(index_by_namespace()));
/// cache.add(&pod(7)).unwrap();
/// let known: Arc<dyn KnownObjects<Object>> = cache;
/// let mut queue = DeltaFifo::for_informer(known);
///
/// // Nothing is pending, so a resync puts the cached state back into the queue; an update joins its key.
/// assert_eq!(queue.resync().unwrap().enqueued, 1);
/// queue.update(pod(8)).unwrap();
/// assert_eq!((queue.len(), queue.delta_count()), (1, 2));
///
/// // The next resync leaves the key alone: its cached state would come after a newer one.
/// assert_eq!(queue.resync().unwrap().skipped_pending[&DeltaType::Sync], 1);
/// let PoppedItem::Deltas(deltas) = queue.pop().unwrap().item else { unreachable!() };
/// assert_eq!(deltas[1].delta_type, DeltaType::Updated);
/// ```
pub struct DeltaFifo<T> {
    // Invariant: a key is in `queue` if and only if it is in `items`, and no key is there twice.
    items: HashMap<ObjectKey, Deltas<T>>,
    queue: VecDeque<ObjectKey>,
    // Invariant: the sum of the lengths of the values of `items`.
    delta_count: usize,
    // Counts keys of the first list and deletions that it found.
    initial: InitialPopulation,
    settings: DeltaFifoSettings<T>,
}

impl<T: KubeObject> DeltaFifo<T> {
    /// Makes an empty queue.
    pub fn new(settings: DeltaFifoSettings<T>) -> Self {
        Self {
            items: HashMap::new(),
            queue: VecDeque::new(),
            delta_count: 0,
            initial: InitialPopulation::default(),
            settings,
        }
    }

    /// Makes the queue of an informer, whose cache is `known_objects`.
    pub fn for_informer(known_objects: Arc<dyn KnownObjects<T>>) -> Self {
        Self::new(DeltaFifoSettings {
            known_objects: Some(known_objects),
            emitted_on_replace: EmittedOnReplace::Replaced,
            transformer: None,
        })
    }

    /// Puts popped deltas back at the tail, unless the key has pending deltas; what a consumer that asks for a requeue gets.
    ///
    /// # Errors
    /// [`KeyError::ZeroLengthDeltas`] if `deltas` is empty, or its newest object's key error.
    pub fn add_if_not_present(&mut self, deltas: Deltas<T>) -> Result<(), QueueError> {
        let key = Self::key_of(&deltas)?;
        self.initial.written();
        if let Entry::Vacant(vacant) = self.items.entry(key) {
            self.queue.push_back(vacant.key().clone());
            self.delta_count += deltas.len();
            vacant.insert(deltas);
        }
        Ok(())
    }

    /// The key of a list of deltas: that of its newest object.
    ///
    /// # Errors
    /// [`KeyError::ZeroLengthDeltas`] if `deltas` is empty, or the newest object's key error.
    pub fn key_of(deltas: &[Delta<T>]) -> Result<ObjectKey, KeyError> {
        deltas
            .last()
            .ok_or(KeyError::ZeroLengthDeltas)?
            .object
            .key()
    }

    /// The pending deltas of a key.
    pub fn get_by_key(&self, key: &ObjectKey) -> Option<&Deltas<T>> {
        self.items.get(key)
    }

    /// The keys in the order in which they will be popped.
    pub fn list_keys(&self) -> Vec<ObjectKey> {
        self.queue.iter().cloned().collect()
    }

    /// The newest object of each key, in no order.
    pub fn list(&self) -> Vec<DeltaObject<T>> {
        let newest = |deltas: &Deltas<T>| deltas.last().map(|delta| delta.object.clone());
        self.items.values().filter_map(newest).collect()
    }

    fn append(&mut self, key: ObjectKey, delta: Delta<T>) -> Result<(), QueueError> {
        let delta = self.transformed(delta)?;
        self.push(key, delta);
        Ok(())
    }

    /// Queues a delta as it is: what a tombstone holds was transformed before.
    fn push(&mut self, key: ObjectKey, delta: Delta<T>) {
        match self.items.entry(key) {
            Entry::Vacant(vacant) => {
                self.queue.push_back(vacant.key().clone());
                vacant.insert(vec![delta]);
                self.delta_count += 1;
            }
            Entry::Occupied(mut occupied) => {
                let deltas = occupied.get_mut();
                let length_before = deltas.len();
                deltas.push(delta);
                merge_last_two_deletions(deltas);
                self.delta_count += deltas.len() - length_before;
            }
        }
    }

    fn transformed(&self, delta: Delta<T>) -> Result<Delta<T>, QueueError> {
        let Some(transformer) = &self.settings.transformer else {
            return Ok(delta);
        };
        let object = match delta.object {
            DeltaObject::Object(object) => {
                DeltaObject::Object(transformer(object).map_err(QueueError::Transform)?)
            }
            tombstone @ DeltaObject::FinalStateUnknown(_) => tombstone,
        };
        Ok(Delta {
            delta_type: delta.delta_type,
            object,
        })
    }

    /// Queues deletions for keys that are pending and not in the list; returns how many.
    fn delete_queued_but_not_listed(&mut self, listed: &HashSet<ObjectKey>) -> usize {
        // In queue order: upstream's order is a map's, so any order is its.
        let gone: Vec<_> = self
            .queue
            .iter()
            .filter(|key| !listed.contains(*key))
            .cloned()
            .collect();
        for key in &gone {
            let newest = self.items.get(key).and_then(|deltas| deltas.last());
            let last_known = newest.and_then(|delta| delta.object.last_known().cloned());
            self.push(key.clone(), Delta::tombstone(key.clone(), last_known));
        }
        gone.len()
    }

    /// Queues deletions for keys that only the consumer knows; returns how many.
    fn delete_known_but_not_listed(&mut self, listed: &HashSet<ObjectKey>) -> usize {
        let Some(known_objects) = self.settings.known_objects.clone() else {
            return 0;
        };
        let mut found = 0;
        for key in known_objects.list_keys() {
            if listed.contains(&key) || self.items.contains_key(&key) {
                continue;
            }
            let last_known = known_objects.get_by_key(&key).unwrap_or_else(|error| {
                tracing::error!(%key, error, "lookup of a deleted object failed");
                None
            });
            self.push(key.clone(), Delta::tombstone(key, last_known));
            found += 1;
        }
        found
    }
}

impl<T: KubeObject> EventQueue<T> for DeltaFifo<T> {
    fn kind(&self) -> QueueKind {
        QueueKind::DeltaFifo
    }

    fn add(&mut self, object: Arc<T>) -> Result<(), QueueError> {
        self.initial.written();
        self.append(object.key()?, Delta::new(DeltaType::Added, object))
    }

    fn update(&mut self, object: Arc<T>) -> Result<(), QueueError> {
        self.initial.written();
        self.append(object.key()?, Delta::new(DeltaType::Updated, object))
    }

    fn delete(&mut self, object: DeltaObject<T>) -> Result<(), QueueError> {
        let key = object.key()?;
        self.initial.written();
        let pending = self.items.contains_key(&key);
        let unknown = match &self.settings.known_objects {
            None => !pending,
            // A failed lookup does not suppress the deletion.
            Some(known_objects) => !pending && matches!(known_objects.get_by_key(&key), Ok(None)),
        };
        if unknown {
            return Ok(());
        }
        self.append(
            key,
            Delta {
                delta_type: DeltaType::Deleted,
                object,
            },
        )
    }

    fn replace(
        &mut self,
        objects: Vec<Arc<T>>,
        _resource_version: &ResourceVersion,
    ) -> Result<(), QueueError> {
        let delta_type = match self.settings.emitted_on_replace {
            EmittedOnReplace::Replaced => DeltaType::Replaced,
            EmittedOnReplace::Sync => DeltaType::Sync,
        };
        let mut listed = HashSet::with_capacity(objects.len());
        for object in objects {
            let key = object.key()?;
            listed.insert(key.clone());
            self.append(key, Delta::new(delta_type, object))?;
        }
        let deletions =
            self.delete_queued_but_not_listed(&listed) + self.delete_known_but_not_listed(&listed);
        self.initial.listed(listed.len() + deletions);
        Ok(())
    }

    fn resync(&mut self) -> Result<ResyncOutcome, QueueError> {
        let mut outcome = ResyncOutcome::default();
        let Some(known_objects) = self.settings.known_objects.clone() else {
            return Ok(outcome);
        };
        for key in known_objects.list_keys() {
            outcome.known += 1;
            let object = match known_objects.get_by_key(&key) {
                Ok(Some(object)) => object,
                Ok(None) => {
                    outcome.missing += 1;
                    tracing::info!(%key, "known object vanished before its resync");
                    continue;
                }
                Err(error) => {
                    outcome.missing += 1;
                    tracing::error!(%key, error, "lookup for resync failed");
                    continue;
                }
            };
            // By the object's own key, as upstream, and not by the one that the cache listed.
            let key = object.key()?;
            if let Some(first) = self.items.get(&key).and_then(|deltas| deltas.first()) {
                *outcome.skipped_pending.entry(first.delta_type).or_default() += 1;
                continue;
            }
            self.append(key, Delta::new(DeltaType::Sync, object))?;
            outcome.enqueued += 1;
        }
        Ok(outcome)
    }

    fn pop(&mut self) -> Option<Popped<T>> {
        let key = self.queue.pop_front()?;
        // Asked before the count goes down, so the last key of the first list is still of the first list.
        let origin = self.initial.origin();
        self.initial.taken(1);
        let deltas = self
            .items
            .remove(&key)
            .expect("every queued key has deltas");
        self.delta_count -= deltas.len();
        Some(Popped {
            item: PoppedItem::Deltas(deltas),
            origin,
            lock: LockWhileProcessing::Hold,
        })
    }

    fn processed(&mut self) {}

    fn has_synced(&self) -> bool {
        self.initial.has_synced()
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn delta_count(&self) -> usize {
        self.delta_count
    }
}

impl<T> fmt::Debug for DeltaFifo<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("DeltaFifo")
            .field("keys", &self.queue.len())
            .field("deltas", &self.delta_count)
            .field("initial", &self.initial)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for DeltaFifoSettings<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("DeltaFifoSettings")
            .field("known_objects", &self.known_objects.is_some())
            .field("emitted_on_replace", &self.emitted_on_replace)
            .field("transformer", &self.transformer.is_some())
            .finish()
    }
}

/// Of two deletions at the end of the list one is kept: the newer if the older is a tombstone, so that a real final state
/// beats a guess; else the older.
fn merge_last_two_deletions<T>(deltas: &mut Deltas<T>) {
    let [.., older, newer] = deltas.as_slice() else {
        return;
    };
    if older.delta_type != DeltaType::Deleted || newer.delta_type != DeltaType::Deleted {
        return;
    }
    let older_is_guess = older.object.is_final_state_unknown();
    let newer = deltas.pop().expect("there are two");
    if older_is_guess {
        *deltas.last_mut().expect("there is one left") = newer;
    }
}
