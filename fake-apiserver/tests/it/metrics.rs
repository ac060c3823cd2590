//! `/metrics`: upstream's names, and the right numbers.

use fake_apiserver::control::WriteKind::{Create, Update};

use crate::{client::Client, fault_requests::set_faults};

/// The value of a sample, given its name with labels in alphabetical order.
async fn value(client: &Client, sample: &str) -> Option<f64> {
    let answer = client.get("/metrics").await;
    assert_eq!(answer.code, 200);
    let lines = answer.text.lines();
    let values = lines.filter_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    let values: Vec<f64> = values.map(|value| value.parse().unwrap()).collect();
    assert!(values.len() < 2, "{sample}: {values:?}");
    values.first().copied()
}

fn request_total(verb: &str, resource: &str, scope: &str, code: u16) -> String {
    let component = if resource.is_empty() { "" } else { "apiserver" };
    let version = if resource.is_empty() { "" } else { "v1" };
    format!(
        r#"apiserver_request_total{{code="{code}",component="{component}",dry_run="",group="",resource="{resource}",scope="{scope}",subresource="",verb="{verb}",version="{version}"}}"#
    )
}

#[tokio::test(start_paused = true)]
async fn requests_are_counted_by_what_they_are_and_how_they_end() {
    let client = Client::with_pods(&["a/x", "a/y"]);
    for path in [
        "/api/v1/pods",
        "/api/v1/pods?limit=1",
        "/api/v1/namespaces/a/pods/x",
        "/api/v1/namespaces/a/pods/z",
    ] {
        client.get(path).await;
    }
    client.get("/informer-bench/v1/state").await;
    client.get("/api/v1/namespaces/a/unheard-of/x").await;
    for (sample, expected) in [
        (request_total("LIST", "pods", "cluster", 200), Some(2.0)),
        (request_total("GET", "pods", "resource", 200), Some(1.0)),
        (request_total("GET", "pods", "resource", 404), Some(1.0)),
        (request_total("LIST", "pods", "namespace", 200), None),
        (r#"apiserver_request_duration_seconds_count{component="apiserver",dry_run="",group="",resource="pods",scope="cluster",subresource="",verb="LIST",version="v1"}"#.to_owned(), Some(2.0)),
        (r#"apiserver_response_sizes_count{component="apiserver",group="",resource="pods",scope="cluster",subresource="",verb="LIST",version="v1"}"#.to_owned(), Some(2.0)),
    ] {
        assert_eq!(value(&client, &sample).await, expected, "{sample}");
    }
    let text = client.get("/metrics").await.text;
    assert!(
        !text.contains("unheard-of"),
        "paths that nothing is at make no series"
    );
    assert!(
        !text.contains("informer-bench"),
        "the control API is not counted"
    );
    set_faults(
        &client.server,
        "faults: [{name: down, match: {verbs: [list]}, fault: {error: {code: 503}}}]",
    );
    client.get("/api/v1/pods").await;
    assert_eq!(
        value(&client, &request_total("LIST", "pods", "cluster", 503)).await,
        Some(1.0)
    );
    assert_eq!(
        value(&client, r#"fake_apiserver_faults_total{fault="down"}"#).await,
        Some(1.0)
    );
}

#[tokio::test(start_paused = true)]
async fn watches_are_counted_while_they_are_open_and_their_events_as_they_are_sent() {
    let client = Client::with_pods(&["a/x"]);
    let open = r#"apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="cluster",subresource="",verb="WATCH",version="v1"}"#;
    let events = r#"apiserver_watch_events_total{group="",resource="pods",version="v1"}"#;
    let sizes = r#"apiserver_watch_events_sizes_sum{group="",resource="pods",version="v1"}"#;
    let mut watches = Vec::new();
    for _ in 0..2 {
        watches.push(client.watch("/api/v1/pods?watch=1&resourceVersion=2").await);
    }
    client.write(Update, "a/x");
    client.write(Create, "a/y");
    let mut bytes = 0;
    for watch in &mut watches {
        for _ in 0..2 {
            bytes += watch.next_line().await.unwrap().len() + 1;
        }
    }
    assert_eq!(value(&client, open).await, Some(2.0));
    assert_eq!(value(&client, events).await, Some(4.0));
    assert_eq!(value(&client, sizes).await, Some(bytes as f64));
    let ended = request_total("WATCH", "pods", "cluster", 200);
    assert_eq!(
        value(&client, &ended).await,
        None,
        "a watch counts when it ends"
    );
    watches.pop();
    assert_eq!(value(&client, open).await, Some(1.0));
    assert_eq!(value(&client, &ended).await, Some(1.0));
}

#[tokio::test(start_paused = true)]
async fn the_state_of_storage_and_window_is_shown_under_upstreams_names() {
    let client = Client::with_pods(&["a/x", "a/y"]);
    client.write(Update, "a/x");
    for (sample, expected) in [
        (
            r#"apiserver_resource_objects{group="",resource="pods"}"#,
            2.0,
        ),
        (
            r#"apiserver_storage_objects{resource="leases.coordination.k8s.io"}"#,
            0.0,
        ),
        (r#"watch_cache_capacity{group="",resource="pods"}"#, 100.0),
        (
            r#"apiserver_watch_cache_resource_version{group="",resource="pods"}"#,
            4.0,
        ),
        (
            r#"apiserver_watch_cache_events_received_total{group="",resource="pods"}"#,
            1.0,
        ),
        (
            r#"apiserver_watch_cache_events_dispatched_total{group="",resource="nodes"}"#,
            0.0,
        ),
        (
            r#"apiserver_terminated_watchers_total{group="",resource="pods"}"#,
            0.0,
        ),
    ] {
        assert_eq!(value(&client, sample).await, Some(expected), "{sample}");
        assert_eq!(
            value(&client, sample).await,
            Some(expected),
            "{sample}: asking changes nothing"
        );
    }
    set_faults(&client.server, "limits: {history_events: 3}");
    let mut slow = client.watch("/api/v1/pods?watch=1&resourceVersion=4").await;
    for _ in 0..4 {
        client.write(Update, "a/x");
    }
    assert_eq!(slow.ready(), ["END"]);
    assert_eq!(
        value(
            &client,
            r#"apiserver_terminated_watchers_total{group="",resource="pods"}"#
        )
        .await,
        Some(1.0)
    );
}
