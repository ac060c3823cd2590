//! What a server serves, by its discovery documents: group, version and scope of the resource that somebody named.

use anyhow::Context as _;
use bench_core::api::{Resource, Scope};
use serde::Deserialize;

use crate::control_client::ControlClient;

#[derive(Debug, Deserialize)]
struct GroupList {
    groups: Vec<Group>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    name: String,
    versions: Vec<GroupVersion>,
    preferred_version: GroupVersion,
}

#[derive(Debug, PartialEq, Deserialize)]
struct GroupVersion {
    version: String,
}

#[derive(Debug, Deserialize)]
struct ResourceList {
    resources: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    name: String,
    namespaced: bool,
    kind: String,
}

/// Finds a resource by its plural, or by `plural.group`. A plural alone stands for the core group's, else for that of the first
/// group that has it; of several versions the preferred one is taken.
///
/// # Errors
/// If the server cannot be asked or does not have it; with what it has.
pub(crate) async fn find(server: &ControlClient, name: &str) -> anyhow::Result<Resource> {
    let resources = served(server).await?;
    let found = resources.iter().find(|resource| is_named(resource, name));
    let list = || {
        resources
            .iter()
            .map(full_name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    found
        .cloned()
        .with_context(|| format!("the server has no {name}: it serves {}", list()))
}

/// `plural`, or `plural.group` outside the core group: how the server, too, names a resource.
pub(crate) fn full_name(resource: &Resource) -> String {
    if resource.group.is_empty() {
        resource.plural.clone()
    } else {
        format!("{}.{}", resource.plural, resource.group)
    }
}

/// Whether somebody who says `name` may mean this resource.
pub(crate) fn is_named(resource: &Resource, name: &str) -> bool {
    resource.plural == name || full_name(resource) == name
}

/// The core group first, preferred versions first.
async fn served(server: &ControlClient) -> anyhow::Result<Vec<Resource>> {
    let core: ResourceList = server.document("/api/v1").await?;
    let mut resources = core.into_resources("", "v1");
    let GroupList { groups } = server.document("/apis").await?;
    for group in groups {
        for version in group.versions_by_preference() {
            let path = format!("/apis/{}/{version}", group.name);
            let list: ResourceList = server.document(&path).await?;
            resources.extend(list.into_resources(&group.name, version));
        }
    }
    Ok(resources)
}

impl Group {
    fn versions_by_preference(&self) -> impl Iterator<Item = &str> {
        let preferred = &self.preferred_version;
        let others = self.versions.iter().filter(move |it| *it != preferred);
        std::iter::once(preferred)
            .chain(others)
            .map(|it| it.version.as_str())
    }
}

impl ResourceList {
    fn into_resources(self, group: &str, version: &str) -> Vec<Resource> {
        let resource = |entry: Entry| {
            let scope = if entry.namespaced {
                Scope::Namespaced
            } else {
                Scope::Cluster
            };
            Resource::named(group, version, &entry.name, &entry.kind, scope)
        };
        self.resources.into_iter().map(resource).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferred_versions_come_first() {
        // As a kube-apiserver answers `/apis`, shortened.
        let list = r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"autoscaling","versions":[
            {"groupVersion":"autoscaling/v2","version":"v2"},{"groupVersion":"autoscaling/v1","version":"v1"}],
            "preferredVersion":{"groupVersion":"autoscaling/v1","version":"v1"}}]}"#;
        let GroupList { groups } = serde_json::from_str(list).unwrap();
        let versions: Vec<_> = groups[0].versions_by_preference().collect();
        assert_eq!(versions, ["v1", "v2"]);
    }

    #[test]
    fn a_plural_alone_names_a_resource_of_any_group() {
        let resource =
            Resource::named("apps", "v1", "deployments", "Deployment", Scope::Namespaced);
        for (name, meant) in [
            ("deployments", true),
            ("deployments.apps", true),
            ("deployments.example.com", false),
            ("Deployment", false),
        ] {
            assert_eq!(is_named(&resource, name), meant, "{name}");
        }
    }
}
