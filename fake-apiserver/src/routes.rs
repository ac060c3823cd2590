//! Requests in, answers out.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
    routing::get,
};
use bench_core::api::{ObjectKey, Scope};
use bytes::Bytes;
use http::{
    HeaderMap, Method, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER},
    request::Parts,
};
use tokio::time::timeout;
use tracing::debug;

use crate::{
    ApiServer,
    accept::{Accepted, Delivery, MediaType, check_representable},
    answer_body::{self, Encoding, Form},
    authentication::authenticate,
    calendar, common_headers, control, control_routes,
    documents::document_answer,
    failure::Failure,
    fault::inject_faults,
    health::Endpoint,
    list::ListRequest,
    list_body::{ListForm, ListWriter},
    metrics::instrument,
    query::{Query, RequestedVersion},
    representation::{Headers, Representation, Shape},
    selectors::Selectors,
    storage::ResourceId,
    watch::WatchRequest,
    watch_stream::{OpenWatch, error_body, watch_body},
    watch_view::WatchView,
    write,
};

/// The server as a tower service: in process with `oneshot`, over TCP with [`serve`](crate::serve).
pub fn router(server: Arc<ApiServer>) -> Router {
    let mut router = Router::new().nest(control::PREFIX, control_routes::routes());
    for endpoint in Endpoint::ALL {
        let path = format!("/{}", endpoint.name());
        let all = async move |state, query| endpoint.answer(state, query);
        let one = async move |state, check| endpoint.answer_check(state, check);
        router = router
            .route(&path, get(all))
            .route(&format!("{path}/{{check}}"), get(one));
    }
    router
        .fallback(kubernetes)
        .route("/metrics", get(metrics_text))
        .layer(from_fn_with_state(Arc::clone(&server), inject_faults))
        .layer(from_fn_with_state(Arc::clone(&server), authenticate))
        .layer(from_fn_with_state(Arc::clone(&server), instrument))
        .with_state(server)
}

async fn metrics_text(State(server): State<Arc<ApiServer>>) -> Response {
    let content_type = "text/plain; version=0.0.4; charset=utf-8";
    (
        [(CONTENT_TYPE, content_type)],
        server.metrics().text(&server),
    )
        .into_response()
}

/// What a path asks for.
enum Target {
    Collection {
        id: ResourceId,
        namespace: String,
    },
    /// `/watch/` before the plural: older than the parameter, and of one object if there is a name.
    LegacyWatch {
        id: ResourceId,
        namespace: String,
        name: Option<String>,
    },
    Named {
        id: ResourceId,
        namespace: String,
        name: String,
    },
}

async fn kubernetes(State(server): State<Arc<ApiServer>>, request: Request) -> Response {
    let (request, body) = request.into_parts();
    let mut response = match answer(&server, &request, body).await {
        Ok(response) => response,
        Err(failure) => failed(failure, &request),
    };
    common_headers::add(&mut response, &request.headers);
    response
}

async fn answer(server: &Arc<ApiServer>, request: &Parts, body: Body) -> Result<Response, Failure> {
    let path = request.uri.path();
    if let Some(document) = document_answer(server, request) {
        return document;
    }
    let segments = match resource_segments(server, path) {
        Served::Version(segments) => segments,
        Served::Group => return Err(Failure::resource_not_found()),
        Served::Nothing => {
            return Ok((StatusCode::NOT_FOUND, "404 page not found\n").into_response());
        }
    };
    if !matches!(request.method, Method::GET | Method::HEAD) {
        check_representable(&request.headers, Delivery::Single)?;
        let form = Form::negotiate(request)?;
        return write::answer(server, request, (&segments, form), body).await;
    }
    if let Some(part) = write::get_part(server, request, &segments) {
        return part;
    }
    let target = find_target(server, &segments).ok_or_else(Failure::resource_not_found)?;
    let delivery = match target {
        Target::Named { .. } => Delivery::Single,
        Target::Collection { .. } | Target::LegacyWatch { .. } => Delivery::Stream,
    };
    check_representable(&request.headers, delivery)?;
    let form = Form::negotiate(request)?;
    let query = Query::try_parse(request.uri.query().unwrap_or(""))?;
    let reading = Reading {
        server,
        query: &query,
        form,
    };
    match target {
        Target::Named {
            id,
            namespace,
            name,
        } => reading.get(id, &ObjectKey::new(&namespace, &name)).await,
        Target::LegacyWatch {
            id,
            namespace,
            name,
        } => {
            let mut selectors = reading.selectors(id)?;
            if let Some(name) = name {
                selectors = selectors.and_name(&name)?;
            }
            reading.watch(id, namespace, selectors).await
        }
        Target::Collection { id, namespace } if query.is_watch() => {
            let selectors = reading.selectors(id)?;
            reading.watch(id, namespace, selectors).await
        }
        Target::Collection { id, namespace } => reading.list(id, &namespace).await,
    }
}

/// A request that changes nothing.
struct Reading<'a> {
    server: &'a Arc<ApiServer>,
    query: &'a Query,
    form: Form,
}

