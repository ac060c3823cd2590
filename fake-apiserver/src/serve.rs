//! The server on a TCP socket, plain or with TLS.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    response::{IntoResponse as _, Response},
};
use http_body::Body as _;
use http_body_util::Limited;
use hyper::{Request, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};
use tower::ServiceExt as _;
use tracing::{debug, info, warn};

use crate::{
    ApiServer,
    api_server::ShutdownPhase,
    config::ConnectionLimits,
    connection::{ConnectionInfo, DeadSwitch, Socket},
    failure::Failure,
    router,
    tls::TlsIdentity,
};

/// How long connections may take to end once their watches are told to; then they are cut.
const SHUTDOWN_LIMIT: Duration = Duration::from_millis(800);

/// How long to wait when the process has no file descriptor left for one more connection.
const DESCRIPTOR_PAUSE: Duration = Duration::from_millis(50);

/// Streams of one HTTP/2 connection at a time: a kube-apiserver's, `pkg/server/secure_serving.go`.
const HTTP2_STREAMS: u32 = 100;

/// Where and how connections are taken.
#[derive(Debug)]
pub struct Endpoint {
    /// The socket.
    pub listener: TcpListener,
    /// Plain HTTP/1.1 if absent; HTTP/2 and HTTP/1.1 with it.
    pub tls: Option<TlsIdentity>,
    /// Limits.
    pub limits: ConnectionLimits,
}

/// Serves plain HTTP with the usual limits; see [`serve_endpoint`].
///
/// # Errors
/// If the listener fails.
pub async fn serve(
    listener: TcpListener,
    server: Arc<ApiServer>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let endpoint = Endpoint {
        listener,
        tls: None,
        limits: ConnectionLimits::usual(),
    };
    serve_endpoint(endpoint, server, shutdown).await
}

/// Serves until `shutdown` completes or the control API asks for it, then ends every watch at an event border, waits for
/// connections at most 0.8 s and cuts those that remain. The port is free when this returns. A fault script's timeline is
/// followed meanwhile.
///
/// # Errors
/// If the listener fails.
pub async fn serve_endpoint(
    endpoint: Endpoint,
    server: Arc<ApiServer>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let Endpoint {
        listener,
        tls,
        limits,
    } = endpoint;
    let front = Front {
        router: router(Arc::clone(&server)),
        tls,
        limits,
        stopping: server.shutdown_requests(),
    };
    let mut connections = JoinSet::new();
    // Ended with this function: it has no end of its own.
    let mut attendants = JoinSet::new();
    let attended = Arc::clone(&server);
    attendants.spawn(async move { attended.stop_pods().await });
    let mut shutdown_requests = server.shutdown_requests();
    let mut shutdown = std::pin::pin!(shutdown);
    let mut timeline = std::pin::pin!(Arc::clone(&server).follow_fault_timeline());
    loop {
        let may_accept = connections.len() < limits.connections;
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            () = ApiServer::stop_requested(&mut shutdown_requests) => break,
            () = &mut timeline => unreachable!("a timeline is followed for ever"),
            // Collects what has ended, so that the set does not grow.
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept(), if may_accept => accepted,
        };
        match accepted {
            Ok((stream, remote)) => {
                connections.spawn(front.clone().serve_client(stream, remote));
            }
            Err(error) if is_of_one_client(&error) => {}
            Err(error) if is_lack_of_descriptors(&error) => {
                warn!(%error, connections = connections.len(), "no more connections for now");
                sleep(DESCRIPTOR_PAUSE).await;
            }
            Err(error) => return Err(error),
        }
    }
    drop(listener);
    info!(connections = connections.len(), "stopping");
    server.request_shutdown();
    let all_ended = async { while connections.join_next().await.is_some() {} };
    if timeout(SHUTDOWN_LIMIT, all_ended).await.is_err() {
        info!("cutting connections of clients that do not read");
        connections.shutdown().await;
    }
    Ok(())
}

