//! Reading, completing and judging an object's metadata (apimachinery's `api/validation/objectmeta.go`, apiserver's
//! `registry/rest/meta.go`).

use std::collections::BTreeSet;

use bench_core::api::Scope;
use serde_json::{Map, Value};

use crate::write::{
    field_error::FieldError,
    names::{self, NameRule},
    rules::ServedResource,
};

/// Most bytes of all annotations together.
const ANNOTATIONS_LIMIT_BYTES: usize = 256 * 1024;

/// The order in which servers write metadata.
const ORDER: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

/// The finalizers that stand for a garbage collector's work.
pub(crate) const ORPHAN_FINALIZER: &str = "orphan";
pub(crate) const FOREGROUND_FINALIZER: &str = "foregroundDeletion";

/// The metadata of an object; empty if it has none.
pub(crate) fn of(object: &Value) -> &Map<String, Value> {
    static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    object
        .get("metadata")
        .and_then(Value::as_object)
        .unwrap_or(&NONE)
}

/// The metadata of an object, made if absent.
pub(crate) fn of_mut(object: &mut Value) -> &mut Map<String, Value> {
    let metadata = &mut object["metadata"];
    if !metadata.is_object() {
        *metadata = Value::Object(Map::new());
    }
    metadata.as_object_mut().expect("made an object above")
}

/// A text field of the metadata; empty if absent.
pub(crate) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    of(object).get(name).and_then(Value::as_str).unwrap_or("")
}

pub(crate) fn integer(object: &Value, name: &str) -> Option<i64> {
    of(object).get(name).and_then(Value::as_i64)
}

pub(crate) fn is_terminating(object: &Value) -> bool {
    of(object)
        .get("deletionTimestamp")
        .is_some_and(|time| !time.is_null())
}

pub(crate) fn finalizers(object: &Value) -> Vec<String> {
    let listed = of(object).get("finalizers").and_then(Value::as_array);
    let texts = listed.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

pub(crate) fn set_finalizers(object: &mut Value, finalizers: &[String]) {
    let metadata = of_mut(object);
    if finalizers.is_empty() {
        metadata.shift_remove("finalizers");
    } else {
        metadata.insert("finalizers".to_owned(), finalizers.into());
    }
}

/// Adds one to the generation of an object that has one.
pub(crate) fn bump_generation(object: &mut Value) {
    if let Some(generation) = integer(object, "generation").filter(|generation| *generation > 0) {
        of_mut(object).insert("generation".to_owned(), generation.saturating_add(1).into());
    }
}

/// Copies a field from another object's metadata, its absence included.
pub(crate) fn copy(name: &str, from: &Value, to: &mut Value) {
    match of(from).get(name) {
        Some(value) => {
            let value = value.clone();
            of_mut(to).insert(name.to_owned(), value);
        }
        None => {
            of_mut(to).shift_remove(name);
        }
    }
}

/// Puts the fields into the order of servers, and drops those that are empty. Fields that servers do not have are dropped, too.
pub(crate) fn arrange(object: &mut Value) {
    let mut fields = std::mem::take(of_mut(object));
    let mut arranged = Map::new();
    for name in ORDER {
        if let Some(value) = fields.shift_remove(name)
            && !is_empty(&value)
        {
            arranged.insert(name.to_owned(), value);
        }
    }
    *of_mut(object) = arranged;
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// What is wrong with the metadata of a new object.
pub(crate) fn faults(served: &ServedResource, object: &Value) -> Vec<FieldError> {
    let resource = &served.resource;
    let rule = NameRule::of(&resource.group, &resource.plural);
    let mut errors = Vec::new();
    let mut complain = |field: &str, value: &str, faults: Vec<String>| {
        let faults = faults.into_iter();
        errors.extend(faults.map(|fault| FieldError::invalid(field, &value.into(), &fault)));
    };
    let base = text(object, "generateName");
    if !base.is_empty() {
        complain("metadata.generateName", base, rule.base_faults(base));
    }
    let name = text(object, "name");
    if !name.is_empty() {
        complain("metadata.name", name, rule.faults(name));
    }
    let namespace = text(object, "namespace");
    if resource.scope == Scope::Namespaced && !namespace.is_empty() {
        complain(
            "metadata.namespace",
            namespace,
            names::dns_1123_label(namespace),
        );
    }
    if name.is_empty() {
        errors.push(FieldError::required(
            "metadata.name",
            "name or generateName is required",
        ));
    }
    errors.extend(faults_of_maps(object));
    errors.extend(faults_of_owners(object));
    errors.extend(faults_of_finalizers(object));
    errors
}

/// What is wrong with the metadata of an object that replaces another.
pub(crate) fn faults_of_update(
    served: &ServedResource,
    current: &Value,
    new: &Value,
) -> Vec<FieldError> {
    let mut errors = faults(served, new);
    if is_terminating(current) {
        let old: BTreeSet<String> = finalizers(current).into_iter().collect();
        let new: BTreeSet<String> = finalizers(new).into_iter().collect();
        let added: Vec<String> = new
            .difference(&old)
            .map(|name| format!("{name:?}"))
            .collect();
        if !added.is_empty() {
            let why = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                added.join(", ")
            );
            errors.push(FieldError::forbidden("metadata.finalizers", &why));
        }
    }
    for name in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        let (old, new) = (of(current).get(name), of(new).get(name));
        if old.filter(|value| !value.is_null()) != new.filter(|value| !value.is_null()) {
            let value = new.cloned().unwrap_or(Value::Null);
            errors.push(FieldError::immutable(format!("metadata.{name}"), &value));
        }
    }
    errors
}

