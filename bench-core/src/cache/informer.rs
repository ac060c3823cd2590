//! The plain informer, `NewIndexerInformer` upstream: one handler, called inline while the queue pops.

use std::{fmt, io, panic, sync::Arc, thread, time::Duration};

use tokio::{sync::watch, task::JoinSet};

use crate::{
    api::{KubeObject, ResourceVersion},
    list_watch::ListerWatcher,
};

use super::{
    AnyQueue, Controller, Indexer, Indexers, InformerObserver, InlineEventHandler, KnownObjects,
    Lister, Notification, Popped, QueueHandle, QueueKind, QueueLength, Reflector,
    ReflectorSettings, ResyncTimer, process_popped,
};

/// Where a plain informer's handler runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControllerPlacement {
    /// A thread of its own, so that a handler may block.
    Thread,
    /// A task of the calling runtime: for handlers that do not block, and for a paused clock.
    Task,
}

/// How a plain informer is set up.
#[derive(Debug, Clone)]
pub struct InformerSettings {
    /// Generation of the queue.
    pub queue: QueueKind,
    /// Time between two resyncs; absent or zero means never.
    pub resync_period: Option<Duration>,
    /// Where the handler runs.
    pub placement: ControllerPlacement,
    /// How it lists and watches.
    pub reflector: ReflectorSettings,
}

/// Starts plain informers.
#[derive(Debug)]
pub struct Informer;

/// A plain informer at work. Dropping it stops the reflector and closes the queue, as [`RunningInformer::stop`] does.
pub struct RunningInformer<T, O> {
    queue: QueueHandle<T, AnyQueue<T>, O>,
    indexer: Arc<Indexer<T>>,
    last_sync: watch::Receiver<ResourceVersion>,
    reflector: JoinSet<()>,
    controller_task: JoinSet<()>,
    controller_thread: Option<thread::JoinHandle<()>>,
}

impl Informer {
    /// Starts listing, watching and calling `handler`. Must be called in a tokio runtime; with
    /// [`ControllerPlacement::Thread`] that runtime needs more than one worker, since the reflector may wait for the handler.
    ///
    /// # Errors
    /// If the controller's thread cannot be made.
    pub fn start<T, L, H, O>(
        list_watch: L,
        settings: InformerSettings,
        mut handler: H,
        indexers: Indexers<T>,
        observer: O,
    ) -> io::Result<RunningInformer<T, O>>
    where
        T: KubeObject,
        L: ListerWatcher<T>,
        H: InlineEventHandler<T>,
        O: InformerObserver<T> + Clone,
    {
        let indexer = Arc::new(Indexer::new(indexers));
        let known_objects: Arc<dyn KnownObjects<T>> = Arc::<Indexer<T>>::clone(&indexer);
        let queue = AnyQueue::for_informer(settings.queue, known_objects);
        let queue = QueueHandle::new(queue, observer.clone());
        let resync = ResyncTimer {
            period: settings.resync_period.filter(|period| !period.is_zero()),
            should_resync: None,
        };
        let reflector = Reflector::new(
            list_watch,
            queue.clone(),
            observer.clone(),
            settings.reflector,
            resync,
        );
        let last_sync = reflector.last_sync_resource_version();
        let controller = Controller::new(
            queue.clone(),
            Arc::clone(&indexer),
            move |popped: &Popped<T>, indexer: &Indexer<T>| {
                process_popped(popped, indexer, |delta_type, notification| {
                    observer.delivering(delta_type, &notification);
                    match &notification {
                        Notification::Added { object, origin } => handler.on_add(object, *origin),
                        Notification::Updated { old, new } => handler.on_update(old, new),
                        Notification::Deleted { object } => handler.on_delete(object),
                    }
                    observer.delivered(delta_type, &notification);
                })
            },
        );
        let mut running = RunningInformer {
            queue,
            indexer,
            last_sync,
            reflector: JoinSet::new(),
            controller_task: JoinSet::new(),
            controller_thread: None,
        };
        match settings.placement {
            ControllerPlacement::Task => {
                running.controller_task.spawn(controller.run());
            }
            ControllerPlacement::Thread => {
                let thread = thread::Builder::new().name("informer-controller".to_owned());
                running.controller_thread = Some(thread.spawn(move || controller.run_blocking())?);
            }
        }
        running.reflector.spawn(reflector.run());
        Ok(running)
    }
}

impl<T: KubeObject, O: InformerObserver<T>> RunningInformer<T, O> {
    /// The cache.
    pub fn indexer(&self) -> &Arc<Indexer<T>> {
        &self.indexer
    }

    /// A read-only view of the cache.
    pub fn lister(&self) -> Lister<T> {
        Lister::new(Arc::clone(&self.indexer))
    }

    /// Whether the whole first list has been handled. Waits for a running handler unless the queue is unlocked for it.
    pub fn has_synced(&self) -> bool {
        self.queue.has_synced()
    }

    /// Waits until the whole first list has been handled. Cancel safe.
    pub async fn wait_until_synced(&self) {
        self.queue.wait_until_synced().await;
    }

    /// What is pending; takes no lock.
    pub fn queue_length(&self) -> QueueLength {
        self.queue.length()
    }

    /// The last version seen, by list, event or bookmark.
    pub fn last_sync_resource_version(&self) -> ResourceVersion {
        self.last_sync.borrow().clone()
    }

    /// Ends all resyncs, so that a measurement can let the queue run empty. Upstream has no such switch.
    pub fn end_resyncs(&self) {
        self.queue.end_resyncs();
    }

    /// Stops the reflector and the handler, and returns the cache. What is still queued is worked off or left, as the
    /// generation does: see [`QueueKind::after_close`].
    ///
    /// # Panics
    /// As the handler did, if it did: nothing was handled after that.
    pub async fn stop(mut self) -> Arc<Indexer<T>> {
        self.reflector.shutdown().await;
        self.queue.close();
        while let Some(ended) = self.controller_task.join_next().await {
            if let Err(error) = ended
                && error.is_panic()
            {
                panic::resume_unwind(error.into_panic());
            }
        }
        if let Some(thread) = self.controller_thread.take() {
            let joined = tokio::task::spawn_blocking(move || thread.join()).await;
            if let Ok(Err(payload)) = joined {
                panic::resume_unwind(payload);
            }
        }
        Arc::clone(&self.indexer)
    }
}

impl<T, O> Drop for RunningInformer<T, O> {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl<T, O> fmt::Debug for RunningInformer<T, O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunningInformer")
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}
