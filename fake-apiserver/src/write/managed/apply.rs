//! Server-side apply: merging what a manager wants into an object, taking away what it no longer wants, and refusing to change
//! what others own (structured-merge-diff's `merge/update.go`).

use bench_core::api::{StatusCause, StatusDetails};
use serde_json::{Map, Value};

use crate::{
    failure::Failure,
    schema::{Conformed, Schema, conform},
    write::{
        body,
        managed::{
            Author, compare, empty_object,
            entries::{self, Entry, Operation},
            field_set::{FieldNode, FieldSet},
            is_written, root,
            typed::{Declared, Node, Shape, fields_of},
            unowned, without_record,
        },
        metadata,
        rules::ServedResource,
    },
};

/// The manager of what an object held before the first apply.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Whether an apply may take fields from other managers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Force {
    No,
    Yes,
}

/// Applies `config` to the present object, or to nothing; the result carries its record.
///
/// # Errors
/// 409 with each field that another manager owns, 400 and 500 for a configuration that is none.
pub(crate) fn apply(
    served: &ServedResource,
    current: Option<&Value>,
    config: &Value,
    author: &Author<'_>,
    force: Force,
) -> Result<Value, Failure> {
    check_config(served, config)?;
    let root = root(served);
    let live = current.map_or_else(|| Value::Object(Map::new()), without_record);
    let mut managed = current.map(entries::read).unwrap_or_default();
    if current.is_some() && managed.is_empty() {
        let all = compare(served, &empty_object(served), &live, author.part).added;
        let mut entry = author.entry(served, Operation::Update, all.difference(&unowned()));
        BEFORE_FIRST_APPLY.clone_into(&mut entry.manager);
        entry.subresource.clear();
        managed.push(entry);
    }
    let mut wanted = fields_of(root, config);
    wanted.retain_roots(|element| is_written(served, element, author.part));
    let mut own = author.entry(served, Operation::Apply, wanted.difference(&unowned()));
    let place = managed.iter().position(|entry| entry.is_same_manager(&own));
    let last = place.map(|place| managed.swap_remove(place));

    let mut merged = merge(root, &live, config);
    if let Some(last) = &last {
        let still_owned = managed
            .iter()
            .fold(wanted, |owned, entry| owned.union(&entry.fields));
        let given_up = with_named_parents(root, &last.fields)
            .difference(&with_named_parents(root, &still_owned));
        merged = without_items(root, &merged, &given_up).unwrap_or(Value::Null);
    }

    let comparison = compare(served, &live, &merged, author.part);
    let changed = comparison.added.union(&comparison.modified);
    let conflicts: Vec<(&Entry, FieldSet)> = managed
        .iter()
        .map(|entry| (entry, entry.fields.intersection(&changed)))
        .filter(|(_, fields)| !fields.is_empty())
        .collect();
    if force == Force::No && !conflicts.is_empty() {
        return Err(conflict(&conflicts));
    }
    for entry in &mut managed {
        entry.fields = entry
            .fields
            .difference(&changed)
            .difference(&comparison.removed);
    }
    if let Some(last) = last.filter(|last| comparison.is_empty() && last.fields == own.fields) {
        own.time = last.time;
    }
    managed.push(own);
    if let (Some(current), true) = (current, comparison.is_empty()) {
        let mut record = current.clone();
        let before = entries::read(current);
        entries::write(&mut record, managed.clone());
        if before == entries::read(&record) {
            return Ok(current.clone());
        }
    }
    entries::write(&mut merged, managed);
    Ok(merged)
}

fn check_config(served: &ServedResource, config: &Value) -> Result<(), Failure> {
    let resource = &served.resource;
    let given = config
        .get("apiVersion")
        .and_then(Value::as_str)
        .unwrap_or("");
    let expected = resource.api_version();
    if given != expected {
        return Err(Failure::bad_request(format!(
            "Incorrect version specified in apply patch. Specified patch version: {given}, expected: {expected}"
        )));
    }
    body::check_kind(config, resource)?;
    let record = metadata::of(config).get("managedFields");
    if record.is_some_and(|record| !record.is_null()) {
        return Err(Failure::bad_request("metadata.managedFields must be nil"));
    }
    let schema = Schema::built_in();
    let mut checked = config.clone();
    let found = match schema.kind(&expected, &resource.kind) {
        Some(kind) => conform(schema, kind, &mut checked),
        None => match checked.get_mut("metadata") {
            Some(metadata) if metadata.is_object() => {
                conform(schema, schema.object_meta(), metadata)
            }
            _ => Ok(Conformed::default()),
        },
    };
    let problem = match found {
        Ok(found) if found.unknown.is_empty() => return Ok(()),
        Ok(found) => {
            let fields = found.unknown.iter();
            let fields: Vec<String> = fields
                .map(|path| format!(".{path}: field not declared in schema"))
                .collect();
            fields.join("\n")
        }
        Err(problem) => problem,
    };
    // Not mapped to a client's fault upstream either.
    let message = format!(
        "failed to create typed patch object ({}/{}; {expected}, Kind={}): {problem}",
        metadata::text(config, "namespace"),
        metadata::text(config, "name"),
        resource.kind
    );
    Err(Failure::plain(500, "", message))
}

