//! The `Status` object with which an API server reports an outcome.

use serde::{Deserialize, Serialize};

/// A `v1` `Status`, keys in the order in which servers write them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_field_names, reason = "the wire's names")]
pub struct Status {
    /// `Status`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// `v1`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// List metadata; servers write `{}`.
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// `Success` or `Failure`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// For a person.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// For a program; see [`StatusReason`].
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What the error is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<StatusDetails>,
    /// The HTTP code; 0 if absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub code: u16,
}

/// `details` of a [`Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatusDetails {
    /// Name of the object.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// API group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The resource's plural for most errors, the kind for 422.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Single causes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<StatusCause>,
    /// When to try again; 0 if absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub retry_after_seconds: u16,
}

/// One cause in a [`StatusDetails`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusCause {
    /// The cause's type, under the key `reason`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// For a person.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The field at fault.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

/// The reasons on which an informer acts differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusReason {
    /// 410: the version is older than the server's history. Covers the legacy reason `Gone`.
    Expired,
    /// 500.
    InternalError,
    /// 422.
    Invalid,
    /// Any other reason.
    Other,
    /// 504 with the cause `ResourceVersionTooLarge`.
    ResourceVersionTooLarge,
    /// 429.
    TooManyRequests,
}

const TOO_LARGE: &str = "Too large resource version";

/// Reasons beside which a code says nothing (`knownReasons` of apimachinery's `api/errors`).
const KNOWN_REASONS: [&str; 19] = [
    "AlreadyExists",
    "BadRequest",
    "Conflict",
    "Expired",
    "Forbidden",
    "Gone",
    "InternalError",
    "Invalid",
    "MethodNotAllowed",
    "NotAcceptable",
    "NotFound",
    "RequestEntityTooLarge",
    "ServerTimeout",
    "ServiceUnavailable",
    "StoreReadError",
    "Timeout",
    "TooManyRequests",
    "Unauthorized",
    "UnsupportedMediaType",
];

impl Status {
    /// A failure with the given code, reason and message.
    pub fn failure(code: u16, reason: &str, message: impl Into<String>) -> Self {
        Self {
            kind: "Status".to_owned(),
            api_version: "v1".to_owned(),
            status: "Failure".to_owned(),
            message: message.into(),
            reason: reason.to_owned(),
            code,
            ..Self::default()
        }
    }

    /// What client-go makes of an answer whose body it cannot or does not read as a Status: the reason by the code, and what
    /// the server said as a cause (`NewGenericServerResponse` of apimachinery's `api/errors`).
    pub fn unread(code: u16, server_message: &str) -> Self {
        let reason = match code {
            400 => "BadRequest",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "NotFound",
            405 => "MethodNotAllowed",
            406 => "NotAcceptable",
            409 => "Conflict",
            415 => "UnsupportedMediaType",
            422 => "Invalid",
            429 => "TooManyRequests",
            503 => "ServiceUnavailable",
            504 => "Timeout",
            500.. => "InternalError",
            _ => "",
        };
        let cause = StatusCause {
            reason: "UnexpectedServerResponse".to_owned(),
            message: server_message.to_owned(),
            field: String::new(),
        };
        let message = match code {
            // client-go says something of its own, so that a text is looked for in the cause only.
            504 => "the server was unable to return a response in time".to_owned(),
            _ => format!("an error on the server ({server_message:?})"),
        };
        Self {
            details: Some(StatusDetails {
                causes: vec![cause],
                ..StatusDetails::default()
            }),
            ..Self::failure(code, reason, message)
        }
    }

    /// Classifies as apimachinery's `api/errors` does: by reason, and by code where the reason is absent or not one of
    /// Kubernetes' own; 429 is believed whatever the reason.
    ///
    /// A version from the future is recognised in the three encodings of client-go's `reflector.go`: the cause's type, or
    /// for a timeout that has details the cause's message or the status' message.
    pub fn classify(&self) -> StatusReason {
        if self.is_too_large() {
            return StatusReason::ResourceVersionTooLarge;
        }
        let code_counts = !KNOWN_REASONS.contains(&self.reason.as_str());
        match (self.reason.as_str(), self.code) {
            ("Expired" | "Gone", _) => StatusReason::Expired,
            (_, 410) if code_counts => StatusReason::Expired,
            ("TooManyRequests", _) | (_, 429) => StatusReason::TooManyRequests,
            ("InternalError", _) => StatusReason::InternalError,
            (_, 500) if code_counts => StatusReason::InternalError,
            ("Invalid", _) => StatusReason::Invalid,
            (_, 422) if code_counts => StatusReason::Invalid,
            _ => StatusReason::Other,
        }
    }

