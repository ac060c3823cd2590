//! Answers that are not what was asked for, as a kube-apiserver words them.

use bench_core::api::{Status, StatusCause, StatusDetails};

use crate::accept::Delivery;

/// An error answer: its code is that of the status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The body.
    // Boxed, since failures travel in results whose other side is small.
    pub status: Box<Status>,
}

/// A field of an option object that is not as it may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InvalidOption {
    pub(crate) field: &'static str,
    /// The cause's type.
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

impl InvalidOption {
    pub(crate) fn forbidden(field: &'static str, why: &str) -> Self {
        Self {
            field,
            reason: "FieldValueForbidden",
            message: format!("Forbidden: {why}"),
        }
    }

    pub(crate) fn unsupported(field: &'static str, value: &str, supported: &str) -> Self {
        let message = format!("Unsupported value: {value:?}: supported values: {supported}");
        Self {
            field,
            reason: "FieldValueNotSupported",
            message,
        }
    }
}

impl Failure {
    fn new(status: Status) -> Self {
        Self {
            status: Box::new(status),
        }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Status::failure(400, "BadRequest", message))
    }

    /// A version that is no number, on a LIST.
    pub(crate) fn list_version(problem: &str) -> Self {
        Self::bad_request(format!("invalid resource version: {problem}"))
    }

    /// A version that is no number, on a WATCH or a GET: a plain 500 on real servers too.
    pub(crate) fn watch_version(problem: &str) -> Self {
        Self::new(Status::failure(500, "", problem))
    }

    pub(crate) fn invalid_options(problems: &[InvalidOption]) -> Self {
        let texts: Vec<String> = problems
            .iter()
            .map(|problem| format!("{}: {}", problem.field, problem.message))
            .collect();
        let list = match texts.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let mut status = Status::failure(
            422,
            "Invalid",
            format!("ListOptions.meta.k8s.io \"\" is invalid: {list}"),
        );
        status.details = Some(StatusDetails {
            group: "meta.k8s.io".to_owned(),
            kind: "ListOptions".to_owned(),
            causes: problems
                .iter()
                .map(|problem| StatusCause {
                    reason: problem.reason.to_owned(),
                    message: problem.message.clone(),
                    field: problem.field.to_owned(),
                })
                .collect(),
            ..StatusDetails::default()
        });
        Self::new(status)
    }

    pub(crate) fn object_not_found(group: &str, plural: &str, name: &str) -> Self {
        let resource = if group.is_empty() {
            plural.to_owned()
        } else {
            format!("{plural}.{group}")
        };
        let mut status = Status::failure(404, "NotFound", format!("{resource} {name:?} not found"));
        status.details = Some(StatusDetails {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: plural.to_owned(),
            ..StatusDetails::default()
        });
        Self::new(status)
    }

    /// In the words of apiserver's `pkg/endpoints/filters/authentication.go`.
    pub(crate) fn unauthorized() -> Self {
        Self::new(Status::failure(401, "Unauthorized", "Unauthorized"))
    }

    /// A body over the limit, as `NewRequestEntityTooLargeError` words it.
    pub(crate) fn body_too_large(limit: usize) -> Self {
        let message = format!("Request entity too large: limit is {limit}");
        Self::new(Status::failure(413, "RequestEntityTooLarge", message))
    }

    pub(crate) fn resource_not_found() -> Self {
        Self::from_router(
            404,
            "NotFound",
            "the server could not find the requested resource",
        )
    }

    pub(crate) fn method_not_allowed() -> Self {
        Self::from_router(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
    }

    /// No clause of Accept can be met. Without protobuf, which a kube-apiserver names as well.
    pub(crate) fn not_acceptable(delivery: Delivery) -> Self {
        let message = match delivery {
            Delivery::Single => {
                "only the following media types are accepted: application/json, application/yaml"
            }
            Delivery::Stream => {
                "only the following media types are accepted: application/json;stream=watch"
            }
        };
        Self::new(Status::failure(406, "NotAcceptable", message))
    }

    /// No media type of Accept is one that the path can be answered in: what comes of it before anything else is looked at.
    pub(crate) fn not_representable(delivery: Delivery) -> Self {
        let streams = match delivery {
            Delivery::Single => "",
            Delivery::Stream => ", application/json;stream=watch",
        };
        Self::from_router(
            406,
            "NotAcceptable",
            &format!(
                "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml{streams}"
            ),
        )
    }

    /// A transformation that does not fit what was asked for.
    pub(crate) fn no_such_form(message: String) -> Self {
        Self::new(Status::failure(406, "NotAcceptable", message))
    }

    pub(crate) fn version_from_the_future(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        let mut status = Status::failure(504, "Timeout", message);
        status.details = Some(StatusDetails {
            causes: vec![StatusCause {
                reason: "ResourceVersionTooLarge".to_owned(),
                message: "Too large resource version".to_owned(),
                field: String::new(),
            }],
            retry_after_seconds: 1,
            ..StatusDetails::default()
        });
        Self::new(status)
    }

    /// A watch from before the window; `oldest` is the oldest version from which one could start.
    pub(crate) fn watch_expired(asked: u64, oldest: u64) -> Self {
        let message = format!("too old resource version: {asked} ({oldest})");
        Self::new(Status::failure(410, "Expired", message))
    }

    pub(crate) fn exact_list_expired() -> Self {
        Self::new(Status::failure(
            410,
            "Expired",
            "The resourceVersion for the provided list is too old.",
        ))
    }

    /// A continuation from before the window; `replacement` goes on at the newest version, inconsistently.
    pub(crate) fn continue_expired(replacement: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list result. You can start a new \
                       list without the continue parameter, or use the continue token in this response to retrieve the \
                       remainder of the results. Continuing with the provided token results in an inconsistent list - \
                       objects that were created, modified, or deleted between the time the first chunk was returned and \
                       now may show up in the list.";
        let mut status = Status::failure(410, "Expired", message);
        status
            .metadata
            .insert("continue".to_owned(), replacement.into());
        Self::new(status)
    }

    fn from_router(code: u16, reason: &str, message: &str) -> Self {
        let mut status = Status::failure(code, reason, message);
        status.details = Some(StatusDetails::default());
        Self::new(status)
    }
}
