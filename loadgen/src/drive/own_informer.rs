//! The informers of this repository: plain with an inline handler, shared with a task.

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use bench_core::{
    api::{Object, ResourceVersion},
    cache::{
        AddOrigin, ControllerPlacement, DeltaObject, HandlerRegistration, Indexer, Informer,
        InformerSettings, InlineEventHandler, Notification, QueueLength, ReflectorSettings,
        ResourceEventHandler, RunningInformer, SharedInformer, SharedInformerSettings,
        index_by_namespace,
    },
    list_watch::{HttpListWatch, RefusedWatches},
    measure::clock::MonotonicTime,
    workqueue::WorkQueue,
};
use bytes::Bytes;
use http_body_util::Empty;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use tokio::task::JoinSet;

use super::{
    DriveSettings,
    recorder::{Fate, Recorder},
    under_test::convergence_limit,
};
use crate::{
    handler_cost::{CostExecutor, HandlerCost, SleepDebt},
    scenario::choice::{HandlerKind, InformerKind},
};

type HttpClient = Client<HttpConnector, Empty<Bytes>>;

pub(super) enum OwnInformer {
    Plain(RunningInformer<Object, Recorder>, Workers),
    Shared(
        Box<SharedInformer<Object, Recorder>>,
        HandlerRegistration,
        Workers,
    ),
}

/// The reconcilers behind a workqueue; none for an inline handler.
pub(super) struct Workers {
    queue: WorkQueue<String>,
    tasks: JoinSet<()>,
}

/// Spends a handler's cost on a thread of its own or, where it sleeps in a task, without blocking the runtime.
struct Cost {
    kind: HandlerCost,
    executor: CostExecutor,
    debt: SleepDebt,
}

struct Handler {
    recorder: Recorder,
    cost: Cost,
    queue: Option<WorkQueue<String>>,
}

pub(super) fn http_list_watch(settings: &DriveSettings) -> HttpListWatch<HttpClient, Object> {
    let client = Client::builder(TokioExecutor::new()).build_http();
    HttpListWatch::new(client, &settings.base_url, &settings.resource, None)
        // As the reflector's settings: those of 0.27, whatever the queue.
        .with_refused_watches(RefusedWatches::ByCode)
}

pub(super) fn start(settings: &DriveSettings, recorder: &Recorder) -> anyhow::Result<OwnInformer> {
    let reflector = ReflectorSettings::client_go(settings.seed);
    let mut workers = Workers {
        queue: WorkQueue::new(),
        tasks: JoinSet::new(),
    };
    let (cost, queue) = match settings.handler {
        HandlerKind::Probe => (HandlerCost::None, None),
        HandlerKind::Inline => (settings.handler_cost, None),
        HandlerKind::WorkQueue => {
            workers.spawn(settings.workers, settings.handler_cost, recorder);
            (HandlerCost::None, Some(workers.queue.clone()))
        }
    };
    let handler = Handler {
        recorder: recorder.clone(),
        cost: Cost::new(cost),
        queue,
    };
    match settings.informer {
        InformerKind::Plain => {
            let placement = ControllerPlacement::Thread;
            let informer_settings = InformerSettings {
                queue: settings.queue,
                resync_period: settings.resync_period,
                placement,
                reflector,
            };
            let list_watch = http_list_watch(settings);
            let informer = Informer::start(
                list_watch,
                informer_settings,
                handler,
                index_by_namespace(),
                recorder.clone(),
            )
            .context("the controller's thread cannot be made")?;
            Ok(OwnInformer::Plain(informer, workers))
        }
        InformerKind::Shared => {
            let default_resync_period = settings.resync_period.unwrap_or(Duration::ZERO);
            let informer_settings = SharedInformerSettings {
                queue: settings.queue,
                default_resync_period,
                reflector,
            };
            let informer =
                SharedInformer::new(informer_settings, index_by_namespace(), recorder.clone());
            let registration = informer.add_event_handler(handler)?;
            informer.start(http_list_watch(settings));
            Ok(OwnInformer::Shared(
                Box::new(informer),
                registration,
                workers,
            ))
        }
    }
}

impl OwnInformer {
    pub(super) async fn wait_until_synced(&self) {
        match self {
            Self::Plain(informer, _) => informer.wait_until_synced().await,
            Self::Shared(_, registration, _) => {
                // The handlers here do not panic; if one did, convergence would fail.
                let _ = registration.wait_until_synced().await;
            }
        }
    }

    pub(super) fn cached_objects(&self) -> u64 {
        let indexer = match self {
            Self::Plain(informer, _) => informer.indexer(),
            Self::Shared(informer, _, _) => informer.indexer(),
        };
        indexer.len() as u64
    }

    pub(super) fn queue_length(&self) -> QueueLength {
        match self {
            Self::Plain(informer, _) => informer.queue_length(),
            Self::Shared(informer, _, _) => informer.queue_length(),
        }
    }

    /// Notifications in the listener's buffer; a plain informer has none.
    pub(super) fn listener_pending(&self) -> Option<u64> {
        match self {
            Self::Plain(..) => None,
            Self::Shared(_, registration, _) => Some(registration.pending()),
        }
    }

    pub(super) fn end_resyncs(&self) {
        match self {
            Self::Plain(informer, _) => informer.end_resyncs(),
            Self::Shared(informer, _, _) => informer.end_resyncs(),
        }
    }

