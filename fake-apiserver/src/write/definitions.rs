//! `CustomResourceDefinition`s: what the server adds to them, and the resources that come and go with them.
//!
//! A real server's own controllers do this a little later; here it is done within the write: a definition is established at once,
//! in an event of its own, and its deletion takes its objects along. Only the storage version is served.

use bench_core::api::{ObjectKey, Resource};
use serde_json::{Value, json};

use crate::{
    ApiServer,
    custom_kind::{CustomKind, defined_by},
    profiles::CREATED_AT,
    storage::{ResourceId, Storage},
    write::{
        content::or_insert, driver::Place, field_error::FieldError, metadata,
        rules::ServedResource, timestamp::Timestamp,
    },
};

/// Holds a definition until its objects are gone.
pub(crate) const CLEANUP_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

pub(crate) const GROUP: &str = "apiextensions.k8s.io";
pub(crate) const PLURAL: &str = "customresourcedefinitions";

/// Registers the resources of all definitions that were loaded.
pub(crate) fn register_loaded(storage: &mut Storage) {
    let Some(id) = storage.find(GROUP, "v1", PLURAL) else {
        return;
    };
    let definitions: Vec<Value> = storage
        .store(id)
        .objects()
        .values()
        .map(|object| object.value())
        .collect();
    for (resource, custom) in definitions.iter().filter_map(defined_by) {
        storage.define(&resource, custom);
    }
}

/// Completes a definition from a file: what a server would have said of it, if the file does not.
pub(crate) fn complete_loaded(definition: &mut Value) {
    if defined_by(definition).is_none() {
        return;
    }
    set_defaults(definition);
    if !definition["status"].is_object() {
        prepare_new(definition);
    }
    let created: Option<Timestamp> = Timestamp::parse(&CREATED_AT.into());
    accept(definition, created.expect("a constant time"));
}

pub(super) fn set_defaults(definition: &mut Value) {
    let kind = definition["spec"]["names"]["kind"]
        .as_str()
        .unwrap_or("")
        .to_owned();
    let spec = &mut definition["spec"];
    or_insert(&mut spec["names"], "singular", kind.to_lowercase().into());
    or_insert(&mut spec["names"], "listKind", format!("{kind}List").into());
    or_insert(spec, "conversion", json!({"strategy": "None"}));
}

pub(super) fn prepare_new(definition: &mut Value) {
    let versions = definition["spec"]["versions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let stored = versions.iter().find(|version| version["storage"] == true);
    let stored: Vec<Value> = stored
        .iter()
        .map(|version| version["name"].clone())
        .collect();
    definition["status"] = json!({
        "conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": stored,
    });
}

pub(super) fn faults(definition: &Value) -> Vec<FieldError> {
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let (group, plural) = (text(&spec["group"]), text(&spec["names"]["plural"]));
    let name = metadata::text(definition, "name");
    let mut errors = Vec::new();
    if name != format!("{plural}.{group}") {
        let why = "must be spec.names.plural+\".\"+spec.group";
        errors.push(FieldError::invalid("metadata.name", &name.into(), why));
    }
    for (field, value) in [
        ("spec.group", &spec["group"]),
        ("spec.scope", &spec["scope"]),
        ("spec.names.plural", &spec["names"]["plural"]),
        ("spec.names.kind", &spec["names"]["kind"]),
    ] {
        if text(value).is_empty() {
            errors.push(FieldError::required(field, ""));
        }
    }
    let scopes = ["Cluster", "Namespaced"];
    let scope = text(&spec["scope"]);
    if !scope.is_empty() && !scopes.contains(&&*scope) {
        errors.push(FieldError::not_supported(
            "spec.scope",
            &spec["scope"],
            &scopes,
        ));
    }
    let versions = spec["versions"].as_array().map_or(&[][..], Vec::as_slice);
    let stored = versions.iter().filter(|version| version["storage"] == true);
    if stored.count() != 1 {
        let why = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid("spec.versions", &spec["versions"], why));
    }
    for (index, version) in versions.iter().enumerate() {
        if !version["schema"]["openAPIV3Schema"].is_object() {
            let field = format!("spec.versions[{index}].schema.openAPIV3Schema");
            errors.push(FieldError::required(field, "schemas are required"));
        }
    }
    errors
}

/// The definition as it is under deletion.
pub(super) fn mark_terminating(definition: &mut Value, now: Timestamp) {
    let mut finalizers = metadata::finalizers(definition);
    if !finalizers.iter().any(|name| name == CLEANUP_FINALIZER) {
        finalizers.push(CLEANUP_FINALIZER.to_owned());
    }
    metadata::set_finalizers(definition, &finalizers);
    let terminating = condition(
        "Terminating",
        "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        now,
    );
    set_condition(definition, terminating);
}

