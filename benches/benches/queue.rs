//! Throughput of every generation's queue through its locked, waking driver, beside the plain reference.

use std::{hint::black_box, num::NonZeroUsize, sync::Arc};

use bench_core::cache::{
    AtomicFifo, AtomicFifoSettings, DEFAULT_BATCH_SIZE, DeltaObject, DeltaType, EventQueue as _,
    QueueKind,
};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use informer_benches::{objects, reference::ReferenceQueue, rig, settings};

const REFERENCE: &str = "reference";

/// One key: a write and its pop.
fn add_then_pop(criterion: &mut Criterion) {
    let object = objects(1, 1).remove(0);
    let mut group = criterion.benchmark_group("add_then_pop");
    group.throughput(Throughput::Elements(1));
    for kind in QueueKind::ALL {
        let rig = rig(kind, &[]);
        group.bench_function(BenchmarkId::new(kind.name(), 1), |bencher| {
            bencher.iter(|| {
                rig.queue.add(Arc::clone(&object)).expect("named");
                let mut deltas = 0;
                rig.queue
                    .try_pop(|popped| deltas = popped.item.deltas().len())
                    .expect("one key is pending");
                assert_eq!(black_box(deltas), 1);
            });
        });
    }
    let reference = ReferenceQueue::new(&[]);
    group.bench_function(BenchmarkId::new(REFERENCE, 1), |bencher| {
        bencher.iter(|| {
            reference.write(DeltaType::Added, &object);
            let (_, deltas) = reference.pop().expect("one key is pending");
            assert_eq!(black_box(deltas.len()), 1);
        });
    });
    group.finish();
}

/// Writes of distinct keys into an empty queue.
fn add(criterion: &mut Criterion) {
    const COUNT: usize = 10_000;
    let first = objects(COUNT, 1);
    let mut group = criterion.benchmark_group("add");
    group.throughput(Throughput::Elements(COUNT as u64));
    for kind in QueueKind::ALL {
        group.bench_function(BenchmarkId::new(kind.name(), COUNT), |bencher| {
            bencher.iter_batched_ref(
                || rig(kind, &[]),
                |rig| {
                    rig.add_all(&first);
                    assert_eq!(rig.queue.length().keys, COUNT as u64);
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.bench_function(BenchmarkId::new(REFERENCE, COUNT), |bencher| {
        bencher.iter_batched_ref(
            || ReferenceQueue::new(&[]),
            |queue| {
                for object in &first {
                    queue.write(DeltaType::Added, object);
                }
                assert_eq!(queue.len(), COUNT);
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

/// Further writes of keys that are queued: never merged.
fn update_queued(criterion: &mut Criterion) {
    const COUNT: usize = 10_000;
    let first = objects(COUNT, 1);
    let second = objects(COUNT, 2);
    let mut group = criterion.benchmark_group("update_queued");
    group.throughput(Throughput::Elements(COUNT as u64));
    for kind in QueueKind::ALL {
        group.bench_function(BenchmarkId::new(kind.name(), COUNT), |bencher| {
            bencher.iter_batched_ref(
                || {
                    let rig = rig(kind, &[]);
                    rig.update_all(&first);
                    rig
                },
                |rig| {
                    rig.update_all(&second);
                    assert_eq!(rig.queue.length().deltas, 2 * COUNT as u64);
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.bench_function(BenchmarkId::new(REFERENCE, COUNT), |bencher| {
        bencher.iter_batched_ref(
            || {
                let queue = ReferenceQueue::new(&[]);
                for object in &first {
                    queue.write(DeltaType::Updated, object);
                }
                queue
            },
            |queue| {
                for object in &second {
                    queue.write(DeltaType::Updated, object);
                }
                assert_eq!(queue.len(), COUNT);
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

/// Deletions of cached keys that have nothing pending.
fn delete(criterion: &mut Criterion) {
    const COUNT: usize = 10_000;
    let known = objects(COUNT, 1);
    let mut group = criterion.benchmark_group("delete");
    group.throughput(Throughput::Elements(COUNT as u64));
    for kind in QueueKind::ALL {
        let rig = rig(kind, &known);
        group.bench_function(BenchmarkId::new(kind.name(), COUNT), |bencher| {
            bencher.iter_batched_ref(
                || {
                    // What the iteration before has queued; the cache keeps all.
                    assert!(rig.discard() <= COUNT);
                },
                |()| {
                    for object in &known {
                        let gone = DeltaObject::Object(Arc::clone(object));
                        rig.queue.delete(gone).expect("named");
                    }
                    assert_eq!(rig.queue.length().keys, COUNT as u64);
                },
                BatchSize::PerIteration,
            );
        });
    }
    let reference = ReferenceQueue::new(&known);
    group.bench_function(BenchmarkId::new(REFERENCE, COUNT), |bencher| {
        bencher.iter_batched_ref(
            || while reference.pop().is_some() {},
            |()| {
                for object in &known {
                    reference.write(DeltaType::Deleted, object);
                }
                assert_eq!(reference.len(), COUNT);
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

/// Fill, then drain by the generation's own pops: what a burst costs a key.
fn fill_then_drain(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fill_then_drain");
    for count in [1_000, 100_000] {
        let objects = objects(count, 1);
        group.throughput(Throughput::Elements(count as u64));
        for kind in QueueKind::ALL {
            group.bench_function(BenchmarkId::new(kind.name(), count), |bencher| {
                bencher.iter_batched_ref(
                    || rig(kind, &[]),
                    |rig| {
                        rig.add_all(&objects);
                        assert_eq!(rig.discard(), count);
                    },
                    BatchSize::PerIteration,
                );
            });
        }
        group.bench_function(BenchmarkId::new(REFERENCE, count), |bencher| {
            bencher.iter_batched_ref(
                || ReferenceQueue::new(&[]),
                |queue| {
                    for object in &objects {
                        queue.write(DeltaType::Added, object);
                    }
                    let mut popped = 0;
                    while queue.pop().is_some() {
                        popped += 1;
                    }
                    assert_eq!(popped, count);
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// What batches save: the same queue without lock, popped one by one and in batches.
fn batch_pop(criterion: &mut Criterion) {
    const COUNT: usize = 100_000;
    let objects = objects(COUNT, 1);
    let mut group = criterion.benchmark_group("batch_pop_pure");
    group.throughput(Throughput::Elements(COUNT as u64));
    for batch_size in [NonZeroUsize::MIN, DEFAULT_BATCH_SIZE] {
        group.bench_function(BenchmarkId::new("atomic-fifo", batch_size), |bencher| {
            bencher.iter_batched_ref(
                || {
                    let mut queue = AtomicFifo::new(AtomicFifoSettings {
                        batch_size,
                        transformer: None,
                    });
                    for object in &objects {
                        queue.add(Arc::clone(object)).expect("named");
                    }
                    queue
                },
                |queue| {
                    let mut deltas = 0;
                    while let Some(popped) = queue.pop() {
                        deltas += popped.item.deltas().len();
                        queue.processed();
                    }
                    assert_eq!(deltas, COUNT);
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(name = benches; config = settings(); targets = add_then_pop, add, update_queued, delete, fill_then_drain, batch_pop);
criterion_main!(benches);
