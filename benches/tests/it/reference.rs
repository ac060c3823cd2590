//! The benches' plain queue does what `DeltaFIFO` does, or comparing their times would mean nothing.

use std::sync::Arc;

use bench_core::{
    api::Object,
    cache::{DeltaObject, DeltaType, PoppedItem, QueueKind},
};
use informer_benches::{Rig, objects, reference::ReferenceQueue, rig};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha12Rng};

type Step = Vec<(String, Vec<DeltaType>)>;

fn popped(rig: &Rig) -> Step {
    let mut all = Vec::new();
    while rig
        .queue
        .try_pop(|popped| {
            let PoppedItem::Deltas(deltas) = &popped.item else {
                unreachable!("a delta-fifo pops deltas")
            };
            let key = deltas[0].object.key().expect("named").as_str().to_owned();
            all.push((key, deltas.iter().map(|delta| delta.delta_type).collect()));
        })
        .is_ok()
    {}
    all
}

fn popped_from_reference(queue: &ReferenceQueue) -> Step {
    std::iter::from_fn(|| queue.pop())
        .map(|(key, deltas)| (key, deltas.iter().map(|delta| delta.0).collect()))
        .collect()
}

/// Both sides as sets of keys: which known key comes first in a resync is left open.
fn sorted(mut step: Step) -> Step {
    step.sort_unstable();
    step
}

#[test]
fn random_operations_leave_both_queues_with_the_same_deltas() {
    let all: Vec<Arc<Object>> = objects(12, 1);
    for seed in 0..500 {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let known = all[..random.random_range(0..8)].to_vec();
        let real = rig(QueueKind::DeltaFifo, &known);
        let plain = ReferenceQueue::new(&known);
        for _ in 0..random.random_range(1..20) {
            let object = &all[random.random_range(0..all.len())];
            match random.random_range(0..5) {
                0 => {
                    real.queue.add(Arc::clone(object)).expect("named");
                    plain.write(DeltaType::Added, object);
                }
                1 => {
                    real.queue.update(Arc::clone(object)).expect("named");
                    plain.write(DeltaType::Updated, object);
                }
                2 => {
                    let gone = DeltaObject::Object(Arc::clone(object));
                    real.queue.delete(gone).expect("named");
                    plain.write(DeltaType::Deleted, object);
                }
                3 => {
                    let list = all[random.random_range(0..4)..random.random_range(4..9)].to_vec();
                    plain.replace(&list);
                    real.replace(list);
                }
                _ => {
                    let outcome = real.queue.resync().expect("valid keys");
                    assert_eq!(outcome.enqueued, plain.resync() as u64, "seed {seed}");
                }
            }
        }
        assert_eq!(
            sorted(popped(&real)),
            sorted(popped_from_reference(&plain)),
            "seed {seed}"
        );
    }
}

#[test]
fn a_drain_leaves_both_caches_with_what_was_listed() {
    let first = objects(10, 1);
    let real = rig(QueueKind::DeltaFifo, &first);
    let plain = ReferenceQueue::new(&first);
    plain.replace(&first[3..]);
    real.replace(first[3..].to_vec());
    assert_eq!((real.drain(), plain.drain()), (10, 10));
    assert_eq!(real.indexer.len(), 7);
    assert_eq!(plain.resync(), 7);
}
