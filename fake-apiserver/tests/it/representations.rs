//! Other forms of the same objects: tables, metadata alone, YAML, indented and compressed JSON.

use std::io::Read as _;

use fake_apiserver::{
    config::{WatchConfig, WindowConfig},
    control::WriteKind::{Delete, Update},
    storage::Storage,
};
use serde_json::{Value, json};

use crate::client::{Client, load, load_pods};

const PODS: &str = "/api/v1/pods";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// Columns of a table are compared in one test only.
fn without_columns(text: &str) -> String {
    let mut table: Value = serde_json::from_str(text).unwrap();
    assert_eq!(table["columnDefinitions"][0]["name"], "Name");
    table["columnDefinitions"] = Value::Null;
    // Ages move on.
    for row in table["rows"].as_array_mut().unwrap() {
        row["cells"][4] = "AGE".into();
    }
    table.to_string()
}

#[tokio::test]
async fn a_table_has_a_row_for_each_object_with_its_metadata() {
    let client = Client::with_pods(&["a/x", "a/y"]);
    let answer = client.get_as(&format!("{PODS}?limit=1"), TABLE).await;
    assert_eq!(answer.headers["content-type"], "application/json");
    let token = answer.json()["metadata"]["continue"].clone();
    assert_eq!(
        without_columns(&answer.text),
        format!(
            r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{{"resourceVersion":"3","continue":{token},"remainingItemCount":1}},"columnDefinitions":null,"rows":[{{"cells":["x","0/0","","0","AGE","<none>","<none>","<none>","<none>"],"object":{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{{"name":"x","namespace":"a","uid":"uid-of-x","resourceVersion":"2","creationTimestamp":"2026-01-01T00:00:00Z"}}}}}}]}}"#
        )
    );
    let columns = answer.json()["columnDefinitions"].clone();
    let name = json!({"name": "Name", "type": "string", "format": "name", "description": "Name of the object.", "priority": 0});
    assert_eq!(columns[0], name);
    let names: Vec<(&str, u64)> = columns
        .as_array()
        .unwrap()
        .iter()
        .map(|column| {
            (
                column["name"].as_str().unwrap(),
                column["priority"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            ("Name", 0),
            ("Ready", 0),
            ("Status", 0),
            ("Restarts", 0),
            ("Age", 0),
            ("IP", 1),
            ("Node", 1),
            ("Nominated Node", 1),
            ("Readiness Gates", 1),
        ]
    );
}

#[tokio::test]
async fn rows_hold_what_is_asked_for() {
    let client = Client::with_pods(&["a/x"]);
    for (include, expected) in [
        ("", "PartialObjectMetadata"),
        ("Metadata", "PartialObjectMetadata"),
        ("Object", "Pod"),
    ] {
        let answer = client
            .get_as(&format!("{PODS}?includeObject={include}"), TABLE)
            .await;
        assert_eq!(answer.json()["rows"][0]["object"]["kind"], expected);
    }
    let none = client
        .get_as(&format!("{PODS}?includeObject=None"), TABLE)
        .await;
    assert_eq!(none.json()["rows"][0].get("object"), Some(&Value::Null));
    let unknown = client
        .get_as(&format!("{PODS}?includeObject=All"), TABLE)
        .await;
    assert_eq!(
        (unknown.code, unknown.json()["message"].as_str()),
        (
            400,
            Some(
                r#"Unable to convert to Table as requested: includeObject: Invalid value: "All": must be 'Metadata', 'Object', 'None', or empty"#
            )
        )
    );
}

#[tokio::test]
async fn a_table_of_one_object_has_the_objects_version() {
    let client = Client::with_pods(&["a/x", "a/y"]);
    let answer = client.get_as("/api/v1/namespaces/a/pods/x", TABLE).await;
    let table = answer.json();
    assert_eq!(table["metadata"], json!({"resourceVersion": "2"}));
    assert_eq!(table["rows"].as_array().unwrap().len(), 1);
    let empty = client.get_as("/api/v1/nodes", TABLE).await;
    assert_eq!(empty.json()["rows"], json!([]));
}

#[tokio::test]
async fn a_watch_of_tables_names_the_columns_once() {
    let client = Client::with_pods(&["a/x"]);
    let mut watch = client
        .watch_accepting(&format!("{PODS}?watch=1&allowWatchBookmarks=true"), TABLE)
        .await;
    client.write(Update, "a/x");
    let mut events = Vec::new();
    for _ in 0..3 {
        let event: Value = serde_json::from_str(&watch.next_line().await.unwrap()).unwrap();
        events.push(event);
    }
    let columns: Vec<usize> = events
        .iter()
        .map(|event| {
            event["object"]["columnDefinitions"]
                .as_array()
                .map_or(0, Vec::len)
        })
        .collect();
    assert_eq!(columns, [9, 0, 0]);
    assert_eq!(events[1]["type"], "BOOKMARK");
    assert_eq!(
        events[1]["object"]["rows"][0]["object"],
        json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "2", "annotations": {"k8s.io/initial-events-end": "true"}}})
    );
    assert_eq!(
        events[1]["object"]["metadata"],
        json!({"resourceVersion": "2"})
    );
    assert_eq!(events[2]["type"], "MODIFIED");
    assert_eq!(
        events[2]["object"]["metadata"],
        json!({"resourceVersion": "3"})
    );
    assert_eq!(events[2]["object"]["rows"][0]["cells"][0], "x");
}

