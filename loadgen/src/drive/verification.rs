//! Is what the informer holds what the server holds, and was what the handler saw legal?

use std::collections::{BTreeMap, HashMap};

use anyhow::Context as _;
use bench_core::{
    api::{ContentHash, KubeObject, ListOptions, Object, ObjectKey, content_hash},
    cache::Indexer,
    list_watch::ListerWatcher as _,
};

use super::{
    DriveSettings,
    informer_under_test::http_list_watch,
    recorder::{Call, Cause, Delivery, Log},
};

/// Violations that are listed by name; more are counted.
const NAMED: usize = 5;

/// Uid, version and hash of an object's bytes.
type Identity = (String, String, ContentHash);

/// Lists the server anew and compares every object with the cache by key, uid, version and bytes.
pub(super) async fn compare_with_server(
    settings: &DriveSettings,
    cache: &Indexer<Object>,
) -> anyhow::Result<Vec<String>> {
    let page = http_list_watch(settings)
        .list(&ListOptions::most_recent())
        .await;
    let server = page.context("the server's objects cannot be listed for verification")?;
    let identities = |objects: Vec<std::sync::Arc<Object>>| -> BTreeMap<ObjectKey, Identity> {
        objects
            .iter()
            .filter_map(|object| Some((object.key().ok()?, identity(object))))
            .collect()
    };
    Ok(compare(
        &identities(server.items),
        &identities(cache.list()),
    ))
}

fn identity(object: &Object) -> Identity {
    (
        object.uid().to_owned(),
        object.resource_version().to_string(),
        content_hash(object.json()),
    )
}

fn compare(
    server: &BTreeMap<ObjectKey, Identity>,
    cache: &BTreeMap<ObjectKey, Identity>,
) -> Vec<String> {
    let mut violations = Vec::new();
    for (key, on_server) in server {
        match cache.get(key) {
            None => violations.push(format!(
                "{key} is on the server at version {} and not in the cache",
                on_server.1
            )),
            Some(cached) if cached != on_server => {
                violations.push(format!(
                    "{key} is {on_server:?} on the server and {cached:?} in the cache"
                ));
            }
            Some(_) => {}
        }
    }
    let surplus = cache.keys().filter(|key| !server.contains_key(*key));
    violations.extend(surplus.map(|key| format!("{key} is in the cache and not on the server")));
    capped(violations)
}

/// Checks the handler's calls in order: adds only what is absent, updates and deletes only what is there, updates from the
/// version that was last shown, and no version that goes down but by a relist.
pub(super) fn check_stream(log: &Log) -> Vec<String> {
    let mut present: HashMap<&ObjectKey, (&str, u64)> = HashMap::new();
    let mut violations = Vec::new();
    for delivery in &log.deliveries {
        if let Some(violation) = illegal(delivery, present.get(&delivery.key).copied()) {
            violations.push(violation);
        }
        match delivery.call {
            Call::Add | Call::Update => {
                present.insert(&delivery.key, (&delivery.uid, delivery.version))
            }
            Call::Delete | Call::DeleteUnknown => present.remove(&delivery.key),
        };
    }
    capped(violations)
}

fn illegal(delivery: &Delivery, before: Option<(&str, u64)>) -> Option<String> {
    let Delivery {
        key,
        version,
        call,
        cause,
        ..
    } = delivery;
    match (call, before) {
        (Call::Add, Some((_, seen))) => Some(format!(
            "{key} was added at {version} while it was there at {seen}"
        )),
        (Call::Update | Call::Delete | Call::DeleteUnknown, None) => Some(format!(
            "{key} was changed at {version} while it was absent"
        )),
        (Call::Update, Some((uid, seen))) if delivery.old_version != Some(seen) => Some(format!(
            "{key} ({uid}) was updated from {:?} and not from {seen}, which was last shown",
            delivery.old_version
        )),
        (Call::Update | Call::Delete, Some((uid, seen)))
            if *version < seen && uid == &*delivery.uid && *cause != Cause::Relist =>
        {
            Some(format!("{key} went back from version {seen} to {version}"))
        }
        _ => None,
    }
}

fn capped(mut violations: Vec<String>) -> Vec<String> {
    if violations.len() > NAMED {
        let more = violations.len() - NAMED;
        violations.truncate(NAMED);
        violations.push(format!("and {more} more of the kind"));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(states: &[(&str, u64)]) -> BTreeMap<ObjectKey, Identity> {
        let entry = |(name, version): &(&str, u64)| {
            (
                ObjectKey::new("t", name),
                ("u".to_owned(), version.to_string(), ContentHash(*version)),
            )
        };
        states.iter().map(entry).collect()
    }

    #[test]
    fn a_missing_a_surplus_and_a_differing_object_are_each_named() {
        let violations = compare(
            &states(&[("a", 1), ("b", 2), ("c", 3)]),
            &states(&[("b", 2), ("c", 4), ("d", 5)]),
        );
        assert_eq!(violations.len(), 3);
        assert_eq!(
            violations[0],
            "t/a is on the server at version 1 and not in the cache"
        );
        assert_eq!(violations[2], "t/d is in the cache and not on the server");
        assert!(compare(&states(&[("a", 1)]), &states(&[("a", 1)])).is_empty());
    }

    fn log(calls: &[(Call, Option<u64>, u64)]) -> Log {
        let key = ObjectKey::new("t", "a");
        let deliveries = calls.iter().map(|&(call, old_version, version)| Delivery {
            key: key.clone(),
            uid: "u".into(),
            call,
            cause: Cause::Live,
            old_version,
            version,
            began_ns: 0,
            returned_ns: 0,
            lost: false,
        });
        Log {
            deliveries: deliveries.collect(),
            ..Log::default()
        }
    }

    #[test]
    fn a_legal_stream_passes_and_each_kind_of_illegal_one_does_not() {
        let add = (Call::Add, None, 5);
        assert!(
            check_stream(&log(&[
                add,
                (Call::Update, Some(5), 6),
                (Call::Delete, None, 7),
                (Call::Add, None, 8)
            ]))
            .is_empty()
        );
        assert_eq!(
            check_stream(&log(&[add, add])),
            ["t/a was added at 5 while it was there at 5"]
        );
        assert_eq!(check_stream(&log(&[(Call::Update, Some(4), 5)])).len(), 1);
        assert_eq!(
            check_stream(&log(&[add, (Call::Update, Some(5), 4)])),
            ["t/a went back from version 5 to 4"]
        );
        let skipped = check_stream(&log(&[add, (Call::Update, Some(6), 7)]));
        assert!(
            skipped[0].contains("was updated from Some(6) and not from 5"),
            "an event dropped in between shows: {skipped:?}"
        );
    }
}
