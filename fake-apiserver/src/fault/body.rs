//! The body of an answer that meets faults.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until},
};

use super::stream::{Ending, Step, StreamFaults};
use crate::{ApiServer, api_server::ShutdownPhase, connection::ConnectionInfo};

/// What was written before a connection breaks or goes dead gets this long to leave, since both lose what is still queued.
const LEAVING_TIME: Duration = Duration::from_millis(20);

/// The answer was broken off on purpose: the connection follows.
#[derive(Debug, thiserror::Error)]
#[error("cut by a fault script")]
struct Cut;

/// Sends an answer through its faults. However silent it falls, it ends when the server stops.
pub(super) fn faulty_body(
    body: Body,
    faults: StreamFaults,
    connection: Option<ConnectionInfo>,
    stopping: watch::Receiver<ShutdownPhase>,
) -> Body {
    let state = FaultyBody {
        inner: body.into_data_stream(),
        faults,
        began: Instant::now(),
        connection,
        stopping,
    };
    Body::from_stream(stream::unfold(Some(state), async |state| {
        let mut state = state?;
        match state.next().await? {
            Ok(bytes) => Some((Ok(bytes), Some(state))),
            Err(error) => Some((Err(error), None)),
        }
    }))
}

struct FaultyBody {
    inner: BodyDataStream,
    faults: StreamFaults,
    began: Instant,
    connection: Option<ConnectionInfo>,
    stopping: watch::Receiver<ShutdownPhase>,
}

impl FaultyBody {
    async fn next(&mut self) -> Option<Result<Bytes, axum::Error>> {
        loop {
            match self.faults.next_step() {
                Some(Step::Send(bytes)) => return Some(Ok(bytes)),
                Some(Step::Pause(time)) => {
                    if !self.wait(Some(Instant::now() + time)).await {
                        return None;
                    }
                }
                Some(Step::Stop(ending)) => return self.end(ending).await,
                None => {
                    tokio::select! {
                        biased;
                        () = ApiServer::stop_requested(&mut self.stopping) => return None,
                        () = reach(self.faults.wake_at().map(|at| self.began + at)) => {
                            self.faults.tick(self.began.elapsed());
                        }
                        chunk = self.inner.next() => match chunk {
                            Some(Ok(chunk)) => self.faults.accept(&chunk),
                            Some(Err(error)) => return Some(Err(error)),
                            None => self.faults.finish(),
                        },
                    }
                }
            }
        }
    }

    /// Waits until an instant, or for ever, or until the faults want to be woken. False if the server stops.
    async fn wait(&mut self, until: Option<Instant>) -> bool {
        let wake = self.faults.wake_at().map(|at| self.began + at);
        tokio::select! {
            biased;
            () = ApiServer::stop_requested(&mut self.stopping) => return false,
            () = reach(wake) => self.faults.tick(self.began.elapsed()),
            () = reach(until) => {}
        }
        true
    }

    async fn end(&mut self, ending: Ending) -> Option<Result<Bytes, axum::Error>> {
        match ending {
            Ending::Close => return None,
            Ending::Cut => {
                sleep(LEAVING_TIME).await;
                return Some(Err(axum::Error::new(Cut)));
            }
            Ending::HalfOpen => {
                if let Some(connection) = &self.connection {
                    sleep(LEAVING_TIME).await;
                    connection.switch.go_dead();
                }
            }
            Ending::Stall => {}
        }
        // The right answer is kept as it is: to the server, this is a client that does not read.
        while self.wait(None).await {}
        None
    }
}

async fn reach(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}
