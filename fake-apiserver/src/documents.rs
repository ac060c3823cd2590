//! Answers that describe the server: its version, what it serves, and its schemas.

use axum::{
    body::Body,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use http::{
    HeaderValue, Method, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, VARY},
    request::Parts,
};

use crate::{
    ApiServer,
    accept::{Delivery, Layout, check_representable},
    answer_body::{self, Form},
    discovery::{self, AGGREGATED_MEDIA_TYPE, Document},
    failure::Failure,
    openapi::{self, Found, Keep},
};

/// The answer, if the path is one of these.
pub(crate) fn document_answer(
    server: &ApiServer,
    request: &Parts,
) -> Option<Result<Response, Failure>> {
    let path = request.uri.path();
    let answer = match path {
        "/" => indented(discovery::paths(server).to_string(), request),
        "/version" | "/version/" => indented(discovery::version().to_string(), request),
        _ => {
            if let Some(document) = discovery::document(server, path, &request.headers) {
                match document {
                    Document::Plain(json) => plain(json, request),
                    Document::Aggregated(json) => Ok(aggregated(json, request)),
                }
            } else {
                let query = request.uri.query().unwrap_or("");
                let found = openapi::find(server, path, query, &request.headers)?;
                Ok(schemas(found))
            }
        }
    };
    if request.method != Method::GET {
        return Some(Err(Failure::method_not_allowed()));
    }
    Some(answer)
}

fn plain(json: String, request: &Parts) -> Result<Response, Failure> {
    check_representable(&request.headers, Delivery::Single)?;
    let form = Form::negotiate(request)?;
    let json = std::iter::once(Bytes::from(json + "\n"));
    Ok(answer_body::answer(json, None, form))
}

/// Always indented, for whoever it is.
fn indented(json: String, request: &Parts) -> Result<Response, Failure> {
    let mut form = Form::negotiate(request)?;
    form.accepted.layout = Layout::Pretty;
    let json = std::iter::once(Bytes::from(json));
    Ok(answer_body::answer(json, None, form))
}

/// With a tag, by which clients that have it already are spared it.
fn aggregated(mut json: String, request: &Parts) -> Response {
    json.push('\n');
    let tag = format!("\"{}\"", openapi::hash_of(&json));
    let is_known = request.headers.get(IF_NONE_MATCH) == HeaderValue::from_str(&tag).ok().as_ref();
    let headers = [
        (ETAG, tag),
        (VARY, "Accept".to_owned()),
        (CACHE_CONTROL, "public".to_owned()),
    ];
    if is_known {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    let media_type = [(CONTENT_TYPE, AGGREGATED_MEDIA_TYPE)];
    (headers, media_type, Body::from(json)).into_response()
}

fn schemas(found: Found) -> Response {
    match found {
        Found::NotAcceptable => StatusCode::NOT_ACCEPTABLE.into_response(),
        Found::Redirect(location) => {
            (StatusCode::MOVED_PERMANENTLY, [(LOCATION, location)]).into_response()
        }
        Found::Document { json, keep } => {
            let tag = format!("\"{}\"", openapi::hash_of(&json));
            let caching = match keep {
                Keep::ForGood => "public, immutable",
                Keep::No => "no-cache, private",
            };
            let headers = [
                (CONTENT_TYPE, "application/json".to_owned()),
                (CACHE_CONTROL, caching.to_owned()),
                (ETAG, tag),
                (VARY, "Accept".to_owned()),
            ];
            (headers, Body::from(json)).into_response()
        }
    }
}
