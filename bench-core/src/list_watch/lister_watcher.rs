//! What a reflector needs of a server.

use std::future::Future;

use crate::api::{ListOptions, ListPage, WatchEvent, WatchOptions};

use super::ApiError;

/// Lists one page and opens a watch (`ListerWatcher` upstream).
pub trait ListerWatcher<T>: Send + Sync + 'static {
    /// The open watch.
    type Watch: WatchStream<T>;

    /// Requests one page.
    fn list(
        &self,
        options: &ListOptions,
    ) -> impl Future<Output = Result<ListPage<T>, ApiError>> + Send;

    /// Opens a watch; returns when the answer's head is there.
    fn watch(
        &self,
        options: &WatchOptions,
    ) -> impl Future<Output = Result<Self::Watch, ApiError>> + Send;
}

/// An open watch. Dropping it closes it.
pub trait WatchStream<T>: Send {
    /// The next event; nothing once the server has ended the stream. Cancel safe.
    fn next(&mut self) -> impl Future<Output = Option<Result<WatchEvent<T>, ApiError>>> + Send;
}
