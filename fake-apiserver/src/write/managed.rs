//! The record of who wrote which fields (apimachinery's `util/managedfields`). Tracking begins when an object is created through a
//! write, or with its first apply; objects that were loaded or made up keep the record that they came with.
//!
//! Not done: the cap of ten updaters, and the move from a client-side apply's annotation.

mod apply;
mod entries;
mod field_set;
mod typed;

use serde_json::{Value, json};

pub(crate) use apply::{Force, apply};
use entries::{Entry, Operation};
use field_set::FieldSet;
use typed::{Comparison, Node};

use crate::{
    schema::Schema,
    write::{
        metadata,
        rules::{Part, ServedResource},
        timestamp::Timestamp,
    },
};

/// Fields of the metadata that nobody owns.
const UNOWNED_METADATA: [&str; 9] = [
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
];

/// Who writes, through which path, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Author<'a> {
    pub(crate) manager: &'a str,
    pub(crate) part: Part,
    pub(crate) now: Timestamp,
}

impl Author<'_> {
    fn subresource(&self) -> &'static str {
        match self.part {
            Part::Main => "",
            Part::Scale => "scale",
            Part::Status => "status",
        }
    }

    fn entry(&self, served: &ServedResource, operation: Operation, fields: FieldSet) -> Entry {
        Entry {
            manager: self.manager.to_owned(),
            operation,
            api_version: served.resource.api_version(),
            subresource: self.subresource().to_owned(),
            time: self.now.value(),
            fields,
        }
    }
}

/// Notes a create (`current` is absent) or an update in the object's record.
pub(crate) fn record_update(
    served: &ServedResource,
    current: Option<&Value>,
    new: &mut Value,
    author: &Author<'_>,
) {
    let of_current = current.map(entries::read).unwrap_or_default();
    let sent = entries::read(new);
    let mut managed = match author.part {
        Part::Main if entries::is_reset(new) => Vec::new(),
        Part::Main if !sent.is_empty() => sent,
        _ => of_current.clone(),
    };
    metadata::of_mut(new).shift_remove("managedFields");
    if current.is_some() && managed.is_empty() {
        return;
    }
    let nothing = empty_object(served);
    let old = current.map_or(nothing, without_record);
    let comparison = compare(served, &old, new, author.part);
    if let Some(current) = current.filter(|_| comparison.is_empty() && managed == of_current) {
        metadata::copy("managedFields", current, new);
        return;
    }
    let taken = comparison.added.union(&comparison.modified);
    for entry in &mut managed {
        entry.fields = entry
            .fields
            .difference(&taken)
            .difference(&comparison.removed);
    }
    let taken = taken.difference(&unowned());
    if !taken.is_empty() {
        let mut own = author.entry(served, Operation::Update, taken);
        if let Some(place) = managed.iter().position(|entry| entry.is_same_manager(&own)) {
            own.fields = own.fields.union(&managed.swap_remove(place).fields);
        }
        managed.push(own);
    }
    entries::write(new, managed);
}

fn root(served: &ServedResource) -> Node<'static> {
    let resource = &served.resource;
    Node::root(Schema::built_in(), &resource.api_version(), &resource.kind)
}

/// Compares what a write through this path can change.
fn compare(served: &ServedResource, old: &Value, new: &Value, part: Part) -> Comparison {
    let mut comparison = Comparison::of(root(served), old, new);
    for set in [
        &mut comparison.added,
        &mut comparison.modified,
        &mut comparison.removed,
    ] {
        set.retain_roots(|element| is_written(served, element, part));
    }
    comparison
}

fn is_written(served: &ServedResource, element: &str, part: Part) -> bool {
    match part {
        Part::Main | Part::Scale => element != "f:status" || !served.has_status(),
        Part::Status => element == "f:status" || (element == "f:metadata" && !served.is_custom()),
    }
}

fn without_record(object: &Value) -> Value {
    let mut object = object.clone();
    metadata::of_mut(&mut object).shift_remove("managedFields");
    object
}

fn unowned() -> FieldSet {
    let metadata = "f:metadata".to_owned();
    let mut set = FieldSet::default();
    for name in ["apiVersion", "kind", "metadata"] {
        set.insert(&[format!("f:{name}")]);
    }
    for name in UNOWNED_METADATA {
        set.insert(&[metadata.clone(), format!("f:{name}")]);
    }
    set
}

/// What an object of this kind has before anything is set: parts that are never absent in Go's types are not noted as added.
fn empty_object(served: &ServedResource) -> Value {
    let template = json!({"metadata": {}, "spec": {"containers": null}});
    let resource = &served.resource;
    match (&*resource.group, &*resource.plural) {
        ("", "pods") => json!({"metadata": {}, "spec": {"containers": null}, "status": {}}),
        ("", "namespaces" | "nodes") => json!({"metadata": {}, "spec": {}, "status": {}}),
        ("", "services") => json!({"metadata": {}, "spec": {}, "status": {"loadBalancer": {}}}),
        ("", "events") => json!({"metadata": {}, "involvedObject": {}, "source": {}}),
        ("apps", "deployments") => {
            json!({"metadata": {}, "spec": {"template": template, "strategy": {}}, "status": {}})
        }
        ("apps", _) | ("batch", "jobs") => {
            json!({"metadata": {}, "spec": {"template": template}, "status": {}})
        }
        ("coordination.k8s.io", "leases") => json!({"metadata": {}, "spec": {}}),
        ("discovery.k8s.io", "endpointslices") => {
            json!({"metadata": {}, "endpoints": null, "ports": null})
        }
        ("apiextensions.k8s.io", _) => {
            json!({"metadata": {}, "spec": {"names": {}, "versions": null}, "status": {}})
        }
        _ => json!({"metadata": {}}),
    }
}

#[cfg(test)]
mod tests;
