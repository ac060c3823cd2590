//! The consumer's cache as the queue sees it.

use std::sync::Arc;

use crate::api::ObjectKey;

/// The keys and objects that the queue's consumer already has (`KeyListerGetter` upstream). In an informer it is the indexer.
pub trait KnownObjects<T>: Send + Sync {
    /// All keys; the order is the store's own.
    fn list_keys(&self) -> Vec<ObjectKey>;

    /// The object of a key.
    ///
    /// # Errors
    /// A sentence, if the lookup failed; a deletion is not suppressed by a failed lookup.
    fn get_by_key(&self, key: &ObjectKey) -> Result<Option<Arc<T>>, String>;
}
