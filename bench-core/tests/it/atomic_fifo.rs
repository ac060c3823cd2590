//! `AtomicFifo` on literal sequences: the rows of client-go's `the_real_fifo_test.go` that are of the atomic queue.

use std::{num::NonZeroUsize, sync::Arc};

use bench_core::{
    api::{KubeObject as _, Object, ResourceVersion},
    cache::{
        AddOrigin, AtomicFifo, AtomicFifoSettings, EventQueue as _, LockWhileProcessing,
        PoppedItem, QueueError, Transformer,
    },
};

use crate::{
    delta_fifo::{expect_pops, pops, render_item, run},
    scripted::{nameless, object},
};

fn fifo_with(most: usize, transformer: Option<Transformer<Object>>) -> AtomicFifo<Object> {
    AtomicFifo::new(AtomicFifoSettings {
        batch_size: NonZeroUsize::new(most).expect("at least one"),
        transformer,
    })
}

fn fifo() -> AtomicFifo<Object> {
    AtomicFifo::for_informer()
}

/// `TestRealFIFO_ReplaceAtomic`.
#[test]
fn a_list_is_one_entry_and_finds_no_deletions() {
    let expect = |script, expected: &[&str]| expect_pops(&mut fifo(), script, expected);
    expect("=@123", &["RA@123 "]);
    expect("+foo:2 =@123", &["A foo:2", "RA@123 "]);
    expect(
        "+foo:2 =foo:2@10 =foo:2@20 =@56",
        &["A foo:2", "RA@10 foo:2", "RA@20 foo:2", "RA@56 "],
    );
    expect("*123 =@1234", &["B@123", "RA@1234 "]);
}

/// `TestRealFIFO_ReplaceAtomicPop`.
#[test]
fn a_list_is_popped_with_its_version_and_its_objects() {
    expect_pops(
        &mut fifo(),
        "+foo:10 =foo:15@20",
        &["A foo:10", "RA@20 foo:15"],
    );
}

/// `TestRealFIFO_ResyncAtomic`; and two of them are two.
#[test]
fn a_resync_is_one_entry_that_skips_nothing_and_is_not_merged() {
    expect_pops(&mut fifo(), "resync", &["SA"]);
    expect_pops(&mut fifo(), "+foo:10 resync", &["A foo:10", "SA"]);
    expect_pops(&mut fifo(), "resync resync", &["SA", "SA"]);
    let outcome = fifo().resync().unwrap();
    assert_eq!(outcome.markers, 1);
    assert_eq!(
        (outcome.known, outcome.enqueued, outcome.skipped()),
        (0, 0, 0)
    );
}

#[test]
fn lists_resyncs_and_bookmarks_end_a_batch_and_are_popped_alone() {
    expect_pops(
        &mut fifo(),
        "+a:1 ~b:2 *3 *4 +a:5 +b:6 resync -c:7 =a:8@9 ~a:10 ~a:11",
        &[
            "A a:1, U b:2",
            "B@3",
            "B@4",
            "A a:5, A b:6",
            "SA",
            "D c:7",
            "RA@9 a:8",
            "U a:10",
            "U a:11",
        ],
    );
    let mut queue = fifo();
    run(&mut queue, "+a:1");
    let one = queue.pop().unwrap().item;
    assert!(matches!(one, PoppedItem::Deltas(_)), "one is no batch");
}

#[test]
fn one_entry_can_be_popped_at_a_time_whatever_could_be_a_batch() {
    let mut queue = fifo();
    run(&mut queue, "+a:1 ~b:2 resync");
    for expected in ["A a:1", "U b:2", "SA"] {
        assert_eq!(render_item(&queue.pop_entry().unwrap().item), expected);
        queue.processed();
    }
    assert!(queue.pop_entry().is_none());
}

#[test]
fn the_first_list_counts_once_it_was_processed_and_an_empty_one_too() {
    for script in ["=@1", "=a:1,b:2,b:3@4"] {
        let mut queue = fifo();
        run(&mut queue, script);
        assert!(!queue.has_synced(), "{script}");
        let popped = queue.pop().unwrap();
        assert_eq!(popped.origin, AddOrigin::InitialList);
        assert!(!queue.has_synced(), "{script} is being processed");
        queue.processed();
        assert!(queue.has_synced(), "{script}");
    }
    let mut queue = fifo();
    run(&mut queue, "resync *1");
    assert!(
        !queue.has_synced(),
        "neither a resync nor a bookmark is a write"
    );
    run(&mut queue, "+a:1");
    assert!(queue.has_synced(), "an event before any list");
    run(&mut queue, "=a:1@2");
    assert!(queue.has_synced(), "and for good");
}

