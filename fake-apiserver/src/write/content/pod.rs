//! Pods and pod templates.

use serde_json::{Value, json};

use crate::write::{
    content::{is_blank, items, or_insert},
    field_error::FieldError,
    metadata,
};

/// The lists of a pod's specification that hold containers.
const CONTAINER_LISTS: [&str; 2] = ["initContainers", "containers"];

/// Volume sources whose files have a mode.
const SOURCES_WITH_MODE: [&str; 4] = ["configMap", "downwardAPI", "projected", "secret"];

/// Sets what a pod that was just made has beside its defaults: priority and tolerations come from admission.
pub(super) fn prepare_new(pod: &mut Value) {
    let spec = &mut pod["spec"];
    or_insert(spec, "priority", 0.into());
    or_insert(spec, "preemptionPolicy", "PreemptLowerPriority".into());
    for condition in ["not-ready", "unreachable"] {
        let key = format!("node.kubernetes.io/{condition}");
        if spec["tolerations"].is_null() {
            spec["tolerations"] = json!([]);
        }
        let Some(tolerations) = spec["tolerations"].as_array_mut() else {
            return;
        };
        let tolerates = |toleration: &Value| {
            is_blank(toleration.get("key")) || toleration["key"] == key.as_str()
        };
        if !tolerations.iter().any(tolerates) {
            tolerations.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300,
            }));
        }
    }
    let class = quality_of_service(&pod["spec"]);
    pod["status"] = json!({"phase": "Pending", "qosClass": class});
}

pub(super) fn set_defaults(pod: &mut Value) {
    let spec = &mut pod["spec"];
    if !spec.is_object() {
        return;
    }
    or_insert(spec, "restartPolicy", "Always".into());
    or_insert(spec, "enableServiceLinks", true.into());
    set_spec_defaults(spec);
}

/// Defaults that pods and templates share.
pub(super) fn set_spec_defaults(spec: &mut Value) {
    or_insert(spec, "terminationGracePeriodSeconds", 30.into());
    or_insert(spec, "dnsPolicy", "ClusterFirst".into());
    or_insert(spec, "securityContext", json!({}));
    or_insert(spec, "schedulerName", "default-scheduler".into());
    for list in CONTAINER_LISTS {
        for container in items(spec.get_mut(list)) {
            set_container_defaults(container);
        }
    }
    for volume in items(spec.get_mut("volumes")) {
        if volume.as_object().is_some_and(|fields| fields.len() == 1) {
            volume["emptyDir"] = json!({});
        }
        for source in SOURCES_WITH_MODE {
            if let Some(source) = volume.get_mut(source).filter(|source| source.is_object()) {
                or_insert(source, "defaultMode", 420.into());
            }
        }
        if let Some(source) = volume
            .get_mut("hostPath")
            .filter(|source| source.is_object())
        {
            or_insert(source, "type", "".into());
        }
    }
}

fn set_container_defaults(container: &mut Value) {
    let image = container["image"].as_str().unwrap_or("");
    let last = image.rsplit('/').next().unwrap_or("");
    let is_pinned = last.contains('@') || (last.contains(':') && !last.ends_with(":latest"));
    let policy = if is_pinned { "IfNotPresent" } else { "Always" };
    or_insert(container, "imagePullPolicy", policy.into());
    or_insert(container, "resources", json!({}));
    or_insert(
        container,
        "terminationMessagePath",
        "/dev/termination-log".into(),
    );
    or_insert(container, "terminationMessagePolicy", "File".into());
    for port in items(container.get_mut("ports")) {
        or_insert(port, "protocol", "TCP".into());
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = container.get_mut(probe).filter(|probe| probe.is_object()) else {
            continue;
        };
        for (name, value) in [
            ("timeoutSeconds", 1),
            ("periodSeconds", 10),
            ("successThreshold", 1),
            ("failureThreshold", 3),
        ] {
            or_insert(probe, name, value.into());
        }
        if let Some(get) = probe.get_mut("httpGet").filter(|get| get.is_object()) {
            or_insert(get, "path", "/".into());
            or_insert(get, "scheme", "HTTP".into());
        }
    }
    for variable in items(container.get_mut("env")) {
        if let Some(reference) = variable.pointer_mut("/valueFrom/fieldRef") {
            or_insert(reference, "apiVersion", "v1".into());
        }
    }
    let limits = container["resources"]["limits"].as_object().cloned();
    for (name, limit) in limits.into_iter().flatten() {
        or_insert(&mut container["resources"]["requests"], &name, limit);
    }
    if container["resources"]["requests"].is_null() && container["resources"]["limits"].is_null() {
        container["resources"] = json!({});
    }
}

