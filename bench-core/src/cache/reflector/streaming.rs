//! The first list as a stream: a watch that begins with what there is (`watchList` upstream, KEP-3157).

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until};

use crate::{
    api::{KubeObject, ObjectKey, ResourceVersion, WatchEvent},
    list_watch::{ApiError, ListerWatcher, WatchStream},
};

use super::{
    super::{EventQueue, InformerObserver, InformerWarning, RelistCause},
    AfterStream, Reflector, ReflectorError, ReflectorState, StreamingList,
};

/// How often a stream without a mark is warned of.
const WARNING_INTERVAL: Duration = Duration::from_secs(10);

/// What the initial events have told so far.
struct Gathered<T> {
    // By key, in which order servers list; upstream's is random.
    objects: BTreeMap<ObjectKey, Arc<T>>,
    // Events that counted, and when the last one came.
    events: u64,
    last_event: Option<Instant>,
}

impl<T, L, Q, O> Reflector<T, L, Q, O>
where
    T: KubeObject,
    L: ListerWatcher<T>,
    Q: EventQueue<T> + 'static,
    O: InformerObserver<T> + Clone,
{
    /// Puts the initial state into the queue and returns the stream, which goes on with what comes after it; nothing if a
    /// LIST has to take its place.
    pub(super) async fn stream_list(
        &mut self,
        cause: RelistCause,
    ) -> Result<Option<L::Watch>, ReflectorError> {
        self.observer.streaming_list_began(cause);
        loop {
            let error = match self.try_stream_list().await {
                Ok(Some(stream)) => return Ok(Some(stream)),
                Ok(None) => {
                    tracing::debug!("streaming list ended before its mark");
                    continue;
                }
                Err(error) => error,
            };
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "streaming list failed"
            );
            match self.state.stream_failed(&error) {
                AfterStream::Again => {}
                AfterStream::BackOffThenAgain => self.back_off_watch().await,
                AfterStream::FallBack => {
                    self.observer
                        .warned(&InformerWarning::StreamingListFellBack);
                    return Ok(None);
                }
                AfterStream::GiveUp => return Err(error),
            }
        }
    }

    /// One attempt; nothing if the stream ended before its mark: whatever came is dropped.
    async fn try_stream_list(&mut self) -> Result<Option<L::Watch>, ReflectorError> {
        let options = self.state.stream_options(&mut self.random);
        self.observer.watch_began(&options.resource_version);
        let opened = Instant::now();
        let mut stream = self.list_watch.watch(&options).await?;
        let mut gathered = Gathered {
            objects: BTreeMap::new(),
            events: 0,
            last_event: None,
        };
        let Some(resource_version) = self.gather(&mut stream, opened, &mut gathered).await? else {
            return Ok(None);
        };
        self.state.streamed();
        let objects: Vec<_> = gathered.objects.into_values().collect();
        self.replace(objects, resource_version)?;
        Ok(Some(stream))
    }

    /// Takes initial events in until the mark of their end, and returns its version; nothing if the stream ends before.
    async fn gather(
        &mut self,
        stream: &mut L::Watch,
        opened: Instant,
        gathered: &mut Gathered<T>,
    ) -> Result<Option<ResourceVersion>, ReflectorError> {
        let mut warnings = interval_at(opened + WARNING_INTERVAL, WARNING_INTERVAL);
        warnings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let deadline = match self.settings.streaming_list {
            StreamingList::FallBackOnSilence(limit) => Some(opened + limit),
            _ => None,
        };
        loop {
            let event = tokio::select! {
                biased;
                event = stream.next() => event,
                () = sleep_until(deadline.unwrap_or(opened)), if deadline.is_some() => {
                    return Err(ReflectorError::InitialEventsEndMissing);
                }
                now = warnings.tick() => {
                    self.warn_of_missing_end(now - opened, gathered.last_event.map(|last| now - last));
                    continue;
                }
            };
            match event {
                None if ReflectorState::is_very_short(opened.elapsed(), gathered.events) => {
                    return Err(ReflectorError::VeryShortWatch);
                }
                None => return Ok(None),
                Some(Err(error)) => return Err(error.into()),
                Some(Ok(WatchEvent::Error(status))) => return Err(ApiError::Status(status).into()),
                Some(Ok(event)) => {
                    if let Some(end) = self.gather_event(gathered, event) {
                        return Ok(Some(end));
                    }
                }
            }
        }
    }

    /// Takes one event in; its version if it was the mark.
    fn gather_event(
        &self,
        gathered: &mut Gathered<T>,
        event: WatchEvent<T>,
    ) -> Option<ResourceVersion> {
        let (WatchEvent::Added(object)
        | WatchEvent::Modified(object)
        | WatchEvent::Deleted(object)) = &event
        else {
            if let WatchEvent::Bookmark { kind, .. } = &event
                && !self.expects(kind)
            {
                return None;
            }
            gathered.count();
            return match event {
                WatchEvent::Bookmark {
                    resource_version,
                    initial_events_end,
                    ..
                } if self
                    .state
                    .is_initial_events_end(initial_events_end.as_deref()) =>
                {
                    Some(resource_version)
                }
                _ => None,
            };
        };
        let (key, _) = self.accept(&**object)?;
        gathered.count();
        if matches!(event, WatchEvent::Deleted(_)) {
            gathered.objects.remove(&key);
            return None;
        }
        let object = Arc::clone(object);
        let transformed = match &self.transformer {
            // Up to client-go 0.33 only the queue transforms.
            Some(transformer)
                if self.settings.streaming_list != StreamingList::FallBackOnInvalid =>
            {
                transformer(object)
            }
            _ => Ok(object),
        };
        match transformed {
            Ok(object) => {
                gathered.objects.insert(key, object);
            }
            Err(error) => {
                tracing::error!(%key, error, "unable to keep an initial event");
            }
        }
        None
    }

    fn warn_of_missing_end(&self, open_for: Duration, last_event: Option<Duration>) {
        // While events come in, all is well.
        if last_event.is_some_and(|ago| ago < WARNING_INTERVAL) {
            return;
        }
        let warning = InformerWarning::InitialEventsEndMissing {
            open_for,
            last_event,
        };
        tracing::warn!("{warning}");
        self.observer.warned(&warning);
    }
}

impl<T> Gathered<T> {
    fn count(&mut self) {
        self.events += 1;
        self.last_event = Some(Instant::now());
    }
}
