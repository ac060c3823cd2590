//! What is served, for clients that ask: the plain form of discovery, one document for each group and version.

mod aggregated;
mod names;

use std::{cmp::Ordering, collections::BTreeSet};

use bench_core::api::{Resource, Scope};
use http::{HeaderMap, header::HOST};
use serde_json::{Value, json};

use self::names::Names;
use crate::{
    ApiServer,
    write::{self, Part},
};

pub(crate) use self::aggregated::AGGREGATED_MEDIA_TYPE;

/// What may be done with every resource.
const VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];

/// A document and the form that it has.
#[derive(Debug)]
pub(crate) enum Document {
    /// Everything of `/api` or `/apis` in one.
    Aggregated(String),
    Plain(String),
}

/// A resource and its names.
#[derive(Debug, Clone)]
struct Served {
    resource: Resource,
    names: Names,
    parts: Vec<Part>,
}

/// `/version`.
pub(crate) fn version() -> Value {
    json!({
        "major": "1",
        "minor": "34",
        "emulationMajor": "1",
        "emulationMinor": "34",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "33",
        "gitVersion": "v1.34.0-informer-bench",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z",
        "goVersion": "none",
        "compiler": "rustc",
        "platform": "linux/amd64",
    })
}

/// `/`: the paths there are.
pub(crate) fn paths(server: &ApiServer) -> Value {
    let roots: BTreeSet<String> = server.read(|state| {
        let stores = state.storage.stores();
        let roots = stores.flat_map(|(_, store)| {
            let Resource { group, version, .. } = store.resource();
            match &**group {
                "" => vec![format!("/api/{version}")],
                group => vec![format!("/apis/{group}"), format!("/apis/{group}/{version}")],
            }
        });
        roots.collect()
    });
    let others = [
        "/api",
        "/apis",
        "/healthz",
        "/livez",
        "/openapi/v2",
        "/openapi/v3",
        "/readyz",
        "/version",
    ];
    let paths: BTreeSet<String> = roots.into_iter().chain(others.map(str::to_owned)).collect();
    json!({"paths": paths})
}

/// The document at a path, if it is one of discovery's.
pub(crate) fn document(server: &ApiServer, path: &str, headers: &HeaderMap) -> Option<Document> {
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    if !matches!(segments[0], "api" | "apis") || segments.len() > 3 {
        return None;
    }
    let resources: Vec<Served> = server.read(|state| {
        let stores = state.storage.stores();
        let resources = stores.map(|(_, store)| Served {
            resource: store.resource().clone(),
            names: Names::of(store.resource(), &state.storage),
            parts: write::parts_of(store),
        });
        resources.collect()
    });
    if segments.len() == 1 && aggregated::is_accepted(headers) {
        let is_core = segments[0] == "api";
        let members = resources.iter();
        let members = members.filter(|member| member.resource.group.is_empty() == is_core);
        let document = aggregated::document(&members.cloned().collect::<Vec<_>>());
        return Some(Document::Aggregated(document.to_string()));
    }
    let document = match segments.as_slice() {
        ["api"] => {
            let host = headers.get(HOST).and_then(|host| host.to_str().ok());
            let address = json!({"clientCIDR": "0.0.0.0/0", "serverAddress": host.unwrap_or("")});
            json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [address]})
        }
        ["apis"] => {
            let groups: Vec<Value> = groups(&resources)
                .filter_map(|name| group(&resources, name))
                .collect();
            json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
        }
        ["apis", name] => {
            let mut document = json!({"kind": "APIGroup", "apiVersion": "v1"});
            let group = group(&resources, name)?;
            for (field, value) in group.as_object()? {
                document[field] = value.clone();
            }
            document
        }
        ["api", version] => resource_list(&resources, "", version)?,
        ["apis", group, version] => resource_list(&resources, group, version)?,
        _ => return None,
    };
    Some(Document::Plain(document.to_string()))
}

/// All groups but the core one, in order.
fn groups(resources: &[Served]) -> impl Iterator<Item = &str> {
    let groups = resources.iter().map(|served| &*served.resource.group);
    let groups: BTreeSet<&str> = groups.collect();
    groups.into_iter().filter(|group| !group.is_empty())
}

