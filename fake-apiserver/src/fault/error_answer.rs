//! HTTP errors that a script asks for.

use axum::{
    body::Body,
    response::{IntoResponse as _, Response},
};
use bench_core::api::{Status, StatusDetails};
use http::{HeaderValue, StatusCode, header::CONTENT_TYPE, header::RETRY_AFTER};

use super::{
    plan::Answer,
    script::{ErrorBody, ErrorFault},
};
use crate::{
    continue_token::{ContinueToken, TokenVersion},
    failure::Failure,
};

/// The answer to a request with this query.
pub(super) fn answer_of(answer: &Answer, query: &str) -> Response {
    match answer {
        Answer::Error(error) => error_of(error),
        Answer::Expired => Failure::exact_list_expired().into_response(),
        Answer::ContinueExpired => {
            let token =
                form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "continue");
            let (_, token) = token.unwrap_or_default();
            expired_continue(&token).into_response()
        }
    }
}

/// The answer to a token whose version has left the history; to one that is none, what a healthy server says.
fn expired_continue(token: &str) -> Failure {
    match ContinueToken::decode(token) {
        Err(invalid) => invalid,
        Ok(token) => {
            let replacement = ContinueToken {
                version: TokenVersion::Latest,
                after: token.after,
            };
            Failure::continue_expired(replacement.encode())
        }
    }
}

fn error_of(error: &ErrorFault) -> Response {
    let code = StatusCode::from_u16(error.code).expect("a script's codes are 400 to 599");
    let seconds = error.retry_after.map(|time| {
        let rounded_up = time.as_secs() + u64::from(time.subsec_nanos() > 0);
        u16::try_from(rounded_up).unwrap_or(u16::MAX)
    });
    let message = error.message.clone().unwrap_or_else(|| {
        let phrase = code.canonical_reason().unwrap_or("error");
        format!("{phrase} (injected)")
    });
    let (content_type, body) = match error.body {
        ErrorBody::Empty => (None, Body::empty()),
        ErrorBody::Text => (
            Some("text/plain; charset=utf-8"),
            Body::from(message + "\n"),
        ),
        ErrorBody::Status => {
            let reason = error
                .reason
                .as_deref()
                .unwrap_or_else(|| usual_reason(error.code));
            let mut status = Status::failure(error.code, reason, message);
            status.details = seconds.map(|seconds| StatusDetails {
                retry_after_seconds: seconds,
                ..StatusDetails::default()
            });
            let json = serde_json::to_vec(&status).expect("a Status is plain JSON");
            (Some("application/json"), Body::from(json))
        }
    };
    let mut response = (code, body).into_response();
    let headers = response.headers_mut();
    if let Some(content_type) = content_type {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    if let Some(seconds) = seconds {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// The reason that goes with a code: the constructors of apimachinery's `pkg/api/errors/errors.go`.
fn usual_reason(code: u16) -> &'static str {
    match code {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        405 => "MethodNotAllowed",
        406 => "NotAcceptable",
        409 => "Conflict",
        410 => "Expired",
        413 => "RequestEntityTooLarge",
        415 => "UnsupportedMediaType",
        422 => "Invalid",
        429 => "TooManyRequests",
        500 => "InternalError",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "",
    }
}
