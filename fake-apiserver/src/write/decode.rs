//! From JSON to an object of the resource's kind: types checked, unknown fields dropped and reported.

use bench_core::api::Resource;
use serde_json::Value;

use crate::{
    failure::Failure,
    schema::{Conformed, Schema, conform},
    write::{
        body::{self, Encoding},
        field_error::FieldError,
        parameters::FieldValidation,
        rules::ServedResource,
    },
};

/// A decoded object and what a client is to be warned of.
#[derive(Debug, PartialEq)]
pub(crate) struct Decoded {
    pub(crate) object: Value,
    pub(crate) warnings: Vec<String>,
}

/// Decodes a body.
///
/// # Errors
/// 400 for what is no object of the kind, and for unknown fields if validation is strict.
pub(crate) fn decode(
    served: &ServedResource,
    bytes: &[u8],
    encoding: Encoding,
    validation: FieldValidation,
) -> Result<Decoded, Failure> {
    let resource = &served.resource;
    let mut object = body::decode(bytes, encoding, resource)?;
    let refuse = |problem: &str| {
        let (kind, version) = (&resource.kind, &resource.version);
        Failure::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: {problem}"
        ))
    };
    let found = conform_to(resource, &mut object).map_err(|problem| refuse(&problem))?;
    let warnings = match validation {
        FieldValidation::Ignore => Vec::new(),
        FieldValidation::Warn => unknown_fields(&found),
        FieldValidation::Strict if found.unknown.is_empty() => Vec::new(),
        FieldValidation::Strict => {
            let unknown = unknown_fields(&found).join(", ");
            return Err(refuse(&format!("strict decoding error: {unknown}")));
        }
    };
    Ok(Decoded { object, warnings })
}

/// Judges what a patch has made.
///
/// # Errors
/// 400 for another kind, 422 for wrong types, and for unknown fields if validation is strict.
pub(crate) fn check_patched(
    resource: &Resource,
    mut object: Value,
    validation: FieldValidation,
) -> Result<Decoded, Failure> {
    body::check_kind(&object, resource)?;
    let sent = object.to_string();
    let refuse = |problem: &str| {
        let error = FieldError::invalid("patch", &sent.as_str().into(), problem);
        Failure::invalid("", "", "", &[error])
    };
    let found = conform_to(resource, &mut object).map_err(|problem| refuse(&problem))?;
    let warnings = match validation {
        FieldValidation::Ignore => Vec::new(),
        FieldValidation::Warn => unknown_fields(&found),
        FieldValidation::Strict if found.unknown.is_empty() => Vec::new(),
        FieldValidation::Strict => {
            let unknown = unknown_fields(&found).join(", ");
            return Err(refuse(&format!("strict decoding error: {unknown}")));
        }
    };
    Ok(Decoded { object, warnings })
}

fn unknown_fields(found: &Conformed) -> Vec<String> {
    let paths = found.unknown.iter();
    paths
        .map(|path| format!("unknown field {path:?}"))
        .collect()
}

/// Of custom resources only the metadata has a type here.
fn conform_to(resource: &Resource, object: &mut Value) -> Result<Conformed, String> {
    let schema = Schema::built_in();
    match schema.kind(&resource.api_version(), &resource.kind) {
        Some(root) => conform(schema, root, object),
        None => match object.get_mut("metadata") {
            Some(metadata) if !metadata.is_null() => {
                let mut found = conform(schema, schema.object_meta(), metadata)?;
                for path in &mut found.unknown {
                    path.insert_str(0, "metadata.");
                }
                Ok(found)
            }
            _ => Ok(Conformed::default()),
        },
    }
}
