//! The end of namespaces, which takes along what is in them. A real cluster's namespace controller does this a little later; here it
//! is done within the DELETE, and if something stays (finalizers, pods in their grace) within the removal of the last of it.

use bench_core::api::{ObjectKey, Scope};

use crate::{
    ApiServer,
    storage::ResourceId,
    write::{delete_options::DeleteOptions, driver::Place, metadata, rules::ServedResource},
};

impl ApiServer {
    /// Deletes everything in a namespace under deletion, and the namespace if nothing stays.
    pub(super) fn sweep_namespace(&self, name: &str) {
        let namespaced = self.read(|state| -> Vec<ResourceId> {
            let stores = state.storage.stores();
            let namespaced =
                stores.filter(|(_, store)| store.resource().scope == Scope::Namespaced);
            namespaced.map(|(id, _)| id).collect()
        });
        for id in namespaced {
            self.delete_all(id, Some(name));
        }
        self.finish_namespace(name);
    }

    /// Deletes all objects of a resource, or those of one namespace, as a DELETE of each would.
    pub(super) fn delete_all(&self, id: ResourceId, namespace: Option<&str>) {
        let (served, keys) = self.read(|state| {
            let store = state.storage.store(id);
            let keys = store.objects().keys().cloned();
            let keys: Vec<ObjectKey> = keys
                .filter(|key| namespace.is_none_or(|namespace| key.namespace() == namespace))
                .collect();
            (ServedResource::of(store), keys)
        });
        for key in keys {
            let place = Place {
                id,
                served: served.clone(),
                namespace: key.namespace().to_owned(),
            };
            // One that has gone meanwhile is as well gone.
            let _gone = self.delete_object(&place, &key, &DeleteOptions::plain());
        }
    }

    /// Removes a namespace under deletion in which there is nothing any more.
    pub(super) fn finish_namespace(&self, name: &str) {
        let key = ObjectKey::new("", name);
        let found = self.read(|state| {
            let id = state.storage.find("", "v1", "namespaces")?;
            let namespace = state.storage.store(id).objects().get(&key)?;
            Some((id, std::sync::Arc::clone(namespace)))
        });
        let Some((id, namespace)) = found else {
            return;
        };
        let value = namespace.value();
        if !metadata::is_terminating(&value) || !metadata::finalizers(&value).is_empty() {
            return;
        }
        let first = ObjectKey::new(name, "");
        let is_empty = self.read(|state| {
            let mut stores = state.storage.stores();
            stores.all(|(_, store)| {
                let next = store.objects().range(first.clone()..).next();
                store.resource().scope == Scope::Cluster
                    || next.is_none_or(|(key, _)| key.namespace() != name)
            })
        });
        if is_empty {
            // One that has changed meanwhile is looked at again by whoever changed it.
            let _removed = self.commit_removal(id, &key, namespace.revision());
        }
    }
}
