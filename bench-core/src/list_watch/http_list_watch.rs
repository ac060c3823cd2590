//! [`ListerWatcher`] over HTTP: one client for a router in process, a loopback socket and a real cluster.

use std::{error::Error, fmt, io, marker::PhantomData, pin::Pin, time::Duration};

use bytes::{Bytes, BytesMut};
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Empty};
use tokio::time::sleep;
use tower::{Service, ServiceExt as _};

use crate::api::{KubeObject, ListOptions, ListPage, Resource, Status, WatchEvent, WatchOptions};

use super::{
    ApiError, FrameError, FrameSplitter, ListerWatcher, WatchStream, decode_event, decode_list,
};

type BoxError = Box<dyn Error + Send + Sync>;

/// How often a request is made again, at most.
const MOST_RETRIES: u32 = 10;

/// What hyper says of a connection that ended before the answer.
const CLOSED_BY_PEER: &str = "connection closed before message completed";

/// How long to wait after a connection that closed before the answer.
const WAIT_AFTER_CLOSED: Duration = Duration::from_secs(1);

/// Lists and watches one resource type, in one namespace or all, over any tower service.
///
/// As client-go's REST client (`rest/with_retry.go`), a request is made again, up to 10 times, if the answer is 429 or 5xx
/// and has a `Retry-After` header, after as many seconds as that says, and if the connection was reset or closed before the
/// answer, after one second. A watch whose connection still closes then is an empty one. A `retryAfterSeconds` in a body
/// alone has no effect.
pub struct HttpListWatch<S, T> {
    service: S,
    // Scheme and authority, such as `http://127.0.0.1:8001`; empty for a service that takes bare paths.
    base: String,
    path: String,
    refused_watches: RefusedWatches,
    object: PhantomData<fn() -> T>,
}

/// What a watch that a server refuses is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedWatches {
    /// The HTTP code alone, the Status in the body is not read: client-go 0.27. So a version from the future (504) is not
    /// recognised.
    ByCode,
    /// The Status in the body, as of lists: client-go 0.34 and later.
    ByStatus,
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
            refused_watches: RefusedWatches::ByStatus,
            object: PhantomData,
        }
    }

    /// Says what refused watches are known by; by their Status unless this is called.
    #[must_use]
    pub fn with_refused_watches(mut self, known_by: RefusedWatches) -> Self {
        self.refused_watches = known_by;
        self
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
    async fn request(
        &self,
        query: &str,
        known_by: RefusedWatches,
    ) -> Result<Response<B>, ApiError> {
        let mut retries = 0;
        loop {
            let answer = self.attempt(query).await;
            let wait = match &answer {
                Ok(response) => retry_after(response),
                Err(ApiError::ConnectionClosed(_)) => Some(WAIT_AFTER_CLOSED),
                Err(_) => None,
            };
            match wait {
                Some(wait) if retries < MOST_RETRIES => {
                    tracing::debug!(?wait, retries, path = self.path, "asked to come again");
                    retries += 1;
                    sleep(wait).await;
                }
                _ => return success(answer?, known_by).await,
            }
        }
    }

    async fn attempt(&self, query: &str) -> Result<Response<B>, ApiError> {
        let separator = if query.is_empty() { "" } else { "?" };
        let request = Request::get(format!("{}{}{separator}{query}", self.base, self.path))
            .header(http::header::ACCEPT, "application/json")
            .body(Empty::new())
            .map_err(|error| ApiError::Transport(error.into()))?;
        self.service
            .clone()
            .oneshot(request)
            .await
            .map_err(|error| transport(error.into()))
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
        let response = self
            .request(&options.query(), RefusedWatches::ByStatus)
            .await?;
        let body = collect(response.into_body()).await?;
        Ok(decode_list(&body)?)
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, ApiError> {
        let body: Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>> =
            match self.request(&options.query(), self.refused_watches).await {
                Ok(response) => Box::pin(response.into_body().map_err(Into::into)),
                Err(ApiError::ConnectionClosed(_)) => {
                    Box::pin(Empty::new().map_err(|never| match never {}))
                }
                Err(error) => return Err(error),
            };
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
                    return self.last_event();
                }
                None => return self.last_event(),
            }
        }
    }
}

