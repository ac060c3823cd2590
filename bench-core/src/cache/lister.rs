//! Read-only views of an indexer.

use std::sync::Arc;

use crate::api::{KubeObject, ObjectKey};

use super::{Indexer, NAMESPACE_INDEX};

/// Reads the cache, all namespaces. Cheap to clone.
#[derive(Debug)]
pub struct Lister<T> {
    indexer: Arc<Indexer<T>>,
}

/// Reads the cache, one namespace.
#[derive(Debug)]
pub struct NamespaceLister<T> {
    indexer: Arc<Indexer<T>>,
    namespace: String,
}

impl<T: KubeObject> Lister<T> {
    /// Makes a view of `indexer`.
    pub fn new(indexer: Arc<Indexer<T>>) -> Self {
        Self { indexer }
    }

    /// All objects, in no order. The objects are shared with the cache.
    pub fn list(&self) -> Vec<Arc<T>> {
        self.indexer.list()
    }

    /// One object.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<T>> {
        self.indexer.get_by_key(key)
    }

    /// The view of one namespace.
    pub fn namespace(&self, namespace: &str) -> NamespaceLister<T> {
        NamespaceLister {
            indexer: Arc::clone(&self.indexer),
            namespace: namespace.to_owned(),
        }
    }
}

impl<T: KubeObject> NamespaceLister<T> {
    /// The namespace's objects, in no order: by the namespace index where there is one, else by looking at every object.
    pub fn list(&self) -> Vec<Arc<T>> {
        match self.indexer.by_index(NAMESPACE_INDEX, &self.namespace) {
            Ok(objects) => objects,
            Err(_) => self
                .indexer
                .list()
                .into_iter()
                .filter(|object| {
                    object
                        .key()
                        .is_ok_and(|key| key.namespace() == self.namespace)
                })
                .collect(),
        }
    }

    /// One object of the namespace.
    pub fn get(&self, name: &str) -> Option<Arc<T>> {
        self.indexer
            .get_by_key(&ObjectKey::new(&self.namespace, name))
    }
}

impl<T> Clone for Lister<T> {
    fn clone(&self) -> Self {
        Self {
            indexer: Arc::clone(&self.indexer),
        }
    }
}
