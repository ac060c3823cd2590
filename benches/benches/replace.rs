//! A whole list: into an empty queue, over an equal cache, with one per cent changed and with one per cent gone.

use std::sync::Arc;

use bench_core::{api::Object, cache::QueueKind};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use informer_benches::{objects, reference::ReferenceQueue, rig, settings};

/// What is cached, what is listed, and what that tells a handler.
struct Case {
    name: &'static str,
    known: Vec<Arc<Object>>,
    list: Vec<Arc<Object>>,
    notifications: usize,
}

fn cases(count: usize) -> [Case; 4] {
    let list = objects(count, 1);
    let mut changed = list.clone();
    changed[..count / 100].clone_from_slice(&objects(count / 100, 2));
    [
        Case {
            name: "empty",
            known: Vec::new(),
            list: list.clone(),
            notifications: count,
        },
        Case {
            name: "full",
            known: list.clone(),
            list: list.clone(),
            notifications: count,
        },
        Case {
            name: "one_percent_changed",
            known: list.clone(),
            list: changed,
            notifications: count,
        },
        Case {
            name: "one_percent_gone",
            list: list[count / 100..].to_vec(),
            known: list,
            notifications: count,
        },
    ]
}

/// The call, for which the queue is locked, and the drain after it, in one: only together do they compare, since a
/// generation may leave to the drain what another does in the call.
fn replace_then_drain(criterion: &mut Criterion) {
    for count in [10_000, 100_000] {
        for case in cases(count) {
            let mut group = criterion.benchmark_group(format!("replace_then_drain_{}", case.name));
            group.throughput(Throughput::Elements(count as u64));
            for kind in QueueKind::ALL {
                group.bench_function(BenchmarkId::new(kind.name(), count), |bencher| {
                    bencher.iter_batched_ref(
                        || (rig(kind, &case.known), case.list.clone()),
                        |(rig, list)| {
                            rig.replace(std::mem::take(list));
                            assert_eq!(rig.drain(), case.notifications);
                        },
                        BatchSize::PerIteration,
                    );
                });
            }
            group.bench_function(BenchmarkId::new("reference", count), |bencher| {
                bencher.iter_batched_ref(
                    || ReferenceQueue::new(&case.known),
                    |queue| {
                        queue.replace(&case.list);
                        assert_eq!(queue.drain(), case.notifications);
                    },
                    BatchSize::PerIteration,
                );
            });
            group.finish();
        }
    }
}

/// The call alone.
fn lock_hold(criterion: &mut Criterion) {
    const COUNT: usize = 100_000;
    let list = objects(COUNT, 1);
    let mut group = criterion.benchmark_group("replace_lock_hold");
    group.throughput(Throughput::Elements(COUNT as u64));
    for kind in QueueKind::ALL {
        group.bench_function(BenchmarkId::new(kind.name(), COUNT), |bencher| {
            bencher.iter_batched_ref(
                || (rig(kind, &[]), list.clone()),
                |(rig, list)| {
                    rig.replace(std::mem::take(list));
                    let whole = kind == QueueKind::AtomicFifo;
                    let expected = if whole { 1 } else { COUNT as u64 };
                    assert_eq!(rig.queue.length().keys, expected);
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(name = benches; config = settings(); targets = replace_then_drain, lock_hold);
criterion_main!(benches);
