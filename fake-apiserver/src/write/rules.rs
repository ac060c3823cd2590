//! What the registries of Kubernetes allow or forbid for one resource (`strategy.go` of kubernetes' `pkg/registry`, and
//! apiextensions' `customresource`).

use std::sync::Arc;

use bench_core::api::Resource;

use crate::{
    custom_kind::{CustomKind, StatusPath},
    known_kinds,
    storage::ResourceStore,
};

/// What the server knows of the resource that a request concerns.
#[derive(Debug, Clone)]
pub(crate) struct ServedResource {
    pub(crate) resource: Resource,
    /// What its definition says; absent for built-in resources, and for custom ones that no definition came with.
    pub(crate) custom: Option<Arc<CustomKind>>,
}

/// A part of an object that has a path of its own, or the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// The object without its status.
    Main,
    /// The replicas, through a kind of their own.
    Scale,
    Status,
}

/// Whether writes of an object count `metadata.generation` up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generation {
    Absent,
    /// With any change of what is neither metadata nor status.
    OfContent,
    /// Deployments: with annotations, too, since these are copied to their replica sets.
    OfContentAndAnnotations,
}

impl ServedResource {
    pub(crate) fn of(store: &ResourceStore) -> Self {
        Self {
            resource: store.resource().clone(),
            custom: store.custom().cloned(),
        }
    }

    pub(crate) fn is_custom(&self) -> bool {
        !known_kinds::is_built_in(&self.resource.group, &self.resource.kind)
    }

    /// Whether a PUT of what does not exist creates it.
    pub(crate) fn creates_on_update(&self) -> bool {
        matches!(
            self.name(),
            ("", "endpoints" | "events" | "limitranges" | "services")
                | ("coordination.k8s.io", "leases")
                | ("node.k8s.io", "runtimeclasses")
                | ("rbac.authorization.k8s.io", _)
        )
    }

    /// Whether a PUT must carry the version that it replaces.
    pub(crate) fn needs_version(&self) -> bool {
        self.is_custom()
            || matches!(
                self.name(),
                ("admissionregistration.k8s.io" | "apiextensions.k8s.io", _)
                    | ("coordination.k8s.io", "leases")
                    | ("node.k8s.io", "runtimeclasses")
                    | ("policy", "poddisruptionbudgets")
                    | (
                        "storage.k8s.io",
                        "csidrivers" | "csinodes" | "volumeattachments"
                    )
            )
    }

    /// Whether a DELETE is answered with the object, and not with a Status.
    pub(crate) fn returns_deleted(&self) -> bool {
        matches!(
            self.name(),
            (
                "",
                "namespaces"
                    | "persistentvolumeclaims"
                    | "persistentvolumes"
                    | "pods"
                    | "podtemplates"
                    | "resourcequotas"
                    | "serviceaccounts"
                    | "services"
            ) | ("resource.k8s.io", _)
                | (
                    "storage.k8s.io",
                    "csidrivers" | "csinodes" | "storageclasses" | "volumeattachments"
                )
        )
    }

    pub(crate) fn generation(&self) -> Generation {
        if self.is_custom() {
            return Generation::OfContent;
        }
        match self.name() {
            ("apps", "deployments") => Generation::OfContentAndAnnotations,
            (
                "admissionregistration.k8s.io"
                | "apiextensions.k8s.io"
                | "batch"
                | "flowcontrol.apiserver.k8s.io"
                | "networking.k8s.io"
                | "policy",
                _,
            )
            | ("", "pods" | "podtemplates" | "replicationcontrollers")
            | ("apps", "daemonsets" | "replicasets" | "statefulsets")
            | ("autoscaling", "horizontalpodautoscalers")
            | ("discovery.k8s.io", "endpointslices")
            | ("resource.k8s.io", "deviceclasses" | "resourceslices")
            | ("scheduling.k8s.io", "priorityclasses") => Generation::OfContent,
            _ => Generation::Absent,
        }
    }

    /// Whether the status is written through a path of its own. Of a custom resource without a definition that is assumed.
    pub(crate) fn has_status(&self) -> bool {
        if let Some(custom) = &self.custom {
            return custom.status == StatusPath::Served;
        }
        let without = match &*self.resource.group {
            "" => &[
                "configmaps",
                "endpoints",
                "events",
                "limitranges",
                "podtemplates",
                "secrets",
                "serviceaccounts",
            ][..],
            "admissionregistration.k8s.io" => &[
                "mutatingwebhookconfigurations",
                "validatingadmissionpolicybindings",
                "validatingwebhookconfigurations",
            ],
            "apps" => &["controllerrevisions"],
            "coordination.k8s.io" => &["leases"],
            "discovery.k8s.io" => &["endpointslices"],
            "events.k8s.io" => &["events"],
            "networking.k8s.io" => &["ingressclasses", "networkpolicies"],
            "node.k8s.io" => &["runtimeclasses"],
            "rbac.authorization.k8s.io" => &[
                "clusterrolebindings",
                "clusterroles",
                "rolebindings",
                "roles",
            ],
            "resource.k8s.io" => &["deviceclasses", "resourceslices"],
            "scheduling.k8s.io" => &["priorityclasses"],
            "storage.k8s.io" => &["csidrivers", "csinodes", "storageclasses"],
            _ => &[],
        };
        !without.contains(&&*self.resource.plural)
    }

    /// Whether a status in a create counts. Kubelets register nodes with theirs.
    pub(crate) fn keeps_status_on_create(&self) -> bool {
        !self.has_status() || matches!(self.name(), ("", "nodes" | "persistentvolumes"))
    }

    /// Whether deletes may leave finalizers for a garbage collector; events never do.
    pub(crate) fn supports_propagation(&self) -> bool {
        !matches!(self.name(), ("" | "events.k8s.io", "events"))
    }

    /// Whether dependents are orphaned by a delete that says nothing (jobs, replication controllers).
    pub(crate) fn orphans_by_default(&self) -> bool {
        matches!(
            self.name(),
            ("", "replicationcontrollers") | ("batch", "jobs")
        )
    }

    pub(crate) fn is(&self, group: &str, plural: &str) -> bool {
        self.name() == (group, plural)
    }

    fn name(&self) -> (&str, &str) {
        (&self.resource.group, &self.resource.plural)
    }
}
