//! One reflector and one cache, many handlers, each with a buffer and a resync period of its own.
//!
//! Mirrors client-go's `tools/cache/shared_informer.go` of 0.27. The contract, in our words:
//!
//! - Each handler is called one call at a time, in the order in which the cache changed. Between handlers there is no order.
//! - A slow handler delays nobody; its notifications pile up without bound.
//! - A handler that is added later first gets every cached object as an addition, then what follows, without gap or double.
//! - An update whose two versions are equal goes only to handlers that are due for a resync; every other change goes to all.
//!   A handler counts as due until the first resync round has asked.
//! - A period of the informer of 0 disables the resync of every handler, whatever it asked for.

mod ending;
mod listener;
mod periods;
mod processor;

use std::{fmt, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{sync::watch, task::JoinSet, time::Instant};

use crate::{
    api::{KubeObject, ResourceVersion},
    list_watch::ListerWatcher,
};

use super::{
    AddOrigin, AnyQueue, Controller, Indexer, Indexers, InformerObserver, InformerWarning,
    KnownObjects, Lister, Notification, Popped, QueueHandle, QueueKind, QueueLength, Reflector,
    ReflectorSettings, ResourceEventHandler, ResyncTimer, SharedTransformer, ShouldResync,
    process_popped,
};
pub use listener::{HandlerRegistration, SyncError};
use listener::{Listener, Told};
pub use periods::{ListenerPeriod, effective_period};
use processor::{Phase, Processor};

/// How a shared informer is set up.
#[derive(Debug, Clone)]
pub struct SharedInformerSettings {
    /// Generation of the queue.
    pub queue: QueueKind,
    /// Resync period of handlers that ask for none of their own, and at first the period at which due handlers are looked
    /// for; zero disables every resync.
    pub default_resync_period: Duration,
    /// How it lists and watches.
    pub reflector: ReflectorSettings,
}

/// A handler could not be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddHandlerError {
    /// The informer has been stopped.
    #[error("handler was not added to shared informer because it has stopped already")]
    Stopped,
}

/// The shared informer. Every method may be called from a handler.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use std::{convert::Infallible, sync::Arc, time::Duration};
/// use bench_core::{
///     api::{Object, Resource},
///     cache::{AddOrigin, DeltaObject, NoObserver, QueueKind, ReflectorSettings, ResourceEventHandler, SharedInformer, SharedInformerSettings, index_by_namespace},
///     list_watch::HttpListWatch,
/// };
/// use bytes::Bytes;
/// use http_body_util::{Either, Empty, Full};
///
/// struct Printer;
/// impl ResourceEventHandler<Object> for Printer {
///     async fn on_add(&mut self, object: Arc<Object>, origin: AddOrigin) { println!("{} {origin:?}", object.json().len()); }
///     async fn on_update(&mut self, _old: Arc<Object>, _new: Arc<Object>) {}
///     async fn on_delete(&mut self, _object: DeltaObject<Object>) {}
/// }
///
/// // Any tower service is a server: this one holds one pod, and its watches end at once.
/// let server = tower::service_fn(|request: http::Request<Empty<Bytes>>| async move {
///     let watch = request.uri().query().is_some_and(|query| query.contains("watch="));
///     let list = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},
///         "items":[{"metadata":{"namespace":"shop","name":"web","resourceVersion":"7"}}]}"#;
///     let body = if watch { Either::Left(Empty::new()) } else { Either::Right(Full::from(list)) };
///     Ok::<_, Infallible>(http::Response::new(body))
/// });
///
/// let settings = SharedInformerSettings {
///     queue: QueueKind::DeltaFifo,
///     default_resync_period: Duration::from_secs(30),
///     reflector: ReflectorSettings::client_go(1),
/// };
/// let informer = SharedInformer::<Object, _>::new(settings, index_by_namespace(), NoObserver);
/// let registration = informer.add_event_handler(Printer).unwrap();
/// informer.start(HttpListWatch::new(server, "http://example", &Resource::pods(), None));
/// registration.wait_until_synced().await.unwrap();
/// assert_eq!(informer.lister().namespace("shop").list().len(), 1);
/// informer.stop().await;
/// # }
/// ```
pub struct SharedInformer<T, O> {
    transformer: Option<SharedTransformer<T>>,
    indexer: Arc<Indexer<T>>,
    queue: QueueHandle<T, AnyQueue<T>, O>,
    // Held for the whole of one item's distribution, so that a late handler sees neither gap nor double.
    processor: Arc<Mutex<Processor<T>>>,
    observer: O,
    reflector_settings: ReflectorSettings,
    default_resync_period: Duration,
    began: Instant,
    tasks: Mutex<Tasks>,
    last_sync: Mutex<Option<watch::Receiver<ResourceVersion>>>,
}

