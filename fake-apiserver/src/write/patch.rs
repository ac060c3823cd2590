//! The kinds of PATCH, and what they make of an object (apiserver's `endpoints/handlers/patch.go`).

use bench_core::api::Resource;
use serde_json::Value;

use crate::{
    failure::Failure,
    schema::Schema,
    write::{
        body::{self, Encoding},
        field_error::FieldError,
        rules::ServedResource,
        strategic::{self, StrategicError},
    },
};

/// Most operations of a JSON patch.
const OPERATIONS_LIMIT: usize = 10_000;

/// A parsed patch.
#[derive(Debug, Clone)]
pub(crate) enum Patch {
    /// What a manager wants of an object, which is made if absent.
    Apply(Value),
    Json(json_patch::Patch),
    Merge(Value),
    Strategic(Value),
}

/// How a patch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchType {
    Apply,
    Json,
    Merge,
    /// By the kind's type; custom resources have none.
    Strategic,
}

impl PatchType {
    /// # Errors
    /// 415 with the types that the resource takes.
    pub(crate) fn try_parse(media_type: &str, served: &ServedResource) -> Result<Self, Failure> {
        let mut known = vec![
            ("application/json-patch+json", Self::Json),
            ("application/merge-patch+json", Self::Merge),
        ];
        if !served.is_custom() {
            known.push(("application/strategic-merge-patch+json", Self::Strategic));
        }
        known.push(("application/apply-patch+yaml", Self::Apply));
        let found = known.iter().find(|(name, _)| *name == media_type);
        found.map(|(_, patch_type)| *patch_type).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            Failure::unsupported_media_type(&names)
        })
    }
}

impl Patch {
    /// # Errors
    /// 400 for what is no patch, 413 for one with too many operations.
    pub(crate) fn try_parse(patch_type: PatchType, bytes: &[u8]) -> Result<Self, Failure> {
        match patch_type {
            PatchType::Apply => Ok(Self::Apply(parse_object(bytes, Encoding::Yaml)?)),
            PatchType::Json => {
                let patch: json_patch::Patch = serde_json::from_slice(bytes).map_err(|error| {
                    Failure::bad_request(format!("error decoding patch: {error}"))
                })?;
                if patch.0.len() > OPERATIONS_LIMIT {
                    return Err(Failure::too_large(&format!(
                        "The allowed maximum operations in a JSON patch is {OPERATIONS_LIMIT}, got {}",
                        patch.0.len()
                    )));
                }
                Ok(Self::Json(patch))
            }
            PatchType::Merge => Ok(Self::Merge(parse_object(bytes, Encoding::Json)?)),
            PatchType::Strategic => Ok(Self::Strategic(parse_object(bytes, Encoding::Json)?)),
        }
    }

    /// Applies it to the object as it is.
    ///
    /// # Errors
    /// 422 if it does not fit.
    pub(crate) fn apply(&self, resource: &Resource, current: &Value) -> Result<Value, Failure> {
        let mut object = current.clone();
        match self {
            // Who owns what is needed for that: see `managed::apply`.
            Self::Apply(_) => unreachable!("applies are merged with the record of managers"),
            Self::Json(patch) => {
                json_patch::patch(&mut object, patch).map_err(|_error| Failure::patch_failed())?;
            }
            Self::Merge(patch) => json_patch::merge(&mut object, patch),
            Self::Strategic(patch) => merge_strategically(resource, &mut object, patch)?,
        }
        if object.is_object() {
            return Ok(object);
        }
        let error = FieldError::invalid("patch", &object, "the result is not an object");
        Err(Failure::invalid("", "", "", &[error]))
    }
}

fn merge_strategically(
    resource: &Resource,
    object: &mut Value,
    patch: &Value,
) -> Result<(), Failure> {
    let schema = Schema::built_in();
    let Some(root) = schema.kind(&resource.api_version(), &resource.kind) else {
        return Err(Failure::patch_failed());
    };
    strategic::merge(schema, root, object, patch).map_err(|error| match error {
        StrategicError::Format(problem) => Failure::bad_request(problem),
        // Not mapped to a client's fault upstream either.
        StrategicError::NoMergeKey { item, key } => Failure::plain(
            500,
            "",
            format!("map: {item} does not contain declared merge key: {key}"),
        ),
    })
}

fn parse_object(bytes: &[u8], encoding: Encoding) -> Result<Value, Failure> {
    let value = body::parse(bytes, encoding)
        .map_err(|error| Failure::bad_request(format!("error decoding patch: {error}")))?;
    if value.is_object() {
        return Ok(value);
    }
    let problem = format!(
        "error decoding patch: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
        body::json_type(&value)
    );
    Err(Failure::bad_request(problem))
}
