//! The control API of faults.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    response::{IntoResponse as _, Response},
    routing::get,
};
use http::StatusCode;

use super::script::FaultScript;
use crate::{ApiServer, control::ControlError};

type Server = State<Arc<ApiServer>>;

/// `GET`, `PUT` and `DELETE` of `faults`.
pub(crate) fn routes() -> Router<Arc<ApiServer>> {
    Router::new().route("/faults", get(counts).put(replace).delete(remove))
}

async fn counts(State(server): Server) -> Response {
    Json(server.faults().counts()).into_response()
}

async fn replace(State(server): Server, body: String) -> Response {
    match FaultScript::parse("script", &body) {
        Ok(script) => {
            server.set_faults(Some(&script));
            StatusCode::NO_CONTENT.into_response()
        }
        Err(error) => {
            let error = ControlError {
                error: error.to_string(),
            };
            (StatusCode::BAD_REQUEST, Json(error)).into_response()
        }
    }
}

async fn remove(State(server): Server) -> StatusCode {
    server.set_faults(None);
    StatusCode::NO_CONTENT
}
