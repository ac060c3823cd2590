//! What stands in front of the routes.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, USER_AGENT};
use tokio::time::sleep;
use tracing::debug;

use super::{body::faulty_body, error_answer::answer_of, plan::RequestFacts};
use crate::{ApiServer, connection::ConnectionInfo, control, request_info::RequestInfo};

/// Applies the script in force to a request and its answer. The control API is beyond its reach.
pub(crate) async fn inject_faults(
    State(server): State<Arc<ApiServer>>,
    mut request: Request,
    next: Next,
) -> Response {
    if server.faults().is_idle() || request.uri().path().starts_with(control::PREFIX) {
        return next.run(request).await;
    }
    let facts = facts_of(&request);
    let Some(verdict) = server.faults().decide(&facts, server.now()) else {
        return next.run(request).await;
    };
    debug!(path = facts.info.path, ?verdict, "decided");
    let mut stopping = server.shutdown_requests();
    if !verdict.delay.is_zero() {
        tokio::select! {
            biased;
            () = ApiServer::stop_requested(&mut stopping) => {}
            () = sleep(verdict.delay) => {}
        }
    }
    if let Some(answer) = verdict.answer {
        return answer_of(&answer, request.uri().query().unwrap_or(""));
    }
    let Some(faults) = verdict.stream else {
        return next.run(request).await;
    };
    // Faults are of lines and bytes as the API writes them, not of compressed ones.
    request.headers_mut().remove(ACCEPT_ENCODING);
    let connection = request.extensions().get::<ConnectionInfo>().cloned();
    let (mut head, body) = next.run(request).await.into_parts();
    // It may become shorter, or longer.
    head.headers.remove(CONTENT_LENGTH);
    Response::from_parts(head, faulty_body(body, faults, connection, stopping))
}

fn facts_of(request: &Request) -> RequestFacts {
    let uri = request.uri();
    let user_agent = request.headers().get(USER_AGENT);
    RequestFacts {
        info: RequestInfo::new(request.method(), uri.path(), uri.query().unwrap_or("")),
        user_agent: user_agent.map_or_else(String::new, |value| {
            String::from_utf8_lossy(value.as_bytes()).into_owned()
        }),
        remote: request
            .extensions()
            .get::<ConnectionInfo>()
            .map(|connection| connection.remote.ip()),
    }
}
