//! Discovery, schemas, version and health.

use bench_core::api::{Resource, Scope};
use fake_apiserver::{
    config::{WatchConfig, WindowConfig},
    objects_file,
    storage::Storage,
};
use serde_json::{Value, json};

use crate::client::Client;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

fn client() -> Client {
    let mut storage = Storage::new(WindowConfig::kube_apiserver());
    for version in ["v1beta1", "v1"] {
        storage.register(&Resource::named(
            "example.com",
            version,
            "gizmos",
            "Gizmo",
            Scope::Cluster,
        ));
    }
    Client::new(storage, WatchConfig::kube_apiserver())
}

#[tokio::test]
async fn plain_discovery_goes_from_groups_to_resources() {
    let client = client();
    let versions = client.get("/api").await.json();
    assert_eq!(versions["kind"], "APIVersions");
    assert_eq!(versions["versions"], json!(["v1"]));
    let groups = client.get("/apis").await.json();
    let example = json!({
        "name": "example.com",
        "versions": [
            {"groupVersion": "example.com/v1", "version": "v1"},
            {"groupVersion": "example.com/v1beta1", "version": "v1beta1"},
        ],
        "preferredVersion": {"groupVersion": "example.com/v1", "version": "v1"},
    });
    assert!(
        groups["groups"].as_array().unwrap().contains(&example),
        "{groups}"
    );
    let group = client.get("/apis/example.com").await.json();
    assert_eq!(
        (group["kind"].as_str(), &group["versions"]),
        (Some("APIGroup"), &example["versions"])
    );
    let list = client.get("/apis/example.com/v1").await.json();
    assert_eq!(list["groupVersion"], "example.com/v1");
    assert_eq!(list["resources"][0]["name"], "gizmos");
    assert_eq!(list["resources"][0]["namespaced"], false);
    let core = client.get("/api/v1").await.json();
    let pods = core["resources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["name"] == "pods");
    let pods = pods.unwrap();
    assert_eq!(
        (&pods["shortNames"], &pods["categories"]),
        (&json!(["po"]), &json!(["all"]))
    );
    assert_eq!(pods["singularName"], "pod");
    assert_eq!(
        (core.get("apiVersion"), &list["apiVersion"]),
        (None, &json!("v1"))
    );
    for path in ["/apis/none", "/apis/example.com/v2", "/api/v2"] {
        assert_eq!(client.get(path).await.code, 404, "{path}");
    }
}

#[tokio::test]
async fn a_definition_names_a_custom_resource_and_its_columns() {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gizmos.example.com"},
        "spec": {
            "names": {"plural": "gizmos", "singular": "gizmo1", "kind": "Gizmo", "shortNames": ["gz"], "categories": ["all"]},
            "versions": [{"name": "v1", "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]}],
        },
    });
    let gizmo = json!({"apiVersion": "example.com/v1", "kind": "Gizmo", "metadata": {"name": "g"}, "spec": {"size": 3}});
    let mut storage = Storage::new(WindowConfig::kube_apiserver());
    for (resource, draft) in objects_file::interpret(vec![definition, gizmo]).unwrap() {
        let id = storage.register(&resource);
        storage.load(id, &draft).unwrap();
    }
    let client = Client::new(storage, WatchConfig::kube_apiserver());
    let plain = client.get("/apis/example.com/v1").await.json();
    assert_eq!(plain["resources"][0]["singularName"], "gizmo1");
    assert_eq!(plain["resources"][0]["shortNames"], json!(["gz"]));
    let aggregated = client.get_as("/apis", AGGREGATED).await.json();
    let items = aggregated["items"].as_array().unwrap();
    let example = items
        .iter()
        .find(|item| item["metadata"]["name"] == "example.com")
        .unwrap();
    assert_eq!(
        example["versions"][0]["resources"][0]["categories"],
        json!(["all"])
    );
    let table = client
        .get_as(
            "/apis/example.com/v1/gizmos",
            "application/json;as=Table;v=v1;g=meta.k8s.io",
        )
        .await
        .json();
    assert_eq!(table["rows"][0]["cells"], json!(["g", 3]));
    assert_eq!(table["columnDefinitions"][1]["name"], "Size");
}

#[tokio::test]
async fn aggregated_discovery_is_one_document_for_those_who_ask_for_it() {
    let client = client();
    let kubectl = format!(
        "{AGGREGATED},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
    );
    let answer = client.get_as("/apis", &kubectl).await;
    assert_eq!(answer.headers["content-type"], AGGREGATED);
    assert_eq!(answer.headers["vary"], "Accept");
    let document = answer.json();
    assert_eq!(
        (document["kind"].as_str(), document["apiVersion"].as_str()),
        (
            Some("APIGroupDiscoveryList"),
            Some("apidiscovery.k8s.io/v2")
        )
    );
    let items = document["items"].as_array().unwrap();
    let example = items
        .iter()
        .find(|item| item["metadata"]["name"] == "example.com")
        .unwrap();
    assert_eq!(example["versions"][0]["version"], "v1");
    assert_eq!(example["versions"][0]["freshness"], "Current");
    assert_eq!(
        example["versions"][1]["resources"][0]["responseKind"],
        json!({"group": "example.com", "version": "v1beta1", "kind": "Gizmo"})
    );
    assert_eq!(example["versions"][1]["resources"][0]["scope"], "Cluster");
    let core = client.get_as("/api", &kubectl).await.json();
    let core = core["items"].as_array().unwrap().clone();
    assert_eq!((core.len(), core[0]["metadata"].get("name")), (1, None));
    // By its tag, whoever has it is spared it.
    let tag = answer.headers["etag"].to_str().unwrap();
    let again = client
        .get_bytes("/apis", &[("accept", &kubectl), ("if-none-match", tag)])
        .await;
    assert_eq!((again.code, again.bytes.len()), (304, 0));
}

#[tokio::test]
async fn who_knows_only_the_beta_of_it_gets_the_plain_form() {
    let client = client();
    for accept in [
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json",
        "application/json",
        "application/json, */*",
    ] {
        let answer = client.get_as("/apis", accept).await;
        assert_eq!(answer.headers["content-type"], "application/json");
        assert_eq!(answer.json()["kind"], "APIGroupList", "{accept}");
    }
}

#[tokio::test]
async fn schemas_are_found_by_their_hash() {
    let client = client();
    let roots = client.get("/openapi/v3").await.json();
    let url = roots["paths"]["api/v1"]["serverRelativeURL"]
        .as_str()
        .unwrap()
        .to_owned();
    let answer = client.get(&url).await;
    assert_eq!(answer.headers["cache-control"], "public, immutable");
    let document = answer.json();
    assert_eq!(document["openapi"], "3.0.0");
    let patch = &document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"];
    assert_eq!(
        patch["x-kubernetes-group-version-kind"],
        json!({"group": "", "version": "v1", "kind": "Pod"})
    );
    let parameters = patch["parameters"].as_array().unwrap();
    assert!(
        parameters
            .iter()
            .any(|parameter| parameter["name"] == "fieldValidation")
    );
    let old = client.get("/openapi/v3/api/v1?hash=0").await;
    assert_eq!(
        (old.code, old.headers["location"].to_str().unwrap()),
        (301, &*url)
    );
    assert_eq!(client.get("/openapi/v3/apis/none/v1").await.code, 404);
    assert_eq!(client.get("/openapi/v2").await.json()["swagger"], "2.0");
    let protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    assert_eq!(client.get_as("/openapi/v2", protobuf).await.code, 406);
}

/// Every `$ref` of a document.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref") {
                found.push(reference.clone());
            }
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_reference_in_a_schema_leads_somewhere() {
    let client = client();
    let roots = client.get("/openapi/v3").await.json();
    let paths = roots["paths"]
        .as_object()
        .unwrap()
        .keys()
        .map(|root| format!("/openapi/v3/{root}"));
    for path in paths.chain(["/openapi/v2".to_owned()]) {
        let document = client.get(&path).await.json();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(!found.is_empty(), "{path}");
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{path}: {reference}");
        }
    }
}