impl Reading<'_> {
    async fn list(&self, id: ResourceId, namespace: &str) -> Result<Response, Failure> {
        let Self { server, query, .. } = self;
        server.count_list();
        query.check_request_timeout()?;
        let request = ListRequest::try_new(query)?;
        let selectors = self.selectors(id)?;
        let representation = self.representation(id, Shape::List)?;
        wait_for_revision(server, request.needs_revision()).await;
        let (snapshot, resource, item_form) = server.read(|state| {
            let store = state.storage.store(id);
            let snapshot = request.snapshot(&state.storage, id)?;
            Ok((snapshot, store.resource().clone(), store.item_form()))
        })?;
        let page = request.page(&snapshot, namespace, &selectors);
        debug!(
            resource = resource.plural,
            resource_version = page.revision,
            objects = page.items.len(),
            "listed"
        );
        let form = ListForm {
            item_form,
            representation,
            now: calendar::seconds(),
        };
        let list = ListWriter::new(&resource, form, page);
        let length = list.length();
        Ok(answer_body::answer(list, length, self.form))
    }

    async fn watch(
        &self,
        id: ResourceId,
        namespace: String,
        selectors: Selectors,
    ) -> Result<Response, Failure> {
        let Self { server, query, .. } = self;
        server.count_watch();
        let request = WatchRequest::try_new(query)?;
        if self.form.accepted.media_type != MediaType::Json {
            return Err(Failure::not_acceptable(Delivery::Stream));
        }
        let representation = self.representation(id, Shape::Object)?;
        let view = WatchView::new(namespace, selectors, representation);
        wait_for_revision(server, request.needs_revision()).await;
        let body = match OpenWatch::begin(server, id, &request) {
            Ok((open, start)) => watch_body(open, &request, view, &start),
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

    async fn get(&self, id: ResourceId, key: &ObjectKey) -> Result<Response, Failure> {
        let Self { server, query, .. } = self;
        query.check_request_timeout()?;
        let representation = self.representation(id, Shape::Object)?;
        let version = RequestedVersion::try_parse(&query.resource_version);
        let version = version.map_err(|problem| Failure::watch_version(&problem))?;
        if let RequestedVersion::At(version) = version {
            wait_for_revision(server, version).await;
            let current = server.read(|state| state.storage.revision());
            if current < version {
                return Err(Failure::version_from_the_future(version, current));
            }
        }
        let object = server.read(|state| {
            let store = state.storage.store(id);
            store.objects().get(key).cloned().ok_or_else(|| {
                let resource = store.resource();
                Failure::object_not_found(&resource.group, &resource.plural, key.name())
            })
        })?;
        let mut json = Vec::new();
        representation.write_object(&object, Headers::Included, calendar::seconds(), &mut json);
        json.push(b'\n');
        let json = Bytes::from(json);
        Ok(answer_body::answer(std::iter::once(json), None, self.form))
    }

    fn selectors(&self, id: ResourceId) -> Result<Selectors, Failure> {
        let query = self.query;
        self.server
            .read(|state| Selectors::try_parse(query, state.storage.store(id).resource()))
    }

    fn representation(&self, id: ResourceId, shape: Shape) -> Result<Representation, Failure> {
        let Self {
            server,
            query,
            form,
        } = self;
        server.read(|state| {
            Representation::try_new(form.accepted, shape, query, (&state.storage, id))
        })
    }
}

/// Waits until a version is reached, or as long as the server waits for one from the future.
async fn wait_for_revision(server: &ApiServer, revision: u64) {
    let mut revisions = server.revisions();
    let reached = revisions.wait_for(|current| *current >= revision);
    // Whether it was reached is looked at under the lock that the answer is made under.
    let _elapsed = timeout(server.config().future_version_wait, reached).await;
}

/// How much of a path's start is served.
enum Served<'a> {
    /// The group, but not the version.
    Group,
    Nothing,
    /// Group, version and the rest of the path.
    Version(Vec<&'a str>),
}

fn resource_segments<'a>(server: &ApiServer, path: &'a str) -> Served<'a> {
    let segments: Vec<&str> = path.strip_prefix('/').unwrap_or("").split('/').collect();
    let segments = match segments.as_slice() {
        ["api", version, rest @ ..] => [&["", version], rest].concat(),
        ["apis", group, version, rest @ ..] => [&[*group, *version], rest].concat(),
        _ => return Served::Nothing,
    };
    let (has_group, has_version) = server.read(|state| {
        let stores = state.storage.stores();
        let resources = stores.map(|(_, store)| store.resource());
        let mut of_group = resources
            .filter(|resource| resource.group == segments[0])
            .peekable();
        let has_group = of_group.peek().is_some();
        (
            has_group,
            of_group.any(|resource| resource.version == segments[1]),
        )
    });
    match (has_group, has_version) {
        (_, true) => Served::Version(segments),
        (true, false) => Served::Group,
        (false, false) => Served::Nothing,
    }
}

fn find_target(server: &ApiServer, segments: &[&str]) -> Option<Target> {
    let (&[group, version], rest) = segments.split_first_chunk()?;
    let (is_legacy_watch, rest) = match rest {
        ["watch", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
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
        name if is_legacy_watch => Target::LegacyWatch {
            id,
            namespace,
            name: name.map(str::to_owned),
        },
        Some(name) => Target::Named {
            id,
            namespace,
            name: name.to_owned(),
        },
        None => Target::Collection { id, namespace },
    })
}

/// A failure in the form that the client accepts.
fn failed(failure: Failure, request: &Parts) -> Response {
    let query = request.uri.query().unwrap_or("");
    failure.answer(Form {
        accepted: Accepted::negotiate_error(&request.headers, query),
        encoding: Encoding::Identity,
    })
}

/// For layers that do not look at what a client accepts.
impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        self.answer(Form {
            accepted: Accepted::negotiate_error(&HeaderMap::new(), ""),
            encoding: Encoding::Identity,
        })
    }
}

impl Failure {
    fn answer(self, form: Form) -> Response {
        let code = StatusCode::from_u16(self.status.code).expect("failures have an HTTP code");
        let mut body = serde_json::to_vec(&self.status).expect("a Status is plain JSON");
        body.push(b'\n');
        let chunks = std::iter::once(Bytes::from(body));
        let mut response = answer_body::answer(chunks, None, form);
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
