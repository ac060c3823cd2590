//! `Indexer`: literal rows of client-go's `thread_safe_store_test.go`, and random operations against a dumb model.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use bench_core::{
    api::{KubeObject, Object, ObjectKey, ResourceVersion},
    cache::{
        Delta, DeltaObject, DeltaType, IndexError, IndexFunc, Indexer, NAMESPACE_INDEX,
        index_by_namespace,
    },
};
use proptest::prelude::*;

use crate::scripted::{nameless, object, text};

/// Indexes an object under each digit of its version.
fn by_digit() -> Indexer<Object> {
    let digits: IndexFunc<Object> = Arc::new(|object: &Object| {
        let mut digits: Vec<_> = object
            .resource_version()
            .to_string()
            .chars()
            .map(String::from)
            .collect();
        digits.sort_unstable();
        digits.dedup();
        digits
    });
    Indexer::new(HashMap::from([("digit".to_owned(), digits)]))
}

#[derive(Debug, Clone)]
enum Op {
    Put(u8, u64),
    Remove(u8),
    Replace(Vec<(u8, u64)>),
    /// Puts, and where the version is 0 deletions, of distinct keys.
    Transaction(BTreeMap<u8, u64>),
}

fn operation() -> impl Strategy<Value = Op> {
    let version = 1..400_u64;
    prop_oneof![
        3 => (0..4_u8, version.clone()).prop_map(|(key, version)| Op::Put(key, version)),
        2 => (0..4_u8).prop_map(Op::Remove),
        1 => prop::collection::vec((0..4_u8, version), 0..4).prop_map(Op::Replace),
        2 => prop::collection::btree_map(0..4_u8, (0..400_u64).prop_map(|version| version.saturating_sub(100)), 0..4).prop_map(Op::Transaction),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(crate::model::cases()) })]

    #[test]
    fn the_cache_and_its_index_do_what_a_scan_does(operations in prop::collection::vec(operation(), 1..16)) {
        let indexer = by_digit();
        let mut model = BTreeMap::new();
        for operation in operations {
            match operation {
                Op::Put(key, version) => {
                    let old = indexer.put(&ObjectKey::new("t", &key.to_string()), &object(&key.to_string(), version));
                    prop_assert_eq!(old.map(|old| text(&old)), model.insert(key, version).map(|old| format!("{key}@{old}")));
                }
                Op::Remove(key) => {
                    let old = indexer.remove(&ObjectKey::new("t", &key.to_string()));
                    prop_assert_eq!(old.is_some(), model.remove(&key).is_some());
                }
                Op::Replace(list) => {
                    let objects: Vec<_> = list.iter().map(|(key, version)| object(&key.to_string(), *version)).collect();
                    indexer.replace(&objects, &ResourceVersion::unset()).unwrap();
                    model = list.into_iter().collect();
                }
                Op::Transaction(writes) => {
                    let deltas: Vec<_> = writes.iter().map(|(key, version)| match version {
                        0 => Delta::new(DeltaType::Deleted, object(&key.to_string(), 999)),
                        _ => Delta::new(DeltaType::Updated, object(&key.to_string(), *version)),
                    }).collect();
                    let before = indexer.transaction(&deltas).into_iter().map(|old| old.expect("named").map(|old| text(&old)));
                    let expected = writes.iter().map(|(key, version)| match version {
                        0 => model.remove(key),
                        _ => model.insert(*key, *version),
                    });
                    let expected: Vec<_> = writes.keys().zip(expected).map(|(key, old)| old.map(|old| format!("{key}@{old}"))).collect();
                    prop_assert_eq!(before.collect::<Vec<_>>(), expected);
                }
            }
            prop_assert_eq!(indexer.len(), model.len());
            for digit in '0'..='9' {
                let expected: Vec<_> = model
                    .iter()
                    .filter(|(_, version)| version.to_string().contains(digit))
                    .map(|(key, _)| format!("t/{key}"))
                    .collect();
                let keys: Vec<_> = indexer.index_keys("digit", &digit.to_string()).unwrap().iter().map(ToString::to_string).collect();
                prop_assert_eq!(&keys, &expected);
                let has_value = indexer.list_index_func_values("digit").contains(&digit.to_string());
                prop_assert_eq!(has_value, !expected.is_empty(), "no empty set stays in the index");
            }
        }
    }
}

#[test]
fn short_lived_namespaces_leave_nothing_in_the_index() {
    let indexer = Indexer::new(index_by_namespace());
    for number in 0..1_000 {
        let json = format!(
            r#"{{"metadata":{{"name":"a","namespace":"n{number}","resourceVersion":"1"}}}}"#
        );
        let object = Arc::new(Object::decode(json.as_bytes()).unwrap());
        indexer.add(&object).unwrap();
        assert_eq!(indexer.list_index_func_values(NAMESPACE_INDEX).len(), 1);
        indexer.remove(&object.key().unwrap());
    }
    assert!(indexer.list_index_func_values(NAMESPACE_INDEX).is_empty() && indexer.is_empty());
}

