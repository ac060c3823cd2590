//! The fake server: a commit, a pod made and serialised, LIST, watch fan-out, and the whole path over loopback.

use std::{
    hint::black_box,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::body::Body;
use bench_core::{
    api::{Object, ObjectKey, Resource},
    cache::{
        AddOrigin, ControllerPlacement, DeltaObject, Informer, InformerSettings,
        InlineEventHandler, NoObserver, QueueKind, ReflectorSettings, index_by_namespace,
    },
    list_watch::HttpListWatch,
    measure::clock::MonotonicTime,
};
use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fake_apiserver::{
    ApiServer,
    churn::Write,
    config::{ObjectSource, ServerConfig},
    profiles::{Profile, ProfileKind},
    router, serve,
};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use informer_benches::settings;
use tokio::{net::TcpListener, runtime::Runtime, sync::Notify, task::JoinSet};
use tower::ServiceExt as _;

const PODS: usize = 1_000;
const EVENTS: usize = 1_000;

fn server(count: usize) -> Arc<ApiServer> {
    let mut config = ServerConfig::empty(SocketAddr::from(([127, 0, 0, 1], 0)), 1);
    config.objects = vec![ObjectSource::Profile {
        kind: ProfileKind::Pod6k,
        count,
    }];
    ApiServer::try_from_config(&config).expect("a profile has no faults")
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("threads")
}

fn keys(count: usize) -> Vec<ObjectKey> {
    let profile = Profile::new(ProfileKind::Pod6k);
    profile
        .population(count, 1)
        .map(|draft| draft.key().clone())
        .collect()
}

/// Commits an update of each key and returns the last version.
fn update(server: &ApiServer, keys: &[ObjectKey]) -> u64 {
    let pods = server.find_resource("pods").expect("served");
    let mut last = 0;
    for key in keys {
        let write = Write::Update { key: key.clone() };
        let record = server.commit(pods, &write, MonotonicTime::now());
        last = record.expect("the pod exists").resource_version;
    }
    last
}

/// A version's number put into the object's bytes, once, for all watchers; nobody watches here.
fn commit(criterion: &mut Criterion) {
    let server = server(PODS);
    let keys = keys(PODS);
    let mut group = criterion.benchmark_group("server_commit");
    group.throughput(Throughput::Elements(PODS as u64));
    group.bench_function("update", |bencher| bencher.iter(|| update(&server, &keys)));
    let profile = Profile::new(ProfileKind::Pod6k);
    group.bench_function("render_pod_6k_pure", |bencher| {
        bencher.iter(|| {
            for key in &keys {
                black_box(profile.render(key, 7));
            }
        });
    });
    group.finish();
}

async fn get(server: &Arc<ApiServer>, path: &str) -> usize {
    let request = http::Request::get(path)
        .body(Body::empty())
        .expect("a request");
    let response = router(Arc::clone(server))
        .oneshot(request)
        .await
        .expect("infallible");
    assert_eq!(response.status(), 200);
    let body = response.into_body().collect().await.expect("whole");
    body.to_bytes().len()
}

fn list(criterion: &mut Criterion) {
    const LISTED: usize = 10_000;
    let server = server(LISTED);
    let runtime = runtime();
    let mut group = criterion.benchmark_group("server_list");
    for (name, path, items) in [
        ("page_of_500", "/api/v1/pods?limit=500", 500),
        ("whole_from_cache", "/api/v1/pods?resourceVersion=0", LISTED),
    ] {
        group.throughput(Throughput::Elements(items as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let bytes = runtime.block_on(get(&server, path));
                assert!(bytes > items * 5_000, "{bytes} bytes");
            });
        });
    }
    group.finish();
}

/// Reads a watch until it has given `lines` lines.
async fn read_lines(body: &mut Body, mut lines: usize) {
    while lines > 0 {
        let frame = body.frame().await.expect("open").expect("no error");
        let data = frame.into_data().expect("no trailers");
        let ends = data.split(|byte| *byte == b'\n').count() - 1;
        assert!(ends <= lines, "no line too many");
        lines -= ends;
    }
}

/// Commits, and every watcher reads every event; in process, so without the network's cost.
fn fan_out(criterion: &mut Criterion) {
    let keys = keys(PODS);
    let mut group = criterion.benchmark_group("server_fan_out");
    for watchers in [1, 10, 100] {
        let server = server(PODS);
        let runtime = runtime();
        group.throughput(Throughput::Elements((EVENTS * watchers) as u64));
        let path = format!(
            "/api/v1/pods?watch=1&resourceVersion={}",
            server.state().revision
        );
        let mut bodies: Vec<Body> = (0..watchers)
            .map(|_| {
                let request = http::Request::get(&path)
                    .body(Body::empty())
                    .expect("a request");
                let answer = router(Arc::clone(&server)).oneshot(request);
                runtime.block_on(answer).expect("infallible").into_body()
            })
            .collect();
        group.bench_function(BenchmarkId::from_parameter(watchers), |bencher| {
            bencher.iter(|| {
                runtime.block_on(async {
                    let mut readers = JoinSet::new();
                    for mut body in bodies.drain(..) {
                        readers.spawn(async move {
                            read_lines(&mut body, EVENTS).await;
                            body
                        });
                    }
                    update(&server, &keys[..EVENTS]);
                    bodies = readers.join_all().await;
                });
            });
        });
    }
    group.finish();
}

#[derive(Clone, Default)]
struct Seen {
    updates: Arc<AtomicUsize>,
    all: Arc<Notify>,
}

impl InlineEventHandler<Object> for Seen {
    fn on_add(&mut self, _object: &Arc<Object>, _origin: AddOrigin) {}

    fn on_update(&mut self, _old: &Arc<Object>, _new: &Arc<Object>) {
        if self.updates.fetch_add(1, Ordering::AcqRel) + 1 == EVENTS {
            self.all.notify_one();
        }
    }

    fn on_delete(&mut self, _object: &DeltaObject<Object>) {}
}

/// From the commit through HTTP on loopback, reflector, queue and cache to the handler.
fn loopback(criterion: &mut Criterion) {
    let keys = keys(PODS);
    let mut group = criterion.benchmark_group("whole_path_over_loopback");
    group.throughput(Throughput::Elements(EVENTS as u64));
    for queue in QueueKind::ALL {
        let runtime = runtime();
        let _inside = runtime.enter();
        let server = server(PODS);
        let listener = runtime
            .block_on(TcpListener::bind("127.0.0.1:0"))
            .expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("bound"));
        runtime.spawn(serve(listener, Arc::clone(&server), std::future::pending()));
        let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
        let list_watch = HttpListWatch::new(client, &base, &Resource::pods(), None);
        let informer_settings = InformerSettings {
            queue,
            resync_period: None,
            placement: ControllerPlacement::Thread,
            reflector: ReflectorSettings::client_go(1),
        };
        let seen = Seen::default();
        let informer = Informer::start(
            list_watch,
            informer_settings,
            seen.clone(),
            index_by_namespace(),
            NoObserver,
        )
        .expect("a thread");
        runtime.block_on(informer.wait_until_synced());
        group.bench_function(queue.name(), |bencher| {
            bencher.iter(|| {
                seen.updates.store(0, Ordering::Release);
                update(&server, &keys[..EVENTS]);
                runtime.block_on(seen.all.notified());
                assert_eq!(seen.updates.load(Ordering::Acquire), EVENTS);
            });
        });
        runtime.block_on(informer.stop());
        server.request_shutdown();
    }
    group.finish();
}

criterion_group!(name = benches; config = settings(); targets = commit, list, fan_out, loopback);
criterion_main!(benches);
