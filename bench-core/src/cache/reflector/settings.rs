//! How a reflector is set up, with client-go's lines as named presets.

use std::{fmt, time::Duration};

use super::super::BackoffSettings;

/// How a reflector is set up. The presets are client-go's by line; they differ as follows.
///
/// | line | backoff | first list | versions of initial events |
/// |---|---|---|---|
/// | 0.27 | two, each reset after 2 quiet minutes | LIST | followed |
/// | 0.28 to 0.34 | one, same reset | LIST | followed |
/// | 0.35 | one, same reset | streamed, any error falls back to LIST | followed |
/// | 0.36 and later | one, reset every 2 minutes | as 0.35 | ignored |
#[derive(Clone)]
pub struct ReflectorSettings {
    /// Objects a page; 0 follows upstream's rules (`WatchListPageSize` upstream).
    pub page_size: u64,
    /// Watches are asked to last between this and twice this. Less than 5 minutes counts as 5 minutes, as upstream.
    pub min_watch_timeout: Duration,
    /// For how long internal errors in a stream are answered with an immediate watch; zero is upstream's default.
    pub max_internal_error_retry: Duration,
    /// How long to wait after a failure.
    pub backoff: BackoffSettings,
    /// Whether relists and refused watches share their backoff.
    pub backoff_managers: BackoffManagers,
    /// Whether the first list is a stream.
    pub streaming_list: StreamingList,
    /// What becomes of the versions of initial events.
    pub initial_versions: InitialVersions,
    /// Events of another kind are logged and skipped; absent accepts every kind.
    pub expected_kind: Option<String>,
    /// Seed of the jitter.
    pub seed: u64,
}

/// Which waits advance which backoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackoffManagers {
    /// One for relists and one for refused watches: client-go 0.27.
    Separate,
    /// One for both, so a failed list also lengthens the next wait for a watch: client-go 0.28 and later.
    Shared,
}

/// Whether and how the first list is a stream: a watch with `sendInitialEvents`, `WatchList` upstream (KEP-3157).
///
/// A stream that is refused with 429 or to which nobody listens is tried again after the backoff, one whose version is
/// expired or from the future at once without a version, and one that ends before the mark at once, whatever was received
/// being dropped. The variants say what any other error leads to. The fallback is for one cycle: the next list is tried as
/// a stream again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamingList {
    /// The first list is a LIST: the default up to client-go 0.34.
    Off,
    /// As client-go 0.27 and 0.28 if it is turned on: only the reason `Invalid` falls back to LIST, other errors end the
    /// cycle. The mark counts whatever its value is.
    FallBackOnInvalid,
    /// As client-go 0.29 and later: every error falls back to LIST. The mark's value must be `true`. A server that sends no
    /// mark is waited for until it ends the stream, and is then asked again: such an informer never syncs.
    FallBackOnAnyError,
    /// Not upstream's: as [`StreamingList::FallBackOnAnyError`], and a stream without a mark falls back to LIST after this
    /// time, so that the informer syncs with servers that send none.
    FallBackOnSilence(Duration),
}

/// What becomes of the versions of events that a server may have made up to tell the initial state, and that are in no order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitialVersions {
    /// Each is the version to resume from: client-go up to 0.35.
    Followed,
    /// In a watch from no version or from "0", none is until the first event that is no addition: client-go 0.36 and later.
    Ignored,
}

impl ReflectorSettings {
    /// What this project measures by default: [`ReflectorSettings::client_go_0_27`].
    pub fn client_go(seed: u64) -> Self {
        Self::client_go_0_27(seed)
    }

    /// client-go 0.27.
    pub fn client_go_0_27(seed: u64) -> Self {
        Self {
            page_size: 0,
            min_watch_timeout: Duration::from_mins(5),
            max_internal_error_retry: Duration::ZERO,
            backoff: BackoffSettings::client_go_0_27(),
            backoff_managers: BackoffManagers::Separate,
            streaming_list: StreamingList::Off,
            initial_versions: InitialVersions::Followed,
            expected_kind: None,
            seed,
        }
    }

    /// client-go 0.28 to 0.34.
    pub fn client_go_0_28(seed: u64) -> Self {
        Self {
            backoff_managers: BackoffManagers::Shared,
            ..Self::client_go_0_27(seed)
        }
    }

    /// client-go 0.35.
    pub fn client_go_0_35(seed: u64) -> Self {
        Self {
            streaming_list: StreamingList::FallBackOnAnyError,
            ..Self::client_go_0_28(seed)
        }
    }

    /// client-go 0.36 and later.
    pub fn client_go_0_36(seed: u64) -> Self {
        Self {
            backoff: BackoffSettings::client_go_0_36(),
            initial_versions: InitialVersions::Ignored,
            ..Self::client_go_0_35(seed)
        }
    }
}

impl fmt::Debug for ReflectorSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ReflectorSettings")
            .field("backoff", &self.backoff)
            .field("streaming_list", &self.streaming_list)
            .finish_non_exhaustive()
    }
}