#[derive(Default)]
struct Tasks {
    reflector: JoinSet<()>,
    controller: JoinSet<()>,
}

impl<T, O> SharedInformer<T, O>
where
    T: KubeObject,
    O: InformerObserver<T> + Clone,
{
    /// Makes an informer that has not begun.
    pub fn new(settings: SharedInformerSettings, indexers: Indexers<T>, observer: O) -> Self {
        let indexer = Arc::new(Indexer::new(indexers));
        let known_objects: Arc<dyn KnownObjects<T>> = Arc::<Indexer<T>>::clone(&indexer);
        let queue = AnyQueue::for_informer(settings.queue, known_objects);
        Self::over(queue, settings, indexer, observer)
    }

    /// Makes an informer that changes every object before it is queued, so that cache and handlers know only the result
    /// (`SetTransform` upstream). A transformer that fails loses an event, and refuses a list. An object may be transformed
    /// twice: initial events of a streaming list are, and by a `DeltaFifo` also resynced ones.
    pub fn transforming(
        settings: SharedInformerSettings,
        indexers: Indexers<T>,
        observer: O,
        transformer: SharedTransformer<T>,
    ) -> Self {
        let indexer = Arc::new(Indexer::new(indexers));
        let known_objects: Arc<dyn KnownObjects<T>> = Arc::<Indexer<T>>::clone(&indexer);
        let shared = Arc::clone(&transformer);
        let queue = AnyQueue::for_transforming_informer(settings.queue, known_objects, shared);
        let mut informer = Self::over(queue, settings, indexer, observer);
        informer.transformer = Some(transformer);
        informer
    }

    fn over(
        queue: AnyQueue<T>,
        settings: SharedInformerSettings,
        indexer: Arc<Indexer<T>>,
        observer: O,
    ) -> Self {
        let queue = QueueHandle::new(queue, observer.clone());
        Self {
            transformer: None,
            indexer,
            queue,
            processor: Arc::new(Mutex::new(Processor::new(settings.default_resync_period))),
            observer,
            reflector_settings: settings.reflector,
            default_resync_period: settings.default_resync_period,
            began: Instant::now(),
            tasks: Mutex::new(Tasks::default()),
            last_sync: Mutex::new(None),
        }
    }

    /// Adds a handler with the informer's period. Must be called in a tokio runtime.
    ///
    /// # Errors
    /// [`AddHandlerError::Stopped`].
    pub fn add_event_handler(
        &self,
        handler: impl ResourceEventHandler<T>,
    ) -> Result<HandlerRegistration, AddHandlerError> {
        self.add_event_handler_with_resync_period(handler, self.default_resync_period)
    }

    /// Adds a handler that wants a resync every `period`; zero means never, less than a second is raised to one. Once the
    /// informer runs, a period below its check period is raised to that.
    ///
    /// # Errors
    /// [`AddHandlerError::Stopped`].
    pub fn add_event_handler_with_resync_period(
        &self,
        handler: impl ResourceEventHandler<T>,
        period: Duration,
    ) -> Result<HandlerRegistration, AddHandlerError> {
        let observer = self.observer.clone();
        let mut processor = self.processor.lock();
        if processor.phase == Phase::Stopped {
            return Err(AddHandlerError::Stopped);
        }
        let (period, warnings) = processor.admit(period, self.began.elapsed());
        for warning in &warnings {
            observer.warned(warning);
        }
        let tell = move |told| match told {
            Told::Panicked => observer.handler_panicked(),
            Told::Backlog(pending) => observer.warned(&InformerWarning::HandlerBacklog { pending }),
        };
        let (listener, task, registration) =
            Listener::new(handler, period, self.queue.synced(), tell);
        if processor.phase == Phase::Started {
            for object in self.indexer.list() {
                listener.push(Notification::Added {
                    object,
                    origin: AddOrigin::InitialList,
                });
            }
            processor.tasks.spawn(task);
        } else {
            processor.waiting_tasks.push(Box::pin(task));
        }
        processor.listeners.insert(registration.id(), listener);
        Ok(registration)
    }

    /// Removes a handler. A call in progress may still be running; what was buffered is dropped. Unknown registrations are ignored.
    pub fn remove_event_handler(&self, registration: &HandlerRegistration) {
        let removed = self.processor.lock().listeners.remove(&registration.id());
        if let Some(listener) = removed {
            listener.close();
        }
    }

    /// How many handlers there are.
    pub fn handler_count(&self) -> usize {
        self.processor.lock().listeners.len()
    }

    /// Begins to list, watch and call handlers; a second call does nothing but warn. Must be called in a tokio runtime.
    pub fn start(&self, list_watch: impl ListerWatcher<T>) {
        let check_period = {
            let mut processor = self.processor.lock();
            if processor.phase != Phase::New {
                tracing::warn!("the informer has been started already");
                return;
            }
            for warning in processor.start() {
                self.observer.warned(&warning);
            }
            processor.check_period
        };
        let resync = ResyncTimer {
            period: Some(check_period).filter(|period| !period.is_zero()),
            should_resync: Some(self.should_resync()),
        };
        let settings = self.reflector_settings.clone();
        let reflector = Reflector::new(
            list_watch,
            self.queue.clone(),
            self.observer.clone(),
            settings,
            resync,
        );
        let reflector = match &self.transformer {
            None => reflector,
            Some(transformer) => {
                let transformer = Arc::clone(transformer);
                reflector.with_transformer(Box::new(move |object| transformer(object)))
            }
        };
        *self.last_sync.lock() = Some(reflector.last_sync_resource_version());
        let processor = Arc::clone(&self.processor);
        let observer = self.observer.clone();
        let process = move |popped: &Popped<T>, indexer: &Indexer<T>| {
            let processor = processor.lock();
            process_popped(popped, indexer, |delta_type, notification| {
                observer.delivering(delta_type, &notification);
                if let Some(warning) = processor.distribute(delta_type, &notification) {
                    observer.warned(&warning);
                }
                observer.delivered(delta_type, &notification);
            })
        };
        let mut tasks = self.tasks.lock();
        tasks
            .controller
            .spawn(Controller::new(self.queue.clone(), Arc::clone(&self.indexer), process).run());
        tasks.reflector.spawn(reflector.run());
    }

    /// A read-only view of the cache.
    pub fn lister(&self) -> Lister<T> {
        Lister::new(Arc::clone(&self.indexer))
    }

    /// The cache.
    pub fn indexer(&self) -> &Arc<Indexer<T>> {
        &self.indexer
    }

    /// Whether the first list is in the cache; handlers may not have been called yet, see [`HandlerRegistration::has_synced`].
    pub fn has_synced(&self) -> bool {
        self.queue.has_synced()
    }

    /// Waits until the first list is in the cache. Cancel safe.
    pub async fn wait_until_synced(&self) {
        self.queue.wait_until_synced().await;
    }

    /// What is pending in the queue; takes no lock.
    pub fn queue_length(&self) -> QueueLength {
        self.queue.length()
    }

    /// How often the informer looks for due handlers: the smallest period asked for before the start.
    pub fn resync_check_period(&self) -> Duration {
        self.processor.lock().check_period
    }

    /// The last version seen, by list, event or bookmark; unset before the first list.
    pub fn last_sync_resource_version(&self) -> ResourceVersion {
        self.last_sync
            .lock()
            .as_ref()
            .map_or_else(ResourceVersion::unset, |last| last.borrow().clone())
    }

    /// Ends all resyncs, so that a measurement can let the queue run empty. Upstream has no such switch.
    pub fn end_resyncs(&self) {
        self.queue.end_resyncs();
    }

    /// Stops the reflector, works off or leaves the queue (see [`QueueKind::after_close`]), then stops the handlers; what they
    /// have buffered is dropped.
    pub async fn stop(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks.lock());
        tasks.reflector.shutdown().await;
        self.queue.close();
        while tasks.controller.join_next().await.is_some() {}
        let mut listeners = self.processor.lock().stop();
        while listeners.join_next().await.is_some() {}
    }

    fn should_resync(&self) -> ShouldResync {
        let processor = Arc::clone(&self.processor);
        let began = self.began;
        Arc::new(move || processor.lock().should_resync(began.elapsed()))
    }
}

impl<T, O> Drop for SharedInformer<T, O> {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl<T, O> fmt::Debug for SharedInformer<T, O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SharedInformer")
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}
