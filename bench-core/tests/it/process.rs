//! From a popped item to the cache and the notifications: rows of client-go's `controller_test.go`.

use std::{collections::HashMap, num::NonZeroUsize, sync::Arc};

use bench_core::{
    api::{Object, ObjectKey, ResourceVersion},
    cache::{
        AddOrigin, AnyQueue, AtomicFifo, Delta, DeltaObject, DeltaType, EventQueue as _, Indexer,
        KnownObjects, LockWhileProcessing, Notification, PopUnit, Popped, PoppedItem, ProcessError,
        QueueKind, RealFifo, RealFifoSettings, ReplacedAll, process_popped,
    },
};

use crate::{
    delta_fifo::run,
    scripted::{nameless, object, text},
};

const GENERATIONS: [QueueKind; 3] = [
    QueueKind::RealFifoPerEvent,
    QueueKind::RealFifo,
    QueueKind::AtomicFifo,
];

fn indexer(objects: &[(&str, u64)]) -> Arc<Indexer<Object>> {
    let indexer = Indexer::new(HashMap::new());
    for (name, version) in objects {
        indexer.add(&object(name, *version)).expect("named");
    }
    Arc::new(indexer)
}

fn queue_of(kind: QueueKind, indexer: &Arc<Indexer<Object>>) -> AnyQueue<Object> {
    let known_objects: Arc<dyn KnownObjects<Object>> = Arc::<Indexer<Object>>::clone(indexer);
    AnyQueue::for_informer(kind, known_objects)
}

fn popped(item: PoppedItem<Object>) -> Popped<Object> {
    Popped {
        item,
        origin: AddOrigin::InitialList,
        lock: LockWhileProcessing::Hold,
    }
}

fn added(names: &[&str]) -> Vec<Delta<Object>> {
    let delta = |name: &&str| match *name {
        "nameless" => Delta::new(DeltaType::Added, nameless(1)),
        name => Delta::new(DeltaType::Added, object(name, 1)),
    };
    names.iter().map(delta).collect()
}

pub(crate) fn call(notification: &Notification<Object>) -> String {
    match notification {
        Notification::Added { object, origin } => {
            let initial = match origin {
                AddOrigin::InitialList => "initial ",
                AddOrigin::Live => "",
            };
            format!("{initial}add {}", text(object))
        }
        Notification::Updated { old, new } => format!("update {} {}", text(old), text(new)),
        Notification::Deleted { object } => {
            let unknown = if object.is_final_state_unknown() {
                "unknown "
            } else {
                ""
            };
            let last_known = object
                .last_known()
                .map_or_else(|| "nil".to_owned(), |last| text(last));
            format!("{unknown}delete {last_known}")
        }
    }
}

/// A call, the type that goes with it, and what the cache held at that moment, sorted.
type Call = (String, DeltaType, Vec<String>);

fn process(
    indexer: &Indexer<Object>,
    popped: &Popped<Object>,
) -> (Vec<Call>, Result<(), ProcessError>) {
    let mut calls = Vec::new();
    let outcome = process_popped(popped, indexer, |delta_type, notification| {
        calls.push((call(&notification), delta_type, content(indexer)));
    });
    (calls, outcome)
}

fn content(indexer: &Indexer<Object>) -> Vec<String> {
    let mut content: Vec<_> = indexer.list().iter().map(|object| text(object)).collect();
    content.sort_unstable();
    content
}

fn calls_of(indexer: &Indexer<Object>, popped: &Popped<Object>) -> Vec<String> {
    let (calls, outcome) = process(indexer, popped);
    outcome.expect("every object has a key");
    calls.into_iter().map(|(call, ..)| call).collect()
}

/// Processes all that is pending.
fn drain(queue: &mut AnyQueue<Object>, indexer: &Indexer<Object>) -> Vec<String> {
    let mut calls = Vec::new();
    while let Some(popped) = queue.pop() {
        calls.extend(calls_of(indexer, &popped));
        queue.processed();
    }
    calls
}