#[tokio::test]
async fn metadata_alone_in_a_list_a_get_and_a_watch() {
    let client = Client::with_pods(&["a/x"]);
    let item = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"x","namespace":"a","uid":"uid-of-x","resourceVersion":"2","creationTimestamp":"2026-01-01T00:00:00Z"}}"#;
    let list = client.get_as(PODS, METADATA_LIST).await;
    assert_eq!(
        list.text.trim_end(),
        format!(
            r#"{{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{{"resourceVersion":"2"}},"items":[{item}]}}"#
        )
    );
    let one = client.get_as("/api/v1/namespaces/a/pods/x", METADATA).await;
    assert_eq!(one.text, item);
    let mut watch = client
        .watch_accepting(&format!("{PODS}?watch=1&allowWatchBookmarks=1"), METADATA)
        .await;
    assert_eq!(
        watch.next_line().await.unwrap(),
        format!(r#"{{"type":"ADDED","object":{item}}}"#)
    );
    assert_eq!(
        watch.next_line().await.unwrap(),
        r#"{"type":"BOOKMARK","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"2","annotations":{"k8s.io/initial-events-end":"true"}}}}"#
    );
    client.write(Delete, "a/x");
    assert_eq!(
        watch.next_line().await.unwrap(),
        format!(
            r#"{{"type":"DELETED","object":{}}}"#,
            item.replace(r#""resourceVersion":"2""#, r#""resourceVersion":"3""#)
        )
    );
}

#[tokio::test]
async fn forms_that_do_not_fit_are_not_acceptable() {
    let client = Client::with_pods(&["a/x"]);
    for (path, accept, message) in [
        (
            PODS,
            METADATA,
            "you requested PartialObjectMetadata, but the requested object is a list (*core.PodList)",
        ),
        (
            "/api/v1/namespaces/a/pods/x",
            METADATA_LIST,
            "you requested PartialObjectMetadataList, but the requested object is not a list (*core.Pod)",
        ),
        (
            PODS,
            "application/json;as=Chart;g=meta.k8s.io;v=v1",
            "only the following media types are accepted: application/json, application/yaml",
        ),
        (
            "/api/v1/pods?watch=1",
            "application/yaml",
            "only the following media types are accepted: application/json;stream=watch",
        ),
    ] {
        let answer = client.get_as(path, accept).await;
        let status: Value = if answer.headers["content-type"] == "application/yaml" {
            serde_saphyr::from_str(&answer.text).unwrap()
        } else {
            answer.json()
        };
        assert_eq!(
            status,
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "reason": "NotAcceptable", "code": 406}),
            "{path} {accept}"
        );
        assert_eq!(answer.code, 406);
    }
}

#[tokio::test]
async fn yaml_and_indented_json_hold_the_same_as_json() {
    let client = Client::with_pods(&["a/x", "a/y"]);
    let json = client.get(PODS).await.json();
    let yaml = client.get_as(PODS, "application/yaml").await;
    assert_eq!(yaml.headers["content-type"], "application/yaml");
    assert!(
        yaml.text.starts_with("apiVersion: v1\nitems:\n"),
        "{}",
        yaml.text
    );
    let read: Value = serde_saphyr::from_str(&yaml.text).unwrap();
    assert_eq!(read, json);
    let pretty = client.get(&format!("{PODS}?pretty=true")).await;
    assert_eq!(
        pretty.text.trim_end(),
        serde_json::to_string_pretty(&json).unwrap()
    );
    let status = client
        .get_as("/api/v1/namespaces/a/pods/z", "application/yaml")
        .await;
    assert_eq!(
        (status.code, status.text.lines().next()),
        (404, Some("apiVersion: v1"))
    );
}

