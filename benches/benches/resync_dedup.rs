//! How a resync meets pending deltas: of 100,000 known keys a share has one. Where keys with pending deltas are skipped, the
//! others get Sync deltas; an atomic queue skips nothing and tells the share twice.

use bench_core::cache::{DeltaType, QueueKind};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use informer_benches::{Rig, objects, rig, settings};

const KNOWN: usize = 100_000;

fn lock_hold_and_drain(criterion: &mut Criterion) {
    let known = objects(KNOWN, 1);
    let newer = objects(KNOWN, 2);
    for kind in QueueKind::ALL {
        let rig = rig(kind, &known);
        let mut group = criterion.benchmark_group(format!("resync_dedup_{}", kind.name()));
        group.throughput(Throughput::Elements(KNOWN as u64));
        let shares: &[usize] = match kind {
            QueueKind::AtomicFifo => &[0, 100],
            _ => &[0, 1, 10, 50, 100],
        };
        for percent in shares {
            let pending = KNOWN * percent / 100;
            let make_pending = |rig: &Rig| {
                rig.discard();
                rig.update_all(&newer[..pending]);
            };
            let skipped = if kind == QueueKind::AtomicFifo {
                0
            } else {
                pending
            };
            group.bench_function(
                BenchmarkId::new("lock_hold", format!("{percent}%_pending")),
                |bencher| {
                    bencher.iter_batched_ref(
                        || make_pending(&rig),
                        |()| {
                            let outcome = rig.queue.resync().expect("every key is valid");
                            let updated = outcome.skipped_pending.get(&DeltaType::Updated);
                            assert_eq!(updated.copied().unwrap_or_default(), skipped as u64);
                            if outcome.markers == 0 {
                                assert_eq!(outcome.enqueued, (KNOWN - pending) as u64);
                            }
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
                        |()| assert_eq!(rig.drain(), KNOWN + pending - skipped),
                        BatchSize::PerIteration,
                    );
                },
            );
        }
        group.finish();
    }
}

criterion_group!(name = benches; config = settings(); targets = lock_hold_and_drain);
criterion_main!(benches);