/// Says that the names are accepted and the resource is served, where that is not said yet.
fn accept(definition: &mut Value, now: Timestamp) {
    let names = definition["spec"]["names"].clone();
    definition["status"]["acceptedNames"] = names;
    for (name, reason, message) in [
        ("NamesAccepted", "NoConflicts", "no conflicts found"),
        (
            "Established",
            "InitialNamesAccepted",
            "the initial names have been accepted",
        ),
    ] {
        let conditions = definition
            .pointer("/status/conditions")
            .and_then(Value::as_array);
        let is_said = conditions.is_some_and(|all| all.iter().any(|one| one["type"] == name));
        if !is_said {
            set_condition(definition, condition(name, reason, message, now));
        }
    }
}

fn condition(name: &str, reason: &str, message: &str, now: Timestamp) -> Value {
    json!({"type": name, "status": "True", "lastTransitionTime": now.value(), "reason": reason, "message": message})
}

fn set_condition(definition: &mut Value, condition: Value) {
    let conditions = &mut definition["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let conditions = conditions.as_array_mut().expect("made an array above");
    conditions.retain(|other| other["type"] != condition["type"]);
    conditions.push(condition);
}

impl ApiServer {
    /// Serves what a definition defines, and says so in its status. Called after each write of one.
    pub(super) fn establish(&self, place: &Place, key: &ObjectKey) {
        let Some((revision, definition)) = self.present(place, key) else {
            return;
        };
        let Some((resource, custom)) = defined_by(&definition) else {
            return;
        };
        if metadata::is_terminating(&definition) {
            return;
        }
        self.define(&resource, custom);
        let mut established = definition.clone();
        accept(&mut established, self.calendar_time());
        if established != definition {
            // Whoever has changed it meanwhile establishes it, too.
            let _newer = self.commit_value(place, established, revision);
        }
    }

    /// Deletes the objects of a definition under deletion, and the definition with the last of them.
    pub(super) fn sweep_definition(&self, place: &Place, key: &ObjectKey) {
        let Some((_, definition)) = self.present(place, key) else {
            return;
        };
        let Some((resource, _)) = defined_by(&definition) else {
            self.finish_definition(place, key);
            return;
        };
        let found = self.read(|state| {
            state
                .storage
                .find(&resource.group, &resource.version, &resource.plural)
        });
        if let Some(id) = found {
            self.delete_all(id, None);
        }
        self.finish_definition(place, key);
    }

    /// Removes a definition under deletion that has no objects any more.
    pub(super) fn finish_definition(&self, place: &Place, key: &ObjectKey) {
        let Some((revision, mut definition)) = self.present(place, key) else {
            return;
        };
        if !metadata::is_terminating(&definition) {
            return;
        }
        let mut finalizers = metadata::finalizers(&definition);
        if !finalizers.iter().any(|name| name == CLEANUP_FINALIZER) {
            return;
        }
        let defined = defined_by(&definition).and_then(|(resource, _)| {
            self.read(|state| {
                let id =
                    state
                        .storage
                        .find(&resource.group, &resource.version, &resource.plural)?;
                let is_empty = state.storage.store(id).objects().is_empty();
                Some((id, is_empty))
            })
        });
        if let Some((_, false)) = defined {
            return;
        }
        finalizers.retain(|name| name != CLEANUP_FINALIZER);
        if finalizers.is_empty() {
            if self.commit_removal(place.id, key, revision).is_err() {
                return;
            }
        } else {
            metadata::set_finalizers(&mut definition, &finalizers);
            if self.commit_value(place, definition, revision).is_err() {
                return;
            }
        }
        if let Some((id, _)) = defined {
            self.undefine(id);
        }
    }

    /// After an object of a custom resource has gone: its definition may have waited for that.
    pub(super) fn finish_definition_of(&self, resource: &Resource) {
        let id = self.read(|state| state.storage.find(GROUP, "v1", PLURAL));
        let Some(id) = id else {
            return;
        };
        let place = Place {
            id,
            served: self.read(|state| ServedResource::of(state.storage.store(id))),
            namespace: String::new(),
        };
        let key = ObjectKey::new("", &format!("{}.{}", resource.plural, resource.group));
        self.finish_definition(&place, &key);
    }

    fn define(&self, resource: &Resource, custom: CustomKind) {
        self.read(|state| {
            state.storage.define(resource, custom);
            state.complete_heads();
        });
    }

    fn undefine(&self, id: ResourceId) {
        self.read(|state| state.storage.undefine(id));
    }
}
