//! Does the cache equal the server?

use std::collections::BTreeMap;

use crate::api::{ContentHash, ObjectKey, ResourceVersion};

use super::{Violation, violation::CappedViolations};

/// What identifies the state of an object to the byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectState {
    /// `metadata.uid`.
    pub uid: Box<str>,
    /// `metadata.resourceVersion`.
    pub resource_version: ResourceVersion,
    /// [`crate::api::content_hash`] of its bytes.
    pub content_hash: ContentHash,
}

/// Compares every object of both sides, both taken when nothing is under way. In the order of keys, at most one violation a
/// key, the coarsest; a long list ends with [`Violation::More`].
pub fn compare_states(
    server: &BTreeMap<ObjectKey, ObjectState>,
    cache: &BTreeMap<ObjectKey, ObjectState>,
) -> Vec<Violation> {
    let mut violations = CappedViolations::default();
    let surplus = cache.keys().filter(|key| !server.contains_key(*key));
    let mut keys: Vec<_> = server.keys().chain(surplus).collect();
    keys.sort_unstable();
    for key in keys {
        let violation = match (server.get(key), cache.get(key)) {
            (Some(on_server), Some(cached)) => difference(key, on_server, cached),
            (Some(on_server), None) => Some(Violation::MissingFromCache {
                key: key.to_string(),
                version: on_server.resource_version.clone(),
            }),
            (None, Some(cached)) => Some(Violation::NotOnServer {
                key: key.to_string(),
                version: cached.resource_version.clone(),
            }),
            (None, None) => None,
        };
        if let Some(violation) = violation {
            violations.push(violation);
        }
    }
    violations.to_vec()
}

fn difference(key: &ObjectKey, server: &ObjectState, cache: &ObjectState) -> Option<Violation> {
    let key = key.to_string();
    if server.uid != cache.uid {
        return Some(Violation::DifferentUid {
            key,
            server: server.uid.to_string(),
            cache: cache.uid.to_string(),
        });
    }
    if server.resource_version != cache.resource_version {
        return Some(Violation::DifferentVersion {
            key,
            server: server.resource_version.clone(),
            cache: cache.resource_version.clone(),
        });
    }
    (server.content_hash != cache.content_hash).then(|| Violation::DifferentContent {
        key,
        version: server.resource_version.clone(),
        server: server.content_hash,
        cache: cache.content_hash,
    })
}