/// `TestProcessDeltasInBatch`.
#[test]
fn of_a_batch_what_has_no_key_is_left_out_and_the_rest_is_applied_and_told_in_order() {
    for (batch, told, failed) in [
        (&["a"][..], &["a@1"][..], None),
        (&["nameless"], &[], Some("(1/1)")),
        (&["a", "nameless"], &["a@1"], Some("(1/2)")),
        (&["a", "nameless", "c"], &["a@1", "c@1"], Some("(1/3)")),
    ] {
        let indexer = indexer(&[]);
        let (calls, outcome) = process(&indexer, &popped(PoppedItem::Batch(added(batch))));
        let told: Vec<_> = told
            .iter()
            .map(|text| format!("initial add {text}"))
            .collect();
        let calls: Vec<_> = calls.into_iter().map(|(call, ..)| call).collect();
        assert_eq!(calls, told, "of {batch:?}");
        assert_eq!(indexer.len(), told.len());
        match (failed, outcome) {
            (None, outcome) => assert_eq!(outcome, Ok(())),
            (Some(share), Err(ProcessError::Transaction(error))) => {
                let message = format!("failed to execute {share} transactions");
                assert!(error.to_string().contains(&message), "{error}");
                let named = |place: &usize| batch[*place] != "nameless";
                let places: Vec<_> = (0..batch.len()).filter(named).collect();
                assert_eq!(error.successful_indices, places);
            }
            (Some(_), outcome) => panic!("{outcome:?}"),
        }
    }
}

#[test]
fn a_handler_finds_the_later_events_of_its_batch_in_the_cache_and_not_those_of_later_pops() {
    for (kind, expected) in [
        (QueueKind::RealFifoPerEvent, &["a@1"][..]),
        (QueueKind::RealFifo, &["a@1", "b@2"]),
        (QueueKind::AtomicFifo, &["a@1", "b@2"]),
    ] {
        let indexer = indexer(&[]);
        let mut queue = queue_of(kind, &indexer);
        run(&mut queue, "+a:1 +b:2 ~b:3");
        let (calls, _) = process(&indexer, &queue.pop().unwrap());
        assert_eq!(calls[0].2, expected, "{}", kind.name());
    }
}

#[test]
fn a_batch_is_told_with_the_states_that_were_cached_before_it() {
    let indexer = indexer(&[("a", 1), ("b", 2)]);
    let mut deltas = vec![
        Delta::new(DeltaType::Updated, object("a", 5)),
        Delta::new(DeltaType::Deleted, object("b", 6)),
        Delta::new(DeltaType::Updated, object("c", 7)),
    ];
    deltas.push(Delta::tombstone(ObjectKey::new("t", "d"), None));
    let item = PoppedItem::Batch(deltas);
    assert_eq!(
        calls_of(&indexer, &popped(item)),
        [
            "update a@1 a@5",
            "delete b@6",
            "initial add c@7",
            "unknown delete nil"
        ]
    );
    assert_eq!(content(&indexer), ["a@5", "c@7"]);
}

#[test]
fn deltas_after_one_without_a_key_are_not_processed() {
    let indexer = indexer(&[]);
    let deltas = added(&["a", "nameless", "c"]);
    let (calls, outcome) = process(&indexer, &popped(PoppedItem::Deltas(deltas)));
    assert!(matches!(outcome, Err(ProcessError::Key(_))));
    assert_eq!(calls.len(), 1);
    assert_eq!(content(&indexer), ["a@1"]);
}

#[test]
fn a_whole_list_is_in_the_cache_before_its_deletions_are_told_and_then_its_items() {
    let indexer = indexer(&[("a", 1), ("b", 2), ("c", 3)]);
    let replaced = ReplacedAll {
        resource_version: ResourceVersion::from(9),
        objects: vec![object("d", 6), object("b", 5)],
    };
    let (calls, outcome) = process(&indexer, &popped(PoppedItem::ReplacedAll(replaced)));
    assert_eq!(outcome, Ok(()));
    let after = || vec!["b@5".to_owned(), "d@6".to_owned()];
    let expected = [
        ("unknown delete a@1", DeltaType::Deleted),
        ("unknown delete c@3", DeltaType::Deleted),
        ("initial add d@6", DeltaType::Replaced),
        ("update b@2 b@5", DeltaType::Replaced),
    ];
    let expected = expected.map(|(call, delta_type)| (call.to_owned(), delta_type, after()));
    assert_eq!(calls, expected);
    assert_eq!(indexer.resource_version(), ResourceVersion::from(9));
}

