//! Whole objects put in place, whether or not they were there.

use std::time::Duration;

use super::{ResourceId, Storage};
use crate::stored_object::{EventKind, ObjectDraft, StoredObject};

impl Storage {
    /// Creates an object, or replaces the one with its key; returns the new version.
    pub fn put(&mut self, id: ResourceId, draft: &ObjectDraft, now: Duration) -> u64 {
        let revision = self.revision + 1;
        let kind = if self.stores[id.0].objects.contains_key(&draft.key) {
            EventKind::Modified
        } else {
            EventKind::Added
        };
        let object = StoredObject::from_draft(draft, kind, revision);
        self.commit(id, &draft.key, object, now);
        revision
    }
}
