//! [`ListerWatcher`] over HTTP: one client for a router in process, a loopback socket and a real cluster.

use std::{error::Error, fmt, marker::PhantomData, pin::Pin};

use bytes::{Bytes, BytesMut};
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Empty};
use tower::{Service, ServiceExt as _};

use crate::api::{KubeObject, ListOptions, ListPage, Resource, Status, WatchEvent, WatchOptions};

use super::{ApiError, FrameSplitter, ListerWatcher, WatchStream, decode_event, decode_list};

type BoxError = Box<dyn Error + Send + Sync>;

/// Lists and watches one resource type, in one namespace or all, over any tower service.
pub struct HttpListWatch<S, T> {
    service: S,
    // Scheme and authority, such as `http://127.0.0.1:8001`; empty for a service that takes bare paths.
    base: String,
    path: String,
    object: PhantomData<fn() -> T>,
}

/// An open watch over HTTP.
pub struct HttpWatch<T> {
    body: Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>>,
    splitter: FrameSplitter,
    ended: bool,
    object: PhantomData<fn() -> T>,
}

impl<S, T> HttpListWatch<S, T> {
    /// Lists and watches `resource` at `base`, such as `http://127.0.0.1:8001`, or the empty text for a service that takes bare paths.
    pub fn new(service: S, base: &str, resource: &Resource, namespace: Option<&str>) -> Self {
        let base = base.trim_end_matches('/').to_owned();
        Self {
            service,
            base,
            path: resource.collection_path(namespace),
            object: PhantomData,
        }
    }
}

impl<S, T, B> HttpListWatch<S, T>
where
    S: Service<Request<Empty<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    async fn request(&self, query: &str) -> Result<Response<B>, ApiError> {
        let separator = if query.is_empty() { "" } else { "?" };
        let request = Request::get(format!("{}{}{separator}{query}", self.base, self.path))
            .header(http::header::ACCEPT, "application/json")
            .body(Empty::new())
            .map_err(|error| ApiError::Transport(error.into()))?;
        let response = self
            .service
            .clone()
            .oneshot(request)
            .await
            .map_err(|error| transport(error.into()))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let code = response.status();
        let body = collect(response.into_body()).await?;
        Err(ApiError::Status(Box::new(status_of(code, &body))))
    }
}

impl<S, T, B> ListerWatcher<T> for HttpListWatch<S, T>
where
    T: KubeObject,
    S: Service<Request<Empty<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Watch = HttpWatch<T>;

    async fn list(&self, options: &ListOptions) -> Result<ListPage<T>, ApiError> {
        let response = self.request(&options.query()).await?;
        let body = collect(response.into_body()).await?;
        Ok(decode_list(&body)?)
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, ApiError> {
        let response = self.request(&options.query()).await?;
        let body = Box::pin(response.into_body().map_err(Into::into));
        Ok(HttpWatch {
            body,
            splitter: FrameSplitter::default(),
            ended: false,
            object: PhantomData,
        })
    }
}

impl<T: KubeObject> WatchStream<T> for HttpWatch<T> {
    async fn next(&mut self) -> Option<Result<WatchEvent<T>, ApiError>> {
        loop {
            if let Some(line) = self.splitter.next_line() {
                return Some(decode_event(line).map_err(ApiError::Frame));
            }
            if self.ended {
                return None;
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    let Ok(chunk) = frame.into_data() else {
                        continue;
                    };
                    if let Err(error) = self.splitter.push(&chunk) {
                        self.ended = true;
                        return Some(Err(error.into()));
                    }
                }
                // A cut connection is the end of the stream, whatever was half sent: the next watch resumes before it.
                Some(Err(error)) => {
                    tracing::debug!(error, "watch connection ended");
                    return None;
                }
                None => {
                    self.ended = true;
                    // A server may leave out the last line end, but half an event is none.
                    if let Some(rest) = self.splitter.rest() {
                        return decode_event(rest).ok().map(Ok);
                    }
                }
            }
        }
    }
}

impl<S: Clone, T> Clone for HttpListWatch<S, T> {
    fn clone(&self) -> Self {
        Self {
            service: self.service.clone(),
            base: self.base.clone(),
            path: self.path.clone(),
            object: PhantomData,
        }
    }
}

impl<S, T> fmt::Debug for HttpListWatch<S, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HttpListWatch")
            .field("base", &self.base)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for HttpWatch<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HttpWatch")
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

async fn collect<B>(body: B) -> Result<Bytes, ApiError>
where
    B: Body<Data = Bytes> + Send,
    B::Error: Into<BoxError>,
{
    let mut body = std::pin::pin!(body);
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| transport(error.into()))?;
        if let Ok(chunk) = frame.into_data() {
            bytes.extend_from_slice(&chunk);
        }
    }
    Ok(bytes.freeze())
}

/// The body's Status, or one made up from the code, as client-go does for bodies that are none.
fn status_of(code: StatusCode, body: &[u8]) -> Status {
    match serde_json::from_slice::<Status>(body) {
        Ok(mut status) if status.kind == "Status" || !status.reason.is_empty() => {
            if status.code == 0 {
                status.code = code.as_u16();
            }
            status
        }
        _ => {
            let text = String::from_utf8_lossy(body);
            Status::failure(
                code.as_u16(),
                "",
                format!("an error on the server ({:?})", text.trim()),
            )
        }
    }
}

fn transport(error: BoxError) -> ApiError {
    let mut source: Option<&(dyn Error + 'static)> = Some(&*error);
    while let Some(cause) = source {
        if cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|io| io.kind() == std::io::ErrorKind::ConnectionRefused)
        {
            return ApiError::ConnectionRefused;
        }
        source = cause.source();
    }
    ApiError::Transport(error)
}
