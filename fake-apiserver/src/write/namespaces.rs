//! Which namespaces there are.

use std::collections::BTreeSet;

use bench_core::api::{Resource, Scope};
use serde_json::json;

use crate::{object_name, profiles::CREATED_AT, storage::Storage, stored_object::ObjectDraft};

/// The namespaces that a server makes for itself. The first three cannot be deleted.
pub(crate) const OF_THE_SYSTEM: [&str; 4] =
    ["default", "kube-system", "kube-public", "kube-node-lease"];

/// Puts namespaces in place before the server serves: the system's, and those in which there are objects.
pub(crate) fn load_namespaces(storage: &mut Storage) {
    let resource = Resource::named("", "v1", "namespaces", "Namespace", Scope::Cluster);
    let mut names: BTreeSet<String> = OF_THE_SYSTEM.map(str::to_owned).into();
    for (_, store) in storage.stores() {
        if store.resource().scope == Scope::Cluster {
            continue;
        }
        // Keys are sorted by namespace, so each is looked up once.
        let mut last = "";
        for key in store.objects().keys() {
            if key.namespace() != last {
                last = key.namespace();
                names.insert(last.to_owned());
            }
        }
    }
    let id = storage.register(&resource);
    for name in names {
        let object = json!({
            "metadata": {
                "name": name,
                "uid": object_name::uid(uid_bits(&name)),
                "creationTimestamp": CREATED_AT,
                "labels": {"kubernetes.io/metadata.name": name},
            },
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        });
        storage.load_if_absent(id, &ObjectDraft::write(&resource, object));
    }
}

/// FNV-1a of the name, twice as long: the same name has the same uid in every server.
fn uid_bits(name: &str) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    name.bytes().fold(OFFSET, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(PRIME)
    })
}
