//! The version counter falls.

use std::sync::Arc;

use super::{FIRST_REVISION, Storage};
use crate::{stored_object::StoredObject, watch_cache::Objects};

impl Storage {
    /// Gives every object a new, low version, in the order of the present ones, as when a cluster is restored from a copy into
    /// a fresh store. Content, uids and event types stay; the history is empty. Takes time in proportion to the objects' bytes.
    pub fn renumber(&mut self) {
        let mut present: Vec<_> = Vec::new();
        for (index, store) in self.stores.iter().enumerate() {
            let objects = store.objects.iter();
            present.extend(objects.map(|(key, object)| (object.revision(), index, key.clone())));
        }
        present.sort_unstable();
        let mut renumbered: Vec<Objects> = self.stores.iter().map(|_| Objects::new()).collect();
        let mut revision = FIRST_REVISION;
        for (old_revision, index, key) in present {
            // What is there from the beginning shares the first version.
            if old_revision == FIRST_REVISION {
                let object = Arc::clone(&self.stores[index].objects[&key]);
                renumbered[index].insert(key, object);
                continue;
            }
            revision += 1;
            let old: &StoredObject = &self.stores[index].objects[&key];
            let object = old.at_revision(old.event_kind(), revision);
            renumbered[index].insert(key, Arc::new(object));
        }
        self.revision = revision;
        for (store, objects) in self.stores.iter_mut().zip(renumbered) {
            let sizes = objects.values().map(|object| object.json().len() as u64);
            store.total_size_bytes = sizes.sum();
            store.objects = objects;
            store.cache.compact(revision);
        }
    }
}