#[tokio::test]
async fn media_types_that_no_path_has_are_refused_by_the_router() {
    let client = Client::with_pods(&["a/x"]);
    let streams = ", application/json;stream=watch";
    for (path, streams) in [
        (PODS, streams),
        ("/api/v1/namespaces/a/pods/x", ""),
        ("/api/v1", ""),
    ] {
        for accept in [
            "text/html",
            "application/*",
            "application/vnd.kubernetes.protobuf",
        ] {
            let answer = client.get_as(path, accept).await;
            let message = format!(
                "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml{streams}"
            );
            let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "reason": "NotAcceptable", "details": {}, "code": 406});
            // Errors are negotiated once more, and then this range is one of JSON.
            let expected = if accept == "application/*" {
                status.to_string()
            } else {
                serde_json::to_string_pretty(&status).unwrap()
            };
            assert_eq!(answer.text, expected, "{path} {accept}");
        }
    }
}

/// A list of that many pods of about 100 bytes each.
fn many_pods(count: usize) -> Client {
    let keys: Vec<String> = (0..count).map(|index| format!("a/{index:05}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let mut storage = Storage::new(WindowConfig::kube_apiserver());
    load_pods(&mut storage, &keys);
    load(&mut storage, "ConfigMap", &["a/c"]);
    Client::new(storage, WatchConfig::kube_apiserver())
}

#[tokio::test]
async fn large_answers_are_compressed_for_those_who_take_it() {
    let client = many_pods(5000);
    let plain = client.get(PODS).await;
    assert!(plain.text.len() > 512 * 1024);
    for (encoding, is_compressed) in [
        ("gzip", true),
        ("deflate, gzip", true),
        ("gzip;q=1", false),
        ("deflate", false),
    ] {
        let answer = client
            .get_bytes(PODS, &[("accept-encoding", encoding)])
            .await;
        assert_eq!(
            answer.headers.contains_key("content-encoding"),
            is_compressed,
            "{encoding}"
        );
        if is_compressed {
            assert_eq!(answer.headers["content-encoding"], "gzip");
            assert_eq!(answer.headers["vary"], "Accept-Encoding");
            assert!(answer.bytes.len() < plain.text.len() / 4);
            let mut text = String::new();
            flate2::read::GzDecoder::new(&*answer.bytes)
                .read_to_string(&mut text)
                .unwrap();
            assert_eq!(text.trim_end(), plain.text);
        } else {
            assert_eq!(answer.bytes.trim_ascii_end(), plain.text.as_bytes());
        }
    }
    // The threshold is 128 KiB, which must be exceeded.
    let small = client
        .get_bytes(&format!("{PODS}?limit=100"), &[("accept-encoding", "gzip")])
        .await;
    assert!(!small.headers.contains_key("content-encoding"));
    let mut watch = client.watch(&format!("{PODS}?watch=1")).await;
    assert!(
        watch
            .next_line()
            .await
            .unwrap()
            .starts_with(r#"{"type":"ADDED""#)
    );
}

#[tokio::test]
async fn the_threshold_is_exact() {
    // The name of one pod makes the answer as long as wanted.
    let base = many_pods(1000).get(PODS).await.text.len() + 1;
    let limit = 128 * 1024;
    let each = base - (many_pods(999).get(PODS).await.text.len() + 1);
    let count = 1000 - (base - limit).div_ceil(each);
    let below = many_pods(count).get(PODS).await.text.len() + 1;
    assert!(below <= limit, "{below}");
    for (extra, is_compressed) in [(limit - below, false), (limit - below + 1, true)] {
        let mut keys: Vec<String> = (0..count - 1)
            .map(|index| format!("a/{index:05}"))
            .collect();
        // Once in the name, once in the uid: an odd number of bytes comes from the namespace of none.
        let (half, odd) = (extra / 2, extra % 2);
        keys.push(format!(
            "a{}/{:05}{}",
            "b".repeat(odd),
            count,
            "x".repeat(half)
        ));
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let client = Client::with_pods(&keys);
        let length = client.get(PODS).await.text.len() + 1;
        assert_eq!(length, below + extra);
        let answer = client.get_bytes(PODS, &[("accept-encoding", "gzip")]).await;
        assert_eq!(
            answer.headers.contains_key("content-encoding"),
            is_compressed,
            "{length}"
        );
    }
}
