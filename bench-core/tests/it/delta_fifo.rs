//! `DeltaFifo` on literal sequences: the rows of client-go's `delta_fifo_test.go` and public reports.

use std::{collections::BTreeMap, sync::Arc};

use bench_core::{
    api::{KubeObject as _, Object, ResourceVersion},
    cache::{
        AddOrigin, Delta, DeltaFifo, DeltaFifoSettings, DeltaObject, DeltaType, EmittedOnReplace,
        EventQueue, Indexer, KnownObjects, PoppedItem, QueueError,
    },
};

use crate::scripted::{object, text};

/// `A foo:1`, and `D †foo:1` or `D †foo:nil` for tombstones.
pub(crate) fn render(delta: &Delta<Object>) -> String {
    let letter = match delta.delta_type {
        DeltaType::Added => 'A',
        DeltaType::Updated => 'U',
        DeltaType::Deleted => 'D',
        DeltaType::Replaced => 'R',
        DeltaType::Sync => 'S',
    };
    let mark = if delta.object.is_final_state_unknown() {
        "†"
    } else {
        ""
    };
    let key = delta.object.key().expect("named");
    let value = delta.object.last_known().map_or_else(
        || "nil".to_owned(),
        |object| object.resource_version().to_string(),
    );
    format!("{letter} {mark}{}:{value}", key.name())
}

/// A queue whose consumer knows `known`.
fn fifo(known: &[(&str, u64)], emitted_on_replace: EmittedOnReplace) -> DeltaFifo<Object> {
    let indexer = Indexer::new(std::collections::HashMap::new());
    for (name, version) in known {
        indexer.add(&object(name, *version)).expect("named");
    }
    let known_objects: Option<Arc<dyn KnownObjects<Object>>> = Some(Arc::new(indexer));
    DeltaFifo::new(DeltaFifoSettings {
        known_objects,
        emitted_on_replace,
        transformer: None,
    })
}

fn unknowing() -> DeltaFifo<Object> {
    DeltaFifo::new(DeltaFifoSettings {
        known_objects: None,
        emitted_on_replace: EmittedOnReplace::Sync,
        transformer: None,
    })
}

/// `+foo:1` adds, `~foo:1` updates, `-foo:1` deletes, `=foo:1,bar:2` replaces (`=foo:1@20` with a version), `*20` is a
/// bookmark, `resync` resyncs.
#[track_caller]
pub(crate) fn run(queue: &mut impl EventQueue<Object>, script: &str) {
    for word in script.split_whitespace() {
        let parse = |text: &str| {
            let (name, version) = text.split_once(':').expect("name:version");
            object(name, version.parse().expect("a number"))
        };
        let outcome = match word.split_at(1) {
            ("+", rest) => queue.add(parse(rest)),
            ("~", rest) => queue.update(parse(rest)),
            ("-", rest) => queue.delete(DeltaObject::Object(parse(rest))),
            ("=", rest) => {
                let (list, version) = rest.split_once('@').unwrap_or((rest, "0"));
                let list = list
                    .split(',')
                    .filter(|item| !item.is_empty())
                    .map(parse)
                    .collect();
                queue.replace(list, &ResourceVersion::from(version))
            }
            ("*", version) => {
                queue.bookmark(&ResourceVersion::from(version));
                Ok(())
            }
            _ => queue.resync().map(|_| ()),
        };
        outcome.expect("every operation of the script is valid");
    }
}

/// A pop as its deltas, or `RA@20 foo:1`, `SA`, `B@20`.
pub(crate) fn render_item(item: &PoppedItem<Object>) -> String {
    match item {
        PoppedItem::Deltas(deltas) | PoppedItem::Batch(deltas) => {
            deltas.iter().map(render).collect::<Vec<_>>().join(", ")
        }
        PoppedItem::ReplacedAll(replaced) => {
            let objects = replaced
                .objects
                .iter()
                .map(|object| text(object).replace('@', ":"));
            let objects: Vec<_> = objects.collect();
            format!("RA@{} {}", replaced.resource_version, objects.join(","))
        }
        PoppedItem::SyncAll => "SA".to_owned(),
        PoppedItem::Bookmark(resource_version) => format!("B@{resource_version}"),
    }
}

pub(crate) fn pops(queue: &mut impl EventQueue<Object>) -> Vec<String> {
    let mut pops = Vec::new();
    while let Some(popped) = queue.pop() {
        pops.push(render_item(&popped.item));
        queue.processed();
    }
    pops
}