    fn is_too_large(&self) -> bool {
        let Some(details) = &self.details else {
            return false;
        };
        let causes = &details.causes;
        if causes
            .iter()
            .any(|cause| cause.reason == "ResourceVersionTooLarge")
        {
            return true;
        }
        let timeout = match (self.reason.as_str(), self.code) {
            ("Timeout", _) => true,
            (reason, 504) => !KNOWN_REASONS.contains(&reason),
            _ => false,
        };
        timeout
            && (causes.iter().any(|cause| cause.message == TOO_LARGE)
                || self.message.contains(TOO_LARGE))
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's skip_serializing_if passes a reference"
)]
fn is_zero(number: &u16) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classify(json: &str) -> StatusReason {
        serde_json::from_str::<Status>(json).unwrap().classify()
    }

    #[test]
    fn expired_is_recognised_with_either_reason_and_by_code_alone() {
        assert_eq!(classify(r#"{"reason":"Expired"}"#), StatusReason::Expired);
        assert_eq!(
            classify(r#"{"reason":"Gone","code":410}"#),
            StatusReason::Expired
        );
        assert_eq!(classify(r#"{"code":410}"#), StatusReason::Expired);
        assert_eq!(
            classify(r#"{"reason":"NotFound","code":410}"#),
            StatusReason::Other
        );
    }

    #[test]
    fn a_version_from_the_future_is_recognised_in_three_encodings() {
        let by_type = r#"{"reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge"}]},"code":504}"#;
        let by_cause = r#"{"reason":"Timeout","details":{"causes":[{"message":"Too large resource version"}]},"code":504}"#;
        let by_message = r#"{"reason":"Timeout","message":"Timeout: Too large resource version: 9, current: 5","details":{"retryAfterSeconds":1},"code":504}"#;
        for json in [by_type, by_cause, by_message] {
            assert_eq!(
                classify(json),
                StatusReason::ResourceVersionTooLarge,
                "{json}"
            );
        }
        for json in [
            r#"{"reason":"Timeout","message":"Too large resource version","code":504}"#,
            r#"{"reason":"ServerTimeout","message":"Too large resource version","details":{},"code":504}"#,
        ] {
            assert_eq!(classify(json), StatusReason::Other, "{json}");
        }
    }

    #[test]
    fn a_code_counts_beside_no_reason_and_beside_one_that_is_not_of_kubernetes() {
        for (json, expected) in [
            (r#"{"reason":"Odd","code":410}"#, StatusReason::Expired),
            (
                r#"{"reason":"Odd","code":500}"#,
                StatusReason::InternalError,
            ),
            (r#"{"code":500}"#, StatusReason::InternalError),
            (
                r#"{"reason":"StoreReadError","code":500}"#,
                StatusReason::Other,
            ),
            (r#"{"reason":"Odd","code":422}"#, StatusReason::Invalid),
            (r#"{"reason":"BadRequest","code":422}"#, StatusReason::Other),
            (
                r#"{"reason":"Conflict","code":429}"#,
                StatusReason::TooManyRequests,
            ),
            (
                r#"{"reason":"TooManyRequests"}"#,
                StatusReason::TooManyRequests,
            ),
        ] {
            assert_eq!(classify(json), expected, "{json}");
        }
    }

    #[test]
    fn an_unread_answer_is_classified_by_its_code_and_text() {
        for (code, text, expected) in [
            (410, "unknown", StatusReason::Expired),
            (422, "unknown", StatusReason::Invalid),
            (429, "unknown", StatusReason::TooManyRequests),
            (502, "unknown", StatusReason::InternalError),
            (503, "unknown", StatusReason::Other),
            (504, "unknown", StatusReason::Other),
            (504, TOO_LARGE, StatusReason::ResourceVersionTooLarge),
            (
                504,
                "Timeout: Too large resource version: 9",
                StatusReason::Other,
            ),
            (404, "unknown", StatusReason::Other),
        ] {
            assert_eq!(
                Status::unread(code, text).classify(),
                expected,
                "{code} {text}"
            );
        }
    }

    #[test]
    fn a_status_is_written_with_empty_metadata_and_in_the_order_of_servers() {
        let status = Status::failure(410, "Expired", "too old resource version: 1 (900)");
        assert_eq!(
            serde_json::to_string(&status).unwrap(),
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (900)","reason":"Expired","code":410}"#
        );
    }
}
