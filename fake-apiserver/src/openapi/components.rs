//! The schemas of kinds.

use bench_core::api::Resource;
use serde_json::{Map, Value, json};

/// The name of a kind's schema.
pub(super) fn name(resource: &Resource) -> String {
    let mut parts: Vec<&str> = resource
        .group
        .split('.')
        .rev()
        .filter(|part| !part.is_empty())
        .collect();
    if parts.is_empty() {
        parts.push("core");
    }
    parts.extend([&*resource.version, &*resource.kind]);
    parts.join(".")
}

pub(super) fn group_version_kind(resource: &Resource) -> Value {
    json!({"group": resource.group, "version": resource.version, "kind": resource.kind})
}

/// The schemas of all kinds: what every object has, and anything else.
pub(super) fn schemas(resources: &[Resource], references: &str) -> Value {
    let mut schemas = Map::new();
    schemas.insert("meta.v1.ObjectMeta".to_owned(), json!({
        "type": "object",
        "description": "What every object has: its name, labels, annotations, owners and history.",
        "x-kubernetes-preserve-unknown-fields": true,
    }));
    for resource in resources {
        let schema = json!({
            "type": "object",
            "description": format!("An object of kind {}.", resource.kind),
            "properties": {
                "apiVersion": {"type": "string", "description": "Group and version."},
                "kind": {"type": "string", "description": "The kind."},
                "metadata": {"allOf": [{"$ref": format!("{references}meta.v1.ObjectMeta")}]},
            },
            "x-kubernetes-group-version-kind": [group_version_kind(resource)],
            "x-kubernetes-preserve-unknown-fields": true,
        });
        schemas.insert(name(resource), schema);
    }
    schemas.into()
}
