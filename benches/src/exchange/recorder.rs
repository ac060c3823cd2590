//! The handlers and the observer whose calls are compared.

use std::sync::Arc;

use bench_core::{
    api::{KubeObject as _, Object, ObjectKey},
    cache::{
        AddOrigin, DeltaObject, InformerObserver, InlineEventHandler, ReflectorError,
        ResourceEventHandler,
    },
};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::script::{CUE, END};

/// Notes calls up to the end object.
#[derive(Debug, Clone)]
pub(super) struct EventRecorder {
    calls: Arc<Mutex<Vec<String>>>,
    arrived: watch::Sender<Arrived>,
}

/// Which of the objects that steer a script has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Arrived {
    Nothing,
    Cue,
    End,
}

/// Notes what cycles of listing and watching failed with.
#[derive(Debug, Clone, Default)]
pub(super) struct Failures(Arc<Mutex<Vec<String>>>);

impl EventRecorder {
    pub(super) fn new() -> Self {
        Self {
            calls: Arc::default(),
            arrived: watch::Sender::new(Arrived::Nothing),
        }
    }

    pub(super) fn calls(&self) -> Vec<String> {
        self.calls.lock().clone()
    }

    pub(super) fn arrived(&self) -> watch::Receiver<Arrived> {
        self.arrived.subscribe()
    }

    /// Notes a call, and whether its object is one that steers the script; a deleted one is not.
    fn note(&self, object: Option<&Object>, call: String) {
        if *self.arrived.borrow() == Arrived::End {
            return;
        }
        self.calls.lock().push(call);
        let key = object.map(key);
        let is = |(namespace, name)| key == Some(ObjectKey::new(namespace, name));
        if is(END) {
            self.arrived.send_replace(Arrived::End);
        } else if is(CUE) {
            self.arrived.send_replace(Arrived::Cue);
        }
    }

    fn added(&self, object: &Object, origin: AddOrigin) {
        let verb = match origin {
            AddOrigin::InitialList => "add!",
            AddOrigin::Live => "add",
        };
        self.note(Some(object), format!("{verb} {}", text(object)));
    }

    fn updated(&self, old: &Object, new: &Object) {
        let call = format!("update {} > {}", text_of(new, old), new.resource_version());
        self.note(Some(new), call);
    }

    fn deleted(&self, object: &DeltaObject<Object>) {
        let call = match object {
            DeltaObject::Object(object) => format!("delete {}", text(object)),
            DeltaObject::FinalStateUnknown(tombstone) => {
                let object = tombstone.object.as_deref();
                let version = object.map_or_else(
                    || "?".to_owned(),
                    |object| object.resource_version().to_string(),
                );
                format!("delete †{}@{version}", tombstone.key)
            }
        };
        self.note(None, call);
    }
}

fn key(object: &Object) -> ObjectKey {
    object.key().expect("an object without a key is not cached")
}

fn text(object: &Object) -> String {
    text_of(object, object)
}

/// The key of one and the version of the other.
fn text_of(named: &Object, versioned: &Object) -> String {
    format!("{}@{}", key(named), versioned.resource_version())
}

impl InlineEventHandler<Object> for EventRecorder {
    fn on_add(&mut self, object: &Arc<Object>, origin: AddOrigin) {
        self.added(object, origin);
    }

    fn on_update(&mut self, old: &Arc<Object>, new: &Arc<Object>) {
        self.updated(old, new);
    }

    fn on_delete(&mut self, object: &DeltaObject<Object>) {
        self.deleted(object);
    }
}

impl ResourceEventHandler<Object> for EventRecorder {
    async fn on_add(&mut self, object: Arc<Object>, origin: AddOrigin) {
        self.added(&object, origin);
    }

    async fn on_update(&mut self, old: Arc<Object>, new: Arc<Object>) {
        self.updated(&old, &new);
    }

    async fn on_delete(&mut self, object: DeltaObject<Object>) {
        self.deleted(&object);
    }
}

impl Failures {
    pub(super) fn texts(&self) -> Vec<String> {
        self.0.lock().clone()
    }
}

impl InformerObserver<Object> for Failures {
    fn list_and_watch_failed(&self, error: &ReflectorError) {
        let class = if error.is_expired() {
            "expired"
        } else {
            "other"
        };
        self.0.lock().push(class.to_owned());
    }
}
