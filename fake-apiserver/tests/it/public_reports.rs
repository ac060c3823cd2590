//! Faults that others' servers have had, each as a test of this one. A delete between list and watch and the edge of history are
//! in `watch_start`, slow watchers in `watch_lifetime`, a shutdown with open watches in `socket`; the others are here.

use std::collections::BTreeSet;

use fake_apiserver::{
    config::{WatchConfig, WindowConfig},
    control::WriteKind::{Create, Update},
    objects_file,
    storage::Storage,
};
use serde_json::{Value, json};

use crate::client::{Client, load_pods};

const PODS: &str = "/api/v1/pods";
const STREAMING: &str =
    "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

/// B18: kubernetes/kubernetes#139716, antrea-io/antrea#8124.
#[tokio::test]
async fn the_end_of_a_streaming_list_is_marked_once_and_with_a_version_even_without_objects() {
    let client = Client::with_pods(&[]);
    for query in ["", "&labelSelector=none", "&resourceVersion=0"] {
        let mut watch = client.watch(&format!("{PODS}?{STREAMING}{query}")).await;
        let mark: Value = serde_json::from_str(&watch.next_line().await.unwrap()).unwrap();
        assert_eq!(mark["type"], "BOOKMARK", "{query}");
        assert_eq!(
            mark["object"]["metadata"],
            json!({"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}),
            "{query}"
        );
        assert_eq!(watch.ready(), [""; 0], "{query}");
    }
    client.write(Create, "n/x");
    let mut watch = client.watch(&format!("{PODS}?{STREAMING}")).await;
    assert_eq!(watch.ready(), ["ADDED n/x@2", "BOOKMARK @2"]);
    client.write(Update, "n/x");
    assert_eq!(watch.ready(), ["MODIFIED n/x@3"]);
}

/// B24: kubernetes/kube-state-metrics#3065.
#[tokio::test]
async fn no_page_is_lost_in_any_form_of_a_list() {
    let forms = [
        ("application/json", "/items"),
        (
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            "/items",
        ),
        ("application/json;as=Table;g=meta.k8s.io;v=v1", "/rows"),
    ];
    for count in [500, 501, 1000, 1001] {
        let keys: Vec<String> = (0..count).map(|index| format!("n/{index}")).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let client = Client::with_pods(&keys);
        for (accept, items) in forms {
            for selector in [
                "",
                "&labelSelector=!none",
                "&fieldSelector=metadata.namespace%3Dn",
            ] {
                let mut names = BTreeSet::new();
                let mut token = String::new();
                loop {
                    let path = format!("{PODS}?limit=500&continue={token}{selector}");
                    let page = client.get_as(&path, accept).await.json();
                    for item in page.pointer(items).unwrap().as_array().unwrap() {
                        let metadata = item
                            .pointer("/object/metadata")
                            .unwrap_or_else(|| &item["metadata"]);
                        names.insert(metadata["name"].as_str().unwrap().to_owned());
                    }
                    match page["metadata"]["continue"].as_str() {
                        Some(next) => next.clone_into(&mut token),
                        None => break,
                    }
                }
                assert_eq!(names.len(), count, "{accept} {selector}");
            }
        }
    }
}

/// B28: kubernetes/kubernetes#86430. With its history kept, a server lets every client go on where it was.
#[tokio::test]
async fn after_all_watches_broke_each_goes_on_from_its_version_without_a_list() {
    let mut storage = Storage::new(WindowConfig::kube_apiserver());
    load_pods(&mut storage, &["n/x"]);
    let client = Client::new(storage, WatchConfig::kube_apiserver());
    let mut watches = Vec::new();
    for _ in 0..50 {
        watches.push(
            client
                .watch(&format!("{PODS}?watch=1&resourceVersion=2"))
                .await,
        );
    }
    client.write(Update, "n/x");
    client.server.close_watches();
    client.write(Update, "n/x");
    for watch in &mut watches {
        assert_eq!(watch.ready().last().map(String::as_str), Some("END"));
    }
    for _ in 0..50 {
        let mut again = client
            .watch(&format!("{PODS}?watch=1&resourceVersion=3"))
            .await;
        assert_eq!(again.ready(), ["MODIFIED n/x@4"]);
    }
    let state = client.server.state();
    assert_eq!((state.list_requests, state.watch_requests), (0, 100));
}

/// B40: kubernetes/kubernetes#57073. What is stored can be listed and watched, in one line, however long.
#[tokio::test]
async fn objects_of_any_size_are_listed_and_watched_whole() {
    for (size, character) in [
        (1 << 20, "a"),
        (3 << 20, "b"),
        (1 << 19, "\u{1}"),
        (16 << 20, "c"),
    ] {
        let data = character.repeat(size);
        let object = json!({
            "kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": "big", "namespace": "n", "labels": {"big": "yes"}},
            "spec": {"data": data},
        });
        let mut storage = Storage::new(WindowConfig::kube_apiserver());
        for (resource, draft) in objects_file::interpret(vec![object]).unwrap() {
            let id = storage.register(&resource);
            storage.load(id, &draft).unwrap();
        }
        let client = Client::new(storage, WatchConfig::kube_apiserver());
        let list = client.get(PODS).await.json();
        assert_eq!(list["items"][0]["spec"]["data"], data);
        for selector in ["", "&labelSelector=big"] {
            let mut watch = client.watch(&format!("{PODS}?watch=1{selector}")).await;
            let first: Value = serde_json::from_str(&watch.next_line().await.unwrap()).unwrap();
            assert_eq!(first["object"]["spec"]["data"], data);
            client.write(Update, "n/big");
            let second: Value = serde_json::from_str(&watch.next_line().await.unwrap()).unwrap();
            assert_eq!(second["type"], "MODIFIED");
            assert_eq!(second["object"]["spec"]["data"], data);
        }
    }
}
