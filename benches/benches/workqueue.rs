//! The workqueue family: the locked drivers, each layer, and the pure state.

use std::time::Duration;

use bench_core::workqueue::{
    Finished, Got, PriorityQueue, PriorityQueueState, WorkQueue, WorkQueueState,
    default_controller_rate_limiter,
};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use informer_benches::settings;
use tokio::runtime::{Builder, Runtime};

const COUNT: usize = 10_000;

fn runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime without I/O")
}

fn keys() -> Vec<String> {
    (0..COUNT)
        .map(|number| format!("default/web-{number}"))
        .collect()
}

/// Each key goes all the way before the next is added.
fn add_get_done(criterion: &mut Criterion) {
    let runtime = runtime();
    let keys = keys();
    let mut group = criterion.benchmark_group("workqueue_add_get_done");
    group.throughput(Throughput::Elements(COUNT as u64));
    let _inside = runtime.enter();
    let queue = WorkQueue::new();
    group.bench_function("workqueue", |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                for key in &keys {
                    queue.add(key.clone());
                    let got = queue.get().await.expect("not shut down");
                    queue.done(&got);
                }
            });
            assert!(queue.is_empty());
        });
    });
    let queue = PriorityQueue::new();
    group.bench_function("priority_queue", |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                for key in &keys {
                    queue.add(key.clone());
                    let got = queue.get().await.expect("not shut down");
                    queue.done(&got.item);
                }
            });
            assert!(queue.is_empty());
        });
    });
    let mut state = WorkQueueState::new();
    group.bench_function("workqueue_pure", |bencher| {
        bencher.iter(|| {
            for key in &keys {
                state.add(key.clone());
                let Got::Item(got) = state.get() else {
                    unreachable!("one is waiting")
                };
                assert_eq!(state.done(&got), Finished::Gone);
            }
        });
    });
    group.finish();
}

/// All keys wait before the first is taken, and each comes twice: the second time it is merged.
fn fill_merge_drain(criterion: &mut Criterion) {
    let runtime = runtime();
    let keys = keys();
    let mut group = criterion.benchmark_group("workqueue_fill_merge_drain");
    group.throughput(Throughput::Elements(COUNT as u64));
    let _inside = runtime.enter();
    group.bench_function("workqueue", |bencher| {
        bencher.iter_batched_ref(
            WorkQueue::new,
            |queue| {
                for key in keys.iter().chain(&keys) {
                    queue.add(key.clone());
                }
                assert_eq!(queue.len(), COUNT);
                runtime.block_on(async {
                    for _ in 0..COUNT {
                        let got = queue.get().await.expect("not shut down");
                        queue.done(&got);
                    }
                });
                assert!(queue.is_empty());
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function("priority_queue_pure", |bencher| {
        bencher.iter_batched_ref(
            PriorityQueueState::new,
            |state| {
                for (number, key) in keys.iter().chain(&keys).enumerate() {
                    let priority = i32::try_from(number % 3).expect("small");
                    state.add(key.clone(), priority, None);
                }
                assert_eq!(state.len(), COUNT);
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

/// What the delaying and the rate-limited layer add: keys that wait for a time that does not come.
fn delayed(criterion: &mut Criterion) {
    let runtime = runtime();
    let keys = keys();
    let mut group = criterion.benchmark_group("workqueue_layers");
    group.throughput(Throughput::Elements(COUNT as u64));
    let _inside = runtime.enter();
    let hour = Duration::from_hours(1);
    group.bench_function(BenchmarkId::new("add_after", COUNT), |bencher| {
        bencher.iter_batched_ref(
            WorkQueue::new,
            |queue| {
                for key in &keys {
                    queue.add_after(key.clone(), hour);
                }
                assert!(queue.is_empty(), "they wait");
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function(BenchmarkId::new("add_rate_limited", COUNT), |bencher| {
        bencher.iter_batched_ref(
            || WorkQueue::with_rate_limiter(default_controller_rate_limiter()),
            |queue| {
                for key in &keys {
                    queue.add_rate_limited(key.clone());
                }
                assert_eq!(queue.num_requeues(&keys[0]), 1);
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function(BenchmarkId::new("priority_add_after", COUNT), |bencher| {
        bencher.iter_batched_ref(
            PriorityQueue::new,
            |queue| {
                for key in &keys {
                    queue.add_after(key.clone(), hour);
                }
                assert_eq!(queue.len(), 0, "none is ready");
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(name = benches; config = settings(); targets = add_get_done, fill_merge_drain, delayed);
criterion_main!(benches);