/// The count is of entries and not of the list: a bookmark that is being processed when the first list comes counts for it.
#[test]
fn what_is_processed_while_the_first_list_comes_counts_for_it() {
    let mut queue = fifo();
    run(&mut queue, "*1");
    assert_eq!(queue.pop().unwrap().lock, LockWhileProcessing::Release);
    run(&mut queue, "=a:1@2");
    assert!(!queue.has_synced());
    queue.processed();
    assert!(queue.has_synced(), "although the list is still pending");
    assert_eq!(queue.pop().unwrap().origin, AddOrigin::Live);
    queue.processed();
    let mut queue = fifo();
    run(&mut queue, "*1 *2 =a:1@2 ~b:1");
    for (expected, synced) in [("B@1", false), ("B@2", false), ("RA@2 a:1", true)] {
        let popped = queue.pop().unwrap();
        assert_eq!(render_item(&popped.item), expected);
        assert_eq!(popped.origin, AddOrigin::InitialList);
        queue.processed();
        assert_eq!(queue.has_synced(), synced);
    }
}

#[test]
fn the_lock_is_released_unless_two_batches_or_more_are_left() {
    let mut queue = fifo_with(2, None);
    run(&mut queue, "+a:1 +b:2 +c:3 +d:4 +e:5 +f:6");
    let popped = queue.pop().unwrap();
    assert_eq!(render_item(&popped.item), "A a:1, A b:2");
    assert_eq!(popped.lock, LockWhileProcessing::Hold, "four are left");
    queue.processed();
    run(&mut queue, "+g:7");
    assert_eq!(queue.pop_entry().unwrap().lock, LockWhileProcessing::Hold);
    queue.processed();
    assert_eq!(
        queue.pop_entry().unwrap().lock,
        LockWhileProcessing::Release,
        "three are left"
    );
}

#[test]
fn the_threshold_of_an_informers_queue_is_2000() {
    let mut queue = fifo();
    for number in 0..2_002_u64 {
        queue.add(object(&number.to_string(), number)).unwrap();
    }
    let mut lock = || {
        let popped = queue.pop_entry().unwrap();
        queue.processed();
        (queue.len(), popped.lock)
    };
    assert_eq!(lock(), (2_001, LockWhileProcessing::Hold));
    assert_eq!(lock(), (2_000, LockWhileProcessing::Hold));
    assert_eq!(lock(), (1_999, LockWhileProcessing::Release));
    let batch = queue.pop().unwrap();
    assert_eq!(batch.item.deltas().len(), 1_000);
}

#[test]
fn a_transformer_that_fails_inside_a_list_leaves_nothing_of_it() {
    let refuses_b = |seen: Arc<Object>| match seen.key().expect("named").name() {
        "b" => Err("no b".to_owned()),
        name => Ok(object(name, 99)),
    };
    let mut queue = fifo_with(1_000, Some(Box::new(refuses_b)));
    let list = ["a", "b"].map(|name| object(name, 3)).to_vec();
    let error = queue.replace(list, &ResourceVersion::from(3)).unwrap_err();
    assert_eq!(error, QueueError::Transform("no b".to_owned()));
    assert!(queue.is_empty() && !queue.has_synced());
    run(&mut queue, "=a:3,c:4@5 +a:6");
    assert!(queue.update(object("b", 7)).is_err());
    assert_eq!(pops(&mut queue), ["RA@5 a:99,c:99", "A a:99"]);
}

#[test]
fn an_object_without_a_key_is_refused_alone_and_not_inside_a_list() {
    let mut queue = fifo();
    assert!(matches!(
        queue.add(nameless(1)).unwrap_err(),
        QueueError::Key(_)
    ));
    assert!(queue.has_synced() && queue.is_empty());
    queue
        .replace(vec![nameless(2)], &ResourceVersion::from(3))
        .unwrap();
    assert_eq!(queue.len(), 1, "found out when it is processed");
}
