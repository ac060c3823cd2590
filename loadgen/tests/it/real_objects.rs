//! Files of objects of any kind: whatever group, version and scope a resource has, it can be watched.

use std::fs;

use bench_core::measure::record::Outcome;
use serde_json::{Value, json};

use crate::program::{loadgen, records};

/// Seven custom objects without namespace, of a beta version, and five deployments, mixed.
fn mixed_kinds() -> Value {
    let widgets = (0..7).map(|index| {
        json!({
            "apiVersion": "example.com/v1beta1",
            "kind": "Widget",
            "metadata": {"name": format!("widget-{index}"), "labels": {"size": "small"}},
            "spec": {"colour": "red"},
        })
    });
    let deployments = (0..5).map(|index| {
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": format!("web-{index}"), "namespace": "shop"},
            "spec": {"replicas": 3},
        })
    });
    let items: Vec<_> = deployments.chain(widgets).collect();
    json!({"kind": "List", "apiVersion": "v1", "items": items})
}

#[test]
fn any_group_version_and_scope_of_a_file_can_be_watched_and_changed() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let file = path("objects.json");
    fs::write(&file, mixed_kinds().to_string()).unwrap();
    for (resource, objects) in [
        ("widgets.example.com", 7),
        ("widgets", 7),
        ("deployments.apps", 5),
        ("deployments", 5),
    ] {
        let out = path(resource);
        let what = ["compare", "--objects", &file, "--resource", resource];
        let how = ["--resync", "200ms", "--window", "500ms", "--warm-up", "0"];
        let more = ["--queue", "delta-fifo", "--rounds", "1", "--out", &out];
        let ran = loadgen(&[&what[..], &how, &more].concat());
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (Some(0), ""),
            "{resource}: {ran:?}"
        );
        let record = records(out.as_ref()).remove(0);
        assert_eq!(record.outcome, Outcome::Verified, "{resource}");
        assert_eq!(record.variant.object_count, objects, "{resource}");
        assert_eq!(record.variant.object_source, "objects.json");
        assert!(record.variant.object_size_bytes_mean > 100, "{resource}");
        let one = record.measurements.unwrap();
        assert!(
            one.accounting.sent > 0 && one.resync.fired > 0,
            "{resource}"
        );
    }
}