    /// Waits until the informer has seen `version` and nothing is pending anywhere; false if that took too long.
    pub(super) async fn wait_until_converged(
        &self,
        version: u64,
        settings: &DriveSettings,
    ) -> bool {
        let waiting = self.listener_pending().unwrap_or(0) + self.workers().queue.len() as u64;
        let limit = convergence_limit(
            settings,
            self.cached_objects(),
            self.queue_length(),
            waiting,
        );
        let converged = async {
            let mut poll = tokio::time::interval(Duration::from_millis(5));
            loop {
                poll.tick().await;
                let seen = self
                    .last_version()
                    .number()
                    .is_some_and(|seen| seen >= version);
                let idle = self.queue_length() == QueueLength::default()
                    && self.listener_pending().unwrap_or(0) == 0
                    && self.workers().queue.is_empty();
                // Takes the queue's lock, hence waits for a handler that runs under it.
                if seen
                    && idle
                    && self.has_synced()
                    && self.queue_length() == QueueLength::default()
                {
                    return;
                }
            }
        };
        tokio::time::timeout(limit, converged).await.is_ok()
    }

    /// Stops everything and returns the cache.
    pub(super) async fn stop(self) -> Arc<Indexer<Object>> {
        match self {
            Self::Plain(informer, workers) => {
                let indexer = informer.stop().await;
                workers.stop().await;
                indexer
            }
            Self::Shared(informer, _, workers) => {
                informer.stop().await;
                workers.stop().await;
                Arc::clone(informer.indexer())
            }
        }
    }

    fn workers(&self) -> &Workers {
        match self {
            Self::Plain(_, workers) | Self::Shared(_, _, workers) => workers,
        }
    }

    fn last_version(&self) -> ResourceVersion {
        match self {
            Self::Plain(informer, _) => informer.last_sync_resource_version(),
            Self::Shared(informer, _, _) => informer.last_sync_resource_version(),
        }
    }

    fn has_synced(&self) -> bool {
        match self {
            Self::Plain(informer, _) => informer.has_synced(),
            Self::Shared(informer, _, _) => informer.has_synced(),
        }
    }
}

impl Workers {
    fn spawn(&mut self, count: usize, cost: HandlerCost, recorder: &Recorder) {
        for _ in 0..count {
            let queue = self.queue.clone();
            let recorder = recorder.clone();
            self.tasks.spawn(async move {
                let mut cost = Cost::new(cost);
                while let Some(key) = queue.get().await {
                    let began_ns = MonotonicTime::now().nanoseconds;
                    cost.spend_async().await;
                    queue.done(&key);
                    recorder.reconciled(key, began_ns);
                }
            });
        }
    }

    async fn stop(mut self) {
        self.queue.shut_down();
        while self.tasks.join_next().await.is_some() {}
    }
}

impl Cost {
    fn new(cost: HandlerCost) -> Self {
        Self {
            kind: cost,
            executor: CostExecutor::new(cost),
            debt: SleepDebt::default(),
        }
    }

    async fn spend_async(&mut self) {
        let HandlerCost::Sleep(cost) = self.kind else {
            return self.executor.spend();
        };
        if let Some(portion) = self.debt.charge(cost) {
            let began = MonotonicTime::now();
            // Tokio's timers tick in milliseconds; what a sleep overshoots is taken off the next.
            tokio::time::sleep(portion).await;
            self.debt.slept(MonotonicTime::now().since(began));
        }
    }
}

impl Handler {
    /// Decides whether the call is lost, and queues its key if it is not.
    fn take(&self, notification: &Notification<Object>, cause: super::Cause) -> Fate {
        let fate = self.recorder.loses(notification, cause);
        if let (Some(queue), Fate::Handled, Some(key)) = (&self.queue, fate, key_of(notification)) {
            queue.add(key);
        }
        fate
    }

    fn call(&mut self, notification: &Notification<Object>) {
        let began_ns = MonotonicTime::now().nanoseconds;
        let cause = self.recorder.cause_of_inline_call();
        let fate = self.take(notification, cause);
        if cause != super::Cause::Initial {
            self.cost.executor.spend();
        }
        self.recorder.handled(notification, cause, began_ns, fate);
    }

    async fn call_async(&mut self, notification: Notification<Object>) {
        let began_ns = MonotonicTime::now().nanoseconds;
        let cause = self.recorder.cause_of_buffered_call(&notification);
        let fate = self.take(&notification, cause);
        if cause != super::Cause::Initial {
            self.cost.spend_async().await;
        }
        self.recorder.handled(&notification, cause, began_ns, fate);
    }
}

impl InlineEventHandler<Object> for Handler {
    fn on_add(&mut self, object: &Arc<Object>, origin: AddOrigin) {
        self.call(&Notification::Added {
            object: Arc::clone(object),
            origin,
        });
    }

    fn on_update(&mut self, old: &Arc<Object>, new: &Arc<Object>) {
        self.call(&Notification::Updated {
            old: Arc::clone(old),
            new: Arc::clone(new),
        });
    }

    fn on_delete(&mut self, object: &DeltaObject<Object>) {
        self.call(&Notification::Deleted {
            object: object.clone(),
        });
    }
}

impl ResourceEventHandler<Object> for Handler {
    async fn on_add(&mut self, object: Arc<Object>, origin: AddOrigin) {
        self.call_async(Notification::Added { object, origin })
            .await;
    }

    async fn on_update(&mut self, old: Arc<Object>, new: Arc<Object>) {
        self.call_async(Notification::Updated { old, new }).await;
    }

    async fn on_delete(&mut self, object: DeltaObject<Object>) {
        self.call_async(Notification::Deleted { object }).await;
    }
}

fn key_of(notification: &Notification<Object>) -> Option<String> {
    use bench_core::api::KubeObject as _;
    let object = match notification {
        Notification::Added { object, .. } => Some(object),
        Notification::Updated { new, .. } => Some(new),
        Notification::Deleted { object } => object.last_known(),
    };
    object
        .and_then(|object| object.key().ok())
        .map(|key| key.to_string())
}
