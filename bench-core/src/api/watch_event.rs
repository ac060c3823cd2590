//! What LIST and WATCH answer with.

use std::sync::Arc;

use super::{ResourceVersion, Status};

/// One event of a watch.
#[derive(Debug, Clone)]
pub enum WatchEvent<T> {
    /// An object began to exist or to match.
    Added(Arc<T>),
    /// An object changed.
    Modified(Arc<T>),
    /// An object ceased to exist or to match: its last state, with the version of the deletion.
    Deleted(Arc<T>),
    /// Only a version: everything up to it has been sent.
    Bookmark {
        /// `kind` of the empty object that carries the version: that of the watch's objects.
        kind: Box<str>,
        /// The version.
        resource_version: ResourceVersion,
        /// Value of the annotation `k8s.io/initial-events-end`, if present.
        initial_events_end: Option<String>,
    },
    /// The watch cannot go on.
    Error(Box<Status>),
}

/// One page of a list.
#[derive(Debug, Clone)]
pub struct ListPage<T> {
    /// Version of the list.
    pub resource_version: ResourceVersion,
    /// Token for the next page; empty on the last one.
    pub continue_token: String,
    /// The objects.
    pub items: Vec<Arc<T>>,
}
