//! Queue entries, deltas and notifications as text, of any key, for comparison with a model.

use std::sync::Arc;

use bench_core::{
    api::{KubeObject as _, Object},
    cache::{
        AddOrigin, AnyQueue, AtomicEntry, Delta, DeltaType, Notification, PoppedItem, ReplacedAll,
    },
};

use crate::model::events::{Entry, Record};

pub(crate) fn letter(delta_type: DeltaType) -> char {
    delta_type.name().chars().next().expect("not empty")
}

pub(crate) fn version_text(object: Option<&Arc<Object>>) -> String {
    object.map_or_else(
        || "nil".to_owned(),
        |object| object.resource_version().to_string(),
    )
}

pub(crate) fn render_delta(delta: &Delta<Object>) -> String {
    let mark = if delta.object.is_final_state_unknown() {
        "†"
    } else {
        ""
    };
    let key = delta
        .object
        .key()
        .map_or_else(|_| "?".to_owned(), |key| key.to_string());
    let version = version_text(delta.object.last_known());
    format!("{} {mark}{key} {version}", letter(delta.delta_type))
}

pub(crate) fn render_list(replaced: &ReplacedAll<Object>) -> String {
    let objects = replaced.objects.iter().map(|object| {
        let key = object
            .key()
            .map_or_else(|_| "?".to_owned(), |key| key.to_string());
        format!("{key} {}", object.resource_version())
    });
    format!(
        "RA {} {:?}",
        replaced.resource_version,
        objects.collect::<Vec<_>>()
    )
}

pub(crate) fn pending(queue: &AnyQueue<Object>) -> Vec<String> {
    match queue {
        AnyQueue::Delta(_) => unreachable!("it has a model of its own"),
        AnyQueue::Real(queue) => queue.pending().map(render_delta).collect(),
        AnyQueue::Atomic(queue) => {
            let render = |entry: AtomicEntry<'_, Object>| match entry {
                AtomicEntry::Event(delta) => render_delta(delta),
                AtomicEntry::ReplacedAll(replaced) => render_list(replaced),
                AtomicEntry::SyncAll => "SA".to_owned(),
                AtomicEntry::Bookmark(version) => format!("B {version}"),
            };
            queue.pending().map(render).collect()
        }
    }
}

pub(crate) fn render_item(item: &PoppedItem<Object>) -> Vec<String> {
    match item {
        PoppedItem::Deltas(deltas) | PoppedItem::Batch(deltas) => {
            deltas.iter().map(render_delta).collect()
        }
        PoppedItem::ReplacedAll(replaced) => vec![render_list(replaced)],
        PoppedItem::SyncAll => vec!["SA".to_owned()],
        PoppedItem::Bookmark(version) => vec![format!("B {version}")],
    }
}

pub(crate) fn render_entry(entry: &Entry) -> String {
    let name = |key: &Option<String>| key.clone().unwrap_or_else(|| "?".to_owned());
    match entry {
        Entry::One(Record {
            letter,
            key,
            tombstone,
            version,
        }) => {
            let mark = if *tombstone { "†" } else { "" };
            let version = version.map_or_else(|| "nil".to_owned(), |version| version.to_string());
            format!("{letter} {mark}{} {version}", name(key))
        }
        Entry::List(version, objects) => {
            let objects = objects
                .iter()
                .map(|(key, version)| format!("{} {version}", name(key)));
            format!("RA {version} {:?}", objects.collect::<Vec<_>>())
        }
        Entry::Everything => "SA".to_owned(),
        Entry::Mark(version) => format!("B {version}"),
    }
}

pub(crate) fn render_call(delta_type: DeltaType, notification: &Notification<Object>) -> String {
    let letter = letter(delta_type);
    let key = |object: &Arc<Object>| object.key().expect("named").to_string();
    match notification {
        Notification::Added { object, origin } => {
            let initial = if *origin == AddOrigin::InitialList {
                "initial "
            } else {
                ""
            };
            format!(
                "{letter} {initial}add {} {}",
                key(object),
                object.resource_version()
            )
        }
        Notification::Updated { old, new } => {
            let versions = (old.resource_version(), new.resource_version());
            format!("{letter} update {} {}>{}", key(new), versions.0, versions.1)
        }
        Notification::Deleted { object } => {
            let mark = if object.is_final_state_unknown() {
                "†"
            } else {
                ""
            };
            let key = object.key().expect("keyed");
            format!(
                "{letter} delete {mark}{key} {}",
                version_text(object.last_known())
            )
        }
    }
}
