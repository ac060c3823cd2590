//! The plain form of discovery: enough for clients that ask what is served.

use std::collections::BTreeSet;

use bench_core::api::{Resource, Scope};
use serde_json::{Value, json};

use crate::ApiServer;

/// `/version`.
pub(crate) fn version() -> String {
    let version = json!({
        "major": "1",
        "minor": "34",
        "gitVersion": "v1.34.0-informer-bench",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z",
        "goVersion": "none",
        "compiler": "rustc",
        "platform": "linux/amd64",
    });
    version.to_string()
}

/// The document at a path, if it is one of discovery's.
pub(crate) fn document(server: &ApiServer, path: &str) -> Option<String> {
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    if !matches!(segments[0], "api" | "apis") || segments.len() > 3 {
        return None;
    }
    let resources: Vec<Resource> = server.read(|state| {
        state
            .storage
            .stores()
            .map(|(_, store)| store.resource().clone())
            .collect()
    });
    match segments.as_slice() {
        ["api"] => Some(
            json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
                .to_string(),
        ),
        ["apis"] => {
            let groups: BTreeSet<&str> =
                resources.iter().map(|resource| &*resource.group).collect();
            let groups: Vec<Value> = groups
                .into_iter()
                .filter_map(|name| group(&resources, name))
                .collect();
            Some(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}).to_string())
        }
        ["apis", name] => {
            let mut group = group(&resources, name)?;
            group["kind"] = "APIGroup".into();
            group["apiVersion"] = "v1".into();
            Some(group.to_string())
        }
        ["api", version] => resource_list(&resources, "", version),
        ["apis", group, version] => resource_list(&resources, group, version),
        _ => None,
    }
}

fn group(resources: &[Resource], name: &str) -> Option<Value> {
    let members = resources
        .iter()
        .filter(|resource| resource.group == name && !name.is_empty());
    let versions: BTreeSet<&str> = members.map(|resource| &*resource.version).collect();
    let versions: Vec<Value> = versions
        .into_iter()
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    let preferred = versions.last()?.clone();
    Some(json!({"name": name, "versions": versions, "preferredVersion": preferred}))
}

fn resource_list(resources: &[Resource], group: &str, version: &str) -> Option<String> {
    let members = resources
        .iter()
        .filter(|resource| resource.group == group && resource.version == version);
    let entries: Vec<Value> = members
        .map(|resource| {
            json!({
                "name": resource.plural,
                "singularName": resource.kind.to_lowercase(),
                "namespaced": resource.scope == Scope::Namespaced,
                "kind": resource.kind,
                "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"],
            })
        })
        .collect();
    let group_version = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    let list = json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": entries});
    (!entries.is_empty()).then(|| list.to_string())
}
