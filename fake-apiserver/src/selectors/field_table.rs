//! The fields that each resource offers to field selectors.
//!
//! Which, and the words for all others, are those of the `AddFieldLabelConversionFunc`s of kubernetes/pkg/apis; what an absent
//! field counts as is that of the `ToSelectableFields` of kubernetes/pkg/registry.

use bench_core::api::{Resource, Scope};

/// The fields of a resource, besides name and namespace.
#[derive(Debug)]
pub(crate) struct FieldTable {
    fields: &'static [FieldDefinition],
    namespace: NamespaceField,
    refusal: Refusal,
}

/// Whether `metadata.namespace` may be asked for.
#[derive(Debug, PartialEq, Eq)]
enum NamespaceField {
    Offered,
    Refused,
}

/// How a field that is not offered is refused.
#[derive(Debug)]
enum Refusal {
    Job,
    NotKnown,
    NotSupported,
}

#[derive(Debug)]
struct FieldDefinition {
    label: &'static str,
    /// Where the value is: the first place that has one counts.
    sources: &'static [&'static [&'static str]],
    absent: &'static str,
}

/// A field that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldPlace {
    /// By its place in the table.
    Content(usize),
    Name,
    Namespace,
}

impl FieldTable {
    /// The table of a resource.
    pub(crate) fn of(resource: &Resource) -> &'static Self {
        match (&*resource.group, &*resource.kind) {
            ("", "Event") => &EVENTS,
            ("", "Namespace") => &NAMESPACES,
            ("", "Node") => &NODES,
            ("", "Pod") => &PODS,
            ("", "ReplicationController") => &REPLICATION_CONTROLLERS,
            ("", "Secret") => &SECRETS,
            ("", "Service") => &SERVICES,
            ("batch", "Job") => &JOBS,
            ("certificates.k8s.io", "CertificateSigningRequest") => &SIGNING_REQUESTS,
            ("events.k8s.io", "Event") => &GROUP_EVENTS,
            (group, kind) if crate::known_kinds::is_built_in(group, kind) => &METADATA_ONLY,
            _ => match resource.scope {
                Scope::Cluster => &CUSTOM_OF_CLUSTER,
                Scope::Namespaced => &CUSTOM,
            },
        }
    }

    /// All places that values are read from.
    pub(super) fn paths(&self) -> impl Iterator<Item = &'static [&'static str]> {
        self.fields
            .iter()
            .flat_map(|field| field.sources.iter().copied())
    }

    /// Field values from what stands at [`paths`](Self::paths).
    pub(super) fn values(&self, found: Vec<Option<Box<str>>>) -> Vec<Box<str>> {
        let mut found = found.into_iter();
        let values = self.fields.iter().map(|field| {
            let mut value = None;
            for source in found.by_ref().take(field.sources.len()) {
                value = value.or_else(|| source.filter(|text| !text.is_empty()));
            }
            value.unwrap_or_else(|| field.absent.into())
        });
        values.collect()
    }

    /// # Errors
    /// The refusal, in the words of servers.
    pub(super) fn find(&self, label: &str) -> Result<FieldPlace, String> {
        match label {
            "metadata.name" => return Ok(FieldPlace::Name),
            "metadata.namespace" if self.namespace == NamespaceField::Offered => {
                return Ok(FieldPlace::Namespace);
            }
            _ => {}
        }
        let index = self.fields.iter().position(|field| field.label == label);
        index.map(FieldPlace::Content).ok_or_else(|| match self.refusal {
            Refusal::Job => format!("field label {label:?} not supported for Job"),
            Refusal::NotKnown => format!(
                r#"{label:?} is not a known field selector: only "metadata.name", "metadata.namespace""#
            ),
            Refusal::NotSupported => format!("field label not supported: {label}"),
        })
    }
}

const fn text(label: &'static str, sources: &'static [&'static [&'static str]]) -> FieldDefinition {
    FieldDefinition {
        label,
        sources,
        absent: "",
    }
}

