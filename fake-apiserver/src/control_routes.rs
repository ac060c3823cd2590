//! The control API: see [`control`](crate::control).

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Query, State},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http::StatusCode;
use serde::Deserialize;

use crate::{
    ApiServer, RequestedWriteError, StartChurnError,
    control::{ChurnRequest, ControlError, WriteRequest},
    fault,
    storage::WriteError,
};

type Server = State<Arc<ApiServer>>;

pub(crate) fn routes() -> Router<Arc<ApiServer>> {
    Router::new()
        .route("/churn", post(start_churn))
        .route("/churn/stop", post(stop_churn))
        .route("/commits", get(commits))
        .route("/write", post(write))
        .route(
            "/state",
            get(async |State(server): Server| Json(server.state())),
        )
        .route("/close-watches", post(close_watches))
        .route("/compact", post(compact))
        .route("/shutdown", post(shutdown))
        .merge(fault::routes())
}

#[derive(Deserialize)]
struct Since {
    #[serde(default)]
    since: u64,
}

async fn start_churn(State(server): Server, Json(request): Json<ChurnRequest>) -> Response {
    match server.start_churn(&request) {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(error) => {
            let code = match error {
                StartChurnError::AlreadyRunning => StatusCode::CONFLICT,
                StartChurnError::Invalid(_) => StatusCode::BAD_REQUEST,
                StartChurnError::Thread(_) => StatusCode::INTERNAL_SERVER_ERROR,
            };
            refuse(code, &error)
        }
    }
}

async fn stop_churn(State(server): Server) -> Response {
    // Joins the churn's thread, so off the runtime's workers.
    let stopped = tokio::task::spawn_blocking(move || server.stop_churn()).await;
    match stopped.expect("stopping does not panic") {
        Some(summary) => Json(summary).into_response(),
        None => refuse(StatusCode::CONFLICT, &"no churn was started"),
    }
}

async fn commits(State(server): Server, Query(Since { since }): Query<Since>) -> Response {
    Json(server.commits_since(since)).into_response()
}

async fn write(State(server): Server, Json(request): Json<WriteRequest>) -> Response {
    match server.write(&request) {
        Ok(record) => Json(record).into_response(),
        Err(error) => {
            let code = match error {
                RequestedWriteError::Key(_) => StatusCode::BAD_REQUEST,
                RequestedWriteError::NoObjects(_)
                | RequestedWriteError::UnknownResource(_)
                | RequestedWriteError::Write(WriteError::NotFound(_)) => StatusCode::NOT_FOUND,
                RequestedWriteError::Write(
                    WriteError::AlreadyExists(_) | WriteError::Changed(_),
                ) => StatusCode::CONFLICT,
            };
            refuse(code, &error)
        }
    }
}

async fn close_watches(State(server): Server) -> StatusCode {
    server.close_watches();
    StatusCode::NO_CONTENT
}

async fn compact(State(server): Server) -> StatusCode {
    server.compact();
    StatusCode::NO_CONTENT
}

async fn shutdown(State(server): Server) -> StatusCode {
    server.request_shutdown();
    StatusCode::ACCEPTED
}

fn refuse(code: StatusCode, error: &dyn std::fmt::Display) -> Response {
    (
        code,
        Json(ControlError {
            error: error.to_string(),
        }),
    )
        .into_response()
}
