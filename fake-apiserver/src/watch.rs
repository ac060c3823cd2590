//! What a WATCH means: from its parameters to the point where its events begin.

use std::time::Duration;

use crate::{
    failure::{Failure, InvalidOption},
    list::Snapshot,
    query::{Query, RequestedVersion},
    storage::{ResourceId, Storage},
};

/// A valid WATCH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchRequest {
    version: RequestedVersionOfWatch,
    start: Start,
    /// Whether bookmarks may be sent.
    pub bookmarks: Bookmarks,
    /// The deadline that was asked for.
    pub timeout: Option<Duration>,
}

/// Whether a watch gets bookmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bookmarks {
    /// It did not ask for them.
    Never,
    /// From time to time, and after initial events.
    Sent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestedVersionOfWatch {
    Any,
    At(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// With events after the version; without a version, with the next one.
    Events,
    /// With the whole state as ADDED events.
    State,
}

/// Where a watch begins.
#[derive(Debug)]
pub struct WatchStart {
    /// The state to send first.
    pub initial: Option<Snapshot>,
    /// Number of the first event after it.
    pub cursor: u64,
    /// Events up to this version are not sent, nor are bookmarks.
    pub after: u64,
}

impl WatchRequest {
    /// Interprets parameters.
    ///
    /// # Errors
    /// 422, and 500 for a version that is no number, as servers answer.
    pub fn try_new(query: &Query) -> Result<Self, Failure> {
        let problems = invalid_options(query);
        if !problems.is_empty() {
            return Err(Failure::invalid_options(&problems));
        }
        let version = RequestedVersion::try_parse(&query.resource_version);
        let version = version.map_err(|problem| Failure::watch_version(&problem))?;
        let start = match (version, query.send_initial_events) {
            (_, Some(true)) | (RequestedVersion::MostRecent | RequestedVersion::Any, None) => {
                Start::State
            }
            (_, Some(false)) | (RequestedVersion::At(_), None) => Start::Events,
        };
        let version = match version {
            RequestedVersion::MostRecent | RequestedVersion::Any => RequestedVersionOfWatch::Any,
            RequestedVersion::At(version) => RequestedVersionOfWatch::At(version),
        };
        let bookmarks = match query.allow_watch_bookmarks {
            Some(true) => Bookmarks::Sent,
            Some(false) | None => Bookmarks::Never,
        };
        Ok(Self {
            version,
            start,
            bookmarks,
            timeout: query.timeout,
        })
    }

    /// The version that the server must have reached before the stream can begin.
    pub fn needs_revision(&self) -> u64 {
        match (self.start, self.version) {
            (Start::State, RequestedVersionOfWatch::At(version)) => version,
            _ => 0,
        }
    }

    /// Finds the point where the stream begins.
    ///
    /// # Errors
    /// 410 or 504, to be sent as an ERROR event in a 200 stream.
    pub fn begin(&self, storage: &Storage, id: ResourceId) -> Result<WatchStart, Failure> {
        let current = storage.revision();
        if self.needs_revision() > current {
            return Err(Failure::version_from_the_future(
                self.needs_revision(),
                current,
            ));
        }
        let store = storage.store(id);
        let cache = store.cache();
        match (self.start, self.version) {
            (Start::State, _) => {
                let initial = Snapshot {
                    revision: current,
                    objects: store.objects().clone(),
                };
                Ok(WatchStart {
                    initial: Some(initial),
                    cursor: cache.head(),
                    after: current,
                })
            }
            (Start::Events, RequestedVersionOfWatch::Any) => Ok(WatchStart {
                initial: None,
                cursor: cache.head(),
                after: current,
            }),
            (Start::Events, RequestedVersionOfWatch::At(version)) => {
                let cursor = cache.start_after(version);
                let cursor =
                    cursor.map_err(|too_old| Failure::watch_expired(version, too_old.oldest))?;
                Ok(WatchStart {
                    initial: None,
                    cursor,
                    after: version,
                })
            }
        }
    }
}

fn invalid_options(query: &Query) -> Vec<InvalidOption> {
    let field = "resourceVersionMatch";
    let version_match = &*query.resource_version_match;
    let mut problems = Vec::new();
    let mut forbid = |why| problems.push(InvalidOption::forbidden(field, why));
    if query.send_initial_events.is_some() && version_match != "NotOlderThan" {
        forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    let is_legacy = matches!(&*query.resource_version, "" | "0");
    if query.send_initial_events.is_none() && !version_match.is_empty() {
        forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    }
    // Servers ask for initial events, with a match, in the name of those who ask for no version.
    let has_match = !version_match.is_empty() || query.send_initial_events.is_none() && is_legacy;
    if has_match && !query.continue_token.is_empty() {
        forbid("resourceVersionMatch is forbidden when continue is provided");
    }
    problems.extend(query.match_other_than(&["NotOlderThan"], r#""NotOlderThan""#));
    problems
}
