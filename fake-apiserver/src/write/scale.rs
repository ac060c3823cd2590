//! The scale of an object: its replicas, seen and set through a kind of its own (`autoscaling/v1`).

use bench_core::api::{ObjectKey, Resource, Scope};
use serde_json::{Value, json};

use crate::{
    ApiServer,
    custom_kind::ScalePaths,
    failure::Failure,
    write::{
        decode::check_patched,
        driver::{Change, Place, Written},
        field_error::FieldError,
        metadata,
        parameters::WriteOptions,
        patch::Patch,
        rules::{Part, ServedResource},
    },
};

impl ServedResource {
    /// Where the replicas are, if the resource has a scale.
    pub(crate) fn scale_paths(&self) -> Option<ScalePaths> {
        if let Some(custom) = &self.custom {
            return custom.scale.clone();
        }
        let has_scale = self.is("", "replicationcontrollers")
            || ["deployments", "replicasets", "statefulsets"]
                .iter()
                .any(|plural| self.is("apps", plural));
        has_scale.then(|| ScalePaths {
            spec_replicas: "/spec/replicas".to_owned(),
            status_replicas: "/status/replicas".to_owned(),
            selector: Some("/spec/selector".to_owned()),
        })
    }
}

/// The resource that a scale is decoded as.
pub(crate) fn served() -> ServedResource {
    ServedResource {
        resource: Resource::named("autoscaling", "v1", "scales", "Scale", Scope::Namespaced),
        custom: None,
    }
}

impl ApiServer {
    /// Replaces or patches the scale of an object.
    ///
    /// # Errors
    /// As a server answers: 404, 409, 422.
    pub(crate) fn change_scale(
        &self,
        place: &Place,
        key: &ObjectKey,
        change: &Change,
        options: &WriteOptions,
    ) -> Result<Written, Failure> {
        let resource = &place.served.resource;
        loop {
            let not_found =
                || Failure::object_not_found(&resource.group, &resource.plural, key.name());
            let (_, current) = self.present(place, key).ok_or_else(not_found)?;
            let paths = place.served.scale_paths().ok_or_else(not_found)?;
            let scale = match change {
                Change::Put(scale) => scale.clone(),
                Change::Patch(Patch::Apply(_)) => return Err(Failure::method_not_allowed()),
                Change::Patch(patch) => {
                    let served = served();
                    let patched = patch.apply(&served.resource, &of(&paths, &current))?;
                    check_patched(&served.resource, patched, options.validation)?.object
                }
            };
            let asks_version = match change {
                Change::Put(scale) => !metadata::text(scale, "resourceVersion").is_empty(),
                // Of the present version, unless the patch names another.
                Change::Patch(_) => {
                    metadata::text(&scale, "resourceVersion")
                        != metadata::text(&current, "resourceVersion")
                }
            };
            let scaled = Change::Put(set(&paths, &current, &scale)?);
            match self.change_object(place, key, (Part::Scale, &scaled), options) {
                // A client that names no version does not care that others were faster.
                Err(failure) if failure.status.code == 409 && !asks_version => {}
                Err(failure) => return Err(failure),
                Ok(mut written) => {
                    let object: Value = serde_json::from_slice(&written.body)
                        .expect("the driver answers with an object");
                    written.body = of(&paths, &object).to_string().into();
                    return Ok(written);
                }
            }
        }
    }
}

/// The scale of an object.
pub(crate) fn of(paths: &ScalePaths, object: &Value) -> Value {
    let mut about = json!({});
    for name in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        if let Some(value) = metadata::of(object).get(name) {
            about[name] = value.clone();
        }
    }
    let replicas = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0);
    let mut spec = json!({});
    if replicas(&paths.spec_replicas) != 0 {
        spec["replicas"] = replicas(&paths.spec_replicas).into();
    }
    let mut status = json!({"replicas": replicas(&paths.status_replicas)});
    let selector = paths
        .selector
        .as_ref()
        .and_then(|pointer| object.pointer(pointer));
    if let Some(selector) = selector.map(selector_text).filter(|text| !text.is_empty()) {
        status["selector"] = selector.into();
    }
    json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": about, "spec": spec, "status": status,
    })
}

/// The object with the replicas of a scale, and with its version if it has one.
///
/// # Errors
/// 422 for fewer than none.
pub(crate) fn set(paths: &ScalePaths, object: &Value, scale: &Value) -> Result<Value, Failure> {
    let replicas = scale
        .pointer("/spec/replicas")
        .and_then(Value::as_i64)
        .unwrap_or(0);
    if replicas < 0 {
        let why = "must be greater than or equal to 0";
        let error = FieldError::invalid("spec.replicas", &replicas.into(), why);
        let name = metadata::text(object, "name");
        return Err(Failure::invalid("autoscaling", "Scale", name, &[error]));
    }
    let mut scaled = object.clone();
    let mut place = &mut scaled;
    for name in paths.spec_replicas.split('/').skip(1) {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[name];
    }
    *place = replicas.into();
    if !metadata::text(scale, "resourceVersion").is_empty() {
        metadata::copy("resourceVersion", scale, &mut scaled);
    }
    Ok(scaled)
}

/// A selector as text: labels sorted, then expressions.
fn selector_text(selector: &Value) -> String {
    if let Some(text) = selector.as_str() {
        return text.to_owned();
    }
    let labels = match selector.get("matchLabels") {
        Some(labels) => labels.as_object(),
        None if selector.get("matchExpressions").is_some() => None,
        None => selector.as_object(),
    };
    let mut parts: Vec<String> = labels
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or("")))
        .collect();
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    for expression in expressions.into_iter().flatten() {
        let key = expression["key"].as_str().unwrap_or("");
        let values = expression["values"].as_array();
        let mut values: Vec<&str> = values
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        values.sort_unstable();
        let values = values.join(",");
        parts.push(match expression["operator"].as_str() {
            Some("In") => format!("{key} in ({values})"),
            Some("NotIn") => format!("{key} notin ({values})"),
            Some("DoesNotExist") => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    parts.sort();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> ScalePaths {
        ScalePaths {
            spec_replicas: "/spec/replicas".to_owned(),
            status_replicas: "/status/replicas".to_owned(),
            selector: Some("/spec/selector".to_owned()),
        }
    }

    #[test]
    fn a_scale_shows_replicas_and_selector_and_sets_the_former() {
        let object = json!({
            "metadata": {"name": "d", "namespace": "n", "resourceVersion": "7", "labels": {"x": "y"}},
            "spec": {"replicas": 2, "selector": {
                "matchLabels": {"b": "2", "a": "1"},
                "matchExpressions": [{"key": "t", "operator": "In", "values": ["y", "x"]}],
            }},
            "status": {"replicas": 1},
        });
        let scale = of(&paths(), &object);
        assert_eq!(
            scale,
            json!({
                "kind": "Scale", "apiVersion": "autoscaling/v1",
                "metadata": {"name": "d", "namespace": "n", "resourceVersion": "7"},
                "spec": {"replicas": 2},
                "status": {"replicas": 1, "selector": "a=1,b=2,t in (x,y)"},
            })
        );
        let wanted = json!({"metadata": {"name": "d"}, "spec": {"replicas": 5}});
        let scaled = set(&paths(), &object, &wanted).unwrap();
        assert_eq!(scaled["spec"]["replicas"], 5);
        assert_eq!(scaled["metadata"]["resourceVersion"], "7");
        let fewer = json!({"spec": {"replicas": -1}});
        let failure = set(&paths(), &object, &fewer).unwrap_err();
        assert_eq!(
            failure.status.message,
            "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"
        );
    }
}
