//! What can go wrong between an informer and an API server, and what to do about it.

use std::time::Duration;

use crate::api::{DecodeError, Status, StatusReason};

use super::FrameError;

/// A request or a stream failed. Ask [`ApiError::recovery`] what to do; nothing else looks at codes.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// Nobody listens at the address.
    #[error("connection refused")]
    ConnectionRefused,
    /// The answer could not be understood.
    #[error("answer cannot be decoded")]
    Decode(#[from] DecodeError),
    /// The body was not a sequence of events.
    #[error("watch stream is broken")]
    Frame(#[from] FrameError),
    /// The server answered with an error.
    #[error("server answered {code} {reason}: {message}", code = .0.code, reason = .0.reason, message = .0.message)]
    Status(Box<Status>),
    /// The request could not be sent or the answer not received.
    #[error("transport failed")]
    Transport(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What a caller should do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// Wait, then ask for the same again; the server may have said how long.
    BackOff(Option<Duration>),
    /// The version is of no use: list again without it.
    Relist,
    /// Ask again at once: the server had an internal error.
    Rewatch,
    /// List again after a backoff.
    Stop,
}

impl ApiError {
    /// What to do, by the rules of client-go's `reflector.go`.
    pub fn recovery(&self) -> Recovery {
        match self {
            Self::ConnectionRefused => Recovery::BackOff(None),
            Self::Status(status) => match status.classify() {
                StatusReason::Expired | StatusReason::ResourceVersionTooLarge => Recovery::Relist,
                StatusReason::TooManyRequests => {
                    let seconds = status
                        .details
                        .as_ref()
                        .map_or(0, |details| details.retry_after_seconds);
                    Recovery::BackOff(
                        (seconds > 0).then(|| Duration::from_secs(u64::from(seconds))),
                    )
                }
                StatusReason::InternalError => Recovery::Rewatch,
                StatusReason::Invalid | StatusReason::Other => Recovery::Stop,
            },
            Self::Decode(_) | Self::Frame(_) | Self::Transport(_) => Recovery::Stop,
        }
    }
}
