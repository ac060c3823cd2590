//! What becomes of an object that is posted (apiserver's `registry/rest/create.go`).

use bench_core::api::Scope;
use rand::Rng;
use serde_json::Value;

use crate::{
    failure::Failure,
    object_name,
    write::{
        content, metadata,
        rules::{Generation, ServedResource},
        timestamp::Timestamp,
    },
};

/// Longest base of a generated name, so that five characters more still fit a label.
const GENERATED_BASE_BYTES: usize = 58;

/// Takes away what only the server sets.
pub(crate) fn wipe_system_fields(object: &mut Value) {
    let metadata = metadata::of_mut(object);
    for name in [
        "creationTimestamp",
        "uid",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
    ] {
        metadata.shift_remove(name);
    }
}

/// Whether the server is to find a name.
pub(crate) fn wants_generated_name(object: &Value) -> bool {
    metadata::text(object, "name").is_empty() && !metadata::text(object, "generateName").is_empty()
}

/// A name from the base that the object gives.
pub(crate) fn generated_name(object: &Value, random: &mut impl Rng) -> String {
    let base = metadata::text(object, "generateName");
    let mut end = base.len().min(GENERATED_BASE_BYTES);
    while !base.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{}", &base[..end], object_name::suffix(5, random))
}

/// Puts the request's namespace into an object that has none.
///
/// # Errors
/// 400 if it has another.
pub(crate) fn settle_namespace(
    served: &ServedResource,
    namespace: &str,
    object: &mut Value,
) -> Result<(), Failure> {
    let given = metadata::text(object, "namespace");
    if served.resource.scope == Scope::Cluster {
        metadata::of_mut(object).shift_remove("namespace");
        return Ok(());
    }
    if given.is_empty() {
        metadata::of_mut(object).insert("namespace".to_owned(), namespace.into());
    } else if given != namespace {
        return Err(Failure::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(())
}

/// Makes the object that is stored from one that was sent: name and namespace are settled already.
///
/// # Errors
/// 422 for what is not valid, 500 for a version in the body.
pub(crate) fn create(
    served: &ServedResource,
    mut object: Value,
    uid: &str,
    now: Timestamp,
) -> Result<Value, Failure> {
    if !matches!(metadata::text(&object, "resourceVersion"), "" | "0") {
        return Err(Failure::plain(
            500,
            "",
            "resourceVersion should not be set on objects to be created",
        ));
    }
    let metadata = metadata::of_mut(&mut object);
    metadata.shift_remove("resourceVersion");
    metadata.insert("uid".to_owned(), uid.into());
    metadata.insert("creationTimestamp".to_owned(), now.value());
    match served.generation() {
        Generation::Absent => {
            metadata.shift_remove("generation");
        }
        Generation::OfContent | Generation::OfContentAndAnnotations => {
            metadata.insert("generation".to_owned(), 1.into());
        }
    }
    content::prepare_new(served, &mut object);
    let mut errors = metadata::faults(served, &object);
    errors.extend(content::faults(served, &object));
    let name = metadata::text(&object, "name");
    Failure::if_invalid(&served.resource.group, &served.resource.kind, name, &errors)?;
    metadata::arrange(&mut object);
    Ok(object)
}
