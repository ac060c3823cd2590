//! What an informer does because client-go does it, and what its user should be told.

use std::{fmt, time::Duration};

/// Behaviour that surprises people. It is upstream's and so it stays; whoever measures puts it into the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InformerWarning {
    /// Nothing has marked the end of a streaming list's initial events. The informer has not synced and, with servers that
    /// send no mark, never will. Repeated every 10 seconds.
    InitialEventsEndMissing {
        /// Since the stream was asked for.
        open_for: Duration,
        /// Since its last event; absent if there was none.
        last_event: Option<Duration>,
    },
    /// The first list could not be streamed and a LIST took its place.
    StreamingListFellBack,
    /// More notifications than upstream's buffer holds at first wait for one handler. They are never dropped, so memory grows.
    /// Told once at each doubling.
    HandlerBacklog {
        /// How many wait.
        pending: u64,
    },
    /// A handler asked for resyncs of an informer that was set up without: it gets none.
    HandlerWithoutResync {
        /// The period it asked for.
        requested: Duration,
    },
    /// A handler that came after the start asked for a period below the one at which the informer looks: it gets that one.
    HandlerPeriodRaised {
        /// The period it asked for, at least a second.
        requested: Duration,
        /// The period it gets.
        effective: Duration,
    },
    /// A handler asked for a period below upstream's minimum of a second: it gets a second.
    HandlerPeriodBelowMinimum {
        /// The period it asked for.
        requested: Duration,
    },
    /// The informer looks for due handlers at a period of which a handler's is no multiple: it gets the next multiple.
    HandlerPeriodRounded {
        /// The period it asked for.
        requested: Duration,
        /// How often the informer looks.
        check_period: Duration,
        /// The period it gets.
        effective: Duration,
    },
    /// A relist, or a watch that was resumed from an older version, brought an object in the version that the cache held. That
    /// counts as a resync, so handlers that are not due for one are not told. Told for each object.
    UnchangedUpdateWithheld,
}

impl InformerWarning {
    /// A stable name, for records.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::InitialEventsEndMissing { .. } => "InitialEventsEndMissing",
            Self::StreamingListFellBack => "StreamingListFellBack",
            Self::HandlerBacklog { .. } => "HandlerBacklog",
            Self::HandlerWithoutResync { .. } => "HandlerWithoutResync",
            Self::HandlerPeriodRaised { .. } => "HandlerPeriodRaised",
            Self::HandlerPeriodBelowMinimum { .. } => "HandlerPeriodBelowMinimum",
            Self::HandlerPeriodRounded { .. } => "HandlerPeriodRounded",
            Self::UnchangedUpdateWithheld => "UnchangedUpdateWithheld",
        }
    }
}

impl fmt::Display for InformerWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InitialEventsEndMissing {
                open_for,
                last_event: None,
            } => write!(
                formatter,
                "a streaming list has had neither an event nor the mark of its end for {open_for:?}"
            ),
            Self::InitialEventsEndMissing {
                last_event: Some(last_event),
                ..
            } => write!(
                formatter,
                "a streaming list has no mark of its end, its last event was {last_event:?} ago"
            ),
            Self::StreamingListFellBack => {
                formatter.write_str("the streaming list failed and a LIST took its place")
            }
            Self::HandlerBacklog { pending } => {
                write!(formatter, "{pending} notifications wait for one handler")
            }
            Self::HandlerWithoutResync { requested } => write!(
                formatter,
                "a handler asked for a resync every {requested:?} of an informer that does not resync: it gets none"
            ),
            Self::HandlerPeriodRaised {
                requested,
                effective,
            } => write!(
                formatter,
                "a handler asked for a resync every {requested:?} of a running informer: it gets one every {effective:?}"
            ),
            Self::HandlerPeriodBelowMinimum { requested } => write!(
                formatter,
                "a handler asked for a resync every {requested:?}, which is raised to a second"
            ),
            Self::HandlerPeriodRounded {
                requested,
                check_period,
                effective,
            } => write!(
                formatter,
                "a handler asked for a resync every {requested:?} of an informer that looks every {check_period:?}: it gets one every {effective:?}"
            ),
            Self::UnchangedUpdateWithheld => formatter.write_str(
                "a relist or replay brought an object in the version that was cached: handlers not due for a resync were not told",
            ),
        }
    }
}