/// What every connection needs.
#[derive(Clone)]
struct Front {
    router: Router,
    tls: Option<TlsIdentity>,
    limits: ConnectionLimits,
    stopping: watch::Receiver<ShutdownPhase>,
}

impl Front {
    async fn serve_client(self, stream: TcpStream, remote: SocketAddr) {
        let mut stopping = self.stopping.clone();
        let begun = tokio::select! {
            biased;
            // No request was read yet, so none is lost.
            () = ApiServer::stop_requested(&mut stopping) => return,
            begun = timeout(self.limits.header_time, self.begin(stream, remote)) => begun,
        };
        match begun {
            Ok(Ok((Transport::Plain(socket), info))) => self.converse(socket, info).await,
            Ok(Ok((Transport::Tls(stream), info))) => self.converse(*stream, info).await,
            Ok(Err(error)) => debug!(%error, %remote, "no connection came about"),
            Err(_elapsed) => debug!(%remote, "nothing was said for too long"),
        }
    }

    /// Up to where the first request can be read.
    async fn begin(
        &self,
        stream: TcpStream,
        remote: SocketAddr,
    ) -> io::Result<(Transport, ConnectionInfo)> {
        // Events are small and latency is what is measured.
        stream.set_nodelay(true)?;
        let info = ConnectionInfo {
            remote,
            switch: DeadSwitch::default(),
        };
        let socket = Socket::new(stream, info.switch.clone());
        let transport = match &self.tls {
            None => Transport::Plain(socket),
            Some(identity) => Transport::Tls(Box::new(identity.acceptor().accept(socket).await?)),
        };
        Ok((transport, info))
    }

    async fn converse<S: Stream>(self, stream: S, info: ConnectionInfo) {
        let router = self.router;
        let mut stopping = self.stopping;
        let (protocol, limits) = (stream.protocol(), self.limits);
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(info.clone());
            answer(router.clone(), request, limits.body_bytes)
        });
        let builder = builder(limits, protocol);
        let mut connection =
            std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
        let ended = tokio::select! {
            biased;
            ended = &mut connection => ended,
            () = ApiServer::stop_requested(&mut stopping) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            debug!(%error, "connection ended early");
        }
    }
}

enum Transport {
    Plain(Socket),
    Tls(Box<tokio_rustls::server::TlsStream<Socket>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Http1,
    Http2,
}

/// Refuses a body that says it is too long; one that turns out to be breaks off.
async fn answer(
    router: Router,
    request: Request<Incoming>,
    body_limit: usize,
) -> Result<Response, Infallible> {
    let announced = request.body().size_hint().exact();
    if announced.is_some_and(|length| length > body_limit as u64) {
        return Ok(Failure::body_too_large(body_limit).into_response());
    }
    router
        .oneshot(request.map(|body| Limited::new(body, body_limit)))
        .await
}

/// A connection's bytes, and the protocol that was agreed on.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    fn protocol(&self) -> Protocol;
}

impl Stream for Socket {
    fn protocol(&self) -> Protocol {
        Protocol::Http1
    }
}

impl Stream for tokio_rustls::server::TlsStream<Socket> {
    fn protocol(&self) -> Protocol {
        match self.get_ref().1.alpn_protocol() {
            Some(b"h2") => Protocol::Http2,
            _ => Protocol::Http1,
        }
    }
}

fn builder(limits: ConnectionLimits, protocol: Protocol) -> auto::Builder<TokioExecutor> {
    let builder = auto::Builder::new(TokioExecutor::new());
    // Never sniffed: a plain port speaks HTTP/1.1, and TLS has agreed on one of the two.
    let mut builder = match protocol {
        Protocol::Http1 => builder.http1_only(),
        Protocol::Http2 => builder.http2_only(),
    };
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time)
        .max_buf_size(limits.header_bytes);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(HTTP2_STREAMS)
        .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX));
    builder
}

/// The client's doing: gone before it was taken.
fn is_of_one_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    )
}

fn is_lack_of_descriptors(error: &io::Error) -> bool {
    // EMFILE and ENFILE.
    matches!(error.raw_os_error(), Some(24 | 23))
}