#[track_caller]
pub(crate) fn expect_pops(queue: &mut impl EventQueue<Object>, script: &str, expected: &[&str]) {
    run(queue, script);
    assert_eq!(pops(queue), expected, "after {script}");
}

#[test]
fn a_replace_after_a_deletion_is_not_suppressed() {
    expect_pops(
        &mut fifo(&[("foo", 1)], EmittedOnReplace::Sync),
        "-foo:1 =foo:2",
        &["D foo:1, S foo:2"],
    );
}

#[test]
fn a_replace_makes_deletions_for_objects_that_are_only_in_the_queue() {
    use EmittedOnReplace::{Replaced, Sync};
    for known in [Some(&[][..]), None] {
        let fresh = |emitted| known.map_or_else(unknowing, |known| fifo(known, emitted));
        expect_pops(&mut fresh(Sync), "+foo:2 =", &["A foo:2, D †foo:2"]);
        expect_pops(&mut fresh(Sync), "+foo:2 -foo:2 =", &["A foo:2, D foo:2"]);
        expect_pops(
            &mut fresh(Sync),
            "+foo:2 =foo:2 =foo:2 =",
            &["A foo:2, S foo:2, S foo:2, D †foo:2"],
        );
        expect_pops(&mut fresh(Sync), "+foo:2 = =", &["A foo:2, D †foo:2"]);
        expect_pops(
            &mut fresh(Sync),
            "+foo:2 -foo:2 +foo:3 =",
            &["A foo:2, D foo:2, A foo:3, D †foo:3"],
        );
    }
    expect_pops(
        &mut fifo(&[], Replaced),
        "+foo:2 =foo:2 =",
        &["A foo:2, R foo:2, D †foo:2"],
    );
}

#[test]
fn changes_of_one_key_come_in_one_pop_and_none_is_merged() {
    expect_pops(
        &mut unknowing(),
        "+foo:10 ~foo:12 -foo:15",
        &["A foo:10, U foo:12, D foo:15"],
    );
    expect_pops(&mut unknowing(), "+foo:10 =foo:15", &["A foo:10, S foo:15"]);
    expect_pops(
        &mut unknowing(),
        "~foo:1 ~foo:1 ~foo:1",
        &["U foo:1, U foo:1, U foo:1"],
    );
}

#[test]
fn a_deletion_of_an_unknown_key_is_dropped_and_still_counts_as_populated() {
    let mut fifo = unknowing();
    expect_pops(
        &mut fifo,
        "+foo:10 ~bar:15 +qux:17 -qux:18 -baz:20",
        &["A foo:10", "U bar:15", "A qux:17, D qux:18"],
    );
    let mut fifo = unknowing();
    assert!(!fifo.has_synced());
    run(&mut fifo, "-baz:20");
    assert!(fifo.is_empty() && fifo.has_synced());
}

#[test]
fn a_deletion_of_a_key_that_only_the_consumer_knows_is_queued() {
    let known = [("foo", 5), ("bar", 6), ("baz", 7)];
    expect_pops(
        &mut fifo(&known, EmittedOnReplace::Sync),
        "+foo:10 ~bar:15 -baz:20",
        &["A foo:10", "U bar:15", "D baz:20"],
    );
}

#[test]
fn a_resync_skips_keys_with_pending_deltas_and_syncs_the_others() {
    expect_pops(
        &mut fifo(&[("foo", 5)], EmittedOnReplace::Sync),
        "resync",
        &["S foo:5"],
    );
    expect_pops(
        &mut fifo(&[("foo", 5)], EmittedOnReplace::Sync),
        "~foo:6 resync",
        &["U foo:6"],
    );
    expect_pops(
        &mut fifo(&[("foo", 5)], EmittedOnReplace::Sync),
        "-foo:10 resync",
        &["D foo:10"],
    );
    let mut fifo = fifo(&[("foo", 5), ("bar", 6)], EmittedOnReplace::Sync);
    run(&mut fifo, "~foo:6");
    let outcome = fifo.resync().unwrap();
    assert_eq!(
        (outcome.known, outcome.enqueued, outcome.missing),
        (2, 1, 0)
    );
    assert_eq!(
        outcome.skipped_pending.into_iter().collect::<Vec<_>>(),
        [(DeltaType::Updated, 1)]
    );
    assert_eq!(
        unknowing().resync().unwrap().known,
        0,
        "without known objects a resync does nothing"
    );
}

