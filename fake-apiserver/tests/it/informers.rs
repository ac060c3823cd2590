//! Both informers, raw and typed objects, against the server in process under churn: they end with what the server holds.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bench_core::{
    api::{KubeObject, ListOptions, Object, Resource, ResourceVersion, content_hash},
    cache::{
        AddOrigin, ControllerPlacement, DeltaObject, Informer, InformerSettings,
        InlineEventHandler, NoObserver, QueueKind, QueueLength, ReflectorSettings,
        ResourceEventHandler, SharedInformer, SharedInformerSettings, index_by_namespace,
    },
    list_watch::{HttpListWatch, ListerWatcher as _},
    verify::{ObjectState, compare_states},
};
use bytes::Bytes;
use fake_apiserver::{
    ApiServer,
    config::{ObjectSource, ServerConfig},
    control::{Arrivals, ChurnMix, ChurnRequest, KeyChoice},
    profiles::ProfileKind,
    router,
};
use http_body_util::Empty;
use k8s_openapi::api::core::v1::Pod;

const POD_COUNT: usize = 150;

/// Calls by method: adds, updates, deletes.
#[derive(Clone, Default)]
struct Calls(Arc<[AtomicU64; 3]>);

impl Calls {
    fn count(&self, method: usize) {
        self.0[method].fetch_add(1, Ordering::Relaxed);
    }

    fn counts(&self) -> [u64; 3] {
        [0, 1, 2].map(|method: usize| self.0[method].load(Ordering::Relaxed))
    }
}

impl<T: KubeObject> ResourceEventHandler<T> for Calls {
    async fn on_add(&mut self, _: Arc<T>, _: AddOrigin) {
        self.count(0);
    }

    async fn on_update(&mut self, _: Arc<T>, _: Arc<T>) {
        self.count(1);
    }

    async fn on_delete(&mut self, _: DeltaObject<T>) {
        self.count(2);
    }
}

impl<T: KubeObject> InlineEventHandler<T> for Calls {
    fn on_add(&mut self, _: &Arc<T>, _: AddOrigin) {
        self.count(0);
    }

    fn on_update(&mut self, _: &Arc<T>, _: &Arc<T>) {
        self.count(1);
    }

    fn on_delete(&mut self, _: &DeltaObject<T>) {
        self.count(2);
    }
}

fn pods() -> Arc<ApiServer> {
    let mut config = ServerConfig::empty("127.0.0.1:0".parse().expect("an address"), 1);
    config.objects = vec![ObjectSource::Profile {
        kind: ProfileKind::Pod6k,
        count: POD_COUNT,
    }];
    ApiServer::try_from_config(&config).expect("a profile loads")
}

macro_rules! list_watch {
    ($server:expr, $object:ty) => {
        HttpListWatch::<_, $object>::new(
            router(Arc::clone(&$server)).into_service::<Empty<Bytes>>(),
            "http://in-process",
            &Resource::pods(),
            None,
        )
    };
}

/// Churns until 600 writes are committed; returns the creates, updates and deletes among them.
async fn churn(server: &Arc<ApiServer>) -> [u64; 3] {
    let before = server.state().revision;
    let request = ChurnRequest {
        resource: "pods".to_owned(),
        rate_per_second: 3_000.0,
        mix: ChurnMix {
            create: 1.0,
            update: 8.0,
            delete: 1.0,
        },
        arrivals: Arrivals::Poisson,
        keys: KeyChoice::Uniform,
        seed: 5,
        start_at_ns: None,
    };
    server.start_churn(&request).expect("nothing else churns");
    until(|| server.state().revision >= before + 600).await;
    server.stop_churn().expect("it churned");
    let mut by_kind = [0; 3];
    for commit in server.commits_since(before) {
        by_kind[commit.kind as usize] += 1;
    }
    by_kind
}

