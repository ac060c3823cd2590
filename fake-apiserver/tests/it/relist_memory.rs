//! A relist replaces the cache object by object: nothing of the list before stays alive, and no reader meets a gap.

use std::{
    convert::Infallible,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{body::Body, response::Response};
use bench_core::{
    api::{Object, Resource},
    cache::{
        AddOrigin, ControllerPlacement, DeltaObject, Informer, InformerSettings,
        InlineEventHandler, NoObserver, QueueKind, QueueLength, ReflectorSettings,
        index_by_namespace,
    },
    list_watch::HttpListWatch,
};
use bytes::Bytes;
use fake_apiserver::{
    ApiServer,
    config::{ObjectSource, ServerConfig},
    control::{WriteKind, WriteRequest},
    profiles::ProfileKind,
    router,
};
use http::{Request, StatusCode};
use http_body_util::Empty;
use tower::ServiceExt as _;

const PODS: usize = 500;

struct Deaf;

impl InlineEventHandler<Object> for Deaf {
    fn on_add(&mut self, _: &Arc<Object>, _: AddOrigin) {}
    fn on_update(&mut self, _: &Arc<Object>, _: &Arc<Object>) {}
    fn on_delete(&mut self, _: &DeltaObject<Object>) {}
}

fn pods() -> Arc<ApiServer> {
    let mut config = ServerConfig::empty("127.0.0.1:0".parse().unwrap(), 1);
    config.objects = vec![ObjectSource::Profile {
        kind: ProfileKind::Pod6k,
        count: PODS,
    }];
    ApiServer::try_from_config(&config).unwrap()
}

/// The server, but for one watch that finds its version expired.
fn expiring_once(
    server: &Arc<ApiServer>,
    expire: &Arc<AtomicBool>,
) -> impl tower::Service<Request<Empty<Bytes>>, Response = Response, Error = Infallible, Future: Send>
+ Clone
+ Send
+ Sync
+ 'static {
    let router = router(Arc::clone(server));
    let expire = Arc::clone(expire);
    tower::service_fn(move |request: Request<Empty<Bytes>>| {
        let is_watch = request.uri().query().unwrap_or("").contains("watch=");
        let expired = is_watch && expire.swap(false, Ordering::AcqRel);
        let router = router.clone();
        async move {
            if !expired {
                return router.oneshot(request.map(Body::new)).await;
            }
            let status = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}"#;
            let mut response = Response::new(Body::from(status));
            *response.status_mut() = StatusCode::GONE;
            Ok(response)
        }
    })
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

fn alive(objects: &[Weak<Object>]) -> usize {
    let is_alive = |object: &&Weak<Object>| object.strong_count() > 0;
    objects.iter().filter(is_alive).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relist_keeps_nothing_of_the_list_before_and_no_reader_meets_a_gap() {
    for queue in QueueKind::ALL {
        let server = pods();
        let expire = Arc::new(AtomicBool::new(false));
        let mut reflector = ReflectorSettings::client_go(1);
        reflector.backoff.initial = Duration::from_millis(10);
        let settings = InformerSettings {
            queue,
            resync_period: None,
            placement: ControllerPlacement::Thread,
            reflector,
        };
        let service = expiring_once(&server, &expire);
        let list_watch = HttpListWatch::new(service, "http://in-process", &Resource::pods(), None);
        let indexers = index_by_namespace();
        let informer = Informer::start(list_watch, settings, Deaf, indexers, NoObserver).unwrap();
        informer.wait_until_synced().await;
        let cached = || -> Vec<Weak<Object>> {
            let objects = informer.indexer().list();
            objects.iter().map(Arc::downgrade).collect()
        };
        let idle = || {
            // The last also waits for the item in hand.
            informer.queue_length() == QueueLength::default() && informer.has_synced()
        };
        until(|| server.state().watchers == 1 && idle()).await;
        let first = cached();
        assert_eq!(alive(&first), PODS, "{queue:?}");

        let watched = server.state().watch_requests;
        expire.store(true, Ordering::Release);
        server.close_watches();
        until(|| {
            assert_eq!(informer.indexer().len(), PODS, "{queue:?}");
            // The expired watch does not reach the server, so the next that does comes after the relist.
            server.state().watch_requests > watched
        })
        .await;
        until(idle).await;
        assert_eq!(alive(&first), 0, "{queue:?}");
        let second = cached();
        assert_eq!(alive(&second), PODS, "{queue:?}");

        for _ in 0..PODS * 99 / 100 {
            let delete = WriteRequest {
                resource: "pods".to_owned(),
                op: WriteKind::Delete,
                key: None,
            };
            server.write(&delete).unwrap();
        }
        until(|| informer.indexer().len() == PODS / 100 && idle()).await;
        assert_eq!(alive(&second), PODS / 100, "{queue:?}");
        informer.stop().await;
    }
}
