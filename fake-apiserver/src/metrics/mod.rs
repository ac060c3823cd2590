//! `/metrics`: numbers of this server under the names, labels and buckets of a kube-apiserver.
//!
//! The names are those of apiserver 0.37: `pkg/endpoints/metrics/metrics.go`, `pkg/storage/cacher/metrics/metrics.go` and
//! `pkg/storage/etcd3/metrics/metrics.go`. What upstream has and is not here is absent, not zero.
//!
//! - [`RequestLabels`](labels::RequestLabels): what a request is counted under.
//! - `layer`: counts requests as they pass; `body`: their bytes, and a watch's events.
//! - `sample`: what is read off the server's state when somebody asks.

mod body;
mod labels;
mod layer;
mod sample;

use parking_lot::Mutex;
use prometheus::{
    HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, Registry, TextEncoder,
    exponential_buckets,
};

use self::{labels::LABELS, sample::Samples};
use crate::ApiServer;

pub(crate) use self::layer::instrument;

/// Seconds, as upstream chose them to check its objectives.
const DURATION_BUCKETS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0,
    10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
];

/// Why metrics can be made.
const VALID: &str = "names, labels and buckets are constants";

/// The numbers of one server.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    // One at a time: counters are raised by what they lack.
    samples: Mutex<Samples>,
    requests: IntCounterVec,
    durations: HistogramVec,
    response_sizes: HistogramVec,
    long_running: IntGaugeVec,
    watch_events: IntCounterVec,
    watch_event_sizes: HistogramVec,
}

impl Metrics {
    /// All at zero.
    pub(crate) fn new() -> Self {
        let without_dry_run = labels_without("dry_run");
        let resource = ["group", "version", "resource"];
        let metrics = Self {
            requests: counter(
                "apiserver_request_total",
                "Requests by verb, dry run, group, version, resource, subresource, scope, component and HTTP code.",
                &[&LABELS[..], &["code"]].concat(),
            ),
            durations: histogram(
                "apiserver_request_duration_seconds",
                "Seconds from a request's arrival to the end of its answer.",
                DURATION_BUCKETS.to_vec(),
                &LABELS,
            ),
            response_sizes: histogram(
                "apiserver_response_sizes",
                "Bytes of the bodies of answers to GET and LIST.",
                exponential_buckets(1000.0, 10.0, 7).expect(VALID),
                &without_dry_run,
            ),
            long_running: gauge(
                "apiserver_longrunning_requests",
                "Open watches.",
                &without_dry_run,
            ),
            watch_events: counter(
                "apiserver_watch_events_total",
                "Events sent to the clients of watches.",
                &resource,
            ),
            watch_event_sizes: histogram(
                "apiserver_watch_events_sizes",
                "Bytes of those events.",
                exponential_buckets(1024.0, 2.0, 8).expect(VALID),
                &resource,
            ),
            samples: Mutex::new(Samples::new()),
            registry: Registry::new(),
        };
        metrics.register_all();
        metrics
    }

    fn register_all(&self) {
        let mut collectors: Vec<Box<dyn prometheus::core::Collector>> = vec![
            Box::new(self.requests.clone()),
            Box::new(self.durations.clone()),
            Box::new(self.response_sizes.clone()),
            Box::new(self.long_running.clone()),
            Box::new(self.watch_events.clone()),
            Box::new(self.watch_event_sizes.clone()),
        ];
        collectors.extend(self.samples.lock().collectors());
        for collector in collectors {
            let registered = self.registry.register(collector);
            registered.expect("each name is registered once");
        }
    }

    /// Everything in Prometheus' text format, 0.0.4.
    pub(crate) fn text(&self, server: &ApiServer) -> String {
        self.samples.lock().take(server);
        let mut text = String::new();
        let encoded = TextEncoder::new().encode_utf8(&self.registry.gather(), &mut text);
        encoded.expect("names are valid and the text is in memory");
        text
    }
}

fn labels_without(label: &str) -> Vec<&'static str> {
    let others = LABELS.into_iter().filter(|other| *other != label);
    others.collect()
}

fn counter(name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    IntCounterVec::new(Opts::new(name, help), labels).expect(VALID)
}

fn gauge(name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    IntGaugeVec::new(Opts::new(name, help), labels).expect(VALID)
}

fn histogram(name: &str, help: &str, buckets: Vec<f64>, labels: &[&str]) -> HistogramVec {
    let options = HistogramOpts::new(name, help).buckets(buckets);
    HistogramVec::new(options, labels).expect(VALID)
}