/// The versions of a group, the preferred one first.
fn versions<'a>(resources: &'a [Served], group: &str) -> Vec<&'a str> {
    let resources = resources.iter().map(|served| &served.resource);
    let members = resources.filter(|resource| resource.group == group);
    let versions: BTreeSet<&str> = members.map(|resource| &*resource.version).collect();
    let mut versions: Vec<&str> = versions.into_iter().collect();
    versions.sort_by(|left, right| compare_versions(right, left));
    versions
}

fn group(resources: &[Served], name: &str) -> Option<Value> {
    let versions = versions(resources, name);
    let version =
        |version: &&str| json!({"groupVersion": format!("{name}/{version}"), "version": version});
    let preferred = version(versions.first().filter(|_| !name.is_empty())?);
    let versions: Vec<Value> = versions.iter().map(version).collect();
    Some(json!({"name": name, "versions": versions, "preferredVersion": preferred}))
}

fn resource_list(resources: &[Served], group: &str, version: &str) -> Option<Value> {
    let members = members(resources, group, version);
    let entries: Vec<Value> = members.into_iter().flat_map(entries).collect();
    let has_entries = !entries.is_empty();
    let group_version = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    // Only that of the core group, which is older, does not name its own version.
    let mut list = json!({"kind": "APIResourceList"});
    if !group.is_empty() {
        list["apiVersion"] = "v1".into();
    }
    list["groupVersion"] = group_version.into();
    list["resources"] = entries.into();
    has_entries.then_some(list)
}

/// The resources of one version of a group, by name.
fn members<'a>(resources: &'a [Served], group: &str, version: &str) -> Vec<&'a Served> {
    let members = resources
        .iter()
        .filter(|served| served.resource.group == group && served.resource.version == version);
    let mut members: Vec<&Served> = members.collect();
    members.sort_by(|left, right| left.resource.plural.cmp(&right.resource.plural));
    members
}

/// A resource, and each of its parts that has a path of its own.
fn entries(served: &Served) -> Vec<Value> {
    let resource = &served.resource;
    let mut entries = vec![entry(served)];
    for part in &served.parts {
        let mut entry = json!({
            "name": format!("{}/{}", resource.plural, part.name),
            "singularName": "",
            "namespaced": resource.scope == Scope::Namespaced,
        });
        if let Some((group, version)) = part.foreign {
            entry["group"] = group.into();
            entry["version"] = version.into();
        }
        entry["kind"] = part.kind.as_str().into();
        entry["verbs"] = json!(part.verbs);
        entries.push(entry);
    }
    entries
}

fn entry(
    Served {
        resource, names, ..
    }: &Served,
) -> Value {
    let mut entry = json!({
        "name": resource.plural,
        "singularName": names.singular,
        "namespaced": resource.scope == Scope::Namespaced,
        "kind": resource.kind,
        "verbs": VERBS,
    });
    if !names.short.is_empty() {
        entry["shortNames"] = json!(names.short);
    }
    if !names.categories.is_empty() {
        entry["categories"] = json!(names.categories);
    }
    entry
}

/// The order in which Kubernetes prefers versions, least first: stable after beta after alpha, high after low; before all of
/// them those that are named otherwise, against the alphabet.
fn compare_versions(left: &str, right: &str) -> Ordering {
    rank(left).cmp(&rank(right)).then_with(|| right.cmp(left))
}

/// Stability, number, and the number within the stability.
fn rank(version: &str) -> Option<(u8, u32, u32)> {
    let number = version.strip_prefix('v')?;
    for (word, stability) in [("alpha", 0), ("beta", 1)] {
        if let Some((major, minor)) = number.split_once(word) {
            return Some((stability, major.parse().ok()?, minor.parse().ok()?));
        }
    }
    Some((2, number.parse().ok()?, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preferred_version_is_the_most_stable_and_then_the_highest() {
        let resources: Vec<Served> = ["foo", "v1beta1", "v2", "bar", "v10", "v11alpha2", "v1beta2"]
            .map(|version| Served {
                resource: Resource::named("g", version, "xs", "X", Scope::Cluster),
                names: Names {
                    singular: String::new(),
                    short: Vec::new(),
                    categories: Vec::new(),
                },
                parts: Vec::new(),
            })
            .to_vec();
        assert_eq!(
            versions(&resources, "g"),
            ["v10", "v2", "v1beta2", "v1beta1", "v11alpha2", "bar", "foo"]
        );
    }
}
