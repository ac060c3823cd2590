//! Pods of three sizes.

use serde_json::{Map, Value, json};

use super::{CREATED_AT, managed_fields, template::gap};
use crate::stored_object::MARKER_ANNOTATION;

/// Applications that pods belong to.
pub(super) const APPS: [&str; 12] = [
    "api", "auth", "billing", "cart", "frontend", "ingest", "mailer", "orders", "search", "stream",
    "web", "worker",
];

/// What sets one size apart from another.
struct Size {
    containers: usize,
    variables: usize,
    labels: usize,
    annotations: usize,
    script_lines: usize,
}

pub(super) fn small() -> Value {
    pod(&Size {
        containers: 1,
        variables: 3,
        labels: 1,
        annotations: 1,
        script_lines: 0,
    })
}

pub(super) fn medium() -> Value {
    pod(&Size {
        containers: 2,
        variables: 8,
        labels: 6,
        annotations: 8,
        script_lines: 0,
    })
}

pub(super) fn large() -> Value {
    pod(&Size {
        containers: 4,
        variables: 14,
        labels: 10,
        annotations: 16,
        script_lines: 90,
    })
}

fn pod(size: &Size) -> Value {
    let labels = labels(size);
    let annotations = annotations(size);
    let owners = json!([{
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": gap::OWNER,
        "uid": "5b0f1a52-6d0e-4a87-9c39-0f3c7c1b2a44",
        "controller": true,
        "blockOwnerDeletion": true,
    }]);
    let spec = spec(size);
    let status = status(size);
    let mut by_creator = spec.clone();
    // Set by defaulting and by the scheduler, so that no entry owns them.
    for unowned in [
        "nodeName",
        "volumes",
        "tolerations",
        "serviceAccount",
        "preemptionPolicy",
        "priority",
    ] {
        by_creator
            .as_object_mut()
            .expect("a literal")
            .shift_remove(unowned);
    }
    let created = json!({
        "metadata": {
            "annotations": annotations,
            "generateName": "",
            "labels": labels,
            "ownerReferences": owners,
        },
        "spec": by_creator,
    });
    json!({
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": gap::NAME,
            "generateName": format!("{}-", gap::OWNER),
            "namespace": gap::NAMESPACE,
            "uid": gap::UID,
            "resourceVersion": "0",
            "generation": 1,
            "creationTimestamp": CREATED_AT,
            "labels": labels,
            "annotations": annotations,
            "ownerReferences": owners,
            "managedFields": [
                managed_fields::entry("kube-controller-manager", "v1", &created),
                managed_fields::status_entry("kubelet", "v1", &json!({"status": status})),
            ],
        },
        "spec": spec,
        "status": status,
    })
}

fn labels(size: &Size) -> Value {
    let mut labels = Map::new();
    labels.insert("app.kubernetes.io/name".to_owned(), gap::APP.into());
    labels.insert(
        "pod-template-hash".to_owned(),
        gap::POD_TEMPLATE_HASH.into(),
    );
    for index in 0..size.labels {
        labels.insert(
            format!("example.com/label-{index}"),
            format!("value-of-label-{index}").into(),
        );
    }
    labels.into()
}

fn annotations(size: &Size) -> Value {
    let mut annotations = Map::new();
    annotations.insert(MARKER_ANNOTATION.to_owned(), "0".into());
    for index in 0..size.annotations {
        let value = format!("an annotation that some controller wrote, number {index}");
        annotations.insert(format!("example.com/annotation-{index}"), value.into());
    }
    annotations.into()
}

fn spec(size: &Size) -> Value {
    json!({
        "volumes": [{
            "name": "kube-api-access-x7k2p",
            "projected": {
                "sources": [
                    {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                    {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
                ],
                "defaultMode": 420,
            },
        }],
        "containers": (0..size.containers).map(|index| container(size, index)).collect::<Vec<_>>(),
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "serviceAccount": "default",
        "nodeName": gap::NODE,
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "tolerations": [
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        ],
        "priority": 0,
        "enableServiceLinks": true,
        "preemptionPolicy": "PreemptLowerPriority",
    })
}

fn container(size: &Size, index: usize) -> Value {
    let variables: Vec<Value> = (0..size.variables)
        .map(|variable| json!({"name": format!("SETTING_{variable}"), "value": format!("value-of-setting-{variable}")}))
        .collect();
    let probe = |path: &str| {
        json!({
            "httpGet": {"path": path, "port": 8080, "scheme": "HTTP"},
            "timeoutSeconds": 1,
            "periodSeconds": 10,
            "successThreshold": 1,
            "failureThreshold": 3,
        })
    };
    let mut container = json!({
        "name": container_name(index),
        "image": image(index),
        "ports": [{"containerPort": 8080, "protocol": "TCP"}],
        "env": variables,
        "resources": {"limits": {"cpu": "500m", "memory": "512Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
        "volumeMounts": [{
            "name": "kube-api-access-x7k2p",
            "readOnly": true,
            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        }],
        "readinessProbe": probe("/ready"),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    });
    if size.script_lines > 0 {
        let line = "if ! run-step --retries 5 --log /var/log/steps.log; then exit 1; fi\n";
        let script = line.repeat(size.script_lines);
        container["args"] = json!(["/bin/sh", "-ec", script]);
    }
    container
}

fn status(size: &Size) -> Value {
    let condition = |name: &str| json!({"type": name, "observedGeneration": 1, "status": "True", "lastProbeTime": null, "lastTransitionTime": CREATED_AT});
    let conditions = [
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
    ];
    let containers: Vec<Value> = (0..size.containers)
        .map(|index| {
            json!({
                "name": container_name(index),
                "state": {"running": {"startedAt": CREATED_AT}},
                "lastState": {},
                "ready": true,
                "restartCount": 0,
                "image": image(index),
                "imageID": "registry.example.com/service@sha256:7f1b0e5c2a9d4e6f8b3c5d7e9f0a1b2c3d4e5f60718293a4b5c6d7e8f9a0b1c2",
                "containerID": "containerd://3c9e1f7a5b2d8e4f6a0c1d3e5f7a9b2c4d6e8f0a1b3c5d7e9f2a4b6c8d0e1f3a",
                "started": true,
            })
        })
        .collect();
    json!({
        "observedGeneration": 1,
        "phase": "Running",
        "conditions": conditions.map(condition),
        "hostIP": "172.18.0.3",
        "hostIPs": [{"ip": "172.18.0.3"}],
        "podIP": gap::INTERNET_ADDRESS,
        "podIPs": [{"ip": gap::INTERNET_ADDRESS}],
        "startTime": CREATED_AT,
        "containerStatuses": containers,
        "qosClass": "Burstable",
    })
}

fn container_name(index: usize) -> String {
    if index == 0 {
        "main".to_owned()
    } else {
        format!("sidecar-{index}")
    }
}

fn image(index: usize) -> String {
    format!("registry.example.com/team/service-{index}:v1.27.{index}")
}
