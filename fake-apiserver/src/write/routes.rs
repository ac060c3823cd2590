//! Requests that write, and their answers.

use std::sync::Arc;

use axum::{body::Body, response::Response};
use bench_core::api::{ObjectKey, Scope};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode, header::USER_AGENT, request::Parts};

use crate::{
    ApiServer,
    accept::{Delivery, check_representable},
    answer_body::{self, Encoding, Form},
    failure::Failure,
    write::{
        actions::{self, Action},
        body,
        decode::decode,
        delete_options::DeleteOptions,
        driver::{Change, Place, Written, check_name},
        parameters::{OptionsOf, WriteOptions},
        patch::{Patch, PatchType},
        rules::{Part, ServedResource},
        scale,
    },
};

const WARNING: HeaderName = HeaderName::from_static("warning");

/// What a path names.
struct Target {
    place: Place,
    name: Option<String>,
    part: Part,
}

/// Answers a request that is neither GET nor HEAD. `segments` are group, version and the rest of the path.
///
/// # Errors
/// As a server answers.
pub(crate) async fn answer(
    server: &Arc<ApiServer>,
    request: &Parts,
    (segments, form): (&[&str], Form),
    body: Body,
) -> Result<Response, Failure> {
    if let (&Method::POST, Some((action, parent))) = (&request.method, segments.split_last())
        && let Some(target) = find(server, parent)
        && let (Some(name), Some(action)) = (&target.name, Action::of(&target.place.served, action))
    {
        let key = ObjectKey::new(&target.place.namespace, name);
        let act = actions::perform(server, request, (&target.place, &key, action), body);
        return Ok(respond(act.await?, form));
    }
    let target = find(server, segments).ok_or_else(Failure::resource_not_found)?;
    let written = match (&request.method, &target.name) {
        (&Method::POST, None) => post(server, request, &target, body).await,
        (&Method::PUT, Some(name)) => put(server, request, (&target, name), body).await,
        (&Method::PATCH, Some(name)) => patch(server, request, (&target, name), body).await,
        (&Method::DELETE, Some(name)) => delete(server, request, (&target, name), body).await,
        (&Method::DELETE, None) => delete_collection(server, request, &target, body).await,
        _ => Err(Failure::method_not_allowed()),
    }?;
    Ok(respond(written, form))
}

/// Answers a GET of a part of an object; `None` if the path is not one of a part.
pub(crate) fn get_part(
    server: &ApiServer,
    request: &Parts,
    segments: &[&str],
) -> Option<Result<Response, Failure>> {
    let target = find(server, segments)?;
    if target.part == Part::Main {
        return None;
    }
    let key = ObjectKey::new(&target.place.namespace, target.name.as_ref()?);
    Some(part(server, request, (&target, &key)))
}

fn part(
    server: &ApiServer,
    request: &Parts,
    (target, key): (&Target, &ObjectKey),
) -> Result<Response, Failure> {
    check_representable(&request.headers, Delivery::Single)?;
    let form = Form::negotiate(request)?;
    let resource = &target.place.served.resource;
    let (_, object) = server
        .present(&target.place, key)
        .ok_or_else(|| Failure::object_not_found(&resource.group, &resource.plural, key.name()))?;
    let body = match target.place.served.scale_paths() {
        Some(paths) if target.part == Part::Scale => scale::of(&paths, &object).to_string(),
        _ => object.to_string(),
    };
    Ok(respond(Written::new(200, body), form))
}

async fn post(
    server: &ApiServer,
    request: &Parts,
    target: &Target,
    body: Body,
) -> Result<Written, Failure> {
    let place = &target.place;
    if place.served.resource.scope == Scope::Namespaced && place.namespace.is_empty() {
        return Err(Failure::method_not_allowed());
    }
    let encoding = body::encoding(&request.headers)?;
    let bytes = body::read(body).await?;
    let options = options(OptionsOf::Create, request)?;
    let decoded = decode(&place.served, &bytes, encoding, options.validation)?;
    let mut written = server.create_object(place, decoded.object, &options)?;
    written.warnings = decoded.warnings;
    Ok(written)
}

async fn put(
    server: &ApiServer,
    request: &Parts,
    (target, name): (&Target, &str),
    body: Body,
) -> Result<Written, Failure> {
    let place = &target.place;
    let bytes = body::read(body).await?;
    let options = options(OptionsOf::Update, request)?;
    let encoding = body::encoding(&request.headers)?;
    let key = ObjectKey::new(&place.namespace, name);
    let decoded = match target.part {
        Part::Scale => decode(&scale::served(), &bytes, encoding, options.validation),
        Part::Main | Part::Status => decode(&place.served, &bytes, encoding, options.validation),
    }?;
    check_name(&key, &decoded.object)?;
    let change = Change::Put(decoded.object);
    let mut written = match target.part {
        Part::Scale => server.change_scale(place, &key, &change, &options)?,
        part => server.change_object(place, &key, (part, &change), &options)?,
    };
    written.warnings = decoded.warnings;
    Ok(written)
}

