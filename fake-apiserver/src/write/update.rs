//! What becomes of an object that is to replace another (apiserver's `registry/rest/update.go` and
//! `registry/generic/registry/store.go`).

use serde_json::{Map, Value};

use crate::{
    failure::Failure,
    write::{
        content,
        field_error::FieldError,
        metadata,
        rules::{Generation, Part, ServedResource},
    },
};

/// What an update does to the store.
#[derive(Debug, PartialEq)]
pub(crate) enum Updated {
    /// The new state.
    Changed(Value),
    /// The last finalizer of an object under deletion is gone: the stored state is removed, this one is answered.
    Removed(Value),
    /// Nothing: the new state is the stored one.
    Unchanged,
}

/// Checks that the sender knew the present version, if it must or wants to.
///
/// # Errors
/// 409 for another version, 422 for none where one is needed.
pub(crate) fn check_version(
    served: &ServedResource,
    current: &Value,
    new: &mut Value,
) -> Result<(), Failure> {
    let name = metadata::text(current, "name").to_owned();
    let given = metadata::text(new, "resourceVersion");
    let is_unset = matches!(given, "" | "0");
    if is_unset && served.needs_version() {
        let error = FieldError::invalid(
            "metadata.resourceVersion",
            &0.into(),
            "must be specified for an update",
        );
        // The plural where others have the kind, as upstream.
        let resource = &served.resource;
        return Err(Failure::invalid(
            &resource.group,
            &resource.plural,
            &name,
            &[error],
        ));
    }
    if !is_unset && given != metadata::text(current, "resourceVersion") {
        if given.parse::<u64>().is_err() {
            let problem = format!("strconv.ParseUint: parsing {given:?}: invalid syntax");
            return Err(Failure::plain(500, "", problem));
        }
        return Err(Failure::object_modified(&served.resource, &name));
    }
    metadata::copy("resourceVersion", current, new);
    Ok(())
}

/// Makes the state that is stored from one that was sent, whose version and namespace are settled.
///
/// # Errors
/// 422 for what is not valid.
pub(crate) fn update(
    served: &ServedResource,
    part: Part,
    current: &Value,
    mut new: Value,
) -> Result<Updated, Failure> {
    metadata::copy("generation", current, &mut new);
    // A body may leave them out.
    copy_field("kind", current, &mut new);
    copy_field("apiVersion", current, &mut new);
    match part {
        Part::Main | Part::Scale => keep_status(served, current, &mut new),
        Part::Status => keep_all_but_status(served, current, &mut new),
    }
    content::prepare_changed(served, part, current, &mut new);
    if part != Part::Status && counts_as_change(served, current, &new) {
        metadata::bump_generation(&mut new);
    }
    if metadata::text(&new, "uid").is_empty() {
        metadata::copy("uid", current, &mut new);
    }
    metadata::copy("creationTimestamp", current, &mut new);
    if metadata::is_terminating(current) {
        metadata::copy("deletionTimestamp", current, &mut new);
    }
    if metadata::integer(&new, "deletionGracePeriodSeconds").is_none() {
        metadata::copy("deletionGracePeriodSeconds", current, &mut new);
    }
    let mut errors = metadata::faults_of_update(served, current, &new);
    if part != Part::Status {
        errors.extend(content::faults(served, &new));
        errors.extend(content::faults_of_update(served, current, &new));
    }
    let resource = &served.resource;
    let name = metadata::text(current, "name");
    Failure::if_invalid(&resource.group, &resource.kind, name, &errors)?;
    metadata::arrange(&mut new);
    if metadata::is_terminating(current)
        && metadata::finalizers(&new).is_empty()
        && metadata::integer(current, "deletionGracePeriodSeconds").unwrap_or(0) == 0
        && content::may_be_removed(served, &new)
    {
        return Ok(Updated::Removed(new));
    }
    if new == *current {
        return Ok(Updated::Unchanged);
    }
    Ok(Updated::Changed(new))
}

fn keep_status(served: &ServedResource, current: &Value, new: &mut Value) {
    if !served.has_status() {
        return;
    }
    copy_field("status", current, new);
}

fn keep_all_but_status(served: &ServedResource, current: &Value, new: &mut Value) {
    let status = new.get("status").cloned();
    let mut metadata_sent = std::mem::take(metadata::of_mut(new));
    if served.is_custom() {
        // Custom resources keep their metadata but for the record of field managers.
        let managed = metadata_sent.shift_remove("managedFields");
        metadata_sent.clone_from(metadata::of(current));
        match managed {
            Some(managed) => metadata_sent.insert("managedFields".to_owned(), managed),
            None => metadata_sent.shift_remove("managedFields"),
        };
    }
    let mut kept = current.clone();
    *metadata::of_mut(&mut kept) = metadata_sent;
    metadata::copy("ownerReferences", current, &mut kept);
    if served.resource.group == "apps" {
        metadata::copy("labels", current, &mut kept);
    }
    let fields = kept.as_object_mut().expect("stored objects are objects");
    match status {
        Some(status) => fields.insert("status".to_owned(), status),
        None => fields.shift_remove("status"),
    };
    *new = kept;
}

fn copy_field(name: &str, from: &Value, to: &mut Value) {
    let fields = to
        .as_object_mut()
        .expect("bodies were checked to be objects");
    match from.get(name) {
        Some(value) => fields.insert(name.to_owned(), value.clone()),
        None => fields.shift_remove(name),
    };
}

fn counts_as_change(served: &ServedResource, current: &Value, new: &Value) -> bool {
    let annotations = |object: &Value| {
        let annotations = metadata::of(object).get("annotations");
        let annotations = annotations.and_then(Value::as_object).cloned();
        annotations.unwrap_or_else(Map::new)
    };
    match served.generation() {
        Generation::Absent => false,
        Generation::OfContent => content_differs(served, current, new),
        Generation::OfContentAndAnnotations => {
            content_differs(served, current, new) || annotations(current) != annotations(new)
        }
    }
}

fn content_differs(served: &ServedResource, current: &Value, new: &Value) -> bool {
    let is_content = |name: &str| match name {
        "kind" | "apiVersion" | "metadata" => false,
        "status" => !served.has_status(),
        _ => true,
    };
    let content = |object: &Value| -> Map<String, Value> {
        let fields = object.as_object().into_iter().flatten();
        let fields = fields.filter(|(name, value)| is_content(name) && !value.is_null());
        fields
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    content(current) != content(new)
}
