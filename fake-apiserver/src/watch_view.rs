//! What one watch sees of the events of its resource: its namespace, its selectors, and the form of its objects.

use bench_core::api::ObjectKey;
use bytes::Bytes;
use serde_json::Value;

use crate::{
    calendar,
    representation::{Headers, Representation},
    selectors::Selectors,
    stored_object::{EventKind, FRAME_END, StoredObject},
    watch_cache::Event,
};

/// The scope of a watch.
#[derive(Debug)]
pub(crate) struct WatchView {
    // Empty for all.
    namespace: String,
    selectors: Selectors,
    representation: Representation,
    // Only the first event of a watch of tables names their columns.
    headers: Headers,
}

/// An event as one watch sees it.
#[derive(Debug)]
struct SeenEvent {
    kind: EventKind,
    object: SeenObject,
}

#[derive(Debug)]
enum SeenObject {
    /// The state after the change.
    Current,
    /// The last state that matched, with the version of the change.
    Previous,
}

impl WatchView {
    /// An empty `namespace` means all.
    pub(crate) fn new(
        namespace: String,
        selectors: Selectors,
        representation: Representation,
    ) -> Self {
        Self {
            namespace,
            selectors,
            representation,
            headers: Headers::Included,
        }
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Whether events are sent as they are stored, so that nothing of them needs to be looked at but the key.
    pub(crate) fn is_plain(&self) -> bool {
        self.selectors.is_everything() && matches!(self.representation, Representation::Stored)
    }

    /// Whether an object's key is within the namespace.
    pub(crate) fn is_in_scope(&self, key: &ObjectKey) -> bool {
        self.namespace.is_empty() || key.namespace() == self.namespace
    }

    /// Appends an ADDED frame for an object of the initial state, if this watch sees it.
    pub(crate) fn write_initial(
        &mut self,
        key: &ObjectKey,
        object: &StoredObject,
        frame: &mut Vec<u8>,
    ) {
        if self.selectors.matches(key, object) {
            self.write_as(EventKind::Added, object, frame);
        }
    }

    /// Appends the frame for an event, if this watch sees it.
    pub(crate) fn write_event(&mut self, event: &Event, frame: &mut Vec<u8>) {
        let Some(seen) = self.see(event) else {
            return;
        };
        match (seen.object, &event.previous) {
            (SeenObject::Previous, Some(previous)) => {
                let last_seen = previous.at_revision(EventKind::Deleted, event.object.revision());
                self.write_as(EventKind::Deleted, &last_seen, frame);
            }
            _ => self.write_as(seen.kind, &event.object, frame),
        }
    }

    /// The frame of a bookmark; `object` is as it would be sent as stored.
    pub(crate) fn bookmark(&mut self, object: &Value) -> Bytes {
        let mut frame = br#"{"type":"BOOKMARK","object":"#.to_vec();
        let headers = self.next_headers();
        self.representation
            .write_bookmark(object, headers, calendar::seconds(), &mut frame);
        frame.extend_from_slice(FRAME_END);
        Bytes::from(frame)
    }

    fn write_as(&mut self, kind: EventKind, object: &StoredObject, frame: &mut Vec<u8>) {
        if matches!(self.representation, Representation::Stored) {
            object.write_frame_as(kind, frame);
            return;
        }
        frame.extend_from_slice(kind.frame_start());
        let headers = self.next_headers();
        self.representation
            .write_object(object, headers, calendar::seconds(), frame);
        frame.extend_from_slice(FRAME_END);
    }

    fn next_headers(&mut self) -> Headers {
        std::mem::replace(&mut self.headers, Headers::Omitted)
    }

    /// Compares the states before and after an event, as `convertToWatchEvent` of apiserver's `cacher/cache_watcher.go` does.
    fn see(&self, event: &Event) -> Option<SeenEvent> {
        if !self.is_in_scope(&event.key) {
            return None;
        }
        let is_removal = event.object.event_kind() == EventKind::Deleted;
        let before = event
            .previous
            .as_ref()
            .is_some_and(|previous| self.selectors.matches(&event.key, previous));
        let after = !is_removal && self.selectors.matches(&event.key, &event.object);
        let (kind, object) = match (before, after) {
            (false, false) => return None,
            (false, true) => (EventKind::Added, SeenObject::Current),
            (true, true) => (EventKind::Modified, SeenObject::Current),
            // A removal is stored with the last state already.
            (true, false) if is_removal => (EventKind::Deleted, SeenObject::Current),
            (true, false) => (EventKind::Deleted, SeenObject::Previous),
        };
        Some(SeenEvent { kind, object })
    }
}

#[cfg(test)]
mod tests;
