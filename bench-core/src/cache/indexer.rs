//! The cache and its secondary lookups.
//!
//! Mirrors client-go's `tools/cache/thread_safe_store.go`, `store.go` and `index.go`: a map under one read-write lock; an
//! index maps each value that its function yields to the set of keys that yield it. Transactions and the cache's own version
//! are those of 0.35 and 0.36.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fmt,
    sync::Arc,
};

use parking_lot::RwLock;

use crate::api::{KeyError, KubeObject, ObjectKey, ResourceVersion};

use super::{Delta, DeltaObject, DeltaType, KnownObjects};

/// Name of the index by namespace.
pub const NAMESPACE_INDEX: &str = "namespace";

/// Yields the values under which an object is found in one index.
pub type IndexFunc<T> = Arc<dyn Fn(&T) -> Vec<String> + Send + Sync>;

/// Index functions by index name.
pub type Indexers<T> = HashMap<String, IndexFunc<T>>;

/// Why an index could not be read or added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// No index has this name.
    #[error("index with name {0} does not exist")]
    Unknown(String),
    /// An index of this name exists already.
    #[error("indexer conflict: {0}")]
    Conflict(String),
    /// The cache already holds objects, which 0.27 does not index afterwards.
    #[error("cannot add indexers to running index")]
    NotEmpty,
}

/// The cache: objects by key, and keys by indexed value. Shared by reference; every method takes the lock itself and only for
/// its own duration.
///
/// ```
/// use std::sync::Arc;
/// use bench_core::{api::{KubeObject, Object, ObjectKey}, cache::{Indexer, NAMESPACE_INDEX, index_by_namespace}};
///
/// let pod = r#"{"kind":"Pod","metadata":{"namespace":"shop","name":"web","resourceVersion":"7"}}"#;
/// let pod = Arc::new(Object::decode(pod.as_bytes()).unwrap());
/// let indexer = Indexer::new(index_by_namespace());
/// indexer.add(&pod).unwrap();
///
/// assert!(indexer.get_by_key(&ObjectKey::new("shop", "web")).is_some());
/// assert_eq!(indexer.by_index(NAMESPACE_INDEX, "shop").unwrap().len(), 1);
/// assert_eq!(indexer.by_index(NAMESPACE_INDEX, "bank").unwrap().len(), 0);
/// ```
pub struct Indexer<T> {
    state: RwLock<State<T>>,
}

struct State<T> {
    items: HashMap<ObjectKey, Arc<T>>,
    indexers: Indexers<T>,
    // Invariant: holds exactly what the functions yield for `items`; no set in it is empty.
    indices: HashMap<String, HashMap<String, HashSet<ObjectKey>>>,
    // Of the last write that had one; not the highest.
    resource_version: ResourceVersion,
}

/// The index function for [`NAMESPACE_INDEX`].
pub fn index_by_namespace<T: KubeObject>() -> Indexers<T> {
    let namespace_of: IndexFunc<T> = Arc::new(|object: &T| {
        object
            .key()
            .map(|key| vec![key.namespace().to_owned()])
            .unwrap_or_default()
    });
    HashMap::from([(NAMESPACE_INDEX.to_owned(), namespace_of)])
}

impl<T: KubeObject> Indexer<T> {
    /// Makes an empty cache with the given indexes.
    pub fn new(indexers: Indexers<T>) -> Self {
        let indices = indexers
            .keys()
            .map(|name| (name.clone(), HashMap::new()))
            .collect();
        Self {
            state: RwLock::new(State {
                items: HashMap::new(),
                indexers,
                indices,
                resource_version: ResourceVersion::unset(),
            }),
        }
    }

    /// Adds or overwrites an object.
    ///
    /// # Errors
    /// [`KeyError`] if it has no key.
    pub fn add(&self, object: &Arc<T>) -> Result<(), KeyError> {
        self.put(&object.key()?, object);
        Ok(())
    }

    /// Adds or overwrites the object of a key and returns the one that was there.
    pub fn put(&self, key: &ObjectKey, object: &Arc<T>) -> Option<Arc<T>> {
        let resource_version = object.resource_version();
        let mut state = self.state.write();
        let old = state.put(key, object);
        state.resource_version = resource_version;
        old
    }

    /// Removes an object; a missing one is no error.
    ///
    /// # Errors
    /// [`KeyError`] if it has no key.
    pub fn delete(&self, object: &DeltaObject<T>) -> Result<(), KeyError> {
        self.remove_deleted(&object.key()?, object);
        Ok(())
    }

    /// Removes the object of a key and returns it. The cache's version stays: see [`Indexer::remove_deleted`].
    pub fn remove(&self, key: &ObjectKey) -> Option<Arc<T>> {
        self.state.write().remove(key)
    }

    /// Removes the object of a key and returns it; `deleted`, unless it is a tombstone, tells the cache its new version.
    pub fn remove_deleted(&self, key: &ObjectKey, deleted: &DeltaObject<T>) -> Option<Arc<T>> {
        let resource_version = version_of(deleted);
        let mut state = self.state.write();
        let old = state.remove(key);
        state.reached(resource_version);
        old
    }

