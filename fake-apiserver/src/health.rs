//! `/healthz`, `/livez` and `/readyz`: whether the server is well, check by check (apiserver's `pkg/server/healthz`).

use std::{collections::BTreeSet, fmt::Write as _, sync::Arc};

use axum::{
    extract::{Path, RawQuery, State},
    response::{IntoResponse, Response},
};
use http::{
    StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS},
};

use crate::{ApiServer, api_server::ShutdownPhase, query};

/// One of the three endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Healthz,
    Livez,
    Readyz,
}

impl Endpoint {
    pub(crate) const ALL: [Self; 3] = [Self::Healthz, Self::Livez, Self::Readyz];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Healthz => "healthz",
            Self::Livez => "livez",
            Self::Readyz => "readyz",
        }
    }

    fn checks(self) -> &'static [&'static str] {
        match self {
            Self::Healthz | Self::Livez => &["ping", "log"],
            // The server is not ready any more once it was asked to stop.
            Self::Readyz => &["ping", "log", "shutdown"],
        }
    }

    /// All checks.
    pub(crate) fn answer(
        self,
        State(server): State<Arc<ApiServer>>,
        RawQuery(text): RawQuery,
    ) -> Response {
        let pairs = query::pairs(text.as_deref().unwrap_or("")).unwrap_or_default();
        let excluded: BTreeSet<&str> = pairs
            .iter()
            .filter(|(name, _)| name == "exclude")
            .map(|(_, value)| &**value)
            .collect();
        let is_verbose = pairs.iter().any(|(name, _)| name == "verbose");
        let mut report = String::new();
        let mut is_well = true;
        for check in self.checks() {
            let is_passed = passes(&server, check);
            let line = if excluded.contains(check) {
                format!("[+]{check} excluded: ok")
            } else if is_passed {
                format!("[+]{check} ok")
            } else {
                is_well = false;
                format!("[-]{check} failed: reason withheld")
            };
            writeln!(report, "{line}").expect("writing to a String cannot fail");
        }
        let unknown = excluded
            .iter()
            .filter(|name| !self.checks().contains(*name));
        let unknown: Vec<String> = unknown.map(|name| format!("{name:?}")).collect();
        if !unknown.is_empty() {
            let names = unknown.join(", ");
            writeln!(
                report,
                "warn: some health checks cannot be excluded: no matches for {names}"
            )
            .expect("writing to a String cannot fail");
        }
        let name = self.name();
        match (is_well, is_verbose) {
            (true, false) => text_answer(StatusCode::OK, "ok".to_owned()),
            (true, true) => text_answer(StatusCode::OK, format!("{report}{name} check passed\n")),
            (false, _) => text_answer(
                StatusCode::INTERNAL_SERVER_ERROR,
                format!("{report}{name} check failed\n"),
            ),
        }
    }

    /// One check.
    pub(crate) fn answer_check(
        self,
        State(server): State<Arc<ApiServer>>,
        Path(check): Path<String>,
    ) -> Response {
        if !self.checks().contains(&&*check) {
            return (StatusCode::NOT_FOUND, "404 page not found\n").into_response();
        }
        if passes(&server, &check) {
            text_answer(StatusCode::OK, "ok".to_owned())
        } else {
            let message = "internal server error: the server is stopping\n";
            text_answer(StatusCode::INTERNAL_SERVER_ERROR, message.to_owned())
        }
    }
}

fn passes(server: &ApiServer, check: &str) -> bool {
    check != "shutdown" || *server.shutdown_requests().borrow() == ShutdownPhase::Serving
}

fn text_answer(code: StatusCode, text: String) -> Response {
    let headers = [
        (CONTENT_TYPE, "text/plain; charset=utf-8"),
        (CACHE_CONTROL, "no-cache, private"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (code, headers, text).into_response()
}
