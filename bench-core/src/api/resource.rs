//! A resource type of an API server and its paths.

/// Whether objects of a resource live in a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One per cluster.
    Cluster,
    /// Inside a namespace.
    Namespaced,
}

/// Group, version, plural, kind and scope of one resource type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Resource {
    /// API group; empty for the core group.
    pub group: String,
    /// API version, such as `v1`.
    pub version: String,
    /// Plural as in the path, such as `pods`.
    pub plural: String,
    /// Kind of one object, such as `Pod`.
    pub kind: String,
    /// Whether objects have a namespace.
    pub scope: Scope,
}

impl Resource {
    /// Core `v1` pods.
    pub fn pods() -> Self {
        Self::named("", "v1", "pods", "Pod", Scope::Namespaced)
    }

    /// Core `v1` nodes.
    pub fn nodes() -> Self {
        Self::named("", "v1", "nodes", "Node", Scope::Cluster)
    }

    /// Core `v1` configmaps.
    pub fn configmaps() -> Self {
        Self::named("", "v1", "configmaps", "ConfigMap", Scope::Namespaced)
    }

    /// `coordination.k8s.io/v1` leases.
    pub fn leases() -> Self {
        Self::named(
            "coordination.k8s.io",
            "v1",
            "leases",
            "Lease",
            Scope::Namespaced,
        )
    }

    /// Any resource type.
    pub fn named(group: &str, version: &str, plural: &str, kind: &str, scope: Scope) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            kind: kind.to_owned(),
            scope,
        }
    }

    /// `v1`, or `group/version`, as objects carry it.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Path of the collection, in all namespaces if `namespace` is absent.
    pub fn collection_path(&self, namespace: Option<&str>) -> String {
        let root = if self.group.is_empty() {
            "/api"
        } else {
            "/apis"
        };
        let api_version = self.api_version();
        match namespace {
            Some(namespace) => format!(
                "{root}/{api_version}/namespaces/{namespace}/{}",
                self.plural
            ),
            None => format!("{root}/{api_version}/{}", self.plural),
        }
    }
}
