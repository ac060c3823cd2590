//! All objects of the server, one version counter over them, and each resource's window of events.

mod putting;
mod renumbering;

use std::{sync::Arc, time::Duration};

use bench_core::api::{ObjectKey, Resource};

use crate::{
    config::WindowConfig,
    custom_kind::CustomKind,
    stored_object::{EventKind, ObjectDraft, StoredObject},
    trace::Journal,
    watch_cache::{Objects, WatchCache},
};

/// 1, since 0 has a meaning of its own in requests.
const FIRST_REVISION: u64 = 1;

/// Index of a resource in its [`Storage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResourceId(usize);

impl ResourceId {
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

/// A write was refused. Nothing has changed, and no version was used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// A create of what exists.
    #[error("{0} already exists")]
    AlreadyExists(ObjectKey),
    /// A write of another version than the present one.
    #[error("{0} has changed")]
    Changed(ObjectKey),
    /// An update or a removal of what does not.
    #[error("{0} not found")]
    NotFound(ObjectKey),
}

/// How items appear in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemForm {
    /// Without kind and apiVersion, as built-in resources are listed.
    Untyped,
    /// Whole, as custom resources are listed.
    Typed,
}

/// Objects and history of one resource.
#[derive(Debug)]
pub struct ResourceStore {
    resource: Resource,
    item_form: ItemForm,
    custom: Option<Arc<CustomKind>>,
    presence: Presence,
    objects: Objects,
    total_size_bytes: u64,
    cache: WatchCache,
}

/// Whether a resource is served, or was until its definition went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Gone,
    Served,
}

impl ResourceStore {
    /// What its definition says, if it came with one.
    pub(crate) fn custom(&self) -> Option<&Arc<CustomKind>> {
        self.custom.as_ref()
    }

    /// What it is.
    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    /// How its lists look.
    pub fn item_form(&self) -> ItemForm {
        self.item_form
    }

    /// What exists now.
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// What happened lately.
    pub fn cache(&self) -> &WatchCache {
        &self.cache
    }

    /// Length of all objects' JSON together.
    pub fn total_size_bytes(&self) -> u64 {
        self.total_size_bytes
    }
}

/// Every resource's objects under one version counter: each write takes the next version.
#[derive(Debug)]
pub struct Storage {
    window: WindowConfig,
    revision: u64,
    stores: Vec<ResourceStore>,
    // Where events are noted, if somebody records them.
    journal: Option<Journal>,
}

impl Storage {
    /// Without resources.
    pub fn new(window: WindowConfig) -> Self {
        Self {
            window,
            revision: FIRST_REVISION,
            stores: Vec::new(),
            journal: None,
        }
    }

    /// Adds a resource, unless it is there already.
    pub fn register(&mut self, resource: &Resource) -> ResourceId {
        if let Some(id) = self.find(&resource.group, &resource.version, &resource.plural) {
            return id;
        }
        self.stores.push(ResourceStore {
            item_form: item_form(resource),
            resource: resource.clone(),
            custom: None,
            presence: Presence::Served,
            objects: Objects::new(),
            total_size_bytes: 0,
            cache: WatchCache::new(self.window, self.revision),
        });
        ResourceId(self.stores.len() - 1)
    }

    /// Serves the resource of a definition: one that is new, or back, or served already.
    pub(crate) fn define(&mut self, resource: &Resource, custom: CustomKind) -> ResourceId {
        let place = self
            .stores
            .iter()
            .position(|store| store.resource == *resource);
        let id = place.map_or_else(|| self.register(resource), ResourceId);
        let store = &mut self.stores[id.0];
        store.presence = Presence::Served;
        store.custom = Some(Arc::new(custom));
        id
    }

    /// Serves a resource no more. Its place is kept for when it is defined again.
    pub(crate) fn undefine(&mut self, id: ResourceId) {
        self.stores[id.0].presence = Presence::Gone;
    }

    /// How many resources there are, those that are served no more included.
    pub(crate) fn len(&self) -> usize {
        self.stores.len()
    }

