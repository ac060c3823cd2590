//! Label and field selectors in lists and watches.

use fake_apiserver::{
    config::{WatchConfig, WindowConfig},
    control::WriteKind::{Create, Delete, Update},
    objects_file,
    storage::Storage,
};
use serde_json::{Value, json};

use crate::client::Client;

const PODS: &str = "/api/v1/pods";

fn pod(name: &str, app: &str, node: &str, phase: &str) -> Value {
    json!({
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "n", "labels": {"app": app}},
        "spec": {"nodeName": node},
        "status": {"phase": phase},
    })
}

fn client_with(objects: Vec<Value>) -> Client {
    let mut storage = Storage::new(WindowConfig::kube_apiserver());
    for (resource, draft) in objects_file::interpret(objects).unwrap() {
        let id = storage.register(&resource);
        storage.load(id, &draft).unwrap();
    }
    Client::new(storage, WatchConfig::kube_apiserver())
}

/// At the versions 2 to 5.
fn four_pods() -> Client {
    client_with(vec![
        pod("a", "web", "n1", "Running"),
        pod("b", "db", "n1", "Pending"),
        pod("c", "web", "n2", "Running"),
        pod("d", "", "", "Pending"),
    ])
}

#[tokio::test]
async fn selectors_narrow_a_list() {
    let client = four_pods();
    for (query, expected) in [
        ("labelSelector=app%3Dweb", "n/a@2 n/c@4"),
        ("labelSelector=app+in+(web%2Cdb)%2Capp!%3Ddb", "n/a@2 n/c@4"),
        ("labelSelector=", "n/a@2 n/b@3 n/c@4 n/d@5"),
        ("fieldSelector=spec.nodeName%3Dn1", "n/a@2 n/b@3"),
        ("fieldSelector=spec.nodeName%3D", "n/d@5"),
        (
            "fieldSelector=status.phase!%3DRunning%2Cspec.nodeName!%3D",
            "n/b@3",
        ),
        ("fieldSelector=metadata.name%3Dc", "n/c@4"),
        ("fieldSelector=metadata.namespace%3Dother", ""),
        (
            "labelSelector=app%3Dweb&fieldSelector=spec.nodeName%3Dn2",
            "n/c@4",
        ),
    ] {
        let answer = client.get(&format!("{PODS}?{query}")).await;
        assert_eq!(answer.items().join(" "), expected, "{query}");
        assert_eq!(answer.json()["metadata"]["resourceVersion"], "5", "{query}");
    }
}

#[tokio::test]
async fn a_selector_that_cannot_be_read_is_a_bad_request_for_lists_and_watches() {
    let client = four_pods();
    for (query, message) in [
        (
            "labelSelector=a+b",
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
        ),
        (
            "fieldSelector=spec.image%3Dx",
            "field label not supported: spec.image",
        ),
        (
            "fieldSelector=name",
            "invalid selector: 'name'; can't understand 'name'",
        ),
    ] {
        for path in [format!("{PODS}?{query}"), format!("{PODS}?watch=1&{query}")] {
            let answer = client.get(&path).await;
            assert_eq!(
                answer.text,
                format!(
                    r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":{},"reason":"BadRequest","code":400}}"#,
                    json!(message)
                ),
                "{path}"
            );
        }
    }
    let leases = client
        .get("/apis/coordination.k8s.io/v1/leases?fieldSelector=spec.holder%3Dx")
        .await;
    assert_eq!(
        leases.json()["message"],
        r#""spec.holder" is not a known field selector: only "metadata.name", "metadata.namespace""#
    );
}

#[tokio::test]
async fn pages_are_filled_with_what_matches_and_the_rest_is_not_counted() {
    let client = four_pods();
    let query = "labelSelector=app%3Dweb&limit=1";
    let first = client.get(&format!("{PODS}?{query}")).await;
    assert_eq!(first.items(), ["n/a@2"]);
    let metadata = first.json()["metadata"].clone();
    assert!(metadata["remainingItemCount"].is_null());
    let token = metadata["continue"].as_str().unwrap().to_owned();
    let second = client
        .get(&format!("{PODS}?{query}&continue={token}"))
        .await;
    assert_eq!(second.items(), ["n/c@4"]);
    // More keys follow, so servers do not know yet that none of them matches.
    let token = second.json()["metadata"]["continue"]
        .as_str()
        .unwrap()
        .to_owned();
    let last = client
        .get(&format!("{PODS}?{query}&continue={token}"))
        .await;
    assert_eq!(last.items(), [""; 0]);
    assert!(last.json()["metadata"]["continue"].is_null());
}

#[tokio::test]
async fn a_watch_with_selectors_sees_only_what_matches() {
    let client = four_pods();
    let mut web = client
        .watch(&format!("{PODS}?watch=1&labelSelector=app%3Dweb"))
        .await;
    assert_eq!(web.ready(), ["ADDED n/a@2", "ADDED n/c@4"]);
    client.write(Update, "n/b");
    client.write(Update, "n/c");
    client.write(Delete, "n/a");
    client.write(Delete, "n/b");
    assert_eq!(web.ready(), ["MODIFIED n/c@7", "DELETED n/a@8"]);
}

#[tokio::test]
async fn one_object_can_be_watched_before_it_exists_by_name_or_by_the_old_path() {
    for path in [
        "/api/v1/namespaces/n/pods?watch=1&fieldSelector=metadata.name%3Dnew",
        "/api/v1/watch/namespaces/n/pods/new",
        "/api/v1/watch/namespaces/n/pods/new?fieldSelector=metadata.name%3Dnew&watch=false",
    ] {
        let client = four_pods();
        let mut watch = client.watch(path).await;
        assert_eq!(watch.ready(), [""; 0], "{path}");
        client.write(Update, "n/a");
        client.write(Create, "n/new");
        client.write(Delete, "n/new");
        assert_eq!(
            watch.ready(),
            ["ADDED n/new@7", "DELETED n/new@8"],
            "{path}"
        );
    }
}

#[tokio::test]
async fn old_watch_paths_are_watches_of_a_collection() {
    let client = four_pods();
    for path in [
        "/api/v1/watch/pods",
        "/api/v1/watch/namespaces/n/pods?labelSelector=app",
    ] {
        assert_eq!(client.watch(path).await.ready().len(), 4, "{path}");
    }
    let mismatch = client
        .get("/api/v1/watch/namespaces/n/pods/a?fieldSelector=metadata.name%3Db")
        .await;
    assert_eq!(
        (mismatch.code, mismatch.json()["message"].as_str()),
        (
            400,
            Some("fieldSelector metadata.name doesn't match requested name")
        )
    );
    assert_eq!(client.get("/api/v1/watch").await.code, 404);
}
