//! The mutation detector; cases of client-go's `tools/cache/mutation_detector_test.go`.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bench_core::{
    api::{DecodeError, KeyError, KubeObject, Object, ObjectKey, Resource, ResourceVersion},
    cache::{
        AddOrigin, DeltaObject, DeltaType, InformerObserver as _, MutationDetector, Notification,
        QueueKind, ReflectorSettings, ResourceEventHandler, SharedInformer, SharedInformerSettings,
    },
    list_watch::HttpListWatch,
};
use http_body_util::{Either, Empty, Full};
use tokio::time::{Instant, timeout};

/// An object that can be changed though it is shared.
struct Changeable {
    object: Object,
    label: AtomicU64,
}

impl KubeObject for Changeable {
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self {
            object: Object::decode(json)?,
            label: AtomicU64::new(0),
        })
    }

    fn key(&self) -> Result<ObjectKey, KeyError> {
        self.object.key()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.object.resource_version()
    }

    fn uid(&self) -> &str {
        self.object.uid()
    }

    fn kind(&self) -> &str {
        self.object.kind()
    }
}

type Detector = MutationDetector<Changeable, fn(&Changeable) -> u64>;

fn detector() -> Arc<Detector> {
    Arc::new(MutationDetector::new(|object| {
        object.label.load(Ordering::Relaxed)
    }))
}

fn changeable() -> Arc<Changeable> {
    let json = br#"{"metadata":{"name":"a","namespace":"t","resourceVersion":"1"}}"#;
    Arc::new(Changeable::decode(json).expect("literal JSON"))
}

fn added(object: &Arc<Changeable>) -> Notification<Changeable> {
    Notification::Added {
        object: Arc::clone(object),
        origin: AddOrigin::Live,
    }
}

/// Changes what it is handed.
struct Changes;

impl ResourceEventHandler<Changeable> for Changes {
    async fn on_add(&mut self, object: Arc<Changeable>, _: AddOrigin) {
        object.label.store(1, Ordering::Relaxed);
    }
    async fn on_update(&mut self, _: Arc<Changeable>, _: Arc<Changeable>) {}
    async fn on_delete(&mut self, _: DeltaObject<Changeable>) {}
}

/// `TestMutationDetector`.
#[tokio::test(start_paused = true)]
async fn a_handler_that_changes_a_cached_object_is_found_within_a_second() {
    let server = tower::service_fn(|request: http::Request<Empty<bytes::Bytes>>| async move {
        let query = request.uri().query().unwrap_or_default().to_owned();
        if query.contains("watch=") {
            std::future::pending::<()>().await;
        }
        let list = r#"{"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a","namespace":"t","resourceVersion":"7"}}]}"#;
        Ok::<_, std::convert::Infallible>(http::Response::new(Either::<_, Empty<_>>::Left(Full::<
            bytes::Bytes,
        >::from(
            list
        ))))
    });
    let detector = detector();
    let settings = SharedInformerSettings {
        queue: QueueKind::DeltaFifo,
        default_resync_period: Duration::ZERO,
        reflector: ReflectorSettings::client_go(7),
    };
    let observer: Arc<Detector> = Arc::clone(&detector);
    let informer = SharedInformer::new(settings, HashMap::new(), observer);
    let registration = informer.add_event_handler(Changes).unwrap();
    informer.start(HttpListWatch::new(server, "", &Resource::pods(), None));
    let began = Instant::now();
    let altered = timeout(Duration::from_secs(2), detector.run()).await;
    assert_eq!(altered.expect("found").len(), 1);
    assert!(began.elapsed() <= Duration::from_secs(1));
    assert!(registration.has_synced());
}

#[tokio::test(start_paused = true)]
async fn an_object_is_looked_at_for_two_to_four_minutes() {
    for (change_after, found) in [(119, true), (240, true), (244, false)] {
        let detector = detector();
        let object = changeable();
        detector.delivering(DeltaType::Added, &added(&object));
        let looking = timeout(Duration::from_secs(change_after), detector.run()).await;
        assert!(looking.is_err(), "it has not changed yet");
        // The looking begins anew, but what was kept stays.
        object.label.store(1, Ordering::Relaxed);
        assert_eq!(!detector.altered().is_empty(), found, "{change_after} s");
    }
}

#[test]
fn deleted_objects_and_old_states_are_not_looked_at() {
    let detector = detector();
    let (old, new, deleted) = (changeable(), changeable(), changeable());
    detector.delivering(
        DeltaType::Updated,
        &Notification::Updated {
            old: Arc::clone(&old),
            new: Arc::clone(&new),
        },
    );
    detector.delivering(
        DeltaType::Deleted,
        &Notification::Deleted {
            object: DeltaObject::Object(Arc::clone(&deleted)),
        },
    );
    for object in [&old, &deleted] {
        object.label.store(1, Ordering::Relaxed);
    }
    assert_eq!(detector.altered().len(), 0);
    new.label.store(1, Ordering::Relaxed);
    assert_eq!(detector.altered().len(), 1);
}
