//! Made-up objects.

use std::collections::HashSet;

use bench_core::api::{KubeObject as _, Object};
use fake_apiserver::{
    config::WindowConfig,
    profiles::{Profile, ProfileKind},
    storage::Storage,
};
use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{ConfigMap, Node, Pod},
};

fn objects(kind: ProfileKind, count: usize) -> Vec<Object> {
    let mut storage = Storage::new(WindowConfig::kube_apiserver());
    let id = storage.register(&kind.resource());
    for draft in Profile::new(kind).population(count, 1) {
        storage.load(id, &draft).unwrap();
    }
    storage
        .store(id)
        .objects()
        .iter()
        .map(|(key, stored)| {
            let object = Object::decode(stored.json()).unwrap();
            assert_eq!(object.key().unwrap(), *key);
            assert_eq!(object.resource_version().number(), Some(stored.revision()));
            object
        })
        .collect()
}

#[test]
fn objects_have_the_size_their_profile_promises_and_managed_fields_their_usual_share() {
    for (kind, size_bytes, managed_share) in [
        (ProfileKind::Pod6k, 5400..=6600, 30..=50),
        (ProfileKind::Pod11k, 9900..=12_100, 30..=50),
        (ProfileKind::Pod50k, 45_000..=55_000, 10..=40),
        (ProfileKind::Node, 15_000..=30_000, 10..=50),
        (ProfileKind::Lease, 700..=900, 30..=60),
        (ProfileKind::ConfigMap, 800..=1200, 20..=50),
    ] {
        let object = &objects(kind, 20)[7];
        let size = object.json().len();
        let value: serde_json::Value = serde_json::from_slice(object.json()).unwrap();
        let share = value["metadata"]["managedFields"].to_string().len() * 100 / size;
        println!("{kind}: {size} bytes, managedFields {share} %");
        assert!(size_bytes.contains(&size), "{kind}: {size}");
        assert!(managed_share.contains(&share), "{kind}: {share} %");
    }
}

#[test]
fn objects_parse_as_the_kinds_they_claim_to_be() {
    for kind in ProfileKind::ALL {
        let object = &objects(kind, 1)[0];
        let json = object.json();
        let parsed = match kind {
            ProfileKind::Pod6k | ProfileKind::Pod11k | ProfileKind::Pod50k => {
                Pod::decode(json).map(drop)
            }
            ProfileKind::Node => Node::decode(json).map(drop),
            ProfileKind::Lease => Lease::decode(json).map(drop),
            ProfileKind::ConfigMap => ConfigMap::decode(json).map(drop),
        };
        parsed.unwrap();
        assert!(
            !std::str::from_utf8(json).unwrap().contains('@') || kind != ProfileKind::Lease,
            "a gap was left open"
        );
        assert_eq!(kind.name().parse(), Ok(kind));
    }
}

#[test]
fn pods_are_spread_over_namespaces_and_nodes_and_no_uid_is_shared() {
    let pods = objects(ProfileKind::Pod6k, 300);
    let uids: HashSet<&str> = pods.iter().map(Object::uid).collect();
    assert_eq!(uids.len(), 300);
    let mut namespaces = std::collections::BTreeMap::new();
    for pod in &pods {
        *namespaces
            .entry(pod.key().unwrap().namespace().to_owned())
            .or_insert(0) += 1;
    }
    assert_eq!(
        namespaces.into_values().collect::<Vec<_>>(),
        [100, 100, 100]
    );
    let nodes: HashSet<String> = pods
        .iter()
        .map(|pod| {
            serde_json::from_slice::<serde_json::Value>(pod.json()).unwrap()["spec"]["nodeName"]
                .to_string()
        })
        .collect();
    assert_eq!(nodes.len(), 10);
}

#[test]
fn the_seed_decides_every_byte() {
    let first = |seed| {
        let profile = Profile::new(ProfileKind::Pod11k);
        let draft = profile.population(5, seed).nth(4).unwrap();
        draft.key().clone()
    };
    assert_eq!(first(1), first(1));
    assert_ne!(first(1), first(2));
}