async fn until(reached: impl Fn() -> bool) {
    let polling = async {
        while !reached() {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_mins(1), polling).await;
    waited.expect("it comes about within a minute");
}

fn is_at(version: &ResourceVersion, server: &ApiServer) -> bool {
    version.number() == Some(server.state().revision)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_informer_of_typed_pods_ends_with_what_the_server_holds() {
    for queue in QueueKind::ALL {
        shared_informer_of_typed_pods(queue).await;
    }
}

async fn shared_informer_of_typed_pods(queue: QueueKind) {
    let server = pods();
    let settings = SharedInformerSettings {
        queue,
        default_resync_period: Duration::ZERO,
        reflector: ReflectorSettings::client_go(1),
    };
    let informer = SharedInformer::<Pod, _>::new(settings, index_by_namespace(), NoObserver);
    let calls = Calls::default();
    let registration = informer
        .add_event_handler(calls.clone())
        .expect("it is new");
    informer.start(list_watch!(server, Pod));
    registration
        .wait_until_synced()
        .await
        .expect("no handler panics");
    assert_eq!(calls.counts(), [POD_COUNT as u64, 0, 0]);

    let [creates, updates, deletes] = churn(&server).await;
    until(|| is_at(&informer.last_sync_resource_version(), &server)).await;
    until(|| informer.queue_length() == QueueLength::default() && registration.pending() == 0)
        .await;
    informer.stop().await;

    assert_eq!(
        calls.counts(),
        [POD_COUNT as u64 + creates, updates, deletes],
        "an unbroken watch shows every write"
    );
    let listed = list_watch!(server, Pod)
        .list(&ListOptions::most_recent())
        .await;
    let on_server = listed.expect("the server lists").items;
    let identity = |pod: &Arc<Pod>| {
        let key = pod.key().expect("a pod has a key");
        (key, (pod.uid().to_owned(), pod.resource_version()))
    };
    let sorted = |pods: &[Arc<Pod>]| -> BTreeMap<_, _> { pods.iter().map(identity).collect() };
    assert_eq!(sorted(&informer.lister().list()), sorted(&on_server));
    let phases = on_server.iter().filter(|pod| pod.status.is_some()).count();
    assert_eq!(phases, on_server.len(), "typed pods carry their status");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_informer_of_raw_objects_ends_with_the_servers_bytes() {
    for queue in QueueKind::ALL {
        plain_informer_of_raw_objects(queue).await;
    }
}

async fn plain_informer_of_raw_objects(queue: QueueKind) {
    let server = pods();
    let settings = InformerSettings {
        queue,
        resync_period: None,
        placement: ControllerPlacement::Thread,
        reflector: ReflectorSettings::client_go(1),
    };
    let calls = Calls::default();
    let informer = Informer::start(
        list_watch!(server, Object),
        settings,
        calls.clone(),
        index_by_namespace(),
        NoObserver,
    )
    .expect("a thread starts");
    informer.wait_until_synced().await;
    let [creates, updates, deletes] = churn(&server).await;
    until(|| is_at(&informer.last_sync_resource_version(), &server)).await;
    until(|| informer.queue_length() == QueueLength::default()).await;
    let cache = informer.stop().await;

    assert_eq!(
        calls.counts(),
        [POD_COUNT as u64 + creates, updates, deletes]
    );
    let listed = list_watch!(server, Object)
        .list(&ListOptions::most_recent())
        .await;
    let states = |objects: &[Arc<Object>]| -> BTreeMap<_, _> {
        let state = |object: &Arc<Object>| ObjectState {
            uid: object.uid().into(),
            resource_version: object.resource_version(),
            content_hash: content_hash(object.json()),
        };
        let entry = |object: &Arc<Object>| (object.key().expect("a key"), state(object));
        objects.iter().map(entry).collect()
    };
    let on_server = states(&listed.expect("the server lists").items);
    assert_eq!(compare_states(&on_server, &states(&cache.list())), []);
    assert_eq!(on_server.len() as u64, POD_COUNT as u64 + creates - deletes);
}
