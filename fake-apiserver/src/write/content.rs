//! What single kinds add to the rules of all: defaults, immutable fields and the validation that clients meet most (kubernetes'
//! `pkg/apis/*/v1/defaults.go`, `pkg/registry` and `pkg/apis/*/validation`). Not the whole of upstream's validation.

mod pod;
mod service;
mod workload;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};

use crate::write::{
    definitions,
    field_error::FieldError,
    metadata,
    rules::{Part, ServedResource},
};

/// Completes an object that is new.
pub(crate) fn prepare_new(served: &ServedResource, object: &mut Value) {
    if served.has_status() && !served.keeps_status_on_create() {
        fields(object).shift_remove("status");
    }
    set_defaults(served, object);
    match name(served) {
        ("", "namespaces") => prepare_new_namespace(object),
        (definitions::GROUP, definitions::PLURAL) => definitions::prepare_new(object),
        ("", "pods") => pod::prepare_new(object),
        ("", "services") => service::prepare_new(object),
        ("apps", "deployments") => object["status"] = json!({}),
        ("apps", "replicasets" | "statefulsets") => object["status"] = json!({"replicas": 0}),
        ("batch", "jobs") => workload::prepare_new_job(object),
        _ => {}
    }
}

/// Completes an object that replaces `current`.
pub(crate) fn prepare_changed(
    served: &ServedResource,
    part: Part,
    current: &Value,
    object: &mut Value,
) {
    if part == Part::Status {
        return;
    }
    if served.is("", "namespaces") {
        // Finalizers of namespaces have a path of their own.
        object["spec"] = current.get("spec").cloned().unwrap_or_else(|| json!({}));
    }
    if served.is("", "services") {
        service::keep_addresses(current, object);
    }
    set_defaults(served, object);
}

/// Sets what a kind's fields are if nothing is said of them. Repeating it changes nothing.
pub(crate) fn set_defaults(served: &ServedResource, object: &mut Value) {
    match name(served) {
        (definitions::GROUP, definitions::PLURAL) => definitions::set_defaults(object),
        ("", "pods") => pod::set_defaults(object),
        ("", "secrets") => set_secret_defaults(object),
        ("", "services") => service::set_defaults(object),
        ("apps", "daemonsets" | "deployments" | "replicasets" | "statefulsets")
        | ("batch", "jobs") => workload::set_defaults(&served.resource.plural, object),
        ("discovery.k8s.io", "endpointslices") => set_endpoint_slice_defaults(object),
        _ => {}
    }
}

/// What is wrong with an object, its metadata apart.
pub(crate) fn faults(served: &ServedResource, object: &Value) -> Vec<FieldError> {
    match name(served) {
        (definitions::GROUP, definitions::PLURAL) => definitions::faults(object),
        ("", "pods") => pod::faults(object.get("spec"), "spec"),
        ("", "services") => service::faults(object),
        ("apps", "daemonsets" | "deployments" | "replicasets" | "statefulsets")
        | ("batch", "jobs") => workload::faults(&served.resource.plural, object),
        ("discovery.k8s.io", "endpointslices") => missing(object, &["addressType"]),
        _ => Vec::new(),
    }
}

/// What of `current` an update may not change.
pub(crate) fn faults_of_update(
    served: &ServedResource,
    current: &Value,
    object: &Value,
) -> Vec<FieldError> {
    let immutable = |pointers: &[&str]| changed(current, object, pointers);
    match name(served) {
        ("", "configmaps" | "secrets") => faults_of_immutable_data(served, current, object),
        ("", "pods") => pod::faults_of_update(current, object),
        ("", "services") => service::faults_of_update(current, object),
        ("apps", "daemonsets" | "deployments" | "replicasets" | "statefulsets") => {
            immutable(&["/spec/selector"])
        }
        ("batch", "jobs") => immutable(&["/spec/selector", "/spec/completionMode"]),
        (definitions::GROUP, definitions::PLURAL) => immutable(&[
            "/spec/group",
            "/spec/scope",
            "/spec/names/plural",
            "/spec/names/kind",
        ]),
        ("discovery.k8s.io", "endpointslices") => immutable(&["/addressType"]),
        _ => Vec::new(),
    }
}

/// Whether an object under deletion, without finalizers, may go: a namespace has more of them in its specification.
pub(crate) fn may_be_removed(served: &ServedResource, object: &Value) -> bool {
    !served.is("", "namespaces")
        || object
            .pointer("/spec/finalizers")
            .and_then(Value::as_array)
            .is_none_or(Vec::is_empty)
}

fn prepare_new_namespace(object: &mut Value) {
    let name = metadata::text(object, "name").to_owned();
    object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name.into();
    object["spec"]["finalizers"] = json!(["kubernetes"]);
    object["status"] = json!({"phase": "Active"});
}

fn set_secret_defaults(object: &mut Value) {
    or_insert(object, "type", "Opaque".into());
    let Some(Value::Object(texts)) = fields(object).shift_remove("stringData") else {
        return;
    };
    for (name, text) in texts {
        let encoded = BASE64_STANDARD.encode(text.as_str().unwrap_or(""));
        object["data"][name] = encoded.into();
    }
}

fn set_endpoint_slice_defaults(object: &mut Value) {
    for port in items(object.get_mut("ports")) {
        or_insert(port, "name", "".into());
        or_insert(port, "protocol", "TCP".into());
    }
}

fn faults_of_immutable_data(
    served: &ServedResource,
    current: &Value,
    object: &Value,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if current.get("immutable") == Some(&Value::Bool(true)) {
        let why = "field is immutable when `immutable` is set";
        for name in ["immutable", "data", "binaryData"] {
            if current.get(name) != object.get(name) {
                errors.push(FieldError::forbidden(name, why));
            }
        }
    }
    if served.is("", "secrets") {
        errors.extend(changed(current, object, &["/type"]));
    }
    errors
}

/// A complaint for each of these fields that differs.
fn changed(current: &Value, object: &Value, pointers: &[&str]) -> Vec<FieldError> {
    let differs = |pointer: &&&str| current.pointer(pointer) != object.pointer(pointer);
    let changed = pointers.iter().filter(differs);
    changed
        .map(|pointer| {
            let value = object.pointer(pointer).cloned().unwrap_or(Value::Null);
            FieldError::immutable(pointer.trim_start_matches('/').replace('/', "."), &value)
        })
        .collect()
}

/// A complaint for each of these top-level fields that is absent or empty.
fn missing(object: &Value, names: &[&str]) -> Vec<FieldError> {
    let names = names.iter().filter(|name| is_blank(object.get(**name)));
    names.map(|name| FieldError::required(*name, "")).collect()
}

fn is_blank(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => false,
    }
}

fn name(served: &ServedResource) -> (&str, &str) {
    (&served.resource.group, &served.resource.plural)
}

/// The fields of an object; a value that is none becomes one.
fn fields(object: &mut Value) -> &mut Map<String, Value> {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    object.as_object_mut().expect("made an object above")
}

/// Sets a field that is absent or null.
pub(super) fn or_insert(object: &mut Value, name: &str, value: Value) {
    let slot = &mut object[name];
    if slot.is_null() {
        *slot = value;
    }
}

/// The objects in a list; nothing if it is none.
fn items(list: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    let items = list.and_then(Value::as_array_mut);
    items.into_iter().flatten().filter(|item| item.is_object())
}
