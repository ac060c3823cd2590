//! The parts of objects that have paths of their own, as discovery tells them.

use crate::{
    storage::ResourceStore,
    write::{actions::Action, rules::ServedResource},
};

const READ_AND_WRITE: &[&str] = &["get", "patch", "update"];
const CREATE: &[&str] = &["create"];

/// A path below an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) kind: String,
    /// Group and version of the kind, if they are not those of the resource.
    pub(crate) foreign: Option<(&'static str, &'static str)>,
    pub(crate) verbs: &'static [&'static str],
}

/// The parts of a resource's objects, by name.
pub(crate) fn parts_of(store: &ResourceStore) -> Vec<Part> {
    let served = ServedResource::of(store);
    let mut parts = Vec::new();
    for (name, kind, foreign) in [
        ("binding", "Binding", None),
        ("eviction", "Eviction", Some(("policy", "v1"))),
    ] {
        if Action::of(&served, name).is_some() {
            parts.push(Part {
                name,
                kind: kind.to_owned(),
                foreign,
                verbs: CREATE,
            });
        }
    }
    if served.scale_paths().is_some() {
        parts.push(Part {
            name: "scale",
            kind: "Scale".to_owned(),
            foreign: Some(("autoscaling", "v1")),
            verbs: READ_AND_WRITE,
        });
    }
    if served.has_status() {
        parts.push(Part {
            name: "status",
            kind: served.resource.kind,
            foreign: None,
            verbs: READ_AND_WRITE,
        });
    }
    parts
}
