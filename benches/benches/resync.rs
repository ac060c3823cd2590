//! What one resync costs against the size of the cache: the call, for which the queue is locked, and the drain after it.

use bench_core::cache::{QueueKind, ResyncOutcome};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use informer_benches::{objects, reference::ReferenceQueue, rig, settings};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn assert_whole(kind: QueueKind, outcome: &ResyncOutcome, known: usize) {
    let expected = match kind {
        QueueKind::AtomicFifo => (0, 1),
        _ => (known as u64, 0),
    };
    assert_eq!((outcome.enqueued, outcome.markers), expected);
    assert_eq!(outcome.skipped(), 0);
}

/// Nothing pending: every known key gets a Sync delta, or the queue gets one marker. The whole call holds the queue's lock.
fn lock_hold(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("resync_lock_hold");
    for known in SIZES {
        let objects = objects(known, 1);
        group.throughput(Throughput::Elements(known as u64));
        for kind in QueueKind::ALL {
            let rig = rig(kind, &objects);
            group.bench_function(BenchmarkId::new(kind.name(), known), |bencher| {
                bencher.iter_batched_ref(
                    || {
                        // What the iteration before has queued.
                        assert!(rig.discard() <= known);
                    },
                    |()| {
                        let outcome = rig.queue.resync().expect("every key is valid");
                        assert_whole(kind, &outcome, known);
                    },
                    BatchSize::PerIteration,
                );
            });
        }
        if known < 1_000_000 {
            let reference = ReferenceQueue::new(&objects);
            group.bench_function(BenchmarkId::new("reference", known), |bencher| {
                bencher.iter_batched_ref(
                    || while reference.pop().is_some() {},
                    |()| assert_eq!(reference.resync(), known),
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

/// Pop, cache write where the generation makes one, and notification for every object.
fn drain(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("resync_drain");
    for known in SIZES {
        let objects = objects(known, 1);
        group.throughput(Throughput::Elements(known as u64));
        for kind in QueueKind::ALL {
            let rig = rig(kind, &objects);
            group.bench_function(BenchmarkId::new(kind.name(), known), |bencher| {
                bencher.iter_batched_ref(
                    || {
                        let outcome = rig.queue.resync().expect("every key is valid");
                        assert_whole(kind, &outcome, known);
                    },
                    |()| assert_eq!(rig.drain(), known),
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(name = benches; config = settings(); targets = lock_hold, drain);
criterion_main!(benches);
