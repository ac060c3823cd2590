//! What is wrong with one field of a request, in the words of apimachinery's `util/validation/field`.

use bench_core::api::{StatusCause, StatusDetails};
use serde_json::Value;

use crate::failure::Failure;

/// One cause of a 422.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldError {
    field: String,
    reason: &'static str,
    message: String,
}

impl FieldError {
    pub(crate) fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        Self::new(
            field,
            "FieldValueDuplicate",
            format!("Duplicate value: {value}"),
        )
    }

    pub(crate) fn forbidden(field: impl Into<String>, why: &str) -> Self {
        Self::new(field, "FieldValueForbidden", format!("Forbidden: {why}"))
    }

    pub(crate) fn immutable(field: impl Into<String>, value: &Value) -> Self {
        Self::invalid(field, value, "field is immutable")
    }

    pub(crate) fn invalid(field: impl Into<String>, value: &Value, why: &str) -> Self {
        Self::new(
            field,
            "FieldValueInvalid",
            format!("Invalid value: {value}: {why}"),
        )
    }

    pub(crate) fn not_supported(
        field: impl Into<String>,
        value: &Value,
        supported: &[&str],
    ) -> Self {
        let supported: Vec<String> = supported.iter().map(|text| format!("{text:?}")).collect();
        Self::new(
            field,
            "FieldValueNotSupported",
            format!(
                "Unsupported value: {value}: supported values: {}",
                supported.join(", ")
            ),
        )
    }

    /// `why` may be empty.
    pub(crate) fn required(field: impl Into<String>, why: &str) -> Self {
        let separator = if why.is_empty() { "" } else { ": " };
        Self::new(
            field,
            "FieldValueRequired",
            format!("Required value{separator}{why}"),
        )
    }

    pub(crate) fn too_long(field: impl Into<String>, most_bytes: usize) -> Self {
        Self::new(
            field,
            "FieldValueTooLong",
            format!("Too long: may not be more than {most_bytes} bytes"),
        )
    }

    fn new(field: impl Into<String>, reason: &'static str, message: String) -> Self {
        Self {
            field: field.into(),
            reason,
            message,
        }
    }
}

impl Failure {
    /// 422: an object or an option object of this kind is not valid.
    pub(crate) fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let mut texts: Vec<String> = Vec::new();
        for error in errors {
            let text = format!("{}: {}", error.field, error.message);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let list = match texts.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let qualified = if group.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind}.{group}")
        };
        let causes = errors.iter().map(|error| StatusCause {
            reason: error.reason.to_owned(),
            message: error.message.clone(),
            field: error.field.clone(),
        });
        let details = StatusDetails {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            causes: causes.collect(),
            ..StatusDetails::default()
        };
        Self::with_details(
            422,
            "Invalid",
            format!("{qualified} {name:?} is invalid: {list}"),
            details,
        )
    }

    /// [`Self::invalid`] if there is any error.
    pub(crate) fn if_invalid(
        group: &str,
        kind: &str,
        name: &str,
        errors: &[FieldError],
    ) -> Result<(), Self> {
        if errors.is_empty() {
            Ok(())
        } else {
            Err(Self::invalid(group, kind, name, errors))
        }
    }
}
