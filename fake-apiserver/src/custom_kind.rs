//! What a `CustomResourceDefinition` says of the resource that it adds.

use bench_core::api::{Resource, Scope};
use serde_json::Value;

/// Names and parts of a custom resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CustomKind {
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) status: StatusPath,
    pub(crate) scale: Option<ScalePaths>,
}

/// Whether the status has a path of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatusPath {
    /// It is a field like others.
    Absent,
    Served,
}

/// Where an object keeps what its scale shows, as JSON pointers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScalePaths {
    pub(crate) spec_replicas: String,
    pub(crate) status_replicas: String,
    pub(crate) selector: Option<String>,
}

/// The resource of a definition at its storage version, the only one that is served, and what is said of it. `None` if the
/// definition lacks what it must have.
pub(crate) fn defined_by(definition: &Value) -> Option<(Resource, CustomKind)> {
    let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str);
    let texts = |pointer: &str| -> Vec<String> {
        let listed = definition.pointer(pointer).and_then(Value::as_array);
        let texts = listed.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    };
    let versions = definition.pointer("/spec/versions")?.as_array()?;
    let stored = versions.iter().find(|version| version["storage"] == true)?;
    if stored["served"] != true {
        return None;
    }
    let scope = match text("/spec/scope")? {
        "Cluster" => Scope::Cluster,
        _ => Scope::Namespaced,
    };
    let kind = text("/spec/names/kind")?;
    let resource = Resource::named(
        text("/spec/group")?,
        stored["name"].as_str()?,
        text("/spec/names/plural")?,
        kind,
        scope,
    );
    let singular = text("/spec/names/singular").filter(|name| !name.is_empty());
    let custom = CustomKind {
        singular: singular.map_or_else(|| kind.to_lowercase(), str::to_owned),
        short_names: texts("/spec/names/shortNames"),
        categories: texts("/spec/names/categories"),
        status: match stored.pointer("/subresources/status") {
            Some(status) if !status.is_null() => StatusPath::Served,
            _ => StatusPath::Absent,
        },
        scale: stored.pointer("/subresources/scale").and_then(scale_paths),
    };
    Some((resource, custom))
}

fn scale_paths(scale: &Value) -> Option<ScalePaths> {
    let pointer = |name: &str| {
        let path = scale.get(name)?.as_str()?;
        (!path.is_empty()).then(|| path.replace('.', "/"))
    };
    Some(ScalePaths {
        spec_replicas: pointer("specReplicasPath")?,
        status_replicas: pointer("statusReplicasPath")?,
        selector: pointer("labelSelectorPath"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_storage_version_is_served_with_its_parts() {
        let definition = json!({"spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [
                {"name": "v1alpha1", "served": true, "storage": false},
                {"name": "v1", "served": true, "storage": true, "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"},
                }},
            ],
        }});
        let (resource, custom) = defined_by(&definition).unwrap();
        assert_eq!(
            resource,
            Resource::named("example.com", "v1", "widgets", "Widget", Scope::Namespaced)
        );
        assert_eq!(custom.singular, "widget");
        assert_eq!(custom.short_names, ["wd"]);
        assert_eq!(custom.status, StatusPath::Served);
        let scale = custom.scale.unwrap();
        assert_eq!(
            (&*scale.spec_replicas, scale.selector),
            ("/spec/size", None)
        );
    }

    #[test]
    fn a_definition_without_a_served_storage_version_defines_nothing() {
        assert_eq!(defined_by(&json!({"spec": {}})), None);
        let versions = json!([{"name": "v1", "served": false, "storage": true}]);
        let names = json!({"plural": "widgets", "kind": "Widget"});
        let spec = json!({"group": "g", "scope": "Cluster", "names": names, "versions": versions});
        assert_eq!(defined_by(&json!({"spec": spec})), None);
    }
}