/// The class by which a kubelet evicts.
fn quality_of_service(spec: &Value) -> &'static str {
    let containers: Vec<&Value> = CONTAINER_LISTS
        .iter()
        .filter_map(|list| spec[*list].as_array())
        .flatten()
        .collect();
    let amount = |container: &Value, kind: &str, resource: &str| {
        container["resources"][kind][resource].clone()
    };
    let mentions = |container: &&Value, kind: &str| {
        ["cpu", "memory"]
            .iter()
            .any(|resource| !container["resources"][kind][*resource].is_null())
    };
    let asks_nothing =
        |container: &&Value| !mentions(container, "requests") && !mentions(container, "limits");
    let is_bounded = |container: &&Value| {
        ["cpu", "memory"].iter().all(|resource| {
            let limit = amount(container, "limits", resource);
            !limit.is_null() && limit == amount(container, "requests", resource)
        })
    };
    if containers.iter().all(asks_nothing) {
        "BestEffort"
    } else if containers.iter().all(is_bounded) {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// What is wrong with a pod's specification, which stands under `path`.
pub(super) fn faults(spec: Option<&Value>, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let lists = |name: &str| {
        spec.and_then(|spec| spec.get(name))
            .and_then(Value::as_array)
    };
    if is_blank(spec.and_then(|spec| spec.get("containers"))) {
        errors.push(FieldError::required(format!("{path}.containers"), ""));
    }
    let mut names: Vec<&Value> = Vec::new();
    for list in CONTAINER_LISTS {
        for (index, container) in lists(list).into_iter().flatten().enumerate() {
            let field = format!("{path}.{list}[{index}]");
            if is_blank(container.get("name")) {
                errors.push(FieldError::required(format!("{field}.name"), ""));
            }
            if is_blank(container.get("image")) {
                errors.push(FieldError::required(format!("{field}.image"), ""));
            }
            let name = &container["name"];
            for fault in crate::write::names::dns_1123_label(name.as_str().unwrap_or("a")) {
                errors.push(FieldError::invalid(format!("{field}.name"), name, &fault));
            }
            if names.contains(&name) && !is_blank(Some(name)) {
                errors.push(FieldError::duplicate(format!("{field}.name"), name));
            }
            names.push(name);
        }
    }
    errors
}

/// Of a pod's specification an update may change images, deadlines, grace and gates only.
pub(super) fn faults_of_update(current: &Value, pod: &Value) -> Vec<FieldError> {
    let without_changeable = |pod: &Value| {
        let mut spec = pod.get("spec").cloned().unwrap_or(Value::Null);
        for list in CONTAINER_LISTS {
            for container in items(spec.get_mut(list)) {
                container["image"] = Value::Null;
            }
        }
        if let Some(fields) = spec.as_object_mut() {
            for name in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
                fields.shift_remove(name);
            }
            if fields
                .get("terminationGracePeriodSeconds")
                .and_then(Value::as_i64)
                == Some(1)
            {
                fields.shift_remove("terminationGracePeriodSeconds");
            }
        }
        spec
    };
    let (old, new) = (without_changeable(current), without_changeable(pod));
    let new_grace_is_one = pod
        .pointer("/spec/terminationGracePeriodSeconds")
        .and_then(Value::as_i64)
        == Some(1);
    let old = if new_grace_is_one {
        without_grace(old)
    } else {
        old
    };
    if old == new || metadata::of(current).is_empty() {
        return Vec::new();
    }
    let why = "pod updates may not change fields other than `spec.containers[*].image`,\
               `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing \
               tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
    vec![FieldError::forbidden("spec", why)]
}

fn without_grace(mut spec: Value) -> Value {
    if let Some(fields) = spec.as_object_mut() {
        fields.shift_remove("terminationGracePeriodSeconds");
    }
    spec
}
