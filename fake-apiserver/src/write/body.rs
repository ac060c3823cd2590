//! Bodies of writes: media types, size, and decoding into an object of the resource's kind.

use std::{error::Error, fmt::Write as _};

use axum::body::Body;
use bench_core::api::Resource;
use bytes::Bytes;
use http::{HeaderMap, header::CONTENT_TYPE};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::Value;

use crate::failure::Failure;

/// Longest body of a write.
pub(crate) const BODY_LIMIT_BYTES: usize = 3 * 1024 * 1024;

/// The media types of objects in bodies. Protobuf is refused: this server knows JSON and YAML.
const ACCEPTED: [&str; 2] = ["application/json", "application/yaml"];

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Json,
    Yaml,
}

/// The media type without parameters; empty if absent.
pub(crate) fn media_type(headers: &HeaderMap) -> &str {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let media_type = value.unwrap_or("").split(';').next().unwrap_or("");
    media_type.trim()
}

/// # Errors
/// 415.
pub(crate) fn encoding(headers: &HeaderMap) -> Result<Encoding, Failure> {
    match media_type(headers) {
        "" | "*/*" | "application/json" => Ok(Encoding::Json),
        "application/yaml" => Ok(Encoding::Yaml),
        _ => Err(Failure::unsupported_media_type(&ACCEPTED)),
    }
}

/// # Errors
/// 413 for a body above the limit, 400 for one that breaks off.
pub(crate) async fn read(body: Body) -> Result<Bytes, Failure> {
    match Limited::new(body, BODY_LIMIT_BYTES).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if is_length_limit(&*error) => Err(Failure::body_too_large(BODY_LIMIT_BYTES)),
        Err(error) => Err(Failure::bad_request(error.to_string())),
    }
}

/// Whether a limit broke a body off: this one, or that of the connection below it.
fn is_length_limit(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// # Errors
/// The parser's words.
pub(crate) fn parse(bytes: &[u8], encoding: Encoding) -> Result<Value, String> {
    match encoding {
        Encoding::Json => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
        Encoding::Yaml => {
            let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
            serde_saphyr::from_str(text).map_err(|error| error.to_string())
        }
    }
}

/// Decodes an object. An absent kind or version is the resource's.
///
/// # Errors
/// 400 for what is no object, or one of another kind.
pub(crate) fn decode(
    bytes: &[u8],
    encoding: Encoding,
    resource: &Resource,
) -> Result<Value, Failure> {
    let value = parse(bytes, encoding).map_err(|error| {
        let mut hex = String::new();
        for byte in bytes.iter().take(30) {
            write!(hex, "{byte:02x}").expect("writing to memory cannot fail");
        }
        let more = if bytes.len() > 30 { " ..." } else { "" };
        Failure::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): couldn't get version/kind; json parse error: \
             {error} ({hex}{more})",
            resource.kind
        ))
    })?;
    if !value.is_object() {
        return Err(Failure::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): couldn't get version/kind; json parse error: \
             json: cannot unmarshal {} into Go value of type struct",
            resource.kind,
            json_type(&value)
        )));
    }
    check_kind(&value, resource)?;
    Ok(value)
}

/// # Errors
/// 400 for an object of another kind or version.
pub(crate) fn check_kind(value: &Value, resource: &Resource) -> Result<(), Failure> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or("");
    let (kind, api_version) = (text("kind"), text("apiVersion"));
    let expected = resource.api_version();
    if !api_version.is_empty() && api_version != expected {
        return Err(Failure::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({expected})"
        )));
    }
    if !kind.is_empty() && kind != resource.kind {
        let version = &resource.version;
        return Err(Failure::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {}: no kind {kind:?} is registered for this path",
            resource.kind
        )));
    }
    match value.get("metadata") {
        None | Some(Value::Null | Value::Object(_)) => Ok(()),
        Some(other) => Err(Failure::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}: json: cannot unmarshal {} into Go struct field \
             {}.metadata of type v1.ObjectMeta",
            resource.kind,
            resource.version,
            resource.kind,
            json_type(other),
            resource.kind
        ))),
    }
}

/// Go's name for the type of a JSON value.
pub(crate) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