#[tokio::test]
async fn health_is_told_check_by_check() {
    let client = client();
    for path in ["/healthz", "/livez", "/readyz", "/livez/ping"] {
        let answer = client.get(path).await;
        assert_eq!((answer.code, &*answer.text), (200, "ok"), "{path}");
    }
    assert_eq!(
        client
            .get("/readyz?verbose&exclude=log&exclude=etcd")
            .await
            .text,
        "[+]ping ok\n[+]log excluded: ok\n[+]shutdown ok\nwarn: some health checks cannot be excluded: no matches for \"etcd\"\nreadyz check passed\n"
    );
    client.server.request_shutdown();
    let stopping = client.get("/readyz").await;
    assert_eq!(
        (stopping.code, &*stopping.text),
        (
            500,
            "[+]ping ok\n[+]log ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n"
        )
    );
    assert_eq!(client.get("/readyz?exclude=shutdown").await.code, 200);
    assert_eq!(client.get("/livez").await.code, 200);
    assert_eq!(client.get("/livez/none").await.code, 404);
}

#[tokio::test]
async fn every_answer_has_an_audit_id_which_the_request_may_choose() {
    let client = client();
    let ids: Vec<String> = [
        client.get("/api/v1/pods").await,
        client.get("/api/v1/pods").await,
        client.get("/api/v1/namespaces/n/pods/none").await,
    ]
    .iter()
    .map(|answer| {
        assert!(
            answer
                .headers
                .contains_key("x-kubernetes-pf-flowschema-uid")
        );
        answer.headers["audit-id"].to_str().unwrap().to_owned()
    })
    .collect();
    assert_eq!(ids[0].len(), 36);
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
    let chosen = client.get_bytes("/api", &[("audit-id", "mine")]).await;
    assert_eq!(chosen.headers["audit-id"], "mine");
}

#[tokio::test]
async fn the_version_and_the_paths_are_told() {
    let client = client();
    let version = client.get("/version").await;
    assert!(
        version.text.starts_with("{\n  \"major\": \"1\",\n"),
        "{}",
        version.text
    );
    let paths = client.get("/").await.json();
    let paths = paths["paths"].as_array().unwrap();
    for path in ["/api/v1", "/apis/example.com/v1", "/openapi/v3", "/readyz"] {
        assert!(paths.contains(&json!(path)), "{path}");
    }
    assert_eq!(client.send("POST", "/version").await.code, 405);
}