#[test]
fn objects_that_share_a_value_are_found_once() {
    let indexer = by_digit();
    for (name, version) in [("a", 12), ("b", 21), ("c", 3)] {
        indexer.add(&object(name, version)).unwrap();
    }
    let mut found: Vec<_> = indexer
        .index("digit", &object("q", 12))
        .unwrap()
        .iter()
        .map(|object| text(object))
        .collect();
    found.sort_unstable();
    assert_eq!(found, ["a@12", "b@21"]);
    let unknown = indexer.by_index("nope", "1").unwrap_err();
    assert_eq!(unknown.to_string(), "index with name nope does not exist");
}

#[test]
fn indexes_can_be_added_only_to_an_empty_cache_and_under_a_new_name() {
    let indexer = by_digit();
    let again = || {
        HashMap::from([(
            "digit".to_owned(),
            Arc::new(|_: &Object| Vec::new()) as IndexFunc<Object>,
        )])
    };
    assert_eq!(
        indexer.add_indexers(again()),
        Err(IndexError::Conflict("digit".to_owned()))
    );
    indexer.add_indexers(index_by_namespace()).unwrap();
    indexer.add(&object("a", 1)).unwrap();
    assert_eq!(indexer.index_keys(NAMESPACE_INDEX, "t").unwrap().len(), 1);
    assert_eq!(
        indexer.add_indexers(index_by_namespace()),
        Err(IndexError::NotEmpty)
    );
}

#[test]
fn indexes_that_are_added_later_hold_what_the_cache_holds() {
    let indexer = Indexer::new(HashMap::new());
    indexer.add(&object("a", 1)).unwrap();
    indexer.add(&object("b", 2)).unwrap();
    indexer
        .add_indexers_at_any_time(index_by_namespace())
        .unwrap();
    assert_eq!(indexer.index_keys(NAMESPACE_INDEX, "t").unwrap().len(), 2);
    indexer.remove(&ObjectKey::new("t", "a"));
    assert_eq!(indexer.index_keys(NAMESPACE_INDEX, "t").unwrap().len(), 1);
    assert_eq!(
        indexer.add_indexers_at_any_time(index_by_namespace()),
        Err(IndexError::Conflict(NAMESPACE_INDEX.to_owned()))
    );
}

/// `TestThreadSafeStoreRV`, but for its object without metadata, which cannot exist here.
#[test]
fn the_caches_version_is_the_last_writes_and_not_the_highest() {
    let indexer = Indexer::new(HashMap::new());
    let version = |indexer: &Indexer<Object>| indexer.resource_version().number();
    assert!(indexer.resource_version().is_unset());
    for (name, put) in [("a", 10), ("b", 10), ("c", 20), ("d", 15)] {
        indexer.add(&object(name, put)).unwrap();
        assert_eq!(version(&indexer), Some(put));
    }
    let deleted = DeltaObject::Object(object("d", 30));
    indexer.delete(&deleted).unwrap();
    assert_eq!(version(&indexer), Some(30));
    indexer.delete(&deleted).unwrap();
    assert_eq!(version(&indexer), Some(30), "a deletion of nothing counts");
    indexer.add(&object("e", 40)).unwrap();
    indexer.remove(&ObjectKey::new("t", "e"));
    assert_eq!(version(&indexer), Some(40), "a key has no version");
    let tombstone = Delta::tombstone(ObjectKey::new("t", "a"), Some(object("a", 44)));
    indexer.delete(&tombstone.object).unwrap();
    assert_eq!(version(&indexer), Some(40), "nor has a tombstone");
    let put = |name, version| Delta::new(DeltaType::Updated, object(name, version));
    indexer.transaction(&[put("f", 40), put("g", 30), put("h", 50)]);
    assert_eq!(version(&indexer), Some(50));
    indexer.transaction(&[put("f", 60), tombstone]);
    assert_eq!(version(&indexer), Some(50), "the last write counts alone");
    indexer.transaction(&[]);
    assert_eq!(version(&indexer), Some(50));
    let list = [object("a", 40), object("b", 30)];
    indexer.replace(&list, &ResourceVersion::from(45)).unwrap();
    assert_eq!(version(&indexer), Some(45));
    indexer.bookmark(&ResourceVersion::from(44));
    assert_eq!(version(&indexer), Some(44));
}

/// The transaction row of client-go's `store_test.go`: ok, bad, ok, bad.
#[test]
fn a_transaction_leaves_out_what_has_no_key_and_takes_its_version_from_the_last_write() {
    let indexer = Indexer::new(HashMap::new());
    let delta = |object| Delta::new(DeltaType::Added, object);
    let outcomes = indexer.transaction(&[
        delta(object("a", 1)),
        delta(nameless(2)),
        delta(object("c", 3)),
        delta(nameless(4)),
    ]);
    let successful: Vec<_> = (0..4).filter(|place| outcomes[*place].is_ok()).collect();
    assert_eq!(successful, [0, 2]);
    assert_eq!(indexer.len(), 2);
    assert_eq!(indexer.resource_version().number(), Some(3));
}
