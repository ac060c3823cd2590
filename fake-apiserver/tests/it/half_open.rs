//! A connection cut without FIN or RST, and clients that notice it by pings: case B09 of the public reports.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bench_core::{
    api::{Object, Resource},
    cache::{
        AddOrigin, DeltaObject, NoObserver, QueueKind, ReflectorSettings, ResourceEventHandler,
        SharedInformer, SharedInformerSettings, index_by_namespace,
    },
    list_watch::HttpListWatch,
};
use bytes::Bytes;
use fake_apiserver::{
    ApiServer,
    config::{ObjectSource, ServerConfig},
    control::{WriteKind, WriteRequest},
    fault::script::FaultScript,
    profiles::ProfileKind,
};
use futures_util::FutureExt as _;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use serde_json::Value;
use tokio::time::timeout;
use tower::{Service, service_fn};

use crate::secure_client::{Ping, SecureServer};

const LIMIT: Duration = Duration::from_mins(1);
const PING: Ping = Ping {
    interval: Duration::from_millis(100),
    timeout: Duration::from_millis(500),
};
/// How often a connection goes dead: together far longer than ten times a ping's interval and timeout.
const ROUNDS: u64 = 10;

/// A lease and a node at the versions 2 and 3, and faults.
fn server_with(script: &str) -> Arc<ApiServer> {
    let mut config = ServerConfig::empty("127.0.0.1:0".parse().unwrap(), 1);
    for kind in [ProfileKind::Lease, ProfileKind::Node] {
        config
            .objects
            .push(ObjectSource::Profile { kind, count: 1 });
    }
    let server = ApiServer::try_from_config(&config).unwrap();
    server.set_faults(Some(&FaultScript::parse("script", script).unwrap()));
    server
}

fn update(server: &ApiServer, resource: &str) -> u64 {
    let request = WriteRequest {
        resource: resource.to_owned(),
        op: WriteKind::Update,
        key: None,
    };
    server.write(&request).unwrap().resource_version
}

/// Without bookmarks and with a long deadline: but for events, nothing but pings passes.
fn watch_path(resource: &str, version: u64) -> String {
    format!("/{resource}?watch=1&timeoutSeconds=3600&resourceVersion={version}")
}

/// The version of the next event, or the error that the watch breaks with.
async fn next_version(body: &mut Incoming) -> Result<u64, hyper::Error> {
    let mut line = Vec::new();
    // A node is larger than a frame.
    while line.last() != Some(&b'\n') {
        let frame = body.frame().await.expect("no watch here ends cleanly")?;
        line.extend_from_slice(frame.data_ref().unwrap());
    }
    let event: Value = serde_json::from_slice(&line).unwrap();
    let version = event["object"]["metadata"]["resourceVersion"].as_str();
    Ok(version.unwrap().parse().unwrap())
}