impl<T: KubeObject> HttpWatch<T> {
    /// The stream has ended: what is left may be an event whose line end was not sent, but half an event is none.
    fn last_event(&mut self) -> Option<Result<WatchEvent<T>, ApiError>> {
        self.ended = true;
        match decode_event(self.splitter.rest()?) {
            Err(FrameError::Json(error)) if error.is_eof() => None,
            other => Some(other.map_err(ApiError::Frame)),
        }
    }
}

impl<S: Clone, T> Clone for HttpListWatch<S, T> {
    fn clone(&self) -> Self {
        Self {
            service: self.service.clone(),
            base: self.base.clone(),
            path: self.path.clone(),
            refused_watches: self.refused_watches,
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

/// How long the server asks to wait, if this is an answer that client-go repeats.
fn retry_after<B>(response: &Response<B>) -> Option<Duration> {
    let code = response.status();
    if code != StatusCode::TOO_MANY_REQUESTS && !code.is_server_error() {
        return None;
    }
    let header = response.headers().get(http::header::RETRY_AFTER)?;
    // Dates and everything else that is no number are ignored.
    let seconds: i64 = header.to_str().ok()?.parse().ok()?;
    // Less than nothing is not waited for.
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

async fn success<B>(
    response: Response<B>,
    known_by: RefusedWatches,
) -> Result<Response<B>, ApiError>
where
    B: Body<Data = Bytes> + Send,
    B::Error: Into<BoxError>,
{
    let code = response.status();
    if code.is_success() {
        return Ok(response);
    }
    let content_type = response.headers().get(http::header::CONTENT_TYPE);
    let is_text = content_type.is_none_or(|it| it.as_bytes().starts_with(b"text/"));
    let body = collect(response.into_body()).await?;
    let status = match known_by {
        RefusedWatches::ByStatus => status_in(&body),
        RefusedWatches::ByCode => None,
    };
    let status = status.unwrap_or_else(|| {
        let text = String::from_utf8_lossy(&body);
        let message = if is_text { text.trim() } else { "unknown" };
        Status::unread(code.as_u16(), message)
    });
    Err(ApiError::Status(Box::new(status)))
}

async fn collect<B>(body: B) -> Result<Bytes, ApiError>
where
    B: Body<Data = Bytes> + Send,
    B::Error: Into<BoxError>,
{
    let mut body = std::pin::pin!(body);
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        // However it was cut: a body is not asked for again.
        let frame = frame.map_err(|error| ApiError::Transport(error.into()))?;
        if let Ok(chunk) = frame.into_data() {
            bytes.extend_from_slice(&chunk);
        }
    }
    Ok(bytes.freeze())
}

/// The failure that the body is, as it stands: its code may be another than the answer's, or absent.
fn status_in(body: &[u8]) -> Option<Status> {
    let status: Status = serde_json::from_slice(body).ok()?;
    (status.kind == "Status" && status.status == "Failure").then_some(status)
}

fn transport(error: BoxError) -> ApiError {
    let mut source: Option<&(dyn Error + 'static)> = Some(&*error);
    while let Some(cause) = source {
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        match kind {
            Some(io::ErrorKind::ConnectionRefused) => return ApiError::ConnectionRefused,
            Some(
                io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof,
            ) => return ApiError::ConnectionClosed(error),
            // hyper's own error is no type of ours; client-go, too, goes by texts here.
            None if cause.to_string().starts_with(CLOSED_BY_PEER) => {
                return ApiError::ConnectionClosed(error);
            }
            _ => source = cause.source(),
        }
    }
    ApiError::Transport(error)
}
