//! What a reflector asks for next. Pure: no I/O, no clock; instants and randomness come in.

use std::time::Duration;

use rand::{Rng, RngExt as _};

use crate::{
    api::{ListOptions, ResourceVersion, ResourceVersionMatch, Status, StatusReason, WatchOptions},
    list_watch::{ApiError, Paging, Recovery},
};

use super::{InitialVersions, ReflectorError, ReflectorSettings, RetryWithDeadline, StreamingList};

const DEFAULT_PAGE_SIZE: u64 = 500;
const LEAST_WATCH_TIMEOUT: Duration = Duration::from_mins(5);
const VERY_SHORT_WATCH: Duration = Duration::from_secs(1);
const INTERNAL_ERROR_RESET: Duration = Duration::from_mins(1);

/// The reflector's memory between requests.
#[derive(Debug)]
pub struct ReflectorState {
    // Unset until the first list, and if a server gives its lists no version.
    last_sync: ResourceVersion,
    // The last version was refused by a list as expired or from the future.
    last_sync_unavailable: bool,
    // A list at version 0 came in pages: the server has no watch cache, so keep asking for pages.
    paging: Paging,
    // 0: by the rules.
    page_size: u64,
    min_watch_timeout: Duration,
    max_internal_error_retry: Duration,
    streaming_list: StreamingList,
    initial_versions: InitialVersions,
    // Of this cycle.
    internal_errors: RetryWithDeadline,
    // Of the open watch.
    event_versions: InitialVersions,
}

/// An event that counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// An addition, which may be one of the initial events.
    Addition,
    /// Anything else: the initial events are over.
    Other,
}

/// How a watch ended.
#[derive(Debug)]
pub enum WatchOutcome {
    /// The server ended the stream.
    Ended {
        /// Events that counted.
        events: u64,
    },
    /// The stream carried an error.
    ErrorEvent(Box<Status>),
    /// The stream could not be understood.
    Broken(ApiError),
    /// The resync failed.
    ResyncFailed,
}

/// What follows a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterWatch {
    /// Watch again from the last version, now.
    Rewatch,
    /// Wait, then watch again from the last version.
    BackOffThenRewatch,
    /// List again after the backoff; the reason was an expired version.
    RelistExpired,
    /// List again after the backoff.
    Relist,
}

/// What follows a failed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListRecovery {
    /// List once more at once, without a version.
    WithoutVersion,
    /// Give up until the backoff is over.
    BackOff,
}

/// What follows a streaming list that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterStream {
    /// Ask for the stream again, now; the options may have changed.
    Again,
    /// Wait, then ask for the stream again.
    BackOffThenAgain,
    /// Make a LIST in its place.
    FallBack,
    /// Give up until the backoff is over.
    GiveUp,
}

impl ReflectorState {
    /// Nothing listed yet.
    pub fn new(settings: &ReflectorSettings) -> Self {
        let max_internal_error_retry = settings.max_internal_error_retry;
        Self {
            last_sync: ResourceVersion::unset(),
            last_sync_unavailable: false,
            paging: Paging::Whole,
            page_size: settings.page_size,
            min_watch_timeout: settings.min_watch_timeout.max(LEAST_WATCH_TIMEOUT),
            max_internal_error_retry,
            streaming_list: settings.streaming_list,
            initial_versions: settings.initial_versions,
            internal_errors: RetryWithDeadline::new(max_internal_error_retry, INTERNAL_ERROR_RESET),
            event_versions: InitialVersions::Followed,
        }
    }

    /// The last version seen, by list, event or bookmark.
    pub fn last_sync_resource_version(&self) -> &ResourceVersion {
        &self.last_sync
    }

    /// The first page's request of the next list.
    pub fn list_options(&self) -> ListOptions {
        let resource_version = if self.last_sync_unavailable {
            ResourceVersion::unset()
        } else if self.last_sync.is_unset() {
            ResourceVersion::from("0")
        } else {
            self.last_sync.clone()
        };
        // A version other than 0 lets the watch cache answer, which ignores no limit: so none is sent.
        let exact = !resource_version.is_unset() && resource_version != ResourceVersion::from("0");
        let limit = match self.page_size {
            0 if exact && self.paging == Paging::Whole => 0,
            0 => DEFAULT_PAGE_SIZE,
            page_size => page_size,
        };
        ListOptions {
            resource_version,
            limit,
            ..ListOptions::most_recent()
        }
    }

    /// A list failed.
    pub fn list_failed(&mut self, error: &ApiError) -> ListRecovery {
        if error.recovery() == Recovery::Relist {
            self.last_sync_unavailable = true;
            return ListRecovery::WithoutVersion;
        }
        ListRecovery::BackOff
    }

    /// A list was received: `asked` at first, whatever was asked after that failed.
    pub fn received(&mut self, asked: &ListOptions, paging: Paging) {
        if paging == Paging::Paginated && asked.resource_version == ResourceVersion::from("0") {
            self.paging = Paging::Paginated;
        }
        self.last_sync_unavailable = false;
    }

    /// A list is in the queue.
    pub fn listed(&mut self, resource_version: &ResourceVersion) {
        self.last_sync = resource_version.clone();
    }

