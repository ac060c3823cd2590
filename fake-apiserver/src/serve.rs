//! The server on a TCP socket.

use std::{io, sync::Arc, time::Duration};

use axum::Router;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::timeout,
};
use tower::ServiceExt as _;
use tracing::{debug, info};

use crate::{ApiServer, api_server::ShutdownPhase, router};

/// How long connections may take to end once their watches are told to; then they are cut.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(5);

/// Serves until `shutdown` completes or the control API asks for it, then ends every watch at an event border, waits for
/// connections at most 5 s and cuts those that remain. The port is free when this returns.
///
/// # Errors
/// If the listener fails.
pub async fn serve(
    listener: TcpListener,
    server: Arc<ApiServer>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let service = router(Arc::clone(&server));
    let stopping = watch::Sender::new(ShutdownPhase::Serving);
    let mut connections = JoinSet::new();
    // Ended with this function: it has no end of its own.
    let mut attendants = JoinSet::new();
    let attended = Arc::clone(&server);
    attendants.spawn(async move { attended.stop_pods().await });
    let mut shutdown_requests = server.shutdown_requests();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            _ = shutdown_requests.wait_for(|phase| *phase == ShutdownPhase::Requested) => break,
            accepted = listener.accept() => accepted,
            // Collects what has ended, so that the set does not grow.
            Some(_) = connections.join_next() => continue,
        };
        let (stream, _peer) = match accepted {
            Ok(accepted) => accepted,
            // The client's doing: gone before it was taken.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
            Err(error) => return Err(error),
        };
        // Events are small and latency is what is measured.
        stream.set_nodelay(true)?;
        connections.spawn(connection(stream, service.clone(), stopping.subscribe()));
    }
    drop(listener);
    info!(connections = connections.len(), "stopping");
    server.close_watches();
    stopping.send_replace(ShutdownPhase::Requested);
    let all_ended = async { while connections.join_next().await.is_some() {} };
    if timeout(SHUTDOWN_LIMIT, all_ended).await.is_err() {
        info!("cutting connections of clients that do not read");
        connections.shutdown().await;
    }
    Ok(())
}

async fn connection(
    stream: TcpStream,
    service: Router,
    mut stopping: watch::Receiver<ShutdownPhase>,
) {
    let service = service_fn(move |request| service.clone().oneshot(request));
    let mut connection =
        std::pin::pin!(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        biased;
        ended = &mut connection => ended,
        // The sender outlives all connections, so this ends on the one change there is.
        _ = stopping.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        debug!(%error, "connection ended early");
    }
}