    /// Makes `objects`, a list of the given version, the whole content, in one step for readers.
    ///
    /// # Errors
    /// [`KeyError`] if one has no key; then nothing has changed.
    pub fn replace(
        &self,
        objects: &[Arc<T>],
        resource_version: &ResourceVersion,
    ) -> Result<(), KeyError> {
        let mut items = HashMap::with_capacity(objects.len());
        for object in objects {
            items.insert(object.key()?, Arc::clone(object));
        }
        let mut state = self.state.write();
        state.indices.values_mut().for_each(HashMap::clear);
        state.items = items;
        state.resource_version = resource_version.clone();
        state.index_everything();
        Ok(())
    }

    /// Writes the deltas of distinct objects in their order, in one step for readers, and yields for each the object that
    /// was there. One without a key is left out and yields an error; the others are written.
    pub fn transaction(&self, deltas: &[Delta<T>]) -> Vec<Result<Option<Arc<T>>, KeyError>> {
        let keys: Vec<_> = deltas.iter().map(|delta| delta.object.key()).collect();
        let mut written = deltas.iter().zip(&keys).filter(|(_, key)| key.is_ok());
        let resource_version = written
            .next_back()
            .and_then(|(last, _)| version_of(&last.object));
        let mut state = self.state.write();
        let write = |(delta, key): (&Delta<T>, Result<ObjectKey, KeyError>)| {
            let key = key?;
            Ok(match (delta.delta_type, delta.object.last_known()) {
                (DeltaType::Deleted, _) => state.remove(&key),
                (_, Some(object)) => state.put(&key, object),
                (_, None) => None,
            })
        };
        let outcomes = deltas.iter().zip(keys).map(write).collect();
        state.reached(resource_version);
        outcomes
    }

    /// Notes a version that the server is known to have reached.
    pub fn bookmark(&self, resource_version: &ResourceVersion) {
        self.state.write().resource_version = resource_version.clone();
    }

    /// The version of the cache: that of the last write or bookmark that had one, which need not be the highest. Upstream
    /// tells it (`LastStoreSyncResourceVersion`) from 0.36 on.
    pub fn resource_version(&self) -> ResourceVersion {
        self.state.read().resource_version.clone()
    }

    /// One object.
    pub fn get_by_key(&self, key: &ObjectKey) -> Option<Arc<T>> {
        self.state.read().items.get(key).cloned()
    }

    /// All objects, in no order; one point in time. The objects are shared and must not be changed.
    pub fn list(&self) -> Vec<Arc<T>> {
        self.state.read().items.values().cloned().collect()
    }

    /// All keys, in no order.
    pub fn list_keys(&self) -> Vec<ObjectKey> {
        self.state.read().items.keys().cloned().collect()
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.state.read().items.len()
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The objects that share at least one value with `object` in an index, each once.
    ///
    /// # Errors
    /// [`IndexError::Unknown`] if there is no such index.
    pub fn index(&self, index_name: &str, object: &T) -> Result<Vec<Arc<T>>, IndexError> {
        let state = self.state.read();
        let function = state
            .indexers
            .get(index_name)
            .ok_or_else(|| IndexError::Unknown(index_name.to_owned()))?;
        let index = state.indices.get(index_name);
        let keys: HashSet<_> = function(object)
            .iter()
            .filter_map(|value| index?.get(value))
            .flatten()
            .collect();
        Ok(keys
            .into_iter()
            .filter_map(|key| state.items.get(key).cloned())
            .collect())
    }

    /// The objects under one value of an index, in no order.
    ///
    /// # Errors
    /// [`IndexError::Unknown`] if there is no such index.
    pub fn by_index(
        &self,
        index_name: &str,
        indexed_value: &str,
    ) -> Result<Vec<Arc<T>>, IndexError> {
        let state = self.state.read();
        let keys = state.keys_of(index_name, indexed_value)?;
        Ok(keys
            .into_iter()
            .flatten()
            .filter_map(|key| state.items.get(key).cloned())
            .collect())
    }

    /// The keys under one value of an index, sorted.
    ///
    /// # Errors
    /// [`IndexError::Unknown`] if there is no such index.
    pub fn index_keys(
        &self,
        index_name: &str,
        indexed_value: &str,
    ) -> Result<Vec<ObjectKey>, IndexError> {
        let state = self.state.read();
        let keys = state.keys_of(index_name, indexed_value)?;
        Ok(keys
            .into_iter()
            .flatten()
            .cloned()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect())
    }

    /// The values of an index under which there are objects, in no order; none for an unknown index.
    pub fn list_index_func_values(&self, index_name: &str) -> Vec<String> {
        let state = self.state.read();
        state
            .indices
            .get(index_name)
            .map(|index| index.keys().cloned().collect())
            .unwrap_or_default()
    }

    /// Adds indexes to an empty cache, as client-go allows up to 0.29.
    ///
    /// # Errors
    /// [`IndexError::NotEmpty`] if there are objects, [`IndexError::Conflict`] if a name is taken.
    pub fn add_indexers(&self, indexers: Indexers<T>) -> Result<(), IndexError> {
        let mut state = self.state.write();
        if !state.items.is_empty() {
            return Err(IndexError::NotEmpty);
        }
        state.add_indexers(indexers)
    }

    /// Adds indexes at any time and puts what the cache holds into them, as client-go does from 0.30 on. Readers wait.
    ///
    /// # Errors
    /// [`IndexError::Conflict`] if a name is taken.
    pub fn add_indexers_at_any_time(&self, indexers: Indexers<T>) -> Result<(), IndexError> {
        self.state.write().add_indexers(indexers)
    }
}

impl<T> State<T> {
    fn add_indexers(&mut self, indexers: Indexers<T>) -> Result<(), IndexError> {
        let taken: BTreeSet<_> = indexers
            .keys()
            .filter(|name| self.indexers.contains_key(*name))
            .cloned()
            .collect();
        if !taken.is_empty() {
            return Err(IndexError::Conflict(
                taken.into_iter().collect::<Vec<_>>().join(", "),
            ));
        }
        for (name, function) in indexers {
            let mut index = HashMap::new();
            fill_index(&mut index, &function, &self.items);
            self.indices.insert(name.clone(), index);
            self.indexers.insert(name, function);
        }
        Ok(())
    }

