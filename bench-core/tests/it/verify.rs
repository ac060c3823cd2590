//! Streams, states and balances that are legal, and each way in which they are not.

use std::collections::BTreeMap;

use bench_core::{
    api::{ContentHash, ObjectKey, ResourceVersion},
    cache::AddOrigin,
    measure::record::{Accounting, ResyncTick},
    verify::{
        Convergence, EventStreamChecker, Notification, ObjectState, SyncBalance, Violation,
        check_accounting, check_resync, check_sync, compare_states,
    },
};

fn added(key: u32, uid: &str, version: u64) -> Notification<u32> {
    Notification::Added {
        key,
        uid: Box::from(uid),
        version: ResourceVersion::from(version),
        origin: AddOrigin::Live,
    }
}

fn updated(key: u32, uid: &str, old_version: u64, version: u64) -> Notification<u32> {
    Notification::Updated {
        key,
        uid: Box::from(uid),
        old_version: ResourceVersion::from(old_version),
        version: ResourceVersion::from(version),
    }
}

fn deleted(key: u32, version: u64) -> Notification<u32> {
    Notification::Deleted {
        key,
        version: ResourceVersion::from(version),
    }
}

fn tombstone(key: u32, version: u64) -> Notification<u32> {
    Notification::DeletedFinalStateUnknown {
        key,
        version: ResourceVersion::from(version),
    }
}

fn sentences(violations: &[Violation]) -> Vec<String> {
    violations.iter().map(ToString::to_string).collect()
}

fn faults(notifications: impl IntoIterator<Item = Notification<u32>>) -> Vec<String> {
    let mut checker = EventStreamChecker::new();
    for notification in notifications {
        checker.notify(notification);
    }
    sentences(&checker.violations())
}

fn legal_stream() -> Vec<Notification<u32>> {
    vec![
        added(1, "a", 10),
        added(2, "b", 11),
        updated(1, "a", 10, 12),
        updated(1, "a", 12, 12),
        updated(2, "b", 11, 13),
        deleted(1, 14),
        added(1, "c", 15),
        updated(1, "c", 15, 16),
        tombstone(2, 11),
        added(2, "d", 17),
        updated(2, "e", 17, 18),
        deleted(2, 19),
    ]
}

#[test]
fn a_legal_stream_has_no_violation_and_is_counted() {
    let mut checker = EventStreamChecker::new();
    checker.notify(Notification::Added {
        key: 9,
        uid: Box::from("z"),
        version: ResourceVersion::from(1),
        origin: AddOrigin::InitialList,
    });
    for notification in legal_stream() {
        checker.notify(notification);
    }
    assert_eq!(checker.violations(), []);
    let counts = checker.counts();
    assert_eq!((counts.added_initially, counts.added_live), (1, 4));
    assert_eq!((counts.updated, counts.repeated), (4, 1));
    assert_eq!((counts.deleted, counts.deleted_final_state_unknown), (2, 1));
    let mut present: Vec<_> = checker.present().map(|(key, _)| *key).collect();
    present.sort_unstable();
    assert_eq!(present, [1, 9]);
}

#[test]
fn a_dropped_notification_shows_unless_it_is_a_resync_or_the_last_of_its_key() {
    let stream = legal_stream();
    for dropped in 0..stream.len() {
        let rest = stream
            .iter()
            .enumerate()
            .filter(|(place, _)| *place != dropped);
        let found = faults(rest.map(|(_, notification)| notification.clone()));
        // 3 is a resync; 7 and 11 end their keys; 4 is followed by a tombstone and 10 by a deletion, which name no old version.
        let invisible = [3, 4, 7, 10, 11].contains(&dropped);
        assert_eq!(found.is_empty(), invisible, "without {dropped}: {found:?}");
    }
}

#[test]
fn the_end_of_a_stream_that_a_drop_leaves_open_is_found_by_comparing_states() {
    let state = |version: u64| ObjectState {
        uid: Box::from("c"),
        resource_version: ResourceVersion::from(version),
        content_hash: ContentHash(version),
    };
    let key = ObjectKey::new("default", "one");
    let server = BTreeMap::from([(key.clone(), state(16))]);
    let cache = BTreeMap::from([(key, state(15))]);
    assert_eq!(
        sentences(&compare_states(&server, &cache)),
        ["default/one is at version 16 on the server and at version 15 in the cache"]
    );
}

#[test]
fn each_illegal_order_is_a_sentence_with_key_and_both_values() {
    assert_eq!(
        faults([added(1, "a", 10), added(1, "a", 11)]),
        ["1 was added at version 11 while present at version 10"]
    );
    assert_eq!(
        faults([updated(1, "a", 10, 11)]),
        ["1 was updated to version 11 while absent"]
    );
    assert_eq!(
        faults([deleted(1, 11)]),
        ["1 was deleted at version 11 while absent"]
    );
    assert_eq!(faults([tombstone(1, 11)]).len(), 1);
    assert_eq!(
        faults([added(1, "a", 10), updated(1, "a", 11, 12)]),
        ["1 was updated from version 11, but last seen at version 10"]
    );
    assert_eq!(
        faults([added(1, "a", 10), updated(1, "a", 10, 9)]),
        ["1 (uid a) went from version 10 down to version 9"]
    );
    assert_eq!(
        faults([added(1, "a", 10), deleted(1, 9)]),
        ["1 (uid a) went from version 10 down to version 9"]
    );
}