fn merge(node: Node<'_>, live: &Value, config: &Value) -> Value {
    match (node.shape(live), node.shape(config), live, config) {
        (Shape::Fields, Shape::Fields, Value::Object(live), Value::Object(config)) => {
            let mut merged = live.clone();
            for (name, value) in config {
                let value = match live.get(name) {
                    Some(live) => merge(node.field(name).0, live, value),
                    None => value.clone(),
                };
                merged.insert(name.clone(), value);
            }
            Value::Object(merged)
        }
        (Shape::Items, Shape::Items, Value::Array(live), Value::Array(config)) => {
            let mut merged = live.clone();
            for item in config {
                let element = node.element_of(item);
                let present = merged
                    .iter_mut()
                    .find(|other| node.element_of(other) == element);
                match present {
                    Some(present) => *present = merge(node.item(), present, item),
                    None => merged.push(item.clone()),
                }
            }
            Value::Array(merged)
        }
        _ => config.clone(),
    }
}

/// The set with those fields of types as members in which there is a member.
fn with_named_parents(node: Node<'_>, set: &FieldSet) -> FieldSet {
    let nodes = set.nodes().map(|(element, inner)| {
        let (child, declared) = node.child(element);
        let children = with_named_parents(child, &inner.children);
        let is_member = inner.is_member || (declared == Declared::Field && !children.is_empty());
        (
            element.clone(),
            FieldNode {
                is_member,
                children,
            },
        )
    });
    nodes.collect()
}

/// The value without what the set names; nothing if all of it is gone.
fn without_items(node: Node<'_>, value: &Value, set: &FieldSet) -> Option<Value> {
    if set.is_empty() {
        return Some(value.clone());
    }
    let kept = |element: &str, child: Node<'_>, value: &Value| match set.get(element) {
        None => Some(value.clone()),
        Some(found) if found.is_member => None,
        Some(found) => without_items(child, value, &found.children),
    };
    match (node.shape(value), value) {
        (Shape::Fields, Value::Object(fields)) => {
            let fields = fields.iter().filter_map(|(name, value)| {
                let value = kept(&format!("f:{name}"), node.field(name).0, value)?;
                Some((name.clone(), value))
            });
            let fields: Map<String, Value> = fields.collect();
            (!fields.is_empty()).then_some(Value::Object(fields))
        }
        (Shape::Items, Value::Array(items)) => {
            let items = items.iter();
            let items: Vec<Value> = items
                .filter_map(|item| kept(&node.element_of(item), node.item(), item))
                .collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        _ => Some(value.clone()),
    }
}

/// 409 (apimachinery's `managedfields/internal/conflict.go`).
fn conflict(conflicts: &[(&Entry, FieldSet)]) -> Failure {
    let mut managers: Vec<(String, Vec<String>)> = conflicts
        .iter()
        .map(|(entry, fields)| (describe(entry), fields.paths()))
        .collect();
    managers.sort();
    let count: usize = managers.iter().map(|(_, fields)| fields.len()).sum();
    let message = match managers.as_slice() {
        [(manager, fields)] if fields.len() == 1 => {
            format!(
                "Apply failed with 1 conflict: conflict with {manager}: {}",
                fields[0]
            )
        }
        several => {
            let lines: Vec<String> = several
                .iter()
                .map(|(manager, fields)| {
                    format!("conflicts with {manager}:\n- {}", fields.join("\n- "))
                })
                .collect();
            format!("Apply failed with {count} conflicts: {}", lines.join("\n"))
        }
    };
    let causes = managers.iter().flat_map(|(manager, fields)| {
        fields.iter().map(move |field| StatusCause {
            reason: "FieldManagerConflict".to_owned(),
            message: format!("conflict with {manager}"),
            field: field.clone(),
        })
    });
    let details = StatusDetails {
        causes: causes.collect(),
        ..StatusDetails::default()
    };
    Failure::with_details(409, "Conflict", message, details)
}

fn describe(entry: &Entry) -> String {
    let through = match entry.subresource.as_str() {
        "" => String::new(),
        subresource => format!(" with subresource {subresource:?}"),
    };
    let version = match entry.operation {
        Operation::Apply => String::new(),
        Operation::Update => format!(" using {}", entry.api_version),
    };
    format!("{:?}{through}{version}", entry.manager)
}