    /// The request of a streaming list.
    pub fn stream_options(&self, random: &mut impl Rng) -> WatchOptions {
        let resource_version = if self.last_sync_unavailable {
            ResourceVersion::unset()
        } else {
            self.last_sync.clone()
        };
        WatchOptions {
            resource_version,
            resource_version_match: Some(ResourceVersionMatch::NotOlderThan),
            allow_watch_bookmarks: true,
            send_initial_events: Some(true),
            timeout_seconds: Some(self.watch_timeout_seconds(random)),
        }
    }

    /// Whether a bookmark with this value of `k8s.io/initial-events-end` ends the initial events.
    pub fn is_initial_events_end(&self, annotation: Option<&str>) -> bool {
        match self.streaming_list {
            StreamingList::Off => false,
            StreamingList::FallBackOnInvalid => annotation.is_some(),
            StreamingList::FallBackOnAnyError | StreamingList::FallBackOnSilence(_) => {
                annotation == Some("true")
            }
        }
    }

    /// A streaming list was not complete for this reason.
    pub fn stream_failed(&mut self, error: &ReflectorError) -> AfterStream {
        if let ReflectorError::Api(error) = error {
            match error.recovery() {
                Recovery::BackOff => return AfterStream::BackOffThenAgain,
                Recovery::Relist => {
                    self.last_sync_unavailable = true;
                    return AfterStream::Again;
                }
                Recovery::Rewatch | Recovery::Stop => {}
            }
        }
        match self.streaming_list {
            StreamingList::FallBackOnAnyError | StreamingList::FallBackOnSilence(_) => {
                AfterStream::FallBack
            }
            StreamingList::FallBackOnInvalid if error.reason() == Some(StatusReason::Invalid) => {
                AfterStream::FallBack
            }
            StreamingList::FallBackOnInvalid | StreamingList::Off => AfterStream::GiveUp,
        }
    }

    /// A streaming list is complete.
    pub fn streamed(&mut self) {
        self.last_sync_unavailable = false;
        self.event_versions = InitialVersions::Followed;
    }

    /// The watches of a cycle begin.
    pub fn watches_began(&mut self) {
        self.internal_errors =
            RetryWithDeadline::new(self.max_internal_error_retry, INTERNAL_ERROR_RESET);
    }

    /// The next watch's request.
    pub fn watch_options(&mut self, random: &mut impl Rng) -> WatchOptions {
        let from_any = self.last_sync.is_unset() || self.last_sync == ResourceVersion::from("0");
        self.event_versions = if from_any {
            self.initial_versions
        } else {
            InitialVersions::Followed
        };
        WatchOptions {
            resource_version: self.last_sync.clone(),
            resource_version_match: None,
            allow_watch_bookmarks: true,
            send_initial_events: None,
            timeout_seconds: Some(self.watch_timeout_seconds(random)),
        }
    }

    /// An event or bookmark carried this version; tells whether it is now the last version. The last one counts, not the
    /// highest.
    pub fn observed(&mut self, resource_version: &ResourceVersion, observed: Observed) -> bool {
        if observed == Observed::Other {
            self.event_versions = InitialVersions::Followed;
        }
        let counts = self.event_versions == InitialVersions::Followed;
        if counts {
            self.last_sync = resource_version.clone();
        }
        counts
    }

    /// A watch could not be opened; absent means that the cycle ends with this error.
    pub fn watch_call_failed(error: &ApiError) -> Option<AfterWatch> {
        match error.recovery() {
            Recovery::BackOff => Some(AfterWatch::BackOffThenRewatch),
            Recovery::Relist | Recovery::Rewatch | Recovery::Stop => None,
        }
    }

    /// Whether a watch that was open for `open_for` and had so many events counts as failed.
    pub fn is_very_short(open_for: Duration, events: u64) -> bool {
        events == 0 && open_for < VERY_SHORT_WATCH
    }

    /// A watch was open for `open_for` and has ended.
    pub fn watch_ended(
        &mut self,
        outcome: &WatchOutcome,
        open_for: Duration,
        now: Duration,
    ) -> AfterWatch {
        match outcome {
            WatchOutcome::Ended { events } if Self::is_very_short(open_for, *events) => {
                AfterWatch::Relist
            }
            WatchOutcome::Ended { .. } => AfterWatch::Rewatch,
            WatchOutcome::ResyncFailed => AfterWatch::Relist,
            WatchOutcome::Broken(error) => match error.recovery() {
                Recovery::Rewatch => self.internal_error(now),
                Recovery::BackOff | Recovery::Relist | Recovery::Stop => AfterWatch::Relist,
            },
            WatchOutcome::ErrorEvent(status) => match status.classify() {
                StatusReason::Expired => AfterWatch::RelistExpired,
                StatusReason::TooManyRequests => AfterWatch::BackOffThenRewatch,
                StatusReason::InternalError => self.internal_error(now),
                StatusReason::Invalid
                | StatusReason::Other
                | StatusReason::ResourceVersionTooLarge => AfterWatch::Relist,
            },
        }
    }

    fn internal_error(&mut self, now: Duration) -> AfterWatch {
        self.internal_errors.after_error(now);
        if self.internal_errors.should_retry(now) {
            AfterWatch::Rewatch
        } else {
            AfterWatch::Relist
        }
    }

    // Uniform in whole seconds between the minimum and twice that, so that not all clients return at once.
    fn watch_timeout_seconds(&self, random: &mut impl Rng) -> u64 {
        let seconds = self.min_watch_timeout.as_secs_f64() * (1.0 + random.random::<f64>());
        Duration::from_secs_f64(seconds).as_secs()
    }
}
