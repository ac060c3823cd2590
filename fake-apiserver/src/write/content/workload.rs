//! Deployments, replica sets, stateful sets, daemon sets and jobs.

use serde_json::{Value, json};

use crate::write::{
    content::{is_blank, or_insert, pod},
    field_error::FieldError,
    metadata,
};

/// The labels by which a job finds its pods, with and without the prefix that newer servers add.
const JOB_LABELS: [(&str, JobLabel); 4] = [
    ("batch.kubernetes.io/controller-uid", JobLabel::Uid),
    ("batch.kubernetes.io/job-name", JobLabel::Name),
    ("controller-uid", JobLabel::Uid),
    ("job-name", JobLabel::Name),
];

#[derive(Clone, Copy)]
enum JobLabel {
    Name,
    Uid,
}

pub(super) fn set_defaults(plural: &str, object: &mut Value) {
    let spec = &mut object["spec"];
    if !spec.is_object() {
        return;
    }
    match plural {
        "deployments" => set_deployment_defaults(spec),
        "replicasets" => or_insert(spec, "replicas", 1.into()),
        "jobs" => set_job_defaults(spec),
        "statefulsets" => {
            or_insert(spec, "replicas", 1.into());
            or_insert(spec, "podManagementPolicy", "OrderedReady".into());
            or_insert(spec, "revisionHistoryLimit", 10.into());
            or_insert(
                spec,
                "updateStrategy",
                json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}),
            );
        }
        _ => {
            or_insert(spec, "revisionHistoryLimit", 10.into());
            or_insert(
                spec,
                "updateStrategy",
                json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
            );
        }
    }
    let template = &mut spec["template"];
    if !template.is_object() {
        return;
    }
    or_insert(template, "metadata", json!({}));
    let pod_spec = &mut template["spec"];
    if pod_spec.is_object() {
        if plural != "jobs" {
            or_insert(pod_spec, "restartPolicy", "Always".into());
        }
        pod::set_spec_defaults(pod_spec);
    }
}

fn set_deployment_defaults(spec: &mut Value) {
    or_insert(spec, "replicas", 1.into());
    or_insert(spec, "strategy", json!({}));
    let strategy = &mut spec["strategy"];
    or_insert(strategy, "type", "RollingUpdate".into());
    if strategy["type"] == "RollingUpdate" {
        let rolling = &mut strategy["rollingUpdate"];
        or_insert(rolling, "maxUnavailable", "25%".into());
        or_insert(rolling, "maxSurge", "25%".into());
    }
    or_insert(spec, "revisionHistoryLimit", 10.into());
    or_insert(spec, "progressDeadlineSeconds", 600.into());
}

fn set_job_defaults(spec: &mut Value) {
    if spec["completions"].is_null() && spec["parallelism"].is_null() {
        spec["completions"] = 1.into();
    }
    or_insert(spec, "parallelism", 1.into());
    or_insert(spec, "backoffLimit", 6.into());
    or_insert(spec, "completionMode", "NonIndexed".into());
    or_insert(spec, "suspend", false.into());
    or_insert(spec, "podReplacementPolicy", "TerminatingOrFailed".into());
    if spec.get("completions").is_some_and(Value::is_null)
        && let Some(fields) = spec.as_object_mut()
    {
        fields.shift_remove("completions");
    }
}

/// A job's selector and the labels of its template are the server's, unless the job says otherwise.
pub(super) fn prepare_new_job(job: &mut Value) {
    job["status"] = json!({});
    let uid = metadata::text(job, "uid").to_owned();
    let name = metadata::text(job, "name").to_owned();
    let spec = &mut job["spec"];
    if spec["manualSelector"] == true || !spec["template"].is_object() {
        return;
    }
    for (label, value) in JOB_LABELS {
        let value = match value {
            JobLabel::Name => &name,
            JobLabel::Uid => &uid,
        };
        spec["template"]["metadata"]["labels"][label] = value.as_str().into();
    }
    spec["selector"] = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}});
}

pub(super) fn faults(plural: &str, object: &Value) -> Vec<FieldError> {
    let spec = &object["spec"];
    let mut errors = Vec::new();
    if plural != "jobs" {
        errors.extend(faults_of_selector(spec));
    }
    if let Some(replicas) = spec["replicas"].as_i64().filter(|replicas| *replicas < 0) {
        let why = "must be greater than or equal to 0";
        errors.push(FieldError::invalid("spec.replicas", &replicas.into(), why));
    }
    let pod_spec = &spec["template"]["spec"];
    errors.extend(pod::faults(Some(pod_spec), "spec.template.spec"));
    let policy = &pod_spec["restartPolicy"];
    let field = "spec.template.spec.restartPolicy";
    if plural == "jobs" {
        if is_blank(Some(policy)) {
            let why = "valid values: \"OnFailure\", \"Never\"";
            errors.push(FieldError::required(field, why));
        } else if policy == "Always" {
            errors.push(FieldError::not_supported(
                field,
                policy,
                &["OnFailure", "Never"],
            ));
        }
    } else if !is_blank(Some(policy)) && policy != "Always" {
        errors.push(FieldError::not_supported(field, policy, &["Always"]));
    }
    errors
}

/// There must be a selector, and it must find the template's pods.
fn faults_of_selector(spec: &Value) -> Vec<FieldError> {
    let selector = &spec["selector"];
    if !selector.is_object() {
        return vec![FieldError::required("spec.selector", "")];
    }
    let wanted = selector["matchLabels"].as_object();
    let expressions = selector["matchExpressions"].as_array();
    if wanted.is_none_or(serde_json::Map::is_empty) && expressions.is_none_or(Vec::is_empty) {
        let why = "empty selector is invalid for deployment";
        return vec![FieldError::invalid("spec.selector", selector, why)];
    }
    let labels = &spec["template"]["metadata"]["labels"];
    let matches = wanted
        .into_iter()
        .flatten()
        .all(|(name, value)| labels.get(name) == Some(value));
    if matches {
        Vec::new()
    } else {
        let why = "`selector` does not match template `labels`";
        vec![FieldError::invalid(
            "spec.template.metadata.labels",
            labels,
            why,
        )]
    }
}
