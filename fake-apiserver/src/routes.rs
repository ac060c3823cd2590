//! Requests in, answers out.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::get,
};
use bench_core::api::{ObjectKey, Scope};
use bytes::Bytes;
use http::{
    HeaderMap, Method, StatusCode,
    header::{ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER},
    request::Parts,
};
use tokio::time::timeout;
use tracing::debug;

use crate::{
    ApiServer, control, control_routes, discovery,
    failure::Failure,
    list::ListRequest,
    list_body::list_body,
    query::{Query, RequestedVersion},
    storage::ResourceId,
    watch::WatchRequest,
    watch_stream::{OpenWatch, error_body, watch_body},
    write,
};

/// The server as a tower service: in process with `oneshot`, over TCP with [`serve`](crate::serve).
pub fn router(server: Arc<ApiServer>) -> Router {
    let ok = || async { "ok" };
    Router::new()
        .nest(control::PREFIX, control_routes::routes())
        .route("/healthz", get(ok))
        .route("/livez", get(ok))
        .route("/readyz", get(ok))
        .route("/version", get(async || json_answer(discovery::version())))
        .fallback(kubernetes)
        .with_state(server)
}

/// What a path asks for.
enum Target {
    Collection {
        id: ResourceId,
        namespace: String,
    },
    Named {
        id: ResourceId,
        namespace: String,
        name: String,
    },
}

async fn kubernetes(State(server): State<Arc<ApiServer>>, request: Request) -> Response {
    let (request, body) = request.into_parts();
    match answer(&server, &request, body).await {
        Ok(response) => response,
        Err(failure) => failure.into_response(),
    }
}

async fn answer(server: &Arc<ApiServer>, request: &Parts, body: Body) -> Result<Response, Failure> {
    let path = request.uri.path();
    if let Some(document) = discovery::document(server, path) {
        return Ok(json_answer(document));
    }
    let Some(segments) = resource_segments(server, path) else {
        return Ok((StatusCode::NOT_FOUND, "404 page not found\n").into_response());
    };
    if !accepts_json(&request.headers) {
        return Err(Failure::not_acceptable());
    }
    if !matches!(request.method, Method::GET | Method::HEAD) {
        return write::answer(server, request, &segments, body).await;
    }
    if let Some(part) = write::get_part(server, &segments) {
        return part;
    }
    let target = find_target(server, &segments).ok_or_else(Failure::resource_not_found)?;
    let query = Query::try_parse(request.uri.query().unwrap_or(""))?;
    match target {
        Target::Named {
            id,
            namespace,
            name,
        } => get_object(server, id, &ObjectKey::new(&namespace, &name), &query).await,
        Target::Collection { id, namespace } if query.is_watch() => {
            watch(server, id, namespace, &query).await
        }
        Target::Collection { id, namespace } => list(server, id, &namespace, &query).await,
    }
}

async fn list(
    server: &Arc<ApiServer>,
    id: ResourceId,
    namespace: &str,
    query: &Query,
) -> Result<Response, Failure> {
    server.count_list();
    let request = ListRequest::try_new(query)?;
    wait_for_revision(server, request.needs_revision()).await;
    let (snapshot, resource, form) = server.read(|state| {
        let store = state.storage.store(id);
        let snapshot = request.snapshot(&state.storage, id)?;
        Ok((snapshot, store.resource().clone(), store.item_form()))
    })?;
    let page = request.page(&snapshot, namespace);
    debug!(
        resource = resource.plural,
        resource_version = page.revision,
        objects = page.items.len(),
        "listed"
    );
    let (body, length) = list_body(&resource, form, page);
    Ok((
        [
            (CONTENT_TYPE, "application/json"),
            (CACHE_CONTROL, "no-cache, private"),
        ],
        [(CONTENT_LENGTH, length)],
        body,
    )
        .into_response())
}

async fn watch(
    server: &Arc<ApiServer>,
    id: ResourceId,
    namespace: String,
    query: &Query,
) -> Result<Response, Failure> {
    server.count_watch();
    let request = WatchRequest::try_new(query)?;
    wait_for_revision(server, request.needs_revision()).await;
    let body = match OpenWatch::begin(server, id, &request) {
        Ok((open, start)) => watch_body(open, &request, namespace, &start),
        Err(failure) => error_body(&failure.status),
    };
    Ok((
        [
            (CONTENT_TYPE, "application/json"),
            (CACHE_CONTROL, "no-cache, private"),
        ],
        body,
    )
        .into_response())
}

