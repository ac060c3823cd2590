//! Throughput of the delta-fifo queue through its locked, waking driver.

use std::{hint::black_box, sync::Arc};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use informer_benches::{objects, rig, settings};

/// One key: a write and its pop.
fn add_then_pop(criterion: &mut Criterion) {
    let object = objects(1, 1).remove(0);
    let rig = rig(&[]);
    let mut group = criterion.benchmark_group("delta_fifo");
    group.throughput(Throughput::Elements(1));
    group.bench_function("add_then_pop/1", |bencher| {
        bencher.iter(|| {
            rig.queue.add(Arc::clone(&object)).expect("named");
            let mut deltas = 0;
            rig.queue
                .try_pop(|popped| deltas = popped.item.deltas().len())
                .expect("one key is pending");
            assert_eq!(black_box(deltas), 1);
        });
    });
    group.finish();
}

/// Writes of distinct keys into an empty queue, and further writes of keys that are queued.
fn write(criterion: &mut Criterion) {
    const COUNT: usize = 10_000;
    let first = objects(COUNT, 1);
    let second = objects(COUNT, 2);
    let mut group = criterion.benchmark_group("delta_fifo");
    group.throughput(Throughput::Elements(COUNT as u64));
    group.bench_function(BenchmarkId::new("add", COUNT), |bencher| {
        bencher.iter_batched_ref(
            || rig(&[]),
            |rig| {
                for object in &first {
                    rig.queue.add(Arc::clone(object)).expect("named");
                }
                assert_eq!(rig.queue.length().keys, COUNT as u64);
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function(BenchmarkId::new("update_queued", COUNT), |bencher| {
        bencher.iter_batched_ref(
            || {
                let rig = rig(&[]);
                rig.update_all(&first);
                rig
            },
            |rig| {
                rig.update_all(&second);
                assert_eq!(
                    rig.queue.length().deltas,
                    2 * COUNT as u64,
                    "updates are never merged"
                );
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

/// Fill, then drain: what a burst costs a key.
fn fill_then_drain(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("delta_fifo");
    for count in [1_000, 10_000, 100_000] {
        let objects = objects(count, 1);
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("fill_then_drain", count), |bencher| {
            bencher.iter_batched_ref(
                || rig(&[]),
                |rig| {
                    for object in &objects {
                        rig.queue.add(Arc::clone(object)).expect("named");
                    }
                    assert_eq!(rig.discard(), count);
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// A whole list: into an empty queue, and over a cache of which one per cent is gone.
fn replace(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("delta_fifo");
    for count in [10_000, 100_000] {
        let list = objects(count, 1);
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("replace_empty", count), |bencher| {
            bencher.iter_batched_ref(
                || (rig(&[]), list.clone()),
                |(rig, list)| {
                    rig.replace(std::mem::take(list));
                    assert_eq!(rig.queue.length().keys, count as u64);
                },
                BatchSize::PerIteration,
            );
        });
        let remaining = list[count / 100..].to_vec();
        group.bench_function(
            BenchmarkId::new("replace_one_percent_gone", count),
            |bencher| {
                bencher.iter_batched_ref(
                    || (rig(&list), remaining.clone()),
                    |(rig, remaining)| {
                        rig.replace(std::mem::take(remaining));
                        assert_eq!(
                            rig.queue.length().keys,
                            count as u64,
                            "items and tombstones"
                        );
                    },
                    BatchSize::PerIteration,
                );
            },
        );
    }
    group.finish();
}

criterion_group!(name = benches; config = settings(); targets = add_then_pop, write, fill_then_drain, replace);
criterion_main!(benches);