fn faults_of_maps(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let entries = |name: &str| {
        let map = of(object).get(name).and_then(Value::as_object);
        map.into_iter().flatten()
    };
    for (key, value) in entries("labels") {
        let value = value.as_str().unwrap_or("");
        for (text, faults) in [
            (key.as_str(), names::qualified_name(key)),
            (value, names::label_value(value)),
        ] {
            let faults = faults.into_iter();
            errors.extend(
                faults.map(|fault| FieldError::invalid("metadata.labels", &text.into(), &fault)),
            );
        }
    }
    let mut size = 0;
    for (key, value) in entries("annotations") {
        size += key.len() + value.as_str().map_or(0, str::len);
        let faults = names::qualified_name(&key.to_lowercase()).into_iter();
        errors.extend(faults.map(|fault| {
            FieldError::invalid("metadata.annotations", &key.as_str().into(), &fault)
        }));
    }
    if size > ANNOTATIONS_LIMIT_BYTES {
        errors.push(FieldError::too_long(
            "metadata.annotations",
            ANNOTATIONS_LIMIT_BYTES,
        ));
    }
    errors
}

fn faults_of_owners(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let owners = of(object).get("ownerReferences").and_then(Value::as_array);
    let mut controller: Option<String> = None;
    for (index, owner) in owners.into_iter().flatten().enumerate() {
        let text = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or("");
        for name in ["apiVersion", "kind", "name", "uid"] {
            if text(name).is_empty() {
                let field = format!("metadata.ownerReferences[{index}].{name}");
                errors.push(FieldError::required(field, "must not be empty"));
            }
        }
        if owner.get("controller") == Some(&Value::Bool(true)) {
            let described = format!("{}/{}", text("kind"), text("name"));
            match &controller {
                None => controller = Some(described),
                Some(first) => {
                    let why = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} \
                         and {described}"
                    );
                    let value = of(object)["ownerReferences"].clone();
                    errors.push(FieldError::invalid(
                        "metadata.ownerReferences",
                        &value,
                        &why,
                    ));
                }
            }
        }
    }
    errors
}

fn faults_of_finalizers(object: &Value) -> Vec<FieldError> {
    let finalizers = finalizers(object);
    let mut errors = Vec::new();
    for finalizer in &finalizers {
        let faults = names::qualified_name(finalizer).into_iter();
        errors.extend(faults.map(|fault| {
            FieldError::invalid("metadata.finalizers", &finalizer.as_str().into(), &fault)
        }));
    }
    let has = |name: &str| finalizers.iter().any(|finalizer| finalizer == name);
    if has(ORPHAN_FINALIZER) && has(FOREGROUND_FINALIZER) {
        let why =
            format!("finalizer {ORPHAN_FINALIZER} and {FOREGROUND_FINALIZER} cannot be both set");
        errors.push(FieldError::invalid(
            "metadata.finalizers",
            &finalizers.clone().into(),
            &why,
        ));
    }
    errors
}