async fn get_object(
    server: &Arc<ApiServer>,
    id: ResourceId,
    key: &ObjectKey,
    query: &Query,
) -> Result<Response, Failure> {
    let version = RequestedVersion::try_parse(&query.resource_version);
    let version = version.map_err(|problem| Failure::watch_version(&problem))?;
    if let RequestedVersion::At(version) = version {
        wait_for_revision(server, version).await;
        let current = server.read(|state| state.storage.revision());
        if current < version {
            return Err(Failure::version_from_the_future(version, current));
        }
    }
    let found = server.read(|state| {
        let store = state.storage.store(id);
        let object = store.objects().get(key).map(|object| object.json_bytes());
        object.ok_or_else(|| {
            let resource = store.resource();
            Failure::object_not_found(&resource.group, &resource.plural, key.name())
        })
    })?;
    Ok(json_answer(found))
}

/// Waits until a version is reached, or as long as the server waits for one from the future.
async fn wait_for_revision(server: &ApiServer, revision: u64) {
    let mut revisions = server.revisions();
    let reached = revisions.wait_for(|current| *current >= revision);
    // Whether it was reached is looked at under the lock that the answer is made under.
    let _elapsed = timeout(server.config().future_version_wait, reached).await;
}

fn json_answer(body: impl Into<Bytes>) -> Response {
    (
        [
            (CONTENT_TYPE, "application/json"),
            (CACHE_CONTROL, "no-cache, private"),
        ],
        Body::from(body.into()),
    )
        .into_response()
}

/// Group, version and the rest of a path under a group and version that are served.
fn resource_segments<'a>(server: &ApiServer, path: &'a str) -> Option<Vec<&'a str>> {
    let segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    let segments = match segments.as_slice() {
        ["api", version, rest @ ..] => [&["", version], rest].concat(),
        ["apis", group, version, rest @ ..] => [&[*group, *version], rest].concat(),
        _ => return None,
    };
    let is_served = server.read(|state| {
        let mut stores = state.storage.stores();
        stores.any(|(_, store)| {
            store.resource().group == segments[0] && store.resource().version == segments[1]
        })
    });
    is_served.then_some(segments)
}

fn find_target(server: &ApiServer, segments: &[&str]) -> Option<Target> {
    let (&[group, version], rest) = segments.split_first_chunk()?;
    let (namespace, plural, name) = match rest {
        [plural] => ("", *plural, None),
        ["namespaces", name] => ("", "namespaces", Some(*name)),
        [plural, name] => ("", *plural, Some(*name)),
        ["namespaces", namespace, plural] => (*namespace, *plural, None),
        ["namespaces", namespace, plural, name] => (*namespace, *plural, Some(*name)),
        _ => return None,
    };
    let (id, scope) = server.read(|state| {
        let id = state.storage.find(group, version, plural)?;
        Some((id, state.storage.store(id).resource().scope))
    })?;
    let namespace = namespace.to_owned();
    let fits = match (scope, name) {
        (Scope::Cluster, _) => namespace.is_empty(),
        (Scope::Namespaced, Some(_)) => !namespace.is_empty(),
        (Scope::Namespaced, None) => true,
    };
    fits.then(|| match name {
        Some(name) => Target::Named {
            id,
            namespace,
            name: name.to_owned(),
        },
        None => Target::Collection { id, namespace },
    })
}

/// Whether some clause of Accept allows JSON. Parameters that ask for a transformation are answered with the plain object.
fn accepts_json(headers: &HeaderMap) -> bool {
    let Some(accept) = headers.get(ACCEPT) else {
        return true;
    };
    let clauses = accept.to_str().unwrap_or("").split(',');
    clauses
        .map(|clause| clause.split(';').next().unwrap_or("").trim())
        .any(|media_type| {
            matches!(
                media_type,
                "" | "*/*" | "application/*" | "application/json"
            )
        })
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let code = StatusCode::from_u16(self.status.code).expect("failures have an HTTP code");
        let body = serde_json::to_vec(&self.status).expect("a Status is plain JSON");
        let mut response = json_answer(body);
        *response.status_mut() = code;
        let retry_after = self
            .status
            .details
            .map_or(0, |details| details.retry_after_seconds);
        if retry_after > 0 {
            response
                .headers_mut()
                .insert(RETRY_AFTER, retry_after.into());
        }
        response
    }
}
