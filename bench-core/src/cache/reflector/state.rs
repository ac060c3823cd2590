//! What a reflector asks for next. Pure: no I/O, no clock; instants and randomness come in.

use std::time::Duration;

use rand::{Rng, RngExt as _};

use crate::{
    api::{ListOptions, ResourceVersion, Status, StatusReason, WatchOptions},
    list_watch::{ApiError, Paging, Recovery},
};

use super::RetryWithDeadline;

const DEFAULT_PAGE_SIZE: u64 = 500;
const VERY_SHORT_WATCH: Duration = Duration::from_secs(1);
const INTERNAL_ERROR_RESET: Duration = Duration::from_mins(1);

/// The reflector's memory between requests.
#[derive(Debug)]
pub struct ReflectorState {
    // Absent until the first list.
    last_sync: Option<ResourceVersion>,
    // The last version was refused by a list as expired or from the future.
    last_sync_unavailable: bool,
    // A list at version 0 came in pages: the server has no watch cache, so keep asking for pages.
    paging: Paging,
    // 0: by the rules.
    page_size: u64,
    min_watch_timeout: Duration,
    internal_errors: RetryWithDeadline,
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
    /// Wait, then watch again from the last version; the server may have said how long at least.
    BackOffThenRewatch(Option<Duration>),
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

impl ReflectorState {
    /// Nothing listed yet. `page_size` 0 follows the rules; `min_watch_timeout` is 5 minutes upstream;
    /// `max_internal_error_retry` zero is upstream's default.
    pub fn new(
        page_size: u64,
        min_watch_timeout: Duration,
        max_internal_error_retry: Duration,
    ) -> Self {
        let internal_errors =
            RetryWithDeadline::new(max_internal_error_retry, INTERNAL_ERROR_RESET);
        Self {
            last_sync: None,
            last_sync_unavailable: false,
            paging: Paging::Whole,
            page_size,
            min_watch_timeout,
            internal_errors,
        }
    }

    /// The last version seen, by list, event or bookmark.
    pub fn last_sync_resource_version(&self) -> ResourceVersion {
        self.last_sync
            .clone()
            .unwrap_or_else(ResourceVersion::unset)
    }

    /// The first page's request of the next list.
    pub fn list_options(&self) -> ListOptions {
        let resource_version = if self.last_sync_unavailable {
            ResourceVersion::unset()
        } else {
            self.last_sync
                .clone()
                .unwrap_or_else(|| ResourceVersion::from("0"))
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

    /// A list succeeded and is in the queue.
    pub fn listed(
        &mut self,
        asked: &ListOptions,
        resource_version: &ResourceVersion,
        paging: Paging,
    ) {
        if paging == Paging::Paginated && asked.resource_version == ResourceVersion::from("0") {
            self.paging = Paging::Paginated;
        }
        self.last_sync_unavailable = false;
        self.last_sync = Some(resource_version.clone());
    }

    /// The next watch's request; its timeout is uniform in whole seconds between the minimum and twice that, so that not all
    /// clients return at once.
    pub fn watch_options(&self, random: &mut impl Rng) -> WatchOptions {
        let seconds = self.min_watch_timeout.as_secs_f64() * (1.0 + random.random::<f64>());
        WatchOptions {
            resource_version: self.last_sync_resource_version(),
            resource_version_match: None,
            allow_watch_bookmarks: true,
            send_initial_events: None,
            timeout_seconds: Some(Duration::from_secs_f64(seconds).as_secs()),
        }
    }

    /// An event or bookmark carried this version. The last one counts, not the highest.
    pub fn observed(&mut self, resource_version: ResourceVersion) {
        self.last_sync = Some(resource_version);
    }

    /// A watch could not be opened; absent means that the cycle ends with this error.
    pub fn watch_call_failed(error: &ApiError) -> Option<AfterWatch> {
        match error.recovery() {
            Recovery::BackOff(at_least) => Some(AfterWatch::BackOffThenRewatch(at_least)),
            Recovery::Relist | Recovery::Rewatch | Recovery::Stop => None,
        }
    }

    /// A watch was open for `open_for` and has ended.
    pub fn watch_ended(
        &mut self,
        outcome: &WatchOutcome,
        open_for: Duration,
        now: Duration,
    ) -> AfterWatch {
        match outcome {
            WatchOutcome::Ended { events: 0 } if open_for < VERY_SHORT_WATCH => AfterWatch::Relist,
            WatchOutcome::Ended { .. } => AfterWatch::Rewatch,
            WatchOutcome::Broken(_) | WatchOutcome::ResyncFailed => AfterWatch::Relist,
            WatchOutcome::ErrorEvent(status) => match status.classify() {
                StatusReason::Expired => AfterWatch::RelistExpired,
                StatusReason::TooManyRequests => AfterWatch::BackOffThenRewatch(None),
                StatusReason::InternalError => {
                    self.internal_errors.after_error(now);
                    if self.internal_errors.should_retry(now) {
                        AfterWatch::Rewatch
                    } else {
                        AfterWatch::Relist
                    }
                }
                StatusReason::Invalid
                | StatusReason::Other
                | StatusReason::ResourceVersionTooLarge => AfterWatch::Relist,
            },
        }
    }
}
