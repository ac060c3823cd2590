//! Under which other names a resource is found: those of Kubernetes' own, and those that a definition gives to a custom one.

use bench_core::api::{ObjectKey, Resource};
use serde_json::Value;

use crate::storage::Storage;

/// Other names of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) singular: String,
    pub(super) short: Vec<String>,
    pub(super) categories: Vec<String>,
}

const ALL: &[&str] = &["all"];
const NONE: &[&str] = &[];
const API: &[&str] = &["api-extensions"];

/// Group, plural, short names and categories.
const NAMES: &[(&str, &str, &[&str], &[&str])] = &[
    ("", "configmaps", &["cm"], NONE),
    ("", "endpoints", &["ep"], NONE),
    ("", "events", &["ev"], NONE),
    ("", "limitranges", &["limits"], NONE),
    ("", "namespaces", &["ns"], NONE),
    ("", "nodes", &["no"], NONE),
    ("", "persistentvolumeclaims", &["pvc"], NONE),
    ("", "persistentvolumes", &["pv"], NONE),
    ("", "pods", &["po"], ALL),
    ("", "replicationcontrollers", &["rc"], ALL),
    ("", "resourcequotas", &["quota"], NONE),
    ("", "serviceaccounts", &["sa"], NONE),
    ("", "services", &["svc"], ALL),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        NONE,
        API,
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicies",
        NONE,
        API,
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicybindings",
        NONE,
        API,
    ),
    (
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
        NONE,
        API,
    ),
    (
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        &["crd", "crds"],
        API,
    ),
    ("apiregistration.k8s.io", "apiservices", NONE, API),
    ("apps", "daemonsets", &["ds"], ALL),
    ("apps", "deployments", &["deploy"], ALL),
    ("apps", "replicasets", &["rs"], ALL),
    ("apps", "statefulsets", &["sts"], ALL),
    ("autoscaling", "horizontalpodautoscalers", &["hpa"], ALL),
    ("batch", "cronjobs", &["cj"], ALL),
    ("batch", "jobs", NONE, ALL),
    (
        "certificates.k8s.io",
        "certificatesigningrequests",
        &["csr"],
        NONE,
    ),
    ("events.k8s.io", "events", &["ev"], NONE),
    ("networking.k8s.io", "ingresses", &["ing"], NONE),
    ("networking.k8s.io", "networkpolicies", &["netpol"], NONE),
    ("policy", "poddisruptionbudgets", &["pdb"], NONE),
    ("scheduling.k8s.io", "priorityclasses", &["pc"], NONE),
    ("storage.k8s.io", "storageclasses", &["sc"], NONE),
];

impl Names {
    pub(super) fn of(resource: &Resource, storage: &Storage) -> Self {
        if let Some(definition) = definition(resource, storage) {
            return Self::of_definition(&definition, resource);
        }
        let mut names = NAMES.iter();
        let found = names
            .find(|(group, plural, ..)| *group == resource.group && *plural == resource.plural);
        let (short, categories) = found.map_or((NONE, NONE), |(_, _, short, categories)| {
            (*short, *categories)
        });
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            singular: resource.kind.to_lowercase(),
            short: owned(short),
            categories: owned(categories),
        }
    }

    fn of_definition(definition: &Value, resource: &Resource) -> Self {
        let names = &definition["spec"]["names"];
        let list = |field: &str| -> Vec<String> {
            let names = names[field].as_array().into_iter().flatten();
            names
                .filter_map(|name| Some(name.as_str()?.to_owned()))
                .collect()
        };
        let singular = names["singular"].as_str().filter(|name| !name.is_empty());
        Self {
            singular: singular.map_or_else(|| resource.kind.to_lowercase(), str::to_owned),
            short: list("shortNames"),
            categories: list("categories"),
        }
    }
}

/// The `CustomResourceDefinition` of a resource, if there is one.
fn definition(resource: &Resource, storage: &Storage) -> Option<Value> {
    let definitions = storage.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")?;
    let name = ObjectKey::new("", &format!("{}.{}", resource.plural, resource.group));
    let object = storage.store(definitions).objects().get(&name)?;
    Some(object.value())
}
