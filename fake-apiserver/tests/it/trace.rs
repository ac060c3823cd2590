//! Traces: recorded, read and done again.

use std::{path::Path, time::Duration};

use fake_apiserver::{
    config::{ServerConfig, WatchConfig, WindowConfig},
    control::WriteKind::{Create, Delete, Update},
    storage::Storage,
    trace::{
        Recording,
        read::Trace,
        replay::{Pace, replay},
    },
};
use tokio::time::{Instant, advance};

use crate::client::{Client, load_pods};

const WATCH: &str = "/api/v1/pods?watch=true&resourceVersion=2";

/// Records x updated after 1 s, y created and deleted after 3 s.
async fn recorded(path: &Path) -> Vec<String> {
    let client = Client::with_pods(&["a/x"]);
    let mut watch = client.watch(WATCH).await;
    advance(Duration::from_secs(7)).await;
    let recording = Recording::begin(&client.server, path).unwrap();
    advance(Duration::from_secs(1)).await;
    client.write(Update, "a/x");
    advance(Duration::from_secs(2)).await;
    client.write(Create, "a/y");
    client.write(Delete, "a/y");
    recording.finish().unwrap();
    client.write(Update, "a/x");
    watch.ready()
}

#[tokio::test(start_paused = true)]
async fn a_recording_done_again_shows_the_same_events_at_the_same_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    let events = recorded(&path).await;
    let text = std::fs::read_to_string(&path).unwrap();
    let begins: Vec<_> = text
        .lines()
        .map(|line| &line[..line.find(r#","object""#).unwrap()])
        .collect();
    assert_eq!(
        begins,
        [
            r#"{"offset_ns":1000000000,"type":"MODIFIED""#,
            r#"{"offset_ns":3000000000,"type":"ADDED""#,
            r#"{"offset_ns":3000000000,"type":"DELETED""#,
        ]
    );
    for (speed, milliseconds) in [(1.0, [1000, 3000]), (4.0, [250, 750])] {
        let client = Client::with_pods(&["a/x"]);
        let mut watch = client.watch(WATCH).await;
        let pace = Pace {
            speed,
            ..Pace::original()
        };
        let begin = Instant::now();
        let trace = Trace::read(&path).unwrap();
        let mut seen = Vec::new();
        let watching = async {
            let mut times = Vec::new();
            while times.len() < 3 {
                seen.push(watch.next_line().await.unwrap());
                times.push(begin.elapsed().as_millis());
            }
            times
        };
        let (times, ()) = tokio::join!(watching, replay(&client.server, trace, pace));
        assert_eq!(times, [milliseconds[0], milliseconds[1], milliseconds[1]]);
        let kinds: Vec<_> = seen
            .iter()
            .map(|line| line.split('"').nth(3).unwrap().to_owned())
            .collect();
        let recorded: Vec<_> = events[..3]
            .iter()
            .map(|event| event.split(' ').next().unwrap().to_owned())
            .collect();
        assert_eq!(kinds, recorded);
        assert_eq!(client.get("/api/v1/pods").await.items(), ["a/x@3"]);
    }
}

/// As `kubectl get pods -w --output-watch-events -o json` prints.
const KUBECTL: &str = r#"{
    "type": "ADDED",
    "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "namespace": "a", "resourceVersion": "71"}}
}
{
    "type": "ADDED",
    "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "y", "namespace": "a", "resourceVersion": "70"}}
}
{
    "type": "MODIFIED",
    "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "y", "namespace": "a", "resourceVersion": "72", "labels": {"new": "yes"}}}
}
{
    "type": "BOOKMARK",
    "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"resourceVersion": "80"}}
}
{
    "type": "ADDED",
    "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "z", "namespace": "a", "resourceVersion": "81"}}
}
{
    "type": "DELETED",
    "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "namespace": "a", "resourceVersion": "82"}}
}
"#;

fn written(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[tokio::test(start_paused = true)]
async fn kubectls_watch_output_is_a_trace_that_begins_with_the_objects_it_lists_first() {
    let file = written(KUBECTL);
    let mut trace = Trace::read(file.path()).unwrap();
    assert_eq!((trace.initial.len(), trace.events.len()), (2, 3));
    let mut storage = Storage::new(WindowConfig::kube_apiserver());
    for (resource, draft) in trace.initial.drain(..) {
        let id = storage.register(&resource);
        storage.load(id, &draft).unwrap();
    }
    let client = Client::new(storage, WatchConfig::kube_apiserver());
    assert_eq!(client.get("/api/v1/pods").await.items(), ["a/x@2", "a/y@3"]);
    let mut watch = client.watch("/api/v1/pods?watch=1&resourceVersion=3").await;
    let begin = Instant::now();
    replay(&client.server, trace, Pace::original()).await;
    assert_eq!(
        begin.elapsed(),
        Duration::from_millis(200),
        "ten a second, the first at once"
    );
    assert_eq!(
        watch.ready(),
        ["MODIFIED a/y@4", "ADDED a/z@5", "DELETED a/x@6"]
    );
    let pods = client.get("/api/v1/pods").await;
    assert_eq!(pods.items(), ["a/y@4", "a/z@5"]);
    assert_eq!(pods.json()["items"][0]["metadata"]["labels"]["new"], "yes");
}

#[tokio::test(start_paused = true)]
async fn a_trace_fits_a_server_that_is_not_as_it_was() {
    let file = written(concat!(
        r#"{"offset_ns":0,"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"new","namespace":"a"}}}"#,
        r#"{"offset_ns":0,"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"gone","namespace":"a"}}}"#,
        r#"{"offset_ns":0,"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"a"}}}"#,
    ));
    let mut storage = Storage::new(WindowConfig::kube_apiserver());
    load_pods(&mut storage, &["a/x"]);
    let client = Client::new(storage, WatchConfig::kube_apiserver());
    let mut watch = client.watch(WATCH).await;
    replay(
        &client.server,
        Trace::read(file.path()).unwrap(),
        Pace::original(),
    )
    .await;
    assert_eq!(watch.ready(), ["ADDED a/new@3", "MODIFIED a/x@4"]);
}

#[test]
fn a_trace_that_cannot_be_used_is_refused_with_the_event_and_what_is_wrong() {
    for (text, expected) in [
        (
            r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"a"}}}"#,
            "event 0 (Pod a/?): metadata.name is missing",
        ),
        (
            r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"a"}}} {"type":"MELTED","object":{}}"#,
            "event 1 is not valid",
        ),
        (
            concat!(
                r#"{"offset_ns":5,"type":"BOOKMARK","object":{}}"#,
                r#"{"offset_ns":4,"type":"BOOKMARK","object":{}}"#
            ),
            "event 1: offset_ns is below that of the event before",
        ),
    ] {
        let file = written(text);
        let error = Trace::read(file.path()).unwrap_err();
        let expected = format!("{}: {expected}", file.path().display());
        assert_eq!(error.to_string().replace(": item ", ": event "), expected);
    }
}

#[tokio::test]
async fn a_server_records_and_replays_by_its_configuration() {
    let file = written(KUBECTL);
    let folder = tempfile::tempdir().unwrap();
    let mut config = ServerConfig::empty("127.0.0.1:0".parse().unwrap(), 1);
    let pace = Pace {
        speed: 1.0,
        untimed_gap: Duration::ZERO,
    };
    let path = file.path().to_owned();
    config.replay = Some(fake_apiserver::config::Replay { path, pace });
    config.record = Some(folder.path().join("trace"));
    let record = config.record.clone().unwrap();
    let (ready, address) = tokio::sync::oneshot::channel();
    let stop = async {
        let address: std::net::SocketAddr = address.await.unwrap();
        // Until the last event of the trace is done.
        let mut answer = String::new();
        while !answer.contains(r#""revision":6"#) {
            answer = crate::socket::get(address, "/informer-bench/v1/state").await;
        }
    };
    fake_apiserver::run(config, |address| ready.send(address).unwrap(), stop)
        .await
        .unwrap();
    let text = std::fs::read_to_string(record).unwrap();
    let kinds: Vec<_> = text
        .lines()
        .map(|line| line.split('"').nth(5).unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["MODIFIED", "ADDED", "DELETED"]);
}
