//! What one resync costs against the size of the cache: the call, for which the queue is locked, and the drain after it.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use informer_benches::{objects, rig, settings};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// Nothing pending: every known key gets a Sync delta. The whole call holds the queue's lock.
fn lock_hold(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("resync");
    for known in SIZES {
        let rig = rig(&objects(known, 1));
        group.throughput(Throughput::Elements(known as u64));
        group.bench_function(BenchmarkId::new("lock_hold", known), |bencher| {
            bencher.iter_batched_ref(
                || {
                    // What the iteration before has queued.
                    assert!(rig.discard() <= known);
                },
                |()| {
                    let outcome = rig.queue.resync().expect("every key is valid");
                    assert_eq!((outcome.enqueued, outcome.skipped()), (known as u64, 0));
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// Pop, cache write and notification for every Sync delta.
fn drain(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("resync");
    for known in SIZES {
        let rig = rig(&objects(known, 1));
        group.throughput(Throughput::Elements(known as u64));
        group.bench_function(BenchmarkId::new("drain", known), |bencher| {
            bencher.iter_batched_ref(
                || {
                    let outcome = rig.queue.resync().expect("every key is valid");
                    assert_eq!(outcome.enqueued, known as u64);
                },
                |()| assert_eq!(rig.drain(), known),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(name = benches; config = settings(); targets = lock_hold, drain);
criterion_main!(benches);
