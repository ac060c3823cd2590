//! The cache: writes with two metadata indexes, reads, and readers against a writer.

use std::{
    collections::HashMap,
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use bench_core::{
    api::{KubeObject as _, Object, ObjectKey},
    cache::{IndexFunc, Indexer, NAMESPACE_INDEX, index_by_namespace},
};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use informer_benches::{objects, settings};
use rand::{SeedableRng as _, rngs::ChaCha12Rng, seq::SliceRandom as _};

const COUNT: usize = 100_000;
const VERSION_INDEX: &str = "version";

/// By namespace, and by the object's version, so that an update can move an object.
fn indexer(objects: &[Arc<Object>]) -> Indexer<Object> {
    let mut indexers = index_by_namespace();
    let by_version: IndexFunc<Object> =
        Arc::new(|object: &Object| vec![object.resource_version().to_string()]);
    indexers.insert(VERSION_INDEX.to_owned(), by_version);
    let indexer = Indexer::new(indexers);
    for object in objects {
        indexer.add(object).expect("named");
    }
    indexer
}

fn scattered<T: Clone>(items: &[T]) -> Vec<T> {
    let mut items = items.to_vec();
    items.shuffle(&mut ChaCha12Rng::seed_from_u64(1));
    items
}

fn write(criterion: &mut Criterion) {
    let first = objects(COUNT, 1);
    let second = objects(COUNT, 2);
    let again = objects(COUNT, 1);
    let mut group = criterion.benchmark_group("indexer_write");
    group.throughput(Throughput::Elements(COUNT as u64));
    for (order, first) in [
        ("in_order", first.clone()),
        ("scattered", scattered(&first)),
    ] {
        group.bench_function(BenchmarkId::new("add", order), |bencher| {
            bencher.iter_batched_ref(
                || indexer(&[]),
                |indexer| {
                    for object in &first {
                        indexer.add(object).expect("named");
                    }
                    assert_eq!(indexer.len(), COUNT);
                },
                BatchSize::PerIteration,
            );
        });
    }
    for (name, newer) in [("update_in_place", &again), ("update_that_moves", &second)] {
        group.bench_function(BenchmarkId::new(name, COUNT), |bencher| {
            bencher.iter_batched_ref(
                || indexer(&first),
                |indexer| {
                    for object in newer {
                        indexer.add(object).expect("named");
                    }
                    assert_eq!(indexer.len(), COUNT);
                },
                BatchSize::PerIteration,
            );
        });
    }
    let keys: Vec<ObjectKey> = first.iter().map(|it| it.key().expect("named")).collect();
    group.bench_function(BenchmarkId::new("delete", COUNT), |bencher| {
        bencher.iter_batched_ref(
            || indexer(&first),
            |indexer| {
                for key in &keys {
                    assert!(indexer.remove(key).is_some());
                }
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn read(criterion: &mut Criterion) {
    let objects = objects(COUNT, 1);
    let indexer = indexer(&objects);
    let map: HashMap<ObjectKey, Arc<Object>> = objects
        .iter()
        .map(|object| (object.key().expect("named"), Arc::clone(object)))
        .collect();
    let keys: Vec<ObjectKey> = scattered(&map.keys().cloned().collect::<Vec<_>>());
    let mut group = criterion.benchmark_group("indexer_read");
    group.throughput(Throughput::Elements(COUNT as u64));
    group.bench_function("get", |bencher| {
        bencher.iter(|| {
            for key in &keys {
                assert!(black_box(indexer.get_by_key(key)).is_some());
            }
        });
    });
    group.bench_function("list", |bencher| {
        bencher.iter(|| assert_eq!(black_box(indexer.list()).len(), COUNT));
    });
    // What a list of a map without lock costs.
    group.bench_function("list_plain_map", |bencher| {
        bencher.iter(|| {
            let all: Vec<Arc<Object>> = map.values().cloned().collect();
            assert_eq!(black_box(all).len(), COUNT);
        });
    });
    group.throughput(Throughput::Elements(COUNT as u64 / 100));
    group.bench_function("by_index", |bencher| {
        bencher.iter(|| {
            let found = indexer.by_index(NAMESPACE_INDEX, "namespace-07");
            assert_eq!(black_box(found).expect("known").len(), COUNT / 100);
        });
    });
    group.finish();
}

/// One write of a cache of 80,000, alone and beside ten threads that list it without pause.
fn write_beside_readers(criterion: &mut Criterion) {
    const LISTED: usize = 80_000;
    let objects = objects(LISTED, 1);
    let indexer = indexer(&objects);
    let mut group = criterion.benchmark_group("indexer_write_beside_listing_threads");
    group.throughput(Throughput::Elements(1));
    for readers in [0, 10] {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..readers {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        assert_eq!(black_box(indexer.list()).len(), LISTED);
                    }
                });
            }
            let mut next = objects.iter().cycle();
            group.bench_function(BenchmarkId::from_parameter(readers), |bencher| {
                bencher.iter(|| {
                    let object = next.next().expect("endless");
                    indexer.add(object).expect("named");
                });
            });
            stop.store(true, Ordering::Relaxed);
        });
    }
    group.finish();
}

criterion_group!(name = benches; config = settings(); targets = write, read, write_beside_readers);
criterion_main!(benches);
