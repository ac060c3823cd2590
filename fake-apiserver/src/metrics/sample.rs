//! What is read off the server's state when somebody asks for the metrics.

use std::time::Duration;

use prometheus::{Counter, Gauge, IntCounterVec, IntGaugeVec, core::Collector};

use super::{VALID, counter, gauge};
use crate::{ApiServer, storage::resource_name};

const RESOURCE: [&str; 2] = ["group", "resource"];

#[derive(Debug)]
pub(super) struct Samples {
    objects: IntGaugeVec,
    objects_by_name: IntGaugeVec,
    object_bytes: IntGaugeVec,
    cache_capacity: IntGaugeVec,
    cache_version: IntGaugeVec,
    events_received: IntCounterVec,
    events_dispatched: IntCounterVec,
    terminated: IntCounterVec,
    faults: IntCounterVec,
    cpu_seconds: Counter,
    resident_bytes: Gauge,
}

impl Samples {
    pub(super) fn new() -> Self {
        Self {
            objects: gauge(
                "apiserver_resource_objects",
                "Objects that exist.",
                &RESOURCE,
            ),
            objects_by_name: gauge(
                "apiserver_storage_objects",
                "Objects that exist, under the older name.",
                &["resource"],
            ),
            object_bytes: gauge(
                "apiserver_resource_size_estimate_bytes",
                "Bytes of those objects' JSON.",
                &RESOURCE,
            ),
            cache_capacity: gauge(
                "watch_cache_capacity",
                "Events that the window of past events holds at present.",
                &RESOURCE,
            ),
            cache_version: gauge(
                "apiserver_watch_cache_resource_version",
                "Version that watches and lists are served up to.",
                &RESOURCE,
            ),
            events_received: counter(
                "apiserver_watch_cache_events_received_total",
                "Changes that entered the window of past events.",
                &RESOURCE,
            ),
            events_dispatched: counter(
                "apiserver_watch_cache_events_dispatched_total",
                "Changes that were offered to watches, each counted once.",
                &RESOURCE,
            ),
            terminated: counter(
                "apiserver_terminated_watchers_total",
                "Watches ended because their client was too slow.",
                &RESOURCE,
            ),
            faults: counter(
                "fake_apiserver_faults_total",
                "Requests that a fault of the script in force was applied to.",
                &["fault"],
            ),
            cpu_seconds: Counter::new("process_cpu_seconds_total", "CPU time of the process.")
                .expect(VALID),
            resident_bytes: Gauge::new("process_resident_memory_bytes", "Resident memory.")
                .expect(VALID),
        }
    }

    pub(super) fn collectors(&self) -> Vec<Box<dyn Collector>> {
        vec![
            Box::new(self.objects.clone()),
            Box::new(self.objects_by_name.clone()),
            Box::new(self.object_bytes.clone()),
            Box::new(self.cache_capacity.clone()),
            Box::new(self.cache_version.clone()),
            Box::new(self.events_received.clone()),
            Box::new(self.events_dispatched.clone()),
            Box::new(self.terminated.clone()),
            Box::new(self.faults.clone()),
            Box::new(self.cpu_seconds.clone()),
            Box::new(self.resident_bytes.clone()),
        ]
    }

    /// Brings everything up to date.
    pub(super) fn take(&self, server: &ApiServer) {
        server.read(|state| {
            let revision = signed(state.storage.revision());
            for (id, store) in state.storage.stores() {
                let resource = store.resource();
                let labels = [resource.group.as_str(), resource.plural.as_str()];
                let objects = signed(store.objects().len() as u64);
                let events = store.cache().head();
                set(&self.objects, &labels, objects);
                set(&self.objects_by_name, &[&resource_name(resource)], objects);
                set(
                    &self.object_bytes,
                    &labels,
                    signed(store.total_size_bytes()),
                );
                set(
                    &self.cache_capacity,
                    &labels,
                    signed(store.cache().capacity() as u64),
                );
                set(&self.cache_version, &labels, revision);
                raise(&self.events_received, &labels, events);
                raise(&self.events_dispatched, &labels, events);
                raise(&self.terminated, &labels, state.watchers.terminated_of(id));
            }
        });
        // A new script counts anew.
        self.faults.reset();
        for rule in server.faults().counts() {
            raise(&self.faults, &[&rule.name], rule.applied);
        }
        let process = server.state();
        let cpu = Duration::from_nanos(process.cpu_time_ns).as_secs_f64();
        self.cpu_seconds
            .inc_by((cpu - self.cpu_seconds.get()).max(0.0));
        self.resident_bytes.set(process.rss_bytes as f64);
    }
}

fn set(gauge: &IntGaugeVec, labels: &[&str], value: i64) {
    gauge.with_label_values(labels).set(value);
}

/// Lets a counter reach a total.
fn raise(counter: &IntCounterVec, labels: &[&str], total: u64) {
    let counter = counter.with_label_values(labels);
    counter.inc_by(total.saturating_sub(counter.get()));
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