#[tokio::test]
async fn pings_find_a_connection_dead_and_leave_healthy_idle_and_merely_silent_ones_alone() {
    timeout(LIMIT, async {
        let server = server_with(
            "faults: [{match: {user_agent: victim}, fault: {half_open: {after_events: 1}}},
                      {match: {user_agent: silent}, fault: {stall: {}}}]",
        );
        let endpoint = SecureServer::serve(&server).await;
        let mut idle_client = endpoint.http2(Some(PING)).await;
        let idle = idle_client
            .get(&watch_path("api/v1/nodes", 3), "control", None)
            .await;
        let mut idle = idle.unwrap().into_body();
        let mut silent_client = endpoint.http2(Some(PING)).await;
        let silent = silent_client
            .get(&watch_path("api/v1/nodes", 3), "silent", None)
            .await;
        let mut silent = silent.unwrap().into_body();

        let mut seen = 3;
        for _ in 0..ROUNDS {
            let mut client = endpoint.http2(Some(PING)).await;
            let path = watch_path("apis/coordination.k8s.io/v1/leases", seen);
            let mut victim = client.get(&path, "victim", None).await.unwrap().into_body();
            update(&server, "leases");
            seen += 1;
            assert_eq!(next_version(&mut victim).await.unwrap(), seen);
            assert!(next_version(&mut victim).await.is_err());
            let text = format!("{:?}", client.ended().await);
            assert!(text.contains("KeepAliveTimedOut"), "{text}");
        }
        assert!(
            next_version(&mut silent).now_or_never().is_none(),
            "its pings are answered"
        );
        let written = update(&server, "nodes");
        assert_eq!(
            next_version(&mut idle).await.unwrap(),
            written,
            "the healthy control lives on"
        );
        endpoint.stop().await;
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn without_pings_nobody_notices_a_dead_connection() {
    timeout(LIMIT, async {
        let server = server_with(
            "faults: [{match: {user_agent: victim}, fault: {half_open: {after_events: 1}}}]",
        );
        let endpoint = SecureServer::serve(&server).await;
        let (mut trusting, mut pinging) =
            (endpoint.http2(None).await, endpoint.http2(Some(PING)).await);
        let path = watch_path("apis/coordination.k8s.io/v1/leases", 3);
        let mut waiting = trusting
            .get(&path, "victim", None)
            .await
            .unwrap()
            .into_body();
        let mut pinged = pinging
            .get(&path, "victim", None)
            .await
            .unwrap()
            .into_body();
        update(&server, "leases");
        for body in [&mut waiting, &mut pinged] {
            assert_eq!(next_version(body).await.unwrap(), 4);
        }
        update(&server, "leases");
        assert!(next_version(&mut pinged).await.is_err());
        assert!(next_version(&mut waiting).now_or_never().is_none());
        // A client that leaves is noticed even so.
        drop((trusting, waiting));
        let mut watchers = server.state().watchers;
        while watchers > 0 {
            tokio::task::yield_now().await;
            watchers = server.state().watchers;
        }
        endpoint.stop().await;
    })
    .await
    .unwrap();
}

/// Counts updates.
#[derive(Clone, Default)]
struct Updates(Arc<AtomicU64>);

impl ResourceEventHandler<Object> for Updates {
    async fn on_add(&mut self, _: Arc<Object>, _: AddOrigin) {}

    async fn on_update(&mut self, _: Arc<Object>, _: Arc<Object>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    async fn on_delete(&mut self, _: DeltaObject<Object>) {}
}

async fn until(reached: impl Fn() -> bool) {
    while !reached() {
        tokio::task::yield_now().await;
    }
}

/// Each request on a connection of its own, with pings.
fn pinging_client(
    endpoint: &Arc<SecureServer>,
) -> impl Service<
    Request<Empty<Bytes>>,
    Response = Response<Incoming>,
    Error = hyper::Error,
    Future: Send,
> + Clone
+ Send
+ Sync
+ 'static {
    let endpoint = Arc::clone(endpoint);
    service_fn(move |request: Request<Empty<Bytes>>| {
        let endpoint = Arc::clone(&endpoint);
        async move {
            let mut client = endpoint.http2(Some(PING)).await;
            let path = request.uri().path_and_query().unwrap().as_str().to_owned();
            let response = client.get(&path, "informer", None).await?;
            // The connection lives as long as the test.
            endpoint.keep(client);
            Ok(response)
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_informer_whose_connection_goes_dead_watches_again_from_its_last_version_without_a_list()
{
    timeout(LIMIT, async {
        let server = server_with(
            "faults: [{match: {verbs: [watch], first: 1}, fault: {half_open: {after_events: 1}}}]",
        );
        let endpoint = Arc::new(SecureServer::serve(&server).await);
        let settings = SharedInformerSettings {
            queue: QueueKind::DeltaFifo,
            default_resync_period: Duration::ZERO,
            reflector: ReflectorSettings::client_go(1),
        };
        let index = index_by_namespace();
        let informer = SharedInformer::<Object, _>::new(settings, index, NoObserver);
        let updates = Updates::default();
        let registration = informer
            .add_event_handler(updates.clone())
            .expect("it is new");
        let list_watch = HttpListWatch::<_, Object>::new(
            pinging_client(&endpoint),
            "https://localhost",
            &Resource::leases(),
            None,
        );
        informer.start(list_watch);
        registration
            .wait_until_synced()
            .await
            .expect("no handler panics");
        until(|| server.state().watchers == 1).await;
        update(&server, "leases");
        until(|| updates.0.load(Ordering::Relaxed) == 1).await;
        // Falls into the dead connection.
        let missed = update(&server, "leases");
        until(|| updates.0.load(Ordering::Relaxed) == 2).await;
        assert_eq!(informer.last_sync_resource_version().number(), Some(missed));
        let state = server.state();
        assert_eq!((state.list_requests, state.watch_requests), (1, 2));
        update(&server, "leases");
        until(|| updates.0.load(Ordering::Relaxed) == 3).await;
        informer.stop().await;
        assert_eq!(updates.0.load(Ordering::Relaxed), 3, "each change once");
    })
    .await
    .unwrap();
}
