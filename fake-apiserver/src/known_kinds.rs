//! The built-in kinds of Kubernetes that a file may hold: their plurals and scopes.

use bench_core::api::{Resource, Scope};

use Scope::{Cluster, Namespaced};

/// Group, kind, plural and scope, sorted by group and kind.
const KINDS: &[(&str, &str, &str, Scope)] = &[
    ("", "ConfigMap", "configmaps", Namespaced),
    ("", "Endpoints", "endpoints", Namespaced),
    ("", "Event", "events", Namespaced),
    ("", "LimitRange", "limitranges", Namespaced),
    ("", "Namespace", "namespaces", Cluster),
    ("", "Node", "nodes", Cluster),
    ("", "PersistentVolume", "persistentvolumes", Cluster),
    (
        "",
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        Namespaced,
    ),
    ("", "Pod", "pods", Namespaced),
    ("", "PodTemplate", "podtemplates", Namespaced),
    (
        "",
        "ReplicationController",
        "replicationcontrollers",
        Namespaced,
    ),
    ("", "ResourceQuota", "resourcequotas", Namespaced),
    ("", "Secret", "secrets", Namespaced),
    ("", "Service", "services", Namespaced),
    ("", "ServiceAccount", "serviceaccounts", Namespaced),
    (
        "admissionregistration.k8s.io",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        Cluster,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
        Cluster,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
        Cluster,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        Cluster,
    ),
    (
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        Cluster,
    ),
    (
        "apiregistration.k8s.io",
        "APIService",
        "apiservices",
        Cluster,
    ),
    (
        "apps",
        "ControllerRevision",
        "controllerrevisions",
        Namespaced,
    ),
    ("apps", "DaemonSet", "daemonsets", Namespaced),
    ("apps", "Deployment", "deployments", Namespaced),
    ("apps", "ReplicaSet", "replicasets", Namespaced),
    ("apps", "StatefulSet", "statefulsets", Namespaced),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        Namespaced,
    ),
    ("batch", "CronJob", "cronjobs", Namespaced),
    ("batch", "Job", "jobs", Namespaced),
    (
        "certificates.k8s.io",
        "CertificateSigningRequest",
        "certificatesigningrequests",
        Cluster,
    ),
    ("coordination.k8s.io", "Lease", "leases", Namespaced),
    (
        "discovery.k8s.io",
        "EndpointSlice",
        "endpointslices",
        Namespaced,
    ),
    ("events.k8s.io", "Event", "events", Namespaced),
    (
        "flowcontrol.apiserver.k8s.io",
        "FlowSchema",
        "flowschemas",
        Cluster,
    ),
    (
        "flowcontrol.apiserver.k8s.io",
        "PriorityLevelConfiguration",
        "prioritylevelconfigurations",
        Cluster,
    ),
    ("networking.k8s.io", "Ingress", "ingresses", Namespaced),
    (
        "networking.k8s.io",
        "IngressClass",
        "ingressclasses",
        Cluster,
    ),
    (
        "networking.k8s.io",
        "NetworkPolicy",
        "networkpolicies",
        Namespaced,
    ),
    ("node.k8s.io", "RuntimeClass", "runtimeclasses", Cluster),
    (
        "policy",
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        Namespaced,
    ),
    (
        "rbac.authorization.k8s.io",
        "ClusterRole",
        "clusterroles",
        Cluster,
    ),
    (
        "rbac.authorization.k8s.io",
        "ClusterRoleBinding",
        "clusterrolebindings",
        Cluster,
    ),
    ("rbac.authorization.k8s.io", "Role", "roles", Namespaced),
    (
        "rbac.authorization.k8s.io",
        "RoleBinding",
        "rolebindings",
        Namespaced,
    ),
    ("resource.k8s.io", "DeviceClass", "deviceclasses", Cluster),
    (
        "resource.k8s.io",
        "ResourceClaim",
        "resourceclaims",
        Namespaced,
    ),
    (
        "resource.k8s.io",
        "ResourceSlice",
        "resourceslices",
        Cluster,
    ),
    (
        "scheduling.k8s.io",
        "PriorityClass",
        "priorityclasses",
        Cluster,
    ),
    ("storage.k8s.io", "CSIDriver", "csidrivers", Cluster),
    ("storage.k8s.io", "CSINode", "csinodes", Cluster),
    ("storage.k8s.io", "StorageClass", "storageclasses", Cluster),
    (
        "storage.k8s.io",
        "VolumeAttachment",
        "volumeattachments",
        Cluster,
    ),
];

/// The resources that every server has, in the order in which discovery shows them.
pub(crate) fn always_served() -> impl Iterator<Item = Resource> {
    let kinds = [
        ("v1", "Pod"),
        ("v1", "Node"),
        ("coordination.k8s.io/v1", "Lease"),
        ("v1", "ConfigMap"),
        ("v1", "Namespace"),
        ("v1", "Secret"),
        ("v1", "Service"),
        ("v1", "Event"),
        ("discovery.k8s.io/v1", "EndpointSlice"),
        ("apps/v1", "Deployment"),
        ("apps/v1", "ReplicaSet"),
        ("batch/v1", "Job"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ];
    // All are in the table, so the scope otherwise is never used.
    let resources = kinds.into_iter();
    resources.map(|(api_version, kind)| resource_of(api_version, kind, Namespaced))
}

/// Whether Kubernetes itself has this kind.
pub(crate) fn is_built_in(group: &str, kind: &str) -> bool {
    lookup(group, kind).is_some()
}

/// The resource of a kind: a built-in one from the table, any other by the usual rule for plurals, in `scope_otherwise`.
pub(crate) fn resource_of(api_version: &str, kind: &str, scope_otherwise: Scope) -> Resource {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    match lookup(group, kind) {
        Some((plural, scope)) => Resource::named(group, version, plural, kind, scope),
        None => Resource::named(group, version, &plural(kind), kind, scope_otherwise),
    }
}

fn lookup(group: &str, kind: &str) -> Option<(&'static str, Scope)> {
    KINDS
        .iter()
        .find(|(known_group, known_kind, ..)| *known_group == group && *known_kind == kind)
        .map(|&(_, _, plural, scope)| (plural, scope))
}

fn plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    let after_vowel = |stem: &str| stem.ends_with(['a', 'e', 'i', 'o', 'u']);
    match lower.strip_suffix('y') {
        Some(stem) if !after_vowel(stem) => format!("{stem}ies"),
        _ if ["s", "x", "ch", "sh"]
            .iter()
            .any(|end| lower.ends_with(end)) =>
        {
            format!("{lower}es")
        }
        _ => format!("{lower}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_follow_the_table_first_and_english_otherwise() {
        for (api_version, kind, expected) in [
            ("v1", "Endpoints", "endpoints"),
            ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
            ("example.com/v1", "Gateway", "gateways"),
            ("example.com/v1", "Policy", "policies"),
            ("example.com/v1", "Mesh", "meshes"),
            ("example.com/v1", "Box", "boxes"),
            ("example.com/v1", "Widget", "widgets"),
        ] {
            assert_eq!(resource_of(api_version, kind, Cluster).plural, expected);
        }
    }

    #[test]
    fn the_group_tells_a_built_in_kind_from_a_custom_one_of_the_same_name() {
        assert!(is_built_in("", "Pod"));
        assert!(!is_built_in("example.com", "Pod"));
        assert_eq!(resource_of("v1", "Node", Namespaced).scope, Cluster);
        assert_eq!(
            resource_of("example.com/v1", "Node", Namespaced).scope,
            Namespaced
        );
    }
}
