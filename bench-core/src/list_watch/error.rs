//! What can go wrong between an informer and an API server, and what to do about it.

use crate::api::{DecodeError, Status, StatusReason};

use super::FrameError;

/// A request or a stream failed. Ask [`ApiError::recovery`] what to do; nothing else looks at codes.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The connection ended before the answer's head was there, or was reset. Asking again is safe: see
    /// [`super::HttpListWatch`], which does.
    #[error("connection closed before the answer")]
    ConnectionClosed(#[source] Box<dyn std::error::Error + Send + Sync>),
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
    /// Wait, then ask for the same again. What a server asks for in `Retry-After` was waited for already, below.
    BackOff,
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
            Self::ConnectionRefused => Recovery::BackOff,
            Self::Status(status) => match status.classify() {
                StatusReason::Expired | StatusReason::ResourceVersionTooLarge => Recovery::Relist,
                StatusReason::TooManyRequests => Recovery::BackOff,
                StatusReason::InternalError => Recovery::Rewatch,
                StatusReason::Invalid | StatusReason::Other => Recovery::Stop,
            },
            // A stream that cannot be read is an internal error to client-go.
            Self::Decode(_) | Self::Frame(_) => Recovery::Rewatch,
            Self::ConnectionClosed(_) | Self::Transport(_) => Recovery::Stop,
        }
    }
}
