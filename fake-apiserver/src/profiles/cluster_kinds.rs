//! Nodes, their leases, and `ConfigMap`s.

use serde_json::{Map, Value, json};

use super::{CREATED_AT, managed_fields, template::gap};
use crate::stored_object::MARKER_ANNOTATION;

const NODE_IMAGES: usize = 40;

pub(super) fn node() -> Value {
    let mut labels: Map<String, Value> = (0..24)
        .map(|index| {
            (
                format!("node.example.com/feature-{index}"),
                Value::from(format!("present-in-generation-{index}")),
            )
        })
        .collect();
    for (name, value) in [
        ("beta.kubernetes.io/arch", "amd64"),
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/hostname", gap::NAME),
        ("kubernetes.io/os", "linux"),
        ("node.kubernetes.io/instance-type", "m7.2xlarge"),
        ("topology.kubernetes.io/region", "north-1"),
        ("topology.kubernetes.io/zone", "north-1a"),
    ] {
        labels.insert(name.to_owned(), value.into());
    }
    let annotations = json!({
        MARKER_ANNOTATION: "0",
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
    });
    let spec = json!({"podCIDR": "10.244.1.0/24", "podCIDRs": ["10.244.1.0/24"], "providerID": format!("example://north-1a/{}", gap::NAME)});
    let status = node_status();
    let created = json!({"metadata": {"annotations": annotations, "labels": labels}, "spec": {"providerID": ""}});
    let by_controller = json!({"spec": {"podCIDR": "", "podCIDRs": []}});
    json!({
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": gap::NAME,
            "uid": gap::UID,
            "resourceVersion": "0",
            "creationTimestamp": CREATED_AT,
            "labels": labels,
            "annotations": annotations,
            "managedFields": [
                managed_fields::entry("kubelet", "v1", &created),
                managed_fields::entry("kube-controller-manager", "v1", &by_controller),
                managed_fields::status_entry("kubelet", "v1", &json!({"status": status})),
            ],
        },
        "spec": spec,
        "status": status,
    })
}

fn node_status() -> Value {
    let resources = json!({
        "cpu": "8",
        "ephemeral-storage": "104845292Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": "32617120Ki",
        "pods": "110",
    });
    let condition = |kind: &str, status: &str, reason: &str| {
        json!({
            "type": kind,
            "status": status,
            "lastHeartbeatTime": CREATED_AT,
            "lastTransitionTime": CREATED_AT,
            "reason": reason,
            "message": format!("the kubelet reports {reason}"),
        })
    };
    let images: Vec<Value> = (0..NODE_IMAGES)
        .map(|index| {
            json!({
                "names": [
                    format!("registry.example.com/team/service-{index}@sha256:{index:064x}"),
                    format!("registry.example.com/team/service-{index}:v1.27.{index}"),
                ],
                "sizeBytes": 41_943_040 + index * 1_048_576,
            })
        })
        .collect();
    json!({
        "capacity": resources,
        "allocatable": resources,
        "conditions": [
            condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
            condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
            condition("PIDPressure", "False", "KubeletHasSufficientPID"),
            condition("Ready", "True", "KubeletReady"),
        ],
        "addresses": [
            {"type": "InternalIP", "address": gap::INTERNET_ADDRESS},
            {"type": "Hostname", "address": gap::NAME},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "machineID": "9f1c3a5b7d2e4f60a8b1c3d5e7f90a2b",
            "systemUUID": gap::UID,
            "bootID": "0c2d4e6f-8a1b-4c3d-9e5f-7a8b9c0d1e2f",
            "kernelVersion": "6.12.10",
            "osImage": "Debian GNU/Linux 13 (trixie)",
            "containerRuntimeVersion": "containerd://2.1.4",
            "kubeletVersion": "v1.34.2",
            "kubeProxyVersion": "",
            "operatingSystem": "linux",
            "architecture": "amd64",
        },
        "images": images,
    })
}

pub(super) fn lease() -> Value {
    let owners = json!([{"apiVersion": "v1", "kind": "Node", "name": gap::NAME, "uid": gap::UID}]);
    let spec = json!({
        "holderIdentity": gap::NAME,
        "leaseDurationSeconds": 40,
        "renewTime": "2026-01-01T00:00:00.000000Z",
    });
    let annotations = json!({MARKER_ANNOTATION: "0"});
    let owned = json!({"metadata": {"ownerReferences": owners}, "spec": spec});
    json!({
        "kind": "Lease",
        "apiVersion": "coordination.k8s.io/v1",
        "metadata": {
            "name": gap::NAME,
            "namespace": gap::NAMESPACE,
            "uid": gap::UID,
            "resourceVersion": "0",
            "creationTimestamp": CREATED_AT,
            "annotations": annotations,
            "ownerReferences": owners,
            "managedFields": [managed_fields::entry("kubelet", "coordination.k8s.io/v1", &owned)],
        },
        "spec": spec,
    })
}

pub(super) fn config_map() -> Value {
    let data: Map<String, Value> = (0..6)
        .map(|index| {
            (
                format!("setting-{index}.conf"),
                Value::from(format!("listen=:80{index}0\nworkers={index}\n")),
            )
        })
        .collect();
    let annotations = json!({MARKER_ANNOTATION: "0"});
    let owned = json!({"data": data, "metadata": {"annotations": annotations}});
    json!({
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {
            "name": gap::NAME,
            "namespace": gap::NAMESPACE,
            "uid": gap::UID,
            "resourceVersion": "0",
            "creationTimestamp": CREATED_AT,
            "annotations": annotations,
            "managedFields": [managed_fields::entry("kubectl-create", "v1", &owned)],
        },
        "data": data,
    })
}