#[test]
fn after_a_deletion_only_an_add_is_legal_and_the_dead_object_does_not_come_back_older() {
    let start = || [added(1, "a", 10), deleted(1, 12)].into_iter();
    assert_eq!(faults(start().chain([updated(1, "a", 12, 13)])).len(), 1);
    assert_eq!(faults(start().chain([deleted(1, 13)])).len(), 1);
    assert_eq!(faults(start().chain([tombstone(1, 13)])).len(), 1);
    assert_eq!(
        faults(start().chain([added(1, "a", 11)])),
        ["1 (uid a) went from version 12 down to version 11"]
    );
    assert!(faults(start().chain([added(1, "b", 13)])).is_empty());
}

#[test]
fn a_version_may_go_down_once_for_each_key_after_a_relist() {
    let mut checker = EventStreamChecker::new();
    checker.notify(added(1, "a", 10));
    checker.relisted();
    checker.notify(updated(1, "a", 10, 8));
    assert_eq!(checker.violations(), []);
    checker.notify(updated(1, "a", 8, 7));
    assert_eq!(
        sentences(&checker.violations()),
        ["1 (uid a) went from version 8 down to version 7"]
    );
}

#[test]
fn versions_that_are_no_numbers_have_no_order() {
    let version = |text| ResourceVersion::from(text);
    let mut checker = EventStreamChecker::new();
    checker.notify(Notification::Added {
        key: 1,
        uid: Box::from("a"),
        version: version("z"),
        origin: AddOrigin::Live,
    });
    checker.notify(Notification::Updated {
        key: 1,
        uid: Box::from("a"),
        old_version: version("z"),
        version: version("a"),
    });
    assert_eq!(checker.violations(), []);
}

#[test]
fn a_long_list_of_violations_is_capped_with_a_count() {
    let found = faults((0..1000).map(|key| deleted(key, 1)));
    assert_eq!(found.len(), 21);
    assert_eq!(found[20], "and 980 more violations");
}

#[test]
fn states_differ_by_presence_uid_version_and_content() {
    let state = |uid: &str, version: u64, hash| ObjectState {
        uid: Box::from(uid),
        resource_version: ResourceVersion::from(version),
        content_hash: ContentHash(hash),
    };
    let states = |entries: &[(&str, ObjectState)]| -> BTreeMap<_, _> {
        let key = |name| ObjectKey::new("ns", name);
        entries
            .iter()
            .map(|(name, state)| (key(name), state.clone()))
            .collect()
    };
    let server = states(&[
        ("a", state("u", 1, 1)),
        ("b", state("u", 1, 1)),
        ("c", state("u", 2, 1)),
        ("d", state("u", 1, 1)),
        ("e", state("u", 1, 1)),
    ]);
    let cache = states(&[
        ("a", state("u", 1, 1)),
        ("aa", state("u", 3, 1)),
        ("b", state("v", 1, 1)),
        ("c", state("u", 1, 1)),
        ("d", state("u", 1, 2)),
    ]);
    assert_eq!(compare_states(&server, &server), []);
    assert_eq!(
        sentences(&compare_states(&server, &cache)),
        [
            "ns/aa is in the cache at version 3, but not on the server",
            "ns/b has uid u on the server and uid v in the cache",
            "ns/c is at version 2 on the server and at version 1 in the cache",
            "ns/d has content hash 0000000000000001 on the server and 0000000000000002 in the cache, both at version 1",
            "ns/e is missing from the cache; the server has it at version 1",
        ]
    );
}

#[test]
fn accounting_balances_to_the_unit_and_nothing_is_pending_once_converged() {
    let balanced = Accounting {
        sent: 10,
        delivered: 4,
        superseded: 3,
        lost_on_purpose: 2,
        pending: 1,
    };
    assert_eq!(check_accounting(&balanced, Convergence::UnderWay), []);
    assert_eq!(
        sentences(&check_accounting(&balanced, Convergence::Converged)),
        ["1 commits pending after convergence"]
    );
    // One event dropped inside the harness.
    let dropped = Accounting {
        delivered: 3,
        ..balanced
    };
    assert_eq!(
        sentences(&check_accounting(&dropped, Convergence::UnderWay)),
        ["sent is 10, but delivered + superseded + lost_on_purpose + pending is 9"]
    );
}

#[test]
fn a_resync_accounts_for_every_known_key_and_every_sync_is_delivered() {
    let tick = ResyncTick {
        at_ns: 0,
        known: 10,
        enqueued: 5,
        skipped_pending: BTreeMap::from([("Updated".to_owned(), 2), ("Sync".to_owned(), 2)]),
        missing: 1,
        lock_wait_ns: 0,
        lock_hold_ns: 0,
        drain_ns: None,
    };
    assert_eq!(check_resync(&tick), []);
    let short = ResyncTick { missing: 0, ..tick };
    assert_eq!(
        sentences(&check_resync(&short)),
        ["known is 10, but enqueued + skipped_pending + missing is 9"]
    );
    let sync = SyncBalance {
        enqueued: 5,
        delivered: 4,
        pending: 1,
    };
    assert_eq!(check_sync(&sync, Convergence::UnderWay), []);
    assert_eq!(check_sync(&sync, Convergence::Converged).len(), 1);
    let lost = SyncBalance { pending: 0, ..sync };
    assert_eq!(
        sentences(&check_sync(&lost, Convergence::Converged)),
        ["sync enqueued is 5, but sync delivered + pending is 4"]
    );
}
