//! Counts requests as they pass.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::{StatusCode, header::CONTENT_ENCODING};
use prometheus::IntGauge;
use tokio::time::Instant;

use super::{
    body::{EventMeter, MeteredBody},
    labels::RequestLabels,
};
use crate::{
    ApiServer, control,
    request_info::{RequestInfo, Verb},
};

/// Counts a request when its answer has ended. The control API is no part of an API server and not counted.
pub(crate) async fn instrument(
    State(server): State<Arc<ApiServer>>,
    request: Request,
    next: Next,
) -> Response {
    let uri = request.uri();
    if uri.path().starts_with(control::PREFIX) {
        return next.run(request).await;
    }
    let query = uri.query().unwrap_or("");
    let info = RequestInfo::new(request.method(), uri.path(), query);
    let labels = RequestLabels::new(request.method(), request.headers(), &info, query);
    // Created before the answer, so that a client that leaves meanwhile is counted too.
    let mut passing = PassingRequest {
        server: Arc::clone(&server),
        labels,
        begun: Instant::now(),
        code: None,
        sent_bytes: 0,
        open: None,
    };
    let response = next.run(request).await;
    let code = response.status();
    passing.code = Some(code);
    if code == StatusCode::NOT_FOUND && server.find_resource(&info.resource_name()).is_none() {
        passing.labels.forget_names();
    }
    let is_watch = info.verb == Some(Verb::Watch) && code == StatusCode::OK;
    // Of compressed events, neither number nor size is seen.
    let events = (is_watch && !response.headers().contains_key(CONTENT_ENCODING))
        .then(|| passing.event_meter());
    if is_watch {
        passing.open = Some(passing.opened());
    }
    response.map(|body| Body::new(MeteredBody::new(body, events, passing)))
}

/// A request under way. Counted when dropped.
pub(super) struct PassingRequest {
    server: Arc<ApiServer>,
    labels: RequestLabels,
    begun: Instant,
    // None until there is an answer.
    code: Option<StatusCode>,
    pub(super) sent_bytes: u64,
    open: Option<IntGauge>,
}

impl PassingRequest {
    fn event_meter(&self) -> EventMeter {
        let metrics = self.server.metrics();
        let values = self.labels.resource_values();
        EventMeter::new(
            metrics.watch_events.with_label_values(&values),
            &metrics.watch_event_sizes.with_label_values(&values),
        )
    }

    fn opened(&self) -> IntGauge {
        let values = self.labels.values_without_dry_run();
        let gauge = self
            .server
            .metrics()
            .long_running
            .with_label_values(&values);
        gauge.inc();
        gauge
    }
}

impl Drop for PassingRequest {
    fn drop(&mut self) {
        let metrics = self.server.metrics();
        let labels = &self.labels;
        if let Some(open) = &self.open {
            open.dec();
        }
        // Upstream writes 0 for a client that left before it was answered.
        let code = self
            .code
            .map_or_else(|| "0".to_owned(), |code| code.as_str().to_owned());
        let [
            verb,
            dry_run,
            group,
            version,
            resource,
            subresource,
            scope,
            component,
        ] = labels.values();
        metrics
            .requests
            .with_label_values(&[
                verb,
                dry_run,
                group,
                version,
                resource,
                subresource,
                scope,
                component,
                &code,
            ])
            .inc();
        metrics
            .durations
            .with_label_values(&labels.values())
            .observe(self.begun.elapsed().as_secs_f64());
        if labels.is_read() && !labels.resource_values()[2].is_empty() {
            metrics
                .response_sizes
                .with_label_values(&labels.values_without_dry_run())
                .observe(self.sent_bytes as f64);
        }
    }
}