    /// Puts an object in place before the server serves: takes a version, but makes no event.
    ///
    /// # Errors
    /// [`WriteError::AlreadyExists`].
    pub fn load(&mut self, id: ResourceId, draft: &ObjectDraft) -> Result<u64, WriteError> {
        let revision = self.revision + 1;
        let store = &mut self.stores[id.0];
        if store.objects.contains_key(&draft.key) {
            return Err(WriteError::AlreadyExists(draft.key.clone()));
        }
        let object = StoredObject::from_draft(draft, EventKind::Added, revision);
        store.total_size_bytes += object.json().len() as u64;
        store.objects.insert(draft.key.clone(), Arc::new(object));
        self.revision = revision;
        store.cache.compact(revision);
        Ok(revision)
    }

    /// Notes every later event in a journal, or in none.
    pub(crate) fn set_journal(&mut self, journal: Option<Journal>) {
        self.journal = journal;
    }

    /// How much history is kept.
    pub fn window(&self) -> WindowConfig {
        self.window
    }

    /// Keeps more or less history from now on; what is too much is forgotten at once.
    pub fn set_window(&mut self, window: WindowConfig) {
        self.window = window;
        for store in &mut self.stores {
            store.cache.set_window(window);
        }
    }

    /// Ends loading: the windows of all resources begin at the present version.
    pub fn compact(&mut self) {
        for store in &mut self.stores {
            store.cache.compact(self.revision);
        }
    }

    /// Adds an object and returns its version.
    ///
    /// # Errors
    /// [`WriteError::AlreadyExists`].
    pub fn create(
        &mut self,
        id: ResourceId,
        draft: &ObjectDraft,
        now: Duration,
    ) -> Result<u64, WriteError> {
        let revision = self.revision + 1;
        let store = &self.stores[id.0];
        if store.objects.contains_key(&draft.key) {
            return Err(WriteError::AlreadyExists(draft.key.clone()));
        }
        let object = StoredObject::from_draft(draft, EventKind::Added, revision);
        self.commit(id, &draft.key, object, now);
        Ok(revision)
    }

    /// Changes an object's content (its marker annotation) and returns the new version.
    ///
    /// # Errors
    /// [`WriteError::NotFound`].
    pub fn update(
        &mut self,
        id: ResourceId,
        key: &ObjectKey,
        now: Duration,
    ) -> Result<u64, WriteError> {
        let revision = self.revision + 1;
        let store = &self.stores[id.0];
        let present = existing(store, key)?;
        let object = present.touched(revision, &store.resource);
        self.commit(id, key, object, now);
        Ok(revision)
    }

    /// Removes an object and returns the removal's version.
    ///
    /// # Errors
    /// [`WriteError::NotFound`].
    pub fn delete(
        &mut self,
        id: ResourceId,
        key: &ObjectKey,
        now: Duration,
    ) -> Result<u64, WriteError> {
        let revision = self.revision + 1;
        let object = existing(&self.stores[id.0], key)?.at_revision(EventKind::Deleted, revision);
        self.commit(id, key, object, now);
        Ok(revision)
    }

    /// Puts a whole object in the place of one that is at version `expected`, or, without a version, where none is.
    ///
    /// # Errors
    /// [`WriteError`] if another version is there, or none, or one where none should be.
    pub(crate) fn put_at(
        &mut self,
        id: ResourceId,
        draft: &ObjectDraft,
        expected: Option<u64>,
        now: Duration,
    ) -> Result<Arc<StoredObject>, WriteError> {
        let present = self.stores[id.0].objects.get(&draft.key);
        let kind = match (present, expected) {
            (None, None) => EventKind::Added,
            (Some(present), Some(expected)) if present.revision() == expected => {
                EventKind::Modified
            }
            (None, Some(_)) => return Err(WriteError::NotFound(draft.key.clone())),
            (Some(_), None) => return Err(WriteError::AlreadyExists(draft.key.clone())),
            (Some(_), Some(_)) => return Err(WriteError::Changed(draft.key.clone())),
        };
        let object = StoredObject::from_draft(draft, kind, self.revision + 1);
        Ok(self.commit(id, &draft.key, object, now))
    }

