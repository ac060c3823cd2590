//! Why a cycle of listing and watching ended.

use crate::{api::StatusReason, list_watch::ApiError};

use super::super::QueueError;

/// A cycle ended with an error. There is nothing to do about it: the next cycle follows after the backoff.
#[derive(Debug, thiserror::Error)]
pub enum ReflectorError {
    /// A list, or the opening of a watch, failed.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// A streaming list had not been marked complete in time.
    #[error("streaming list was not marked complete in time")]
    InitialEventsEndMissing,
    /// The queue refused the list.
    #[error("unable to sync list result")]
    Replace(#[from] QueueError),
    /// A streaming list ended within a second and without an event.
    #[error("very short watch: it ended within a second and without an event")]
    VeryShortWatch,
}

impl ReflectorError {
    /// Whether the server's history no longer holds the version: part of normal work.
    pub fn is_expired(&self) -> bool {
        self.reason() == Some(StatusReason::Expired)
    }

    /// The server's reason, if it is the server's error.
    pub fn reason(&self) -> Option<StatusReason> {
        match self {
            Self::Api(ApiError::Status(status)) => Some(status.classify()),
            _ => None,
        }
    }
}
