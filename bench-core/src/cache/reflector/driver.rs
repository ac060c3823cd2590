//! The tasks around [`ReflectorState`]: requests, waiting, and the resync timer beside the watch.

use std::{fmt, mem, sync::Arc, time::Duration};

use rand::{SeedableRng as _, rngs::ChaCha12Rng};
use tokio::{
    sync::{oneshot, watch},
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{
    api::{KubeObject, ListOptions, ObjectKey, ResourceVersion, WatchEvent},
    list_watch::{ListerWatcher, PagedList, Pager, WatchStream},
};

use super::{
    super::{
        Backoff, DeltaObject, EventQueue, InformerObserver, QueueHandle, RelistCause, Transformer,
    },
    AfterWatch, BackoffManagers, ListRecovery, Observed, ReflectorError, ReflectorSettings,
    ReflectorState, StreamingList, WatchOutcome,
};

/// Asked each time the timer fires; absent means yes. A shared informer asks every listener whether it is due.
pub type ShouldResync = Arc<dyn Fn() -> bool + Send + Sync>;

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
    pub(super) list_watch: L,
    queue: QueueHandle<T, Q, O>,
    pub(super) observer: O,
    pub(super) settings: ReflectorSettings,
    resync: ResyncTimer,
    pub(super) transformer: Option<Transformer<T>>,
    pub(super) state: ReflectorState,
    pub(super) random: ChaCha12Rng,
    relist_backoff: Backoff,
    // Unused where relists and watches share one.
    rewatch_backoff: Backoff,
    began: Instant,
    cause: RelistCause,
    last_sync: watch::Sender<ResourceVersion>,
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
            transformer: None,
            state: ReflectorState::new(&settings),
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

    /// Applies the queue's transformer to the initial events of a streaming list, too, as client-go 0.34 and later do: the
    /// queue applies it again when it is handed the result, so each object is transformed twice.
    #[must_use]
    pub fn with_transformer(mut self, transformer: Transformer<T>) -> Self {
        self.transformer = Some(transformer);
        self
    }

    /// Follows the last version seen, by list, event or bookmark.
    pub fn last_sync_resource_version(&self) -> watch::Receiver<ResourceVersion> {
        self.last_sync.subscribe()
    }

    /// Runs for ever; stop it by dropping the future.
    pub async fn run(mut self) {
        loop {
            if let Err(error) = self.list_and_watch().await {
                self.observer.list_and_watch_failed(&error);
                let expired = error.is_expired();
                let error = &error as &dyn std::error::Error;
                if expired {
                    tracing::debug!(error, "watch closed");
                } else {
                    tracing::warn!(error, "failed to list or watch");
                }
            }
            let now = self.began.elapsed();
            sleep(self.relist_backoff.next_delay(now, &mut self.random)).await;
        }
    }

    /// One cycle: a list, then watches until one cannot be resumed.
    ///
    /// # Errors
    /// What the list or the opening of a watch failed with. A stream that breaks later is no error, unless it is that of a
    /// streaming list that has not come to its end.
    pub async fn list_and_watch(&mut self) -> Result<(), ReflectorError> {
        let cause = mem::replace(&mut self.cause, RelistCause::Other);
        let stream = match self.settings.streaming_list {
            StreamingList::Off => None,
            _ => self.stream_list(cause).await?,
        };
        if stream.is_none() {
            self.list(cause).await?;
        }
        let (resync_failed, mut resync_failure) = oneshot::channel();
        // Every cycle starts the timer anew: a reflector that relists more often than the period never resyncs.
        let mut resync = JoinSet::new();
        if let Some(period) = self.resync.period {
            let queue = self.queue.clone();
            let should_resync = self.resync.should_resync.clone();
            resync.spawn(resync_every(period, queue, should_resync, resync_failed));
        }
        self.watch_until_relist(stream, &mut resync_failure).await
    }

    async fn list(&mut self, cause: RelistCause) -> Result<(), ReflectorError> {
        self.observer.list_began(cause);
        let options = self.state.list_options();
        let pager = Pager {
            page_size: options.limit,
        };
        let listed = match pager.list(&self.list_watch, &options).await {
            Err(error) if self.state.list_failed(&error) == ListRecovery::WithoutVersion => {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "listing again without a version"
                );
                pager
                    .list(&self.list_watch, &ListOptions::most_recent())
                    .await
            }
            other => other,
        };
        let PagedList {
            resource_version,
            items,
            paging,
        } = listed?;
        self.state.received(&options, paging);
        self.replace(items, resource_version)
    }

    /// Hands the queue all there is.
    pub(super) fn replace(
        &mut self,
        items: Vec<Arc<T>>,
        resource_version: ResourceVersion,
    ) -> Result<(), ReflectorError> {
        let objects = items.len();
        self.queue.replace(items, &resource_version)?;
        self.state.listed(&resource_version);
        self.observer.list_ended(objects, &resource_version);
        tracing::debug!(%resource_version, objects, "listed");
        self.last_sync.send_replace(resource_version);
        Ok(())
    }

    async fn watch_until_relist(
        &mut self,
        mut stream: Option<L::Watch>,
        resync_failure: &mut oneshot::Receiver<()>,
    ) -> Result<(), ReflectorError> {
        self.state.watches_began();
        loop {
            let opened = Instant::now();
            let opening = match stream.take() {
                Some(stream) => Ok(stream),
                None => {
                    let options = self.state.watch_options(&mut self.random);
                    self.observer.watch_began(&options.resource_version);
                    self.list_watch.watch(&options).await
                }
            };
            let after = match opening {
                Ok(mut stream) => {
                    let outcome = self.follow(&mut stream, resync_failure).await;
                    tracing::debug!(?outcome, "watch ended");
                    self.state
                        .watch_ended(&outcome, opened.elapsed(), self.began.elapsed())
                }
                Err(error) => match ReflectorState::watch_call_failed(&error) {
                    Some(after) => after,
                    None => return Err(error.into()),
                },
            };
            match after {
                AfterWatch::Rewatch => {}
                AfterWatch::BackOffThenRewatch => self.back_off_watch().await,
                AfterWatch::RelistExpired => {
                    self.cause = RelistCause::Expired;
                    return Ok(());
                }
                AfterWatch::Relist => return Ok(()),
            }
        }
    }

    pub(super) async fn back_off_watch(&mut self) {
        let backoff = match self.settings.backoff_managers {
            BackoffManagers::Separate => &mut self.rewatch_backoff,
            BackoffManagers::Shared => &mut self.relist_backoff,
        };
        let delay = backoff.next_delay(self.began.elapsed(), &mut self.random);
        sleep(delay).await;
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
            let (resource_version, observed) = match event {
                None => return WatchOutcome::Ended { events },
                Some(Err(error)) => return WatchOutcome::Broken(error),
                Some(Ok(WatchEvent::Error(status))) => return WatchOutcome::ErrorEvent(status),
                Some(Ok(WatchEvent::Bookmark {
                    kind,
                    resource_version,
                    ..
                })) => {
                    if !self.expects(&kind) {
                        continue;
                    }
                    self.queue.bookmark(&resource_version);
                    (resource_version, Observed::Other)
                }
                Some(Ok(event)) => {
                    let observed = match event {
                        WatchEvent::Added(_) => Observed::Addition,
                        _ => Observed::Other,
                    };
                    match self.store(event) {
                        Some(resource_version) => (resource_version, observed),
                        None => continue,
                    }
                }
            };
            events += 1;
            if self.state.observed(&resource_version, observed) {
                self.last_sync.send_replace(resource_version);
            }
        }
    }

    /// Whether objects and bookmarks of this kind count; tells if they do not.
    pub(super) fn expects(&self, kind: &str) -> bool {
        let expected = self.settings.expected_kind.as_deref();
        let unexpected = expected.filter(|expected| *expected != kind);
        if let Some(expected) = unexpected {
            tracing::error!(expected, kind, "expected another kind in the watch");
        }
        unexpected.is_none()
    }

    /// The object's key and version; nothing if an event with it does not count.
    pub(super) fn accept(&self, object: &T) -> Option<(ObjectKey, ResourceVersion)> {
        if !self.expects(object.kind()) {
            return None;
        }
        let Ok(key) = object.key() else {
            tracing::error!("watch event without metadata");
            return None;
        };
        Some((key, object.resource_version()))
    }

    /// Writes an event into the queue and returns its version; nothing if the event does not count.
    fn store(&self, event: WatchEvent<T>) -> Option<ResourceVersion> {
        let (WatchEvent::Added(object)
        | WatchEvent::Modified(object)
        | WatchEvent::Deleted(object)) = &event
        else {
            return None;
        };
        let (key, resource_version) = self.accept(&**object)?;
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