#[test]
fn a_whole_list_with_an_object_without_a_key_changes_nothing_and_still_counts_as_the_first() {
    let indexer = indexer(&[("a", 1)]);
    let mut queue = AtomicFifo::for_informer();
    let list = vec![object("b", 2), nameless(3)];
    queue.replace(list, &ResourceVersion::from(9)).unwrap();
    let (calls, outcome) = process(&indexer, &queue.pop().unwrap());
    assert!(matches!(outcome, Err(ProcessError::Key(_))));
    assert!(calls.is_empty());
    assert_eq!(content(&indexer), ["a@1"]);
    assert_eq!(indexer.resource_version(), ResourceVersion::from(1));
    queue.processed();
    assert!(queue.has_synced());
}

#[test]
fn two_items_of_one_new_key_in_a_list_are_two_additions_of_a_whole_list_and_otherwise_one() {
    for kind in GENERATIONS {
        let indexer = indexer(&[]);
        let mut queue = queue_of(kind, &indexer);
        run(&mut queue, "=a:1,a:2");
        let second = match kind {
            QueueKind::AtomicFifo => "initial add a@2",
            _ => "update a@1 a@2",
        };
        assert_eq!(drain(&mut queue, &indexer), ["initial add a@1", second]);
        assert_eq!(content(&indexer), ["a@2"]);
    }
}

#[test]
fn a_whole_resync_tells_every_cached_object_and_writes_nothing() {
    let indexer = indexer(&[("a", 1), ("b", 2)]);
    let (mut calls, outcome) = process(&indexer, &popped(PoppedItem::SyncAll));
    assert_eq!(outcome, Ok(()));
    calls.sort_unstable();
    let calls: Vec<_> = calls
        .iter()
        .map(|(call, delta_type, _)| (call.as_str(), *delta_type))
        .collect();
    let expected = [
        ("update a@1 a@1", DeltaType::Sync),
        ("update b@2 b@2", DeltaType::Sync),
    ];
    assert_eq!(calls, expected);
    assert_eq!(indexer.resource_version(), ResourceVersion::from(2));
}

/// `TestReplaceEvents`. The version beside each call is that of the stored object at that moment, as there.
#[test]
fn a_relist_tells_deletions_then_changes_and_each_is_in_the_cache_when_it_is_told() {
    for kind in GENERATIONS {
        for (before, list, expected) in [
            ("", "=p1:1@1", &["add p1@1 [p1@1]"][..]),
            (
                "+p1:1 +p3:2",
                "=@2",
                &["unknown delete p1@1 []", "unknown delete p3@2 []"],
            ),
            (
                "+p1:1 +p2:2 +p3:3",
                "=p1:4,p2:5,p4:6@6",
                &[
                    "unknown delete p3@3 []",
                    "update p1@1 p1@4 [p1@4]",
                    "update p2@2 p2@5 [p2@5]",
                    "add p4@6 [p4@6]",
                ],
            ),
        ] {
            let indexer = indexer(&[]);
            let mut queue = queue_of(kind, &indexer);
            run(&mut queue, &format!("= {before}"));
            drain(&mut queue, &indexer);
            run(&mut queue, list);
            let mut calls = Vec::new();
            while let Some(popped) = queue.pop() {
                process_popped(&popped, &indexer, |_, notification| {
                    let object = match &notification {
                        Notification::Added { object, .. } => Some(object),
                        Notification::Updated { new, .. } => Some(new),
                        Notification::Deleted { object } => object.last_known(),
                    };
                    let key = object.map(|object| DeltaObject::Object(Arc::clone(object)).key());
                    let key = key.expect("known").expect("named");
                    let stored = indexer
                        .get_by_key(&key)
                        .map_or(String::new(), |it| text(&it));
                    calls.push(format!("{} [{stored}]", call(&notification)));
                })
                .unwrap();
                queue.processed();
            }
            calls[..].sort_by_key(|call| {
                let deletion = call.starts_with("unknown");
                (!deletion, deletion.then(|| call.clone()))
            });
            assert_eq!(calls, expected, "{} after {before}", kind.name());
        }
    }
}

/// `TestStoreResourceVersion` and, for bookmarks and lists, `TestStoreResourceVersionWithNonMetaTransform`.
#[test]
fn the_caches_version_is_that_of_the_last_event_list_or_bookmark() {
    let indexer = indexer(&[]);
    let mut queue = queue_of(QueueKind::AtomicFifo, &indexer);
    for (script, version) in [
        ("=p1:1@1", 1),
        ("~p1:2", 2),
        ("-p1:3", 3),
        ("+a:9 +b:7", 7),
        ("*20", 20),
        ("resync", 20),
        ("=a:9@15", 15),
    ] {
        run(&mut queue, script);
        drain(&mut queue, &indexer);
        let version = ResourceVersion::from(version);
        assert_eq!(indexer.resource_version(), version, "after {script}");
    }
}