const fn field(
    label: &'static str,
    sources: &'static [&'static [&'static str]],
    absent: &'static str,
) -> FieldDefinition {
    FieldDefinition {
        label,
        sources,
        absent,
    }
}

const fn namespaced(fields: &'static [FieldDefinition]) -> FieldTable {
    FieldTable {
        fields,
        namespace: NamespaceField::Offered,
        refusal: Refusal::NotSupported,
    }
}

const fn cluster_scoped(fields: &'static [FieldDefinition]) -> FieldTable {
    FieldTable {
        fields,
        namespace: NamespaceField::Refused,
        refusal: Refusal::NotSupported,
    }
}

pub(super) static METADATA_ONLY: FieldTable = FieldTable {
    fields: &[],
    namespace: NamespaceField::Offered,
    refusal: Refusal::NotKnown,
};

static CUSTOM: FieldTable = namespaced(&[]);

static CUSTOM_OF_CLUSTER: FieldTable = cluster_scoped(&[]);

static PODS: FieldTable = namespaced(&[
    text("spec.nodeName", &[&["spec", "nodeName"]]),
    // From before nodes were called so.
    text("spec.host", &[&["spec", "nodeName"]]),
    text("spec.restartPolicy", &[&["spec", "restartPolicy"]]),
    text("spec.schedulerName", &[&["spec", "schedulerName"]]),
    text(
        "spec.serviceAccountName",
        &[&["spec", "serviceAccountName"], &["spec", "serviceAccount"]],
    ),
    field("spec.hostNetwork", &[&["spec", "hostNetwork"]], "false"),
    text("status.phase", &[&["status", "phase"]]),
    text(
        "status.podIP",
        &[&["status", "podIPs", "0", "ip"], &["status", "podIP"]],
    ),
    // May be asked for, but servers never give it a value.
    text("status.podIPs", &[]),
    text(
        "status.nominatedNodeName",
        &[&["status", "nominatedNodeName"]],
    ),
]);

static NODES: FieldTable = cluster_scoped(&[field(
    "spec.unschedulable",
    &[&["spec", "unschedulable"]],
    "false",
)]);

static NAMESPACES: FieldTable = cluster_scoped(&[text("status.phase", &[&["status", "phase"]])]);

static SECRETS: FieldTable = namespaced(&[text("type", &[&["type"]])]);

static SERVICES: FieldTable = namespaced(&[
    text("spec.clusterIP", &[&["spec", "clusterIP"]]),
    text("spec.type", &[&["spec", "type"]]),
]);

static REPLICATION_CONTROLLERS: FieldTable =
    namespaced(&[field("status.replicas", &[&["status", "replicas"]], "0")]);

static JOBS: FieldTable = FieldTable {
    fields: &[field("status.successful", &[&["status", "succeeded"]], "0")],
    namespace: NamespaceField::Offered,
    refusal: Refusal::Job,
};

static SIGNING_REQUESTS: FieldTable =
    cluster_scoped(&[text("spec.signerName", &[&["spec", "signerName"]])]);

static EVENTS: FieldTable = namespaced(&[
    text("involvedObject.kind", &[&["involvedObject", "kind"]]),
    text(
        "involvedObject.namespace",
        &[&["involvedObject", "namespace"]],
    ),
    text("involvedObject.name", &[&["involvedObject", "name"]]),
    text("involvedObject.uid", &[&["involvedObject", "uid"]]),
    text(
        "involvedObject.apiVersion",
        &[&["involvedObject", "apiVersion"]],
    ),
    text(
        "involvedObject.resourceVersion",
        &[&["involvedObject", "resourceVersion"]],
    ),
    text(
        "involvedObject.fieldPath",
        &[&["involvedObject", "fieldPath"]],
    ),
    text("reason", &[&["reason"]]),
    text("reportingComponent", &[&["reportingComponent"]]),
    text(
        "source",
        &[&["source", "component"], &["reportingComponent"]],
    ),
    text("type", &[&["type"]]),
]);

static GROUP_EVENTS: FieldTable = namespaced(&[
    text("regarding.kind", &[&["regarding", "kind"]]),
    text("regarding.namespace", &[&["regarding", "namespace"]]),
    text("regarding.name", &[&["regarding", "name"]]),
    text("regarding.uid", &[&["regarding", "uid"]]),
    text("regarding.apiVersion", &[&["regarding", "apiVersion"]]),
    text(
        "regarding.resourceVersion",
        &[&["regarding", "resourceVersion"]],
    ),
    text("regarding.fieldPath", &[&["regarding", "fieldPath"]]),
    text("reason", &[&["reason"]]),
    text("reportingController", &[&["reportingController"]]),
    text("type", &[&["type"]]),
]);