    fn reached(&mut self, resource_version: Option<ResourceVersion>) {
        if let Some(resource_version) = resource_version {
            self.resource_version = resource_version;
        }
    }

    fn remove(&mut self, key: &ObjectKey) -> Option<Arc<T>> {
        let old = self.items.remove(key)?;
        self.unindex(key, &old);
        Some(old)
    }

    fn put(&mut self, key: &ObjectKey, object: &Arc<T>) -> Option<Arc<T>> {
        let old = self.items.insert(key.clone(), Arc::clone(object));
        for (name, function) in &self.indexers {
            let new_values = function(object);
            let old_values = old.as_ref().map(|old| function(old)).unwrap_or_default();
            if new_values == old_values {
                continue;
            }
            let index = self.indices.entry(name.clone()).or_default();
            for value in &old_values {
                remove_from_index(index, value, key);
            }
            for value in new_values {
                index.entry(value).or_default().insert(key.clone());
            }
        }
        old
    }

    fn unindex(&mut self, key: &ObjectKey, old: &T) {
        for (name, function) in &self.indexers {
            let Some(index) = self.indices.get_mut(name) else {
                continue;
            };
            for value in function(old) {
                remove_from_index(index, &value, key);
            }
        }
    }

    fn index_everything(&mut self) {
        for (name, function) in &self.indexers {
            let index = self.indices.entry(name.clone()).or_default();
            fill_index(index, function, &self.items);
        }
    }

    fn keys_of(
        &self,
        index_name: &str,
        value: &str,
    ) -> Result<Option<&HashSet<ObjectKey>>, IndexError> {
        let index = self
            .indices
            .get(index_name)
            .ok_or_else(|| IndexError::Unknown(index_name.to_owned()))?;
        Ok(index.get(value))
    }
}

impl<T: KubeObject> KnownObjects<T> for Indexer<T> {
    fn list_keys(&self) -> Vec<ObjectKey> {
        Self::list_keys(self)
    }

    fn get_by_key(&self, key: &ObjectKey) -> Result<Option<Arc<T>>, String> {
        Ok(Self::get_by_key(self, key))
    }
}

impl<T> fmt::Debug for Indexer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.read();
        formatter
            .debug_struct("Indexer")
            .field("objects", &state.items.len())
            .field("indexes", &state.indexers.keys().collect::<BTreeSet<_>>())
            .finish()
    }
}

/// The version that a deletion tells the cache; a tombstone knows none.
fn version_of<T: KubeObject>(object: &DeltaObject<T>) -> Option<ResourceVersion> {
    match object {
        DeltaObject::Object(object) => Some(object.resource_version()),
        DeltaObject::FinalStateUnknown(_) => None,
    }
}

fn fill_index<T>(
    index: &mut HashMap<String, HashSet<ObjectKey>>,
    function: &IndexFunc<T>,
    items: &HashMap<ObjectKey, Arc<T>>,
) {
    for (key, object) in items {
        for value in function(object) {
            index.entry(value).or_default().insert(key.clone());
        }
    }
}

/// Empty sets go, or short-lived values would pile up.
fn remove_from_index(
    index: &mut HashMap<String, HashSet<ObjectKey>>,
    value: &str,
    key: &ObjectKey,
) {
    if let Some(keys) = index.get_mut(value) {
        keys.remove(key);
        if keys.is_empty() {
            index.remove(value);
        }
    }
}
