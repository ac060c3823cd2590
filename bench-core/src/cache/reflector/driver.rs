//! The tasks around [`ReflectorState`]: requests, waiting, and the resync timer beside the watch.

use std::{fmt, sync::Arc, time::Duration};

use rand::{SeedableRng as _, rngs::ChaCha12Rng};
use tokio::{
    sync::{oneshot, watch},
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{
    api::{KubeObject, ListOptions, ResourceVersion, WatchEvent},
    list_watch::{ApiError, ListerWatcher, PagedList, Pager, WatchStream},
};

use super::{
    super::{
        Backoff, BackoffSettings, DeltaObject, EventQueue, InformerObserver, QueueHandle,
        RelistCause,
    },
    AfterWatch, ListRecovery, ReflectorState, WatchOutcome,
};

/// Asked each time the timer fires; absent means yes. A shared informer asks every listener whether it is due.
pub type ShouldResync = Arc<dyn Fn() -> bool + Send + Sync>;

/// How a reflector is set up.
#[derive(Clone)]
pub struct ReflectorSettings {
    /// Objects a page; 0 follows upstream's rules.
    pub page_size: u64,
    /// Watches are asked to last between this and twice this.
    pub min_watch_timeout: Duration,
    /// For how long internal errors in a stream are answered with an immediate watch; zero is upstream's default.
    pub max_internal_error_retry: Duration,
    /// How long to wait after a failure. 0.27 keeps two of these, one for relists and one for refused watches.
    pub backoff: BackoffSettings,
    /// Events of another kind are logged and skipped; absent accepts every kind.
    pub expected_kind: Option<String>,
    /// Seed of the jitter.
    pub seed: u64,
}

/// When resyncs happen.
#[derive(Clone)]
pub struct ResyncTimer {
    /// Time from the end of one resync to the next; absent means never.
    pub period: Option<Duration>,
    /// Asked when the timer fires.
    pub should_resync: Option<ShouldResync>,
}

/// Lists and watches, and feeds a queue, until it is dropped.
pub struct Reflector<T, L, Q, O> {
    list_watch: L,
    queue: QueueHandle<T, Q, O>,
    observer: O,
    settings: ReflectorSettings,
    resync: ResyncTimer,
    state: ReflectorState,
    random: ChaCha12Rng,
    relist_backoff: Backoff,
    rewatch_backoff: Backoff,
    began: Instant,
    cause: RelistCause,
    last_sync: watch::Sender<ResourceVersion>,
}

impl ReflectorSettings {
    /// What client-go 0.27 uses.
    pub fn client_go(seed: u64) -> Self {
        Self {
            page_size: 0,
            min_watch_timeout: Duration::from_secs(300),
            max_internal_error_retry: Duration::ZERO,
            backoff: BackoffSettings::client_go(),
            expected_kind: None,
            seed,
        }
    }
}

impl<T, L, Q, O> Reflector<T, L, Q, O>
where
    T: KubeObject,
    L: ListerWatcher<T>,
    Q: EventQueue<T> + 'static,
    O: InformerObserver<T> + Clone,
{
    /// Makes a reflector that has not begun.
    pub fn new(
        list_watch: L,
        queue: QueueHandle<T, Q, O>,
        observer: O,
        settings: ReflectorSettings,
        resync: ResyncTimer,
    ) -> Self {
        Self {
            list_watch,
            queue,
            observer,
            state: ReflectorState::new(
                settings.page_size,
                settings.min_watch_timeout,
                settings.max_internal_error_retry,
            ),
            random: ChaCha12Rng::seed_from_u64(settings.seed),
            relist_backoff: Backoff::new(settings.backoff),
            rewatch_backoff: Backoff::new(settings.backoff),
            settings,
            resync,
            began: Instant::now(),
            cause: RelistCause::First,
            last_sync: watch::Sender::new(ResourceVersion::unset()),
        }
    }

    /// Follows the last version seen, by list, event or bookmark.
    pub fn last_sync_resource_version(&self) -> watch::Receiver<ResourceVersion> {
        self.last_sync.subscribe()
    }

    /// Runs for ever; stop it by dropping the future.
    pub async fn run(mut self) {
        loop {
            if let Err(error) = self.list_and_watch().await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "failed to list or watch"
                );
            }
            let now = self.began.elapsed();
            sleep(self.relist_backoff.next_delay(now, &mut self.random)).await;
        }
    }

    /// One cycle: a list, then watches until one cannot be resumed.
    ///
    /// # Errors
    /// What the list or the opening of a watch failed with. A stream that breaks later is no error.
    pub async fn list_and_watch(&mut self) -> Result<(), ApiError> {
        self.list().await?;
        let (resync_failed, mut resync_failure) = oneshot::channel();
        // Every cycle starts the timer anew: a reflector that relists more often than the period never resyncs.
        let mut resync = JoinSet::new();
        if let Some(period) = self.resync.period {
            let queue = self.queue.clone();
            let should_resync = self.resync.should_resync.clone();
            resync.spawn(resync_every(period, queue, should_resync, resync_failed));
        }
        self.watch_until_relist(&mut resync_failure).await
    }

    async fn list(&mut self) -> Result<(), ApiError> {
        self.observer.list_began(self.cause);
        self.cause = RelistCause::Other;
        let mut options = self.state.list_options();
        let pager = Pager {
            page_size: options.limit,
        };
        let listed = match self.list_pages(pager, &options).await {
            Err(error) if self.state.list_failed(&error) == ListRecovery::WithoutVersion => {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "listing again without a version"
                );
                options = ListOptions::most_recent();
                self.list_pages(pager, &options).await
            }
            other => other,
        };
        let PagedList {
            resource_version,
            items,
            paging,
        } = listed?;
        let objects = items.len();
        if let Err(error) = self.queue.replace(items, &resource_version) {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "unable to replace the queue's content"
            );
        }
        self.state.listed(&options, &resource_version, paging);
        self.observer.list_ended(objects, &resource_version);
        tracing::debug!(%resource_version, objects, "listed");
        self.last_sync.send_replace(resource_version);
        Ok(())
    }

    async fn list_pages(
        &self,
        pager: Pager,
        options: &ListOptions,
    ) -> Result<PagedList<T>, ApiError> {
        pager.list(&self.list_watch, options).await
    }

    async fn watch_until_relist(
        &mut self,
        resync_failure: &mut oneshot::Receiver<()>,
    ) -> Result<(), ApiError> {
        loop {
            let options = self.state.watch_options(&mut self.random);
            self.observer.watch_began(&options.resource_version);
            let opened = Instant::now();
            let after = match self.list_watch.watch(&options).await {
                Ok(mut stream) => {
                    let outcome = self.follow(&mut stream, resync_failure).await;
                    tracing::debug!(?outcome, "watch ended");
                    self.state
                        .watch_ended(&outcome, opened.elapsed(), self.began.elapsed())
                }
                Err(error) => match ReflectorState::watch_call_failed(&error) {
                    Some(after) => after,
                    None => return Err(error),
                },
            };
            match after {
                AfterWatch::Rewatch => {}
                AfterWatch::BackOffThenRewatch(at_least) => {
                    let now = self.began.elapsed();
                    let delay = self.rewatch_backoff.next_delay(now, &mut self.random);
                    sleep(delay.max(at_least.unwrap_or_default())).await;
                }
                AfterWatch::RelistExpired => {
                    self.cause = RelistCause::Expired;
                    return Ok(());
                }
                AfterWatch::Relist => return Ok(()),
            }
        }
    }

    async fn follow(
        &mut self,
        stream: &mut L::Watch,
        resync_failure: &mut oneshot::Receiver<()>,
    ) -> WatchOutcome {
        let mut events = 0;
        loop {
            let event = tokio::select! {
                biased;
                Ok(()) = &mut *resync_failure => return WatchOutcome::ResyncFailed,
                event = stream.next() => event,
            };
            let resource_version = match event {
                None => return WatchOutcome::Ended { events },
                Some(Err(error)) => return WatchOutcome::Broken(error),
                Some(Ok(WatchEvent::Error(status))) => return WatchOutcome::ErrorEvent(status),
                Some(Ok(WatchEvent::Bookmark {
                    resource_version, ..
                })) => {
                    self.queue.bookmark(&resource_version);
                    resource_version
                }
                Some(Ok(event)) => match self.store(event) {
                    Some(resource_version) => resource_version,
                    None => continue,
                },
            };
            events += 1;
            self.state.observed(resource_version.clone());
            self.last_sync.send_replace(resource_version);
        }
    }

    /// Writes an event into the queue and returns its version; nothing if the event does not count.
    fn store(&self, event: WatchEvent<T>) -> Option<ResourceVersion> {
        let (WatchEvent::Added(object)
        | WatchEvent::Modified(object)
        | WatchEvent::Deleted(object)) = &event
        else {
            return None;
        };
        if let Some(expected) = self
            .settings
            .expected_kind
            .as_deref()
            .filter(|expected| *expected != object.kind())
        {
            tracing::error!(
                expected,
                kind = object.kind(),
                "expected another kind in the watch"
            );
            return None;
        }
        let Ok(key) = object.key() else {
            tracing::error!("watch event without metadata");
            return None;
        };
        let resource_version = object.resource_version();
        self.observer.event_received(&key, &resource_version);
        let written = match event {
            WatchEvent::Added(object) => self.queue.add(object),
            WatchEvent::Modified(object) => self.queue.update(object),
            WatchEvent::Deleted(object) => self.queue.delete(DeltaObject::Object(object)),
            WatchEvent::Bookmark { .. } | WatchEvent::Error(_) => Ok(()),
        };
        if let Err(error) = written {
            tracing::error!(%key, error = &error as &dyn std::error::Error, "unable to queue a watch event");
        }
        Some(resource_version)
    }
}

/// Waits, asks, resyncs, and arms the timer again only then: the period is from the end of one resync to the next.
async fn resync_every<T, Q, O>(
    period: Duration,
    queue: QueueHandle<T, Q, O>,
    should_resync: Option<ShouldResync>,
    failed: oneshot::Sender<()>,
) where
    T: KubeObject,
    Q: EventQueue<T>,
    O: InformerObserver<T>,
{
    loop {
        sleep(period).await;
        if should_resync
            .as_ref()
            .is_some_and(|should_resync| !should_resync())
        {
            continue;
        }
        tracing::debug!("forcing resync");
        if let Err(error) = queue.resync() {
            tracing::error!(error = &error as &dyn std::error::Error, "resync failed");
            // The receiver is gone only if the cycle has ended.
            let _ = failed.send(());
            return;
        }
    }
}

impl<T, L, Q, O> fmt::Debug for Reflector<T, L, Q, O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Reflector")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ResyncTimer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ResyncTimer")
            .field("period", &self.period)
            .field("asks", &self.should_resync.is_some())
            .finish()
    }
}

impl fmt::Debug for ReflectorSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ReflectorSettings")
            .field("backoff", &self.backoff)
            .finish_non_exhaustive()
    }
}
