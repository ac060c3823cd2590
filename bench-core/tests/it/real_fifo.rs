//! `RealFifo` on literal sequences: the rows of client-go's `the_real_fifo_test.go` that are not of the atomic queue.

use std::{num::NonZeroUsize, sync::Arc};

use bench_core::{
    api::{KubeObject as _, Object, ObjectKey, ResourceVersion},
    cache::{
        AddOrigin, Delta, DeltaObject, DeltaType, EventQueue as _, KnownObjects,
        LockWhileProcessing, PopUnit, PoppedItem, QueueError, QueueKind, RealFifo,
        RealFifoSettings, Tombstone, Transformer,
    },
};

use crate::{
    delta_fifo::{expect_pops, pops, render, render_item, run},
    scripted::{nameless, object},
};

/// Known objects in the order given; a version of 0 cannot be looked up, of 1 is not there any more.
pub(crate) struct Known(pub(crate) Vec<(&'static str, u64)>);

impl KnownObjects<Object> for Known {
    fn list_keys(&self) -> Vec<ObjectKey> {
        let keys = self.0.iter().map(|(name, _)| ObjectKey::new("t", name));
        keys.collect()
    }

    fn get_by_key(&self, key: &ObjectKey) -> Result<Option<Arc<Object>>, String> {
        match self.0.iter().find(|(name, _)| *name == key.name()) {
            Some((_, 0)) => Err("a broken cache".to_owned()),
            Some((_, 1)) | None => Ok(None),
            Some((name, version)) => Ok(Some(object(name, *version))),
        }
    }
}

fn fifo_with(
    known: &[(&'static str, u64)],
    unit: PopUnit,
    transformer: Option<Transformer<Object>>,
) -> RealFifo<Object> {
    RealFifo::new(RealFifoSettings {
        known_objects: Arc::new(Known(known.to_vec())),
        unit,
        transformer,
    })
}

fn fifo(known: &[(&'static str, u64)]) -> RealFifo<Object> {
    fifo_with(known, PopUnit::Event, None)
}

fn batched(known: &[(&'static str, u64)], most: usize) -> RealFifo<Object> {
    fifo_with(known, PopUnit::Batch(most_of(most)), None)
}

fn most_of(most: usize) -> NonZeroUsize {
    NonZeroUsize::new(most).expect("at least one")
}

fn pending(fifo: &RealFifo<Object>) -> Vec<String> {
    fifo.pending().map(render).collect()
}

const KNOWN: [(&str, u64); 3] = [("foo", 5), ("bar", 6), ("baz", 7)];

/// `TestRealFIFO_replaceWithDeleteDeltaIn`.
#[test]
fn a_replace_after_a_deletion_is_not_suppressed() {
    expect_pops(
        &mut fifo(&[("foo", 5)]),
        "-foo:5 =foo:2",
        &["D foo:5", "R foo:2"],
    );
}

/// `TestRealFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue`.
#[test]
fn a_replace_makes_deletions_for_objects_that_are_only_in_the_queue() {
    let expect = |script, expected: &[&str]| expect_pops(&mut fifo(&[]), script, expected);
    expect("+foo:2 =", &["A foo:2", "D †foo:2"]);
    expect("+foo:2 -foo:2 =", &["A foo:2", "D foo:2"]);
    expect(
        "+foo:2 =foo:2 =foo:2 =",
        &["A foo:2", "R foo:2", "R foo:2", "D †foo:2"],
    );
    expect("+foo:2 = =", &["A foo:2", "D †foo:2"]);
    expect(
        "+foo:2 -foo:2 +foo:3 =",
        &["A foo:2", "D foo:2", "A foo:3", "D †foo:3"],
    );
    expect("*123 = =", &[]);
}

/// `TestRealFIFO_addUpdate` and `TestRealFIFO_addReplace`.
#[test]
fn every_change_is_an_event_of_its_own() {
    let mut queue = fifo(&[]);
    run(&mut queue, "+foo:10 ~foo:12 -foo:15");
    assert_eq!(pending(&queue), ["A foo:10", "U foo:12", "D foo:15"]);
    assert_eq!((queue.len(), queue.delta_count()), (3, 3));
    assert_eq!(pops(&mut queue), ["A foo:10", "U foo:12", "D foo:15"]);
    assert!(queue.is_empty());
    expect_pops(&mut queue, "+foo:10 =foo:15", &["A foo:10", "R foo:15"]);
}

/// `TestRealFIFO_enqueueingNoLister` and `TestRealFIFO_enqueueingWithLister`.
#[test]
fn a_deletion_is_queued_whether_or_not_anybody_knows_the_object() {
    expect_pops(
        &mut fifo(&[]),
        "+foo:10 ~bar:15 +qux:17 -qux:18 -baz:20 -baz:21",
        &[
            "A foo:10", "U bar:15", "A qux:17", "D qux:18", "D baz:20", "D baz:21",
        ],
    );
    expect_pops(
        &mut fifo(&KNOWN),
        "+foo:10 ~bar:15 -baz:20",
        &["A foo:10", "U bar:15", "D baz:20"],
    );
}

/// `TestRealFIFO_ResyncNonExisting`, `TestRealFIFO_Resync` and `TestRealFIFO_UpdateResyncRace`.
#[test]
fn a_resync_skips_keys_with_pending_events_and_syncs_the_others() {
    expect_pops(&mut fifo(&[("foo", 5)]), "resync", &["S foo:5"]);
    expect_pops(&mut fifo(&[("foo", 5)]), "-foo:10 resync", &["D foo:10"]);
    expect_pops(&mut fifo(&[("foo", 5)]), "~foo:6 resync", &["U foo:6"]);
    let mut queue = fifo(&[("foo", 5), ("bar", 6), ("gone", 1), ("broken", 0)]);
    run(&mut queue, "~foo:6 -foo:7");
    let outcome = queue.resync().unwrap();
    assert_eq!(
        (
            outcome.known,
            outcome.enqueued,
            outcome.missing,
            outcome.markers
        ),
        (4, 1, 2, 0)
    );
    assert_eq!(
        outcome.skipped_pending.into_iter().collect::<Vec<_>>(),
        [(DeltaType::Updated, 1)],
        "by the first of its events"
    );
    let again = queue.resync().unwrap();
    assert_eq!((again.enqueued, again.skipped()), (0, 2));
}

/// `TestRealFIFO_DeleteExistingNonPropagated`.
#[test]
fn a_deletion_does_not_join_the_addition_before_it() {
    expect_pops(&mut fifo(&[]), "+foo:5 -foo:6", &["A foo:5", "D foo:6"]);
}

/// `TestRealFIFO_ReplaceMakesDeletions` and `TestRealFIFO_ReplaceMakesDeletionsReplaced`.
#[test]
fn a_replace_queues_its_deletions_before_its_items() {
    let expect = |script, expected: &[&str]| expect_pops(&mut fifo(&KNOWN), script, expected);
    expect("-baz:10 =foo:5", &["D baz:10", "D †bar:6", "R foo:5"]);
    expect(
        "+baz:10 =foo:5",
        &["A baz:10", "D †baz:10", "D †bar:6", "R foo:5"],
    );
    expect(
        "-bar:6 +bar:100 =foo:5",
        &["D bar:6", "A bar:100", "D †bar:100", "D †baz:7", "R foo:5"],
    );
    expect(
        "=bar:100,foo:5 =foo:5",
        &["D †baz:7", "R bar:100", "R foo:5", "D †bar:100", "R foo:5"],
    );
    expect("-baz:10 =foo:6", &["D baz:10", "D †bar:6", "R foo:6"]);
    expect_pops(
        &mut fifo(&[]),
        "+baz:10 =foo:5",
        &["A baz:10", "D †baz:10", "R foo:5"],
    );
    expect_pops(
        &mut fifo(&[("gone", 1), ("broken", 0)]),
        "=foo:5",
        &["D †gone:nil", "D †broken:nil", "R foo:5"],
    );
}

/// `TestRealFIFO_HasSyncedCorrectOnDeletion`. The count goes down before the event is processed, under the lock.
#[test]
fn the_queue_has_synced_when_the_first_list_and_its_deletions_have_been_popped() {
    let mut queue = fifo(&KNOWN);
    run(&mut queue, "=foo:5");
    for expected in ["D †bar:6", "D †baz:7", "R foo:5"] {
        assert!(!queue.has_synced());
        let popped = queue.pop().unwrap();
        assert_eq!(render_item(&popped.item), expected);
        assert_eq!(popped.origin, AddOrigin::InitialList);
        assert_eq!(popped.lock, LockWhileProcessing::Hold);
    }
    assert!(queue.has_synced(), "before the last was processed");
    run(&mut queue, "+foo:6");
    assert_eq!(queue.pop().unwrap().origin, AddOrigin::Live);
}

/// `TestRealFIFO_HasSynced`.
#[test]
fn has_synced_needs_a_first_write_and_counts_every_event_of_the_first_list() {
    let after = |script: &str, pops: usize| {
        let mut queue = fifo(&[]);
        run(&mut queue, script);
        for _ in 0..pops {
            queue.pop();
        }
        queue.has_synced()
    };
    assert!(!after("", 0));
    assert!(!after("resync", 0));
    assert!(after("+a:1", 0));
    assert!(after("-a:1", 0));
    assert!(after("=", 0));
    assert!(!after("=a:1,b:2", 0));
    assert!(!after("=a:1,b:2", 1));
    assert!(after("=a:1,b:2", 2));
    assert!(!after("=a:1,a:2", 1));
    assert!(after("=a:1,a:2", 2));
}

/// `TestRealFIFO_detectLineJumpers`.
#[test]
fn no_event_jumps_the_line() {
    let mut queue = fifo(&[]);
    run(&mut queue, "+foo:10 +bar:1 +foo:11 +foo:13 +zab:30");
    assert_eq!(render_item(&queue.pop().unwrap().item), "A foo:10");
    expect_pops(
        &mut queue,
        "+foo:14",
        &["A bar:1", "A foo:11", "A foo:13", "A zab:30", "A foo:14"],
    );
}

/// `TestRealFIFO_KeyOf`; upstream's method is not public, the key of a delta's object is what it computes.
#[test]
fn the_key_of_a_tombstone_is_its_own() {
    let tombstone: Delta<Object> = Delta::tombstone(ObjectKey::new("t", "b"), None);
    assert_eq!(tombstone.object.key().unwrap().name(), "b");
    let of_object = Delta::new(DeltaType::Added, object("a", 1));
    assert_eq!(of_object.object.key().unwrap().name(), "a");
}

/// `TestRealFIFO_transformer`: each object once, no tombstone, no resynced object.
#[test]
fn a_transformer_sees_each_object_once_and_neither_tombstones_nor_resynced_objects() {
    let thousand_more = |seen: Arc<Object>| {
        let key = seen.key().expect("named");
        let version = seen.resource_version().number().expect("a number");
        assert!(version < 1_000, "{key} was transformed before");
        Ok(object(key.name(), version + 1_000))
    };
    let mut queue = fifo_with(
        &[("known", 9)],
        PopUnit::Event,
        Some(Box::new(thousand_more)),
    );
    run(&mut queue, "+foo:10 +bar:11 ~foo:12 -foo:15 = +bar:16 =");
    let unseen = Tombstone {
        key: ObjectKey::new("t", "qux"),
        object: Some(object("qux", 3)),
    };
    queue
        .delete(DeltaObject::FinalStateUnknown(Box::new(unseen)))
        .unwrap();
    assert_eq!(
        pending(&queue),
        [
            "A foo:1010",
            "A bar:1011",
            "U foo:1012",
            "D foo:1015",
            "D †bar:1011",
            "D †known:9",
            "A bar:1016",
            "D †bar:1016",
            "D †qux:3",
        ]
    );
    let mut queue = fifo_with(
        &[("known", 9)],
        PopUnit::Event,
        Some(Box::new(thousand_more)),
    );
    run(&mut queue, "resync =known:10");
    assert_eq!(pending(&queue), ["S known:9", "R known:1010"]);
}

#[test]
fn a_transformer_that_fails_inside_a_list_leaves_the_deletions_and_the_items_before_it() {
    let refuses_b = |object: Arc<Object>| match object.key().expect("named").name() {
        "b" => Err("no b".to_owned()),
        _ => Ok(object),
    };
    let mut queue = fifo_with(&[("old", 4)], PopUnit::Event, Some(Box::new(refuses_b)));
    let list = ["a", "b", "c"].map(|name| object(name, 3)).to_vec();
    let error = queue.replace(list, &ResourceVersion::from(3)).unwrap_err();
    assert_eq!(error, QueueError::Transform("no b".to_owned()));
    assert_eq!(pending(&queue), ["D †old:4", "R a:3"]);
    assert!(!queue.has_synced(), "the list did not count");
    assert!(queue.add(object("b", 4)).is_err());
    assert!(queue.has_synced(), "a refused write counts, as upstream");
    assert_eq!(queue.len(), 2);
}

#[test]
fn an_object_without_a_key_is_refused_and_a_list_with_one_changes_nothing() {
    let mut queue = fifo(&[("old", 4)]);
    let list = vec![object("a", 3), nameless(4)];
    let error = queue.replace(list, &ResourceVersion::from(3)).unwrap_err();
    assert!(matches!(error, QueueError::Key(_)));
    assert!(queue.is_empty() && !queue.has_synced());
    assert!(queue.update(nameless(5)).is_err());
    assert!(queue.is_empty() && queue.has_synced());
}

/// `TestRealFIFO_PopMultipleDeltaInBatch`.
#[test]
fn a_batch_ends_at_its_size_where_the_first_list_ends_and_before_a_key_comes_again() {
    const UNLIMITED: usize = 999_999;
    let expect = |script: &str, most, expected: &[&str]| {
        let mut queue = batched(&[], most);
        expect_pops(&mut queue, script, expected);
    };
    expect("=a:5,b:5,c:5", UNLIMITED, &["R a:5, R b:5, R c:5"]);
    expect("=a:5,b:5 ~c:5 ~d:5", 2, &["R a:5, R b:5", "U c:5, U d:5"]);
    expect("=a:5 ~a:5 ~a:5", UNLIMITED, &["R a:5", "U a:5", "U a:5"]);
    expect(
        "=a:5,b:5 ~b:5 ~c:5",
        UNLIMITED,
        &["R a:5, R b:5", "U b:5, U c:5"],
    );
    expect(
        "=a:5,b:5,c:5 ~b:5",
        UNLIMITED,
        &["R a:5, R b:5, R c:5", "U b:5"],
    );
    expect("=a:5,b:5,c:5", 2, &["R a:5, R b:5", "R c:5"]);
    expect("= ~a:5 ~b:5 ~c:5", 2, &["U a:5, U b:5", "U c:5"]);
    expect("=a:5,b:5,c:5 ~d:5", 2, &["R a:5, R b:5", "R c:5", "U d:5"]);
    let mut queue = batched(&[], 2);
    run(&mut queue, "=a:5,b:5,c:5 ~d:5");
    let origins = std::iter::from_fn(|| queue.pop()).map(|popped| popped.origin);
    assert_eq!(
        origins.collect::<Vec<_>>(),
        [
            AddOrigin::InitialList,
            AddOrigin::InitialList,
            AddOrigin::Live
        ]
    );
}

/// `TestRealFIFO_PopBrokenItemsInBatch`: a key can be lost only in the transformer.
#[test]
fn an_event_without_a_key_ends_the_batch_that_it_is_in() {
    let breaks_x = |seen: Arc<Object>| {
        let broken = seen.key().expect("named").name().starts_with('x');
        let version = seen.resource_version().number().expect("a number");
        Ok(if broken { nameless(version) } else { seen })
    };
    for (script, expected) in [
        ("+x3:3", &[&[3][..]][..]),
        ("+a:1 +b:2 +x3:3", &[&[1, 2, 3]]),
        ("+a:1 +b:2 +x3:3 +x4:4", &[&[1, 2, 3], &[4]]),
        ("+x3:3 +a:1 +x4:4", &[&[3], &[1, 4]]),
    ] {
        let unit = PopUnit::Batch(most_of(1_000));
        let mut queue = fifo_with(&[], unit, Some(Box::new(breaks_x)));
        run(&mut queue, script);
        assert!(
            queue.resync().is_err(),
            "which events are pending is unknown"
        );
        assert!(
            queue
                .replace(Vec::new(), &ResourceVersion::from(1))
                .is_err()
        );
        let mut batches = Vec::new();
        while let Some(popped) = queue.pop() {
            let versions = popped.item.deltas().iter().map(|delta| {
                let object = delta.object.last_known().expect("no tombstone");
                object.resource_version().number().expect("a number")
            });
            batches.push(versions.collect::<Vec<_>>());
        }
        assert_eq!(batches, expected, "after {script}");
    }
}

#[test]
fn a_queue_of_0_35_pops_a_batch_even_of_one_and_one_of_0_34_never_does() {
    for (mut queue, kind) in [
        (fifo(&[]), QueueKind::RealFifoPerEvent),
        (batched(&[], 1_000), QueueKind::RealFifo),
    ] {
        assert_eq!(queue.kind(), kind);
        run(&mut queue, "+a:1 +b:2");
        let first = queue.pop().unwrap().item;
        match kind {
            QueueKind::RealFifo => {
                assert!(matches!(first, PoppedItem::Batch(deltas) if deltas.len() == 2));
            }
            _ => assert!(matches!(first, PoppedItem::Deltas(deltas) if deltas.len() == 1)),
        }
        run(&mut queue, "+c:3");
        pops(&mut queue);
        run(&mut queue, "+d:4");
        let batch = matches!(queue.pop().unwrap().item, PoppedItem::Batch(_));
        assert_eq!(batch, kind == QueueKind::RealFifo);
        assert!(queue.pop().is_none());
    }
    let mut queue = batched(&[], 1_000);
    run(&mut queue, "=a:1,b:2 +c:3");
    let first = queue.pop_event().unwrap();
    assert_eq!(render_item(&first.item), "R a:1", "0.35 still has Pop");
    assert_eq!(pops(&mut queue), ["R b:2", "A c:3"]);
}