async fn patch(
    server: &ApiServer,
    request: &Parts,
    (target, name): (&Target, &str),
    body: Body,
) -> Result<Written, Failure> {
    let place = &target.place;
    let patch_type = PatchType::try_parse(body::media_type(&request.headers), &place.served)?;
    let bytes = body::read(body).await?;
    let verb = match patch_type {
        PatchType::Apply => OptionsOf::Apply,
        PatchType::Json | PatchType::Merge | PatchType::Strategic => OptionsOf::Patch,
    };
    let options = options(verb, request)?;
    let change = Change::Patch(Patch::try_parse(patch_type, &bytes)?);
    let key = ObjectKey::new(&place.namespace, name);
    match target.part {
        Part::Scale => server.change_scale(place, &key, &change, &options),
        part => server.change_object(place, &key, (part, &change), &options),
    }
}

async fn delete(
    server: &ApiServer,
    request: &Parts,
    (target, name): (&Target, &str),
    body: Body,
) -> Result<Written, Failure> {
    if target.part != Part::Main {
        return Err(Failure::method_not_allowed());
    }
    let options = delete_options(request, body).await?;
    let key = ObjectKey::new(&target.place.namespace, name);
    server.delete_object(&target.place, &key, &options)
}

async fn delete_collection(
    server: &ApiServer,
    request: &Parts,
    target: &Target,
    body: Body,
) -> Result<Written, Failure> {
    let place = &target.place;
    let is_scattered =
        place.served.resource.scope == Scope::Namespaced && place.namespace.is_empty();
    // Namespaces are deleted one by one only.
    if is_scattered || place.served.is("", "namespaces") {
        return Err(Failure::method_not_allowed());
    }
    let options = delete_options(request, body).await?;
    server.delete_collection(place, request.uri.query().unwrap_or(""), &options)
}

async fn delete_options(request: &Parts, body: Body) -> Result<DeleteOptions, Failure> {
    let bytes = body::read(body).await?;
    let sent = if bytes.is_empty() {
        None
    } else {
        let encoding = body::encoding(&request.headers)?;
        Some(body::parse(&bytes, encoding).map_err(Failure::bad_request)?)
    };
    DeleteOptions::try_parse(sent.as_ref(), request.uri.query().unwrap_or(""))
}

fn options(verb: OptionsOf, request: &Parts) -> Result<WriteOptions, Failure> {
    let agent = request.headers.get(USER_AGENT);
    let agent = agent.and_then(|agent| agent.to_str().ok()).unwrap_or("");
    WriteOptions::try_parse(verb, request.uri.query().unwrap_or(""), agent)
}

/// Finds what a path names, if the server serves it.
fn find(server: &ApiServer, segments: &[&str]) -> Option<Target> {
    let (&[group, version], rest) = segments.split_first_chunk()?;
    let (namespace, plural, rest) = match rest {
        ["namespaces", name, part @ ("status" | "finalize")] => {
            ("", "namespaces", vec![*name, *part])
        }
        ["namespaces", _] | ["namespaces"] => ("", "namespaces", rest[1..].to_vec()),
        ["namespaces", namespace, plural, rest @ ..] => (*namespace, *plural, rest.to_vec()),
        [plural, rest @ ..] => ("", *plural, rest.to_vec()),
        [] => return None,
    };
    let (resource_id, resource) = server.read(|state| {
        let id = state.storage.find(group, version, plural)?;
        Some((id, ServedResource::of(state.storage.store(id))))
    })?;
    let (name, part) = match rest.as_slice() {
        [] => (None, Part::Main),
        [name] => (Some((*name).to_owned()), Part::Main),
        [name, subresource] => {
            let part = match *subresource {
                "status" if resource.has_status() => Part::Status,
                "scale" if resource.scale_paths().is_some() => Part::Scale,
                _ => return None,
            };
            (Some((*name).to_owned()), part)
        }
        _ => return None,
    };
    let fits = match resource.resource.scope {
        Scope::Cluster => namespace.is_empty(),
        Scope::Namespaced => name.is_none() || !namespace.is_empty(),
    };
    fits.then(|| Target {
        place: Place {
            id: resource_id,
            served: resource,
            namespace: namespace.to_owned(),
        },
        name,
        part,
    })
}

fn respond(written: Written, form: Form) -> Response {
    // Servers end an answer's line.
    let body = Bytes::from([&written.body, &b"\n"[..]].concat());
    let length = body.len();
    // Answers to writes are not compressed.
    let form = Form {
        encoding: Encoding::Identity,
        ..form
    };
    let mut response = answer_body::answer(std::iter::once(body), Some(length), form);
    *response.status_mut() = StatusCode::from_u16(written.code).expect("written by the driver");
    for warning in written.warnings {
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
            response.headers_mut().append(WARNING, value);
        }
    }
    response
}
