//! Discovery in one document: everything of `/api`, or everything of `/apis`.

use bench_core::api::Scope;
use http::HeaderMap;
use serde_json::{Value, json};

use super::{Served, VERBS, groups, members, versions};
use crate::accept;

/// The media type of the answer: without its parameters clients take it for the plain form.
pub(crate) const AGGREGATED_MEDIA_TYPE: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const PARAMETERS: [(&str, &str); 3] = [
    ("g", "apidiscovery.k8s.io"),
    ("v", "v2"),
    ("as", "APIGroupDiscoveryList"),
];

/// Whether a client would rather have this form than the plain one.
pub(super) fn is_accepted(headers: &HeaderMap) -> bool {
    accept::prefers_json_with(headers, &PARAMETERS)
}

/// The document for resources of one root.
pub(super) fn document(resources: &[Served]) -> Value {
    let is_core = resources
        .iter()
        .any(|served| served.resource.group.is_empty());
    let core = is_core.then_some("").into_iter();
    let items: Vec<Value> = core
        .chain(groups(resources))
        .map(|group| {
            let versions = versions(resources, group);
            let versions = versions
                .iter()
                .map(|version| of_version(resources, group, version));
            let metadata = if group.is_empty() {
                json!({})
            } else {
                json!({"name": group})
            };
            json!({"metadata": metadata, "versions": versions.collect::<Vec<_>>()})
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

fn of_version(resources: &[Served], group: &str, version: &str) -> Value {
    let members = members(resources, group, version);
    let entries: Vec<Value> = members.into_iter().map(entry).collect();
    json!({"version": version, "resources": entries, "freshness": "Current"})
}

fn entry(
    Served {
        resource,
        names,
        parts,
    }: &Served,
) -> Value {
    let scope = match resource.scope {
        Scope::Cluster => "Cluster",
        Scope::Namespaced => "Namespaced",
    };
    let mut entry = json!({
        "resource": resource.plural,
        "responseKind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
        "scope": scope,
        "singularResource": names.singular,
        "verbs": VERBS,
    });
    if !names.short.is_empty() {
        entry["shortNames"] = json!(names.short);
    }
    if !names.categories.is_empty() {
        entry["categories"] = json!(names.categories);
    }
    if !parts.is_empty() {
        let parts = parts.iter().map(|part| {
            let (group, version) = part.foreign.unwrap_or((&resource.group, &resource.version));
            json!({
                "subresource": part.name,
                "responseKind": {"group": group, "version": version, "kind": part.kind},
                "verbs": part.verbs,
            })
        });
        entry["subresources"] = parts.collect();
    }
    entry
}