#[test]
fn a_resync_counts_known_objects_that_are_gone_or_cannot_be_looked_up() {
    let known = crate::real_fifo::Known(vec![("gone", 1), ("broken", 0), ("a", 5)]);
    let mut fifo = DeltaFifo::new(DeltaFifoSettings {
        known_objects: Some(Arc::new(known)),
        emitted_on_replace: EmittedOnReplace::Replaced,
        transformer: None,
    });
    let outcome = fifo.resync().unwrap();
    assert_eq!(
        (outcome.known, outcome.enqueued, outcome.missing),
        (3, 1, 2)
    );
    assert_eq!(pops(&mut fifo), ["S a:5"]);
}

#[test]
fn a_resync_followed_by_a_deletion_ends_with_the_deletion() {
    expect_pops(
        &mut fifo(&[("foo", 5)], EmittedOnReplace::Sync),
        "resync -foo:6",
        &["S foo:5, D foo:6"],
    );
}

#[test]
fn a_deletion_does_not_join_the_additions_before_it() {
    expect_pops(
        &mut fifo(&[], EmittedOnReplace::Sync),
        "+foo:5 -foo:6",
        &["A foo:5, D foo:6"],
    );
}

#[test]
fn a_replace_makes_deletions_for_known_objects_that_are_not_listed() {
    use EmittedOnReplace::{Replaced, Sync};
    let expect = |known: &[(&str, u64)], emitted, script: &str, expected: &[&str]| {
        let mut fifo = fifo(known, emitted);
        run(&mut fifo, script);
        let mut pops = pops(&mut fifo);
        pops.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(pops, expected, "after {script}");
    };
    let known = [("foo", 5), ("bar", 6), ("baz", 7)];
    expect(
        &known,
        Sync,
        "-baz:10 =foo:5",
        &["D baz:10", "S foo:5", "D †bar:6"],
    );
    expect(
        &known,
        Sync,
        "+baz:10 =foo:5",
        &["A baz:10, D †baz:10", "S foo:5", "D †bar:6"],
    );
    expect(
        &known,
        Sync,
        "-bar:6 +bar:100 =foo:5",
        &["D bar:6, A bar:100, D †bar:100", "S foo:5", "D †baz:7"],
    );
    expect(
        &known,
        Sync,
        "=bar:100,foo:5 =foo:5",
        &["S bar:100, D †bar:100", "S foo:5, S foo:5", "D †baz:7"],
    );
    expect(
        &known,
        Replaced,
        "-baz:10 =foo:6",
        &["D baz:10", "R foo:6", "D †bar:6"],
    );
    expect(&[("foo", 5)], Replaced, "=foo:5", &["R foo:5"]);
    expect_pops(
        &mut unknowing(),
        "+baz:10 =foo:5",
        &["A baz:10, D †baz:10", "S foo:5"],
    );
}

#[test]
fn the_tombstone_of_a_queued_and_known_object_carries_the_queued_state() {
    expect_pops(
        &mut fifo(&[("a", 3)], EmittedOnReplace::Replaced),
        "~a:5 =",
        &["U a:5, D †a:5"],
    );
    expect_pops(
        &mut fifo(&[], EmittedOnReplace::Replaced),
        "+a:5 =",
        &["A a:5, D †a:5"],
    );
}

#[test]
fn the_queue_has_synced_when_the_first_list_and_its_deletions_have_been_popped() {
    let mut fifo = fifo(
        &[("foo", 5), ("bar", 6), ("baz", 7)],
        EmittedOnReplace::Sync,
    );
    run(&mut fifo, "=foo:5");
    for _ in 0..3 {
        assert!(!fifo.has_synced());
        assert_eq!(fifo.pop().unwrap().origin, AddOrigin::InitialList);
    }
    assert!(fifo.has_synced());
    run(&mut fifo, "+foo:6");
    assert_eq!(fifo.pop().unwrap().origin, AddOrigin::Live);
}

#[test]
fn has_synced_needs_a_first_write_and_counts_listed_keys_once() {
    let after = |script: &str, pops: usize| {
        let mut fifo = unknowing();
        run(&mut fifo, script);
        for _ in 0..pops {
            fifo.pop();
        }
        fifo.has_synced()
    };
    assert!(!after("", 0));
    assert!(after("+a:1", 0));
    assert!(after("=", 0));
    assert!(!after("=a:1,b:2", 0));
    assert!(!after("=a:1,b:2", 1));
    assert!(after("=a:1,b:2", 2));
    assert!(after("=a:1,a:2", 1));
}