/// A case of a public report: three forms of a resync beside newer events, in every generation.
#[test]
fn a_resync_beside_newer_events_hands_out_no_older_state_after_a_newer_one() {
    for kind in QueueKind::ALL {
        for (script, expected, left) in [
            ("~a:6 resync", &["update a@5 a@6"][..], &["a@6"][..]),
            ("-a:6 resync", &["delete a@6"], &[]),
            ("resync -a:6", &["update a@5 a@5", "delete a@6"], &[]),
        ] {
            let indexer = indexer(&[("a", 5)]);
            let mut queue = queue_of(kind, &indexer);
            run(&mut queue, script);
            let mut calls = drain(&mut queue, &indexer);
            if kind == QueueKind::AtomicFifo && script == "~a:6 resync" {
                // The marker skips nothing: it delivers what is cached by then.
                assert_eq!(calls.pop().as_deref(), Some("update a@6 a@6"));
            }
            assert_eq!(calls, expected, "{} after {script}", kind.name());
            assert_eq!(content(&indexer), left, "{} after {script}", kind.name());
        }
    }
}

#[test]
fn batches_of_two_and_of_a_thousand_lead_to_the_same_calls() {
    let outcomes = [1, 2, 1_000].map(|most| {
        let indexer = indexer(&[]);
        let known_objects: Arc<dyn KnownObjects<Object>> = Arc::<Indexer<Object>>::clone(&indexer);
        let unit = PopUnit::Batch(NonZeroUsize::new(most).expect("at least one"));
        let mut queue = AnyQueue::Real(RealFifo::new(RealFifoSettings {
            known_objects,
            unit,
            transformer: None,
        }));
        run(&mut queue, "=a:1,b:2 ~a:3 +c:4 -b:5 ~c:6 +b:7");
        (drain(&mut queue, &indexer), content(&indexer))
    });
    assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]));
}

/// A case of a public report: a ghost, whose deletion went by while its addition was still pending.
#[test]
fn an_object_that_only_the_queue_knows_is_deleted_by_a_list_without_it() {
    for kind in QueueKind::ALL {
        for (cached, script, first) in [
            (&[][..], "+a:5 =@9", "add a@5"),
            (&[("a", 3)], "~a:5 =@9", "update a@3 a@5"),
        ] {
            let indexer = indexer(cached);
            let mut queue = queue_of(kind, &indexer);
            run(&mut queue, script);
            assert!(queue.has_synced(), "an event before the first list");
            let calls = drain(&mut queue, &indexer);
            assert_eq!(calls, [first, "unknown delete a@5"], "{}", kind.name());
            assert!(indexer.is_empty());
        }
    }
}

/// A case of a public report: synced too early.
#[test]
fn a_first_list_counts_only_when_its_deletions_were_told() {
    for kind in QueueKind::ALL {
        let indexer = indexer(&[("a", 1), ("b", 2)]);
        let mut queue = queue_of(kind, &indexer);
        run(&mut queue, "=b:3@4");
        let mut calls = Vec::new();
        while !queue.has_synced() {
            let popped = queue.pop().expect("not synced, so not empty");
            calls.extend(calls_of(&indexer, &popped));
            queue.processed();
        }
        calls.sort_unstable();
        assert_eq!(calls, ["unknown delete a@1", "update b@2 b@3"]);
        assert!(queue.is_empty(), "{}", kind.name());
    }
}

/// A case of a public report, the one that only an unlocked queue can have: a resync while a deletion is being handled.
#[test]
fn a_resync_while_a_deletion_is_handled_brings_nothing_back() {
    let indexer = indexer(&[("a", 5)]);
    let mut queue = queue_of(QueueKind::AtomicFifo, &indexer);
    run(&mut queue, "-a:6");
    let popped = queue.pop().unwrap();
    assert_eq!(popped.lock, LockWhileProcessing::Release);
    let mut calls = Vec::new();
    process_popped(&popped, &indexer, |_, notification| {
        calls.push(call(&notification));
        run(&mut queue, "resync");
    })
    .unwrap();
    queue.processed();
    calls.extend(drain(&mut queue, &indexer));
    assert_eq!(calls, ["delete a@6"]);
}
