//! The scripted server as a tower service: no socket, so it runs under the paused clock, where every wait is exact.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt as _, Empty, StreamBody, combinators::UnsyncBoxBody};
use tokio::time::sleep;
use tower::Service;

use super::{
    script::{End, Piece},
    server::{Pending, ScriptedServer},
};

/// Answers requests of this process.
#[derive(Debug, Clone)]
pub struct InProcess(pub ScriptedServer);

type Body = UnsyncBoxBody<Bytes, io::Error>;

impl Service<Request<Empty<Bytes>>> for InProcess {
    type Response = Response<Body>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Empty<Bytes>>) -> Self::Future {
        let target = request.uri().path_and_query();
        let target = target.map_or("/", |target| target.as_str());
        let pending = self.0.ask(request.method().as_str(), target);
        Box::pin(answer(pending))
    }
}

async fn answer(pending: Pending) -> io::Result<Response<Body>> {
    if pending.answer.status == 0 {
        pending.sent();
        return match broken(pending.answer.end) {
            Some(error) => Err(error),
            None => std::future::pending().await,
        };
    }
    let mut response = Response::builder().status(pending.answer.status);
    for (name, value) in pending.answer.all_headers() {
        response = response.header(name, value);
    }
    response.body(body(pending)).map_err(io::Error::other)
}

fn body(pending: Pending) -> Body {
    let pieces = pending.answer.body.clone().into_iter();
    let frames = stream::unfold((pieces, pending), async |(mut pieces, pending)| {
        loop {
            match pieces.next() {
                Some(Piece::Pause(milliseconds)) => {
                    sleep(Duration::from_millis(milliseconds)).await;
                }
                Some(Piece::Text(text)) => {
                    // The client may leave without having asked for more.
                    if pieces.len() == 0 {
                        pending.sent();
                    }
                    return Some((Ok(Frame::data(Bytes::from(text))), (pieces, pending)));
                }
                None => {
                    pending.sent();
                    return match pending.answer.end {
                        End::Whole => None,
                        End::Open => std::future::pending().await,
                        end => broken(end).map(|error| (Err(error), (pieces, pending))),
                    };
                }
            }
        }
    });
    StreamBody::new(frames).boxed_unsync()
}

/// What a client sees of an end that is not the body's.
fn broken(end: End) -> Option<io::Error> {
    match end {
        End::Whole | End::Cut => Some(io::ErrorKind::UnexpectedEof.into()),
        End::Reset => Some(io::ErrorKind::ConnectionReset.into()),
        End::Open => None,
    }
}
