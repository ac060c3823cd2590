//! Made-up objects with the content and size of real ones, spliced from one template per profile.

mod cluster_kinds;
mod managed_fields;
mod pod;
mod template;

use std::{fmt, str::FromStr};

use bench_core::api::{ObjectKey, Resource};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha12Rng};

use crate::{object_name, profiles::template::Template, stored_object::ObjectDraft};

/// `metadata.creationTimestamp` of everything that is made up: no wall clock is read, so that a seed decides every byte.
pub(crate) const CREATED_AT: &str = "2026-01-01T00:00:00Z";

const PODS_PER_NAMESPACE: usize = 3000;
const PODS_PER_NODE: usize = 30;
const PODS_PER_REPLICA_SET: usize = 10;

/// A kind of made-up object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProfileKind {
    /// A pod of one container and few extras, 6 KB.
    Pod6k,
    /// A pod of two containers with eight variables each, 11 KB.
    Pod11k,
    /// A pod with a large specification, 50 KB.
    Pod50k,
    /// A node, 20 KB.
    Node,
    /// A node's lease, 0.8 KB.
    Lease,
    /// A small `ConfigMap`, 1 KB.
    ConfigMap,
}

impl ProfileKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Pod6k,
        Self::Pod11k,
        Self::Pod50k,
        Self::Node,
        Self::Lease,
        Self::ConfigMap,
    ];

    /// The name on command lines and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pod6k => "pod-6k",
            Self::Pod11k => "pod-11k",
            Self::Pod50k => "pod-50k",
            Self::Node => "node",
            Self::Lease => "lease",
            Self::ConfigMap => "configmap",
        }
    }

    /// The resource of its objects.
    pub fn resource(self) -> Resource {
        match self {
            Self::Pod6k | Self::Pod11k | Self::Pod50k => Resource::pods(),
            Self::Node => Resource::nodes(),
            Self::Lease => Resource::leases(),
            Self::ConfigMap => Resource::configmaps(),
        }
    }
}

impl fmt::Display for ProfileKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// No profile has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no profile is called {0:?}; there are pod-6k, pod-11k, pod-50k, node, lease and configmap"
)]
pub struct UnknownProfile(String);

impl FromStr for ProfileKind {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| UnknownProfile(name.to_owned()))
    }
}

/// Makes objects of one kind.
#[derive(Debug)]
pub struct Profile {
    kind: ProfileKind,
    template: Template,
}

impl Profile {
    /// Prepares the template.
    pub fn new(kind: ProfileKind) -> Self {
        let object = match kind {
            ProfileKind::Pod6k => pod::small(),
            ProfileKind::Pod11k => pod::medium(),
            ProfileKind::Pod50k => pod::large(),
            ProfileKind::Node => cluster_kinds::node(),
            ProfileKind::Lease => cluster_kinds::lease(),
            ProfileKind::ConfigMap => cluster_kinds::config_map(),
        };
        Self {
            kind,
            template: Template::new(&kind.resource(), object),
        }
    }

    /// Which kind.
    pub fn kind(&self) -> ProfileKind {
        self.kind
    }

    /// The first `count` objects of a cluster, the same for the same seed; no two share a key or a uid.
    ///
    /// Pods are spread evenly over namespaces of 3,000 and nodes of 30, and belong to `ReplicaSet`s of 10.
    pub fn population(&self, count: usize, seed: u64) -> impl Iterator<Item = ObjectDraft> {
        let mut random = ChaCha12Rng::seed_from_u64(seed ^ fingerprint(self.kind.name()));
        let nodes = count.div_ceil(PODS_PER_NODE).max(1);
        let mut replica_set = String::new();
        let mut used = std::collections::HashSet::new();
        (0..count).map(move |index| {
            let key = match self.kind {
                ProfileKind::Node => ObjectKey::new("", &template::node_name(index)),
                ProfileKind::Lease => {
                    ObjectKey::new("kube-node-lease", &template::node_name(index))
                }
                ProfileKind::ConfigMap => {
                    ObjectKey::new(&namespace(index, count), &format!("settings-{index}"))
                }
                ProfileKind::Pod6k | ProfileKind::Pod11k | ProfileKind::Pod50k => {
                    if index % PODS_PER_REPLICA_SET == 0 {
                        let app = pod::APPS[random.random_range(0..pod::APPS.len())];
                        replica_set = format!("{app}-{}", object_name::suffix(9, &mut random));
                    }
                    let namespace =
                        namespace(index / PODS_PER_REPLICA_SET, count / PODS_PER_REPLICA_SET);
                    loop {
                        let name = format!("{replica_set}-{}", object_name::suffix(5, &mut random));
                        let key = ObjectKey::new(&namespace, &name);
                        if used.insert(key.clone()) {
                            break key;
                        }
                    }
                }
            };
            self.template
                .render(&key, random.random(), &template::node_name(index % nodes))
        })
    }

    /// One more object, as a churn makes it.
    pub fn render(&self, key: &ObjectKey, uid: u128) -> ObjectDraft {
        let node = template::node_name(usize::from(u16::try_from(uid & 0xfff).expect("12 bits")));
        self.template.render(key, uid, &node)
    }
}

/// Namespaces hold `PODS_PER_NAMESPACE` objects at most, and there are at least three as soon as there are objects for them.
fn namespace(index: usize, count: usize) -> String {
    let namespaces = count.div_ceil(PODS_PER_NAMESPACE).max(3);
    format!("team-{}", index % namespaces)
}

/// FNV-1a 64: gives each profile random numbers of its own under one seed.
fn fingerprint(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
