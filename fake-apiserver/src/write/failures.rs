//! The error answers of writes (constructors of apimachinery's `api/errors`, and where noted of others).

use bench_core::api::{ObjectKey, Resource, Status, StatusCause, StatusDetails};

use crate::{failure::Failure, storage::resource_name};

/// The refusal of an update of another version than the present one.
const OBJECT_MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// Longest stored object: etcd's limit on requests.
pub(crate) const OBJECT_LIMIT_BYTES: usize = 3 * 512 * 1024;

impl Failure {
    pub(crate) fn with_details(
        code: u16,
        reason: &str,
        message: impl Into<String>,
        details: StatusDetails,
    ) -> Self {
        let mut status = Status::failure(code, reason, message);
        status.details = Some(details);
        Self {
            status: Box::new(status),
        }
    }

    pub(crate) fn plain(code: u16, reason: &str, message: impl Into<String>) -> Self {
        Self {
            status: Box::new(Status::failure(code, reason, message)),
        }
    }

    pub(crate) fn already_exists(resource: &Resource, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", resource_name(resource));
        Self::with_details(409, "AlreadyExists", message, about(resource, name))
    }

    /// Eight generated names were all taken.
    pub(crate) fn no_unique_name(resource: &Resource, name: &str) -> Self {
        let message = format!(
            "{} {name:?} already exists, the server was not able to generate a unique name for the object",
            resource_name(resource)
        );
        let mut details = about(resource, name);
        details.retry_after_seconds = 1;
        Self::with_details(409, "AlreadyExists", message, details)
    }

    pub(crate) fn conflict(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} {name:?}: {why}",
            resource_name(resource)
        );
        Self::with_details(409, "Conflict", message, about(resource, name))
    }

    pub(crate) fn object_modified(resource: &Resource, name: &str) -> Self {
        Self::conflict(resource, name, OBJECT_MODIFIED)
    }

    /// A precondition of the storage (apiserver's `storage/errors.go`).
    pub(crate) fn precondition(resource: &Resource, key: &ObjectKey, why: &str) -> Self {
        let path = match resource.group.as_str() {
            group if group.contains('.') && !group.ends_with(".k8s.io") => {
                format!("{group}/{}", resource.plural)
            }
            _ => resource.plural.clone(),
        };
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: /registry/{path}/{}, ResourceVersion: 0, \
             AdditionalErrorMsg: Precondition failed: {why}",
            key.as_str()
        );
        Self::conflict(resource, key.name(), &why)
    }

    pub(crate) fn forbidden(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!("{} {name:?} is forbidden: {why}", resource_name(resource));
        Self::with_details(403, "Forbidden", message, about(resource, name))
    }

    /// The admission plugin `NamespaceLifecycle` on a create in a namespace that is being deleted.
    pub(crate) fn namespace_terminating(resource: &Resource, name: &str, namespace: &str) -> Self {
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let mut failure = Self::forbidden(resource, name, &why);
        if let Some(details) = &mut failure.status.details {
            details.causes.push(StatusCause {
                reason: "NamespaceTerminating".to_owned(),
                message: format!("namespace {namespace} is being terminated"),
                field: "metadata.namespace".to_owned(),
            });
        }
        failure
    }

    pub(crate) fn too_large(why: &str) -> Self {
        Self::plain(
            413,
            "RequestEntityTooLarge",
            format!("Request entity too large: {why}"),
        )
    }

    /// etcd's own refusal, which is passed on as a 500.
    pub(crate) fn object_too_large() -> Self {
        Self::plain(500, "", "etcdserver: request is too large")
    }

    pub(crate) fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::plain(415, "UnsupportedMediaType", message)
    }

    /// An operation or a test of a JSON patch failed.
    pub(crate) fn patch_failed() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self::with_details(422, "Invalid", message, StatusDetails::default())
    }
}

fn about(resource: &Resource, name: &str) -> StatusDetails {
    StatusDetails {
        name: name.to_owned(),
        group: resource.group.clone(),
        kind: resource.plural.clone(),
        ..StatusDetails::default()
    }
}