    /// Removes an object that is at version `expected`; returns its last state at the removal's version.
    ///
    /// # Errors
    /// [`WriteError`] if another version is there, or none.
    pub(crate) fn remove(
        &mut self,
        id: ResourceId,
        key: &ObjectKey,
        expected: u64,
        now: Duration,
    ) -> Result<Arc<StoredObject>, WriteError> {
        let present = existing(&self.stores[id.0], key)?;
        if present.revision() != expected {
            return Err(WriteError::Changed(key.clone()));
        }
        let object = present.at_revision(EventKind::Deleted, self.revision + 1);
        Ok(self.commit(id, key, object, now))
    }

    /// Puts an object in place before the server serves, without a version of its own, unless it is there.
    pub(crate) fn load_if_absent(&mut self, id: ResourceId, draft: &ObjectDraft) {
        let store = &mut self.stores[id.0];
        if store.objects.contains_key(&draft.key) {
            return;
        }
        let object = StoredObject::from_draft(draft, EventKind::Added, FIRST_REVISION);
        store.total_size_bytes += object.json().len() as u64;
        store.objects.insert(draft.key.clone(), Arc::new(object));
    }

    /// The version of the last write.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Looks a resource up by its path.
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<ResourceId> {
        self.position(|resource| {
            resource.group == group && resource.version == version && resource.plural == plural
        })
    }

    /// Looks a resource up by its plural, or by `plural.group`.
    pub fn find_by_name(&self, name: &str) -> Option<ResourceId> {
        self.position(|resource| resource_name(resource) == name)
            .or_else(|| self.position(|resource| resource.plural == name))
    }

    /// One resource.
    pub fn store(&self, id: ResourceId) -> &ResourceStore {
        &self.stores[id.0]
    }

    /// All resources that are served.
    pub fn stores(&self) -> impl Iterator<Item = (ResourceId, &ResourceStore)> {
        self.stores
            .iter()
            .enumerate()
            .filter(|(_, store)| store.presence == Presence::Served)
            .map(|(index, store)| (ResourceId(index), store))
    }

    fn position(&self, matches: impl Fn(&Resource) -> bool) -> Option<ResourceId> {
        self.stores
            .iter()
            .position(|store| store.presence == Presence::Served && matches(&store.resource))
            .map(ResourceId)
    }

    fn commit(
        &mut self,
        id: ResourceId,
        key: &ObjectKey,
        object: StoredObject,
        now: Duration,
    ) -> Arc<StoredObject> {
        self.revision = object.revision();
        let store = &mut self.stores[id.0];
        let size = object.json().len() as u64;
        if let Some(journal) = &self.journal {
            journal.note(now, &object);
        }
        let object = Arc::new(object);
        let previous = if object.event_kind() == EventKind::Deleted {
            store.objects.remove(key)
        } else {
            store.total_size_bytes += size;
            store.objects.insert(key.clone(), Arc::clone(&object))
        };
        if let Some(previous) = &previous {
            store.total_size_bytes -= previous.json().len() as u64;
        }
        store
            .cache
            .record(key.clone(), Arc::clone(&object), previous, now);
        object
    }
}

/// `pods`, or `leases.coordination.k8s.io`.
pub fn resource_name(resource: &Resource) -> String {
    if resource.group.is_empty() {
        resource.plural.clone()
    } else {
        format!("{}.{}", resource.plural, resource.group)
    }
}

fn existing<'a>(
    store: &'a ResourceStore,
    key: &ObjectKey,
) -> Result<&'a Arc<StoredObject>, WriteError> {
    store
        .objects
        .get(key)
        .ok_or_else(|| WriteError::NotFound(key.clone()))
}

/// Only custom resources are listed with kind and apiVersion in each item.
fn item_form(resource: &Resource) -> ItemForm {
    if crate::known_kinds::is_built_in(&resource.group, &resource.kind) {
        ItemForm::Untyped
    } else {
        ItemForm::Typed
    }
}
