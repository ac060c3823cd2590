//! Is what the informer holds what the server holds, and was what the handler saw legal?

use std::collections::BTreeMap;

use anyhow::Context as _;
use bench_core::{
    api::{KubeObject, ListOptions, Object, ObjectKey, ResourceVersion, content_hash},
    cache::AddOrigin,
    list_watch::ListerWatcher as _,
    verify::{EventStreamChecker, Notification, ObjectState, Violation, compare_states},
};

use super::{
    DriveSettings,
    own_informer::http_list_watch,
    peer_log::CachedVersions,
    recorder::{Call, Cause, Delivery, Log},
    under_test::Left,
};

/// Lists the server anew and compares every object with the cache by key, uid, version and bytes.
pub(super) async fn compare_with_server(
    settings: &DriveSettings,
    left: &Left,
) -> anyhow::Result<Vec<Violation>> {
    let page = http_list_watch(settings)
        .list(&ListOptions::most_recent())
        .await;
    let server = page.context("the server's objects cannot be listed for verification")?;
    let on_server = states(&server.items);
    let cached = match left {
        Left::Ours(cache) => states(&cache.list()),
        Left::Peer(left) => states_by_version(&left.1, &on_server),
    };
    Ok(compare_states(&on_server, &cached))
}

/// Objects that were decoded into a type have no bytes to compare: those of the server are put in their place.
fn states_by_version(
    cached: &CachedVersions,
    on_server: &BTreeMap<ObjectKey, ObjectState>,
) -> BTreeMap<ObjectKey, ObjectState> {
    let state = |key: &ObjectKey, uid: &str, version: &ResourceVersion| ObjectState {
        uid: uid.into(),
        resource_version: version.clone(),
        content_hash: on_server
            .get(key)
            .map_or_else(|| content_hash(b""), |there| there.content_hash),
    };
    cached
        .iter()
        .map(|(key, (uid, version))| (key.clone(), state(key, uid, version)))
        .collect()
}

fn states(objects: &[std::sync::Arc<Object>]) -> BTreeMap<ObjectKey, ObjectState> {
    let state = |object: &Object| ObjectState {
        uid: object.uid().into(),
        resource_version: object.resource_version(),
        content_hash: content_hash(object.json()),
    };
    objects
        .iter()
        .filter_map(|object| Some((object.key().ok()?, state(object))))
        .collect()
}

/// Checks the handler's calls in order.
pub(super) fn check_stream(log: &Log) -> Vec<Violation> {
    let mut checker = EventStreamChecker::new();
    for delivery in &log.deliveries {
        if delivery.cause == Cause::Relist {
            checker.relisted();
        }
        checker.notify(notification(delivery));
    }
    checker.violations()
}

fn notification(delivery: &Delivery) -> Notification<&ObjectKey> {
    let key = &delivery.key;
    let uid = delivery.uid.clone();
    let version = ResourceVersion::from(delivery.version);
    match delivery.call {
        Call::Add => Notification::Added {
            key,
            uid,
            version,
            origin: if delivery.cause == Cause::Initial {
                AddOrigin::InitialList
            } else {
                AddOrigin::Live
            },
        },
        Call::Update => Notification::Updated {
            key,
            uid,
            old_version: delivery
                .old_version
                .map_or_else(ResourceVersion::unset, ResourceVersion::from),
            version,
        },
        Call::Delete => Notification::Deleted { key, version },
        Call::DeleteUnknown => Notification::DeletedFinalStateUnknown { key, version },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(calls: &[(Call, Cause, Option<u64>, u64)]) -> Log {
        let key = ObjectKey::new("t", "a");
        let deliveries = calls
            .iter()
            .map(|&(call, cause, old_version, version)| Delivery {
                key: key.clone(),
                uid: "u".into(),
                call,
                cause,
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

    fn sentences(calls: &[(Call, Cause, Option<u64>, u64)]) -> Vec<String> {
        let violations = check_stream(&log(calls));
        violations.iter().map(ToString::to_string).collect()
    }

    const ADD: (Call, Cause, Option<u64>, u64) = (Call::Add, Cause::Initial, None, 5);

    #[test]
    fn a_legal_stream_passes() {
        let legal = [
            ADD,
            (Call::Update, Cause::Live, Some(5), 6),
            (Call::Update, Cause::Resync, Some(6), 6),
            (Call::Delete, Cause::Live, None, 7),
            (Call::Add, Cause::Live, None, 8),
        ];
        assert_eq!(sentences(&legal), [""; 0]);
    }

    #[test]
    fn an_event_that_was_dropped_on_the_way_shows_at_the_next_one() {
        let dropped = [ADD, (Call::Update, Cause::Live, Some(6), 7)];
        assert_eq!(
            sentences(&dropped),
            ["t/a was updated from version 6, but last seen at version 5"]
        );
    }

    #[test]
    fn a_version_goes_down_by_a_relist_only() {
        let back = |cause| [ADD, (Call::Update, cause, Some(5), 4)];
        assert_eq!(
            sentences(&back(Cause::Live)),
            ["t/a (uid u) went from version 5 down to version 4"]
        );
        assert_eq!(sentences(&back(Cause::Relist)), [""; 0]);
    }
}