#[test]
fn what_is_pending_is_listed_by_key_with_its_newest_object() {
    let mut fifo = unknowing();
    assert!(fifo.list().is_empty());
    run(&mut fifo, "+foo:10 +bar:1 ~foo:12 -foo:15");
    let newest: BTreeMap<_, _> = (fifo.list().iter())
        .map(|it| {
            let version = it.last_known().expect("known").resource_version().number();
            (it.key().expect("named").name().to_owned(), version)
        })
        .collect();
    let expected =
        [("foo", 15), ("bar", 1)].map(|(name, version)| (name.to_owned(), Some(version)));
    assert_eq!(newest, BTreeMap::from(expected));
}

#[test]
fn a_key_keeps_its_place_and_a_popped_one_goes_to_the_back() {
    let mut fifo = unknowing();
    run(&mut fifo, "+foo:10 +bar:1 +foo:11 +foo:13 +zab:30");
    assert_eq!(
        fifo.pop()
            .unwrap()
            .item
            .deltas()
            .last()
            .map(render)
            .as_deref(),
        Some("A foo:13")
    );
    expect_pops(&mut fifo, "+foo:14", &["A bar:1", "A zab:30", "A foo:14"]);
}

#[test]
fn requeued_deltas_go_to_the_back_unless_newer_ones_are_pending() {
    let mut fifo = unknowing();
    assert!(matches!(
        fifo.add_if_not_present(Vec::new()),
        Err(QueueError::Key(_))
    ));
    run(&mut fifo, "+b:3");
    let requeued_b = fifo.pop().unwrap().item.deltas().to_vec();
    run(&mut fifo, "+c:4");
    let requeued_c = fifo.pop().unwrap().item.deltas().to_vec();
    run(&mut fifo, "+a:1 +b:2");
    fifo.add_if_not_present(requeued_b).unwrap();
    fifo.add_if_not_present(requeued_c).unwrap();
    assert_eq!(pops(&mut fifo), ["A a:1", "A b:2", "A c:4"]);
}

#[test]
fn the_key_of_deltas_is_that_of_the_newest_object() {
    let tombstone = Delta::tombstone(object("b", 1).key().unwrap(), None);
    assert_eq!(
        DeltaFifo::key_of(&[Delta::new(DeltaType::Added, object("a", 1)), tombstone])
            .unwrap()
            .name(),
        "b"
    );
    assert!(DeltaFifo::<Object>::key_of(&[]).is_err());
}

#[test]
fn a_transformer_sees_every_object_and_its_failure_leaves_the_rest_of_a_list_out() {
    let transformer = |object: Arc<Object>| {
        if object.uid() == "u-bad" {
            Err("bad".to_owned())
        } else {
            Ok(crate::scripted::object("x", 9))
        }
    };
    let settings = DeltaFifoSettings {
        known_objects: None,
        emitted_on_replace: EmittedOnReplace::Replaced,
        transformer: Some(Box::new(transformer)),
    };
    let mut fifo = DeltaFifo::new(settings);
    let list = ["a", "bad", "c"].map(|name| object(name, 1)).to_vec();
    let error = fifo.replace(list, &ResourceVersion::from(1)).unwrap_err();
    assert_eq!(error, QueueError::Transform("bad".to_owned()));
    assert!(!fifo.has_synced(), "the list did not count");
    assert_eq!(pops(&mut fifo), ["R x:9"]);
}

/// `TestDeltaFIFO_transformer`.
#[test]
fn a_transformer_sees_each_object_once_and_leaves_tombstones_alone() {
    let transformer = |object: Arc<Object>| {
        let version = object.resource_version().number().expect("a number");
        let name = object.key().expect("named").name().to_owned();
        Ok(crate::scripted::object(&name, version + 100))
    };
    let settings = DeltaFifoSettings {
        known_objects: None,
        emitted_on_replace: EmittedOnReplace::Replaced,
        transformer: Some(Box::new(transformer)),
    };
    let mut fifo = DeltaFifo::new(settings);
    run(&mut fifo, "+foo:10 +bar:11 ~foo:12 -foo:15 = +bar:16 =");
    assert_eq!(
        pops(&mut fifo),
        [
            "A foo:110, U foo:112, D foo:115",
            "A bar:111, D †bar:111, A bar:116, D †bar:116"
        ]
    );
}
