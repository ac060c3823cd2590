//! How a resync meets pending deltas: of 100,000 known keys a share has one, is skipped, and the rest gets Sync deltas.

use bench_core::cache::DeltaType;
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use informer_benches::{Rig, objects, rig, settings};

const KNOWN: usize = 100_000;

fn lock_hold_and_drain(criterion: &mut Criterion) {
    let known = objects(KNOWN, 1);
    let newer = objects(KNOWN, 2);
    let rig = rig(&known);
    let mut group = criterion.benchmark_group("resync_dedup");
    group.throughput(Throughput::Elements(KNOWN as u64));
    for percent in [0, 1, 10, 50, 100] {
        let pending = KNOWN * percent / 100;
        let make_pending = |rig: &Rig| {
            rig.discard();
            rig.update_all(&newer[..pending]);
        };
        group.bench_function(
            BenchmarkId::new("lock_hold", format!("{percent}%_pending")),
            |bencher| {
                bencher.iter_batched_ref(
                    || make_pending(&rig),
                    |()| {
                        let outcome = rig.queue.resync().expect("every key is valid");
                        let skipped = outcome
                            .skipped_pending
                            .get(&DeltaType::Updated)
                            .copied()
                            .unwrap_or_default();
                        assert_eq!(
                            (outcome.enqueued, skipped),
                            ((KNOWN - pending) as u64, pending as u64)
                        );
                    },
                    BatchSize::PerIteration,
                );
            },
        );
        group.bench_function(
            BenchmarkId::new("drain", format!("{percent}%_pending")),
            |bencher| {
                bencher.iter_batched_ref(
                    || {
                        make_pending(&rig);
                        rig.queue.resync().expect("every key is valid");
                    },
                    |()| {
                        let notifications = rig.drain();
                        assert_eq!(notifications, KNOWN, "skipped keys are not told twice");
                    },
                    BatchSize::PerIteration,
                );
            },
        );
    }
    group.finish();
}

criterion_group!(name = benches; config = settings(); targets = lock_hold_and_drain);
criterion_main!(benches);
