//! Whole informers without a socket: from a watch's events to the handlers, and how the cost grows with handlers.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bench_core::{
    api::{Object, WatchEvent},
    cache::{
        AddOrigin, ControllerPlacement, DeltaObject, Informer, InformerSettings,
        InlineEventHandler, NoObserver, QueueKind, ReflectorSettings, ResourceEventHandler,
        SharedInformer, SharedInformerSettings, index_by_namespace,
    },
};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use informer_benches::{objects, settings, transport::Fed};
use tokio::{runtime::Runtime, sync::Notify, sync::mpsc::UnboundedSender};

const OBJECTS: usize = 1_000;
const EVENTS: usize = 10_000;

/// Counts notifications and says when as many as were awaited have come.
#[derive(Clone, Default)]
struct Counter {
    seen: Arc<AtomicUsize>,
    changed: Arc<Notify>,
}

impl Counter {
    fn count(&self) {
        let seen = self.seen.fetch_add(1, Ordering::AcqRel) + 1;
        if seen.is_multiple_of(EVENTS) {
            self.changed.notify_one();
        }
    }

    /// Waits until `awaited` have come, and starts from 0 again.
    async fn wait_for(&self, awaited: usize) {
        while self.seen.load(Ordering::Acquire) < awaited {
            self.changed.notified().await;
        }
        assert_eq!(self.seen.swap(0, Ordering::AcqRel), awaited);
    }
}

struct Inline(Counter);

impl InlineEventHandler<Object> for Inline {
    fn on_add(&mut self, _object: &Arc<Object>, _origin: AddOrigin) {}

    fn on_update(&mut self, _old: &Arc<Object>, _new: &Arc<Object>) {
        self.0.count();
    }

    fn on_delete(&mut self, _object: &DeltaObject<Object>) {}
}

impl ResourceEventHandler<Object> for Inline {
    async fn on_add(&mut self, _object: Arc<Object>, _origin: AddOrigin) {}

    async fn on_update(&mut self, _old: Arc<Object>, _new: Arc<Object>) {
        self.0.count();
    }

    async fn on_delete(&mut self, _object: DeltaObject<Object>) {}
}

/// As the programs run it: workers enough for reflector and controller.
fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("threads")
}

fn send(events: &UnboundedSender<WatchEvent<Object>>, changed: &[Arc<Object>]) {
    for number in 0..EVENTS {
        let object = Arc::clone(&changed[number % changed.len()]);
        events.send(WatchEvent::Modified(object)).expect("watched");
    }
}

fn plain(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("informer_plain_events");
    group.throughput(Throughput::Elements(EVENTS as u64));
    let changed = objects(OBJECTS, 2);
    for queue in QueueKind::ALL {
        let runtime = runtime();
        let _inside = runtime.enter();
        let counter = Counter::default();
        let (fed, events) = Fed::new(objects(OBJECTS, 1));
        let settings = InformerSettings {
            queue,
            resync_period: None,
            placement: ControllerPlacement::Thread,
            reflector: ReflectorSettings::client_go(1),
        };
        let handler = Inline(counter.clone());
        let informer = Informer::start(fed, settings, handler, index_by_namespace(), NoObserver)
            .expect("a thread");
        runtime.block_on(informer.wait_until_synced());
        group.bench_function(queue.name(), |bencher| {
            bencher.iter(|| {
                send(&events, &changed);
                runtime.block_on(counter.wait_for(EVENTS));
            });
        });
        assert_eq!(informer.indexer().len(), OBJECTS);
        runtime.block_on(informer.stop());
    }
    group.finish();
}

fn fan_out(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("informer_shared_fan_out");
    let changed = objects(OBJECTS, 2);
    for handlers in [1, 10, 100] {
        group.throughput(Throughput::Elements((EVENTS * handlers) as u64));
        let runtime = runtime();
        let _inside = runtime.enter();
        let counter = Counter::default();
        let (fed, events) = Fed::new(objects(OBJECTS, 1));
        let settings = SharedInformerSettings {
            queue: QueueKind::AtomicFifo,
            default_resync_period: std::time::Duration::ZERO,
            reflector: ReflectorSettings::client_go(1),
        };
        let informer = SharedInformer::new(settings, index_by_namespace(), NoObserver);
        let registrations: Vec<_> = (0..handlers)
            .map(|_| {
                let handler = Inline(counter.clone());
                informer.add_event_handler(handler).expect("not stopped")
            })
            .collect();
        informer.start(fed);
        for registration in &registrations {
            runtime
                .block_on(registration.wait_until_synced())
                .expect("no panic");
        }
        group.bench_function(BenchmarkId::from_parameter(handlers), |bencher| {
            bencher.iter(|| {
                send(&events, &changed);
                runtime.block_on(counter.wait_for(EVENTS * handlers));
            });
        });
        runtime.block_on(informer.stop());
    }
    group.finish();
}

criterion_group!(name = benches; config = settings(); targets = plain, fan_out);
criterion_main!(benches);
