//! Custom resources that come with their definition, scales, collections, and ends of namespaces.

use fake_apiserver::{
    ApiServer,
    config::{WatchConfig, WindowConfig},
    objects_file,
    storage::Storage,
};
use serde_json::{Value, json};

use crate::writer::{
    CONFIG_MAPS, JSON_PATCH, MERGE, PODS, STRATEGIC, Writer, config_map, created, pod, refusal,
};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

fn definition() -> Value {
    json!({
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}},
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"},
                },
            }],
        },
    })
}

fn widget(name: &str) -> Value {
    json!({"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": name}, "spec": {"size": 1}})
}

#[tokio::test]
async fn a_definition_is_established_and_its_resource_served_with_discovery() {
    let writer = Writer::new();
    let mut watch = writer.watch(DEFINITIONS).await;
    assert_eq!(writer.get(WIDGETS).await.code, 404);
    created(&writer, DEFINITIONS, &definition()).await;
    assert_eq!(
        watch.ready(),
        [
            "ADDED /widgets.example.com@2",
            "MODIFIED /widgets.example.com@3"
        ]
    );
    let stored = writer
        .get(&format!("{DEFINITIONS}/widgets.example.com"))
        .await
        .json();
    let conditions: Vec<String> = stored["status"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|condition| format!("{}={}", condition["type"], condition["status"]))
        .collect();
    assert_eq!(
        conditions,
        [r#""NamesAccepted"="True""#, r#""Established"="True""#]
    );
    assert_eq!(stored["status"]["acceptedNames"]["listKind"], "WidgetList");
    assert_eq!(stored["status"]["storedVersions"], json!(["v1"]));
    assert_eq!(writer.get(WIDGETS).await.json()["kind"], "WidgetList");
    let group = writer.get("/apis/example.com/v1").await.json();
    assert_eq!(group["resources"][0]["name"], "widgets", "{group}");
}

#[tokio::test]
async fn custom_objects_keep_status_and_generation_apart_and_need_a_version() {
    let writer = Writer::new();
    created(&writer, DEFINITIONS, &definition()).await;
    let mut watch = writer.watch_from(WIDGETS, 3).await;
    let mut body = widget("w");
    body["status"] = json!({"size": 7});
    let object = created(&writer, WIDGETS, &body).await;
    assert_eq!(
        (object.get("status"), &object["metadata"]["generation"]),
        (None, &json!(1))
    );
    let path = format!("{WIDGETS}/w");
    let status =
        json!({"status": {"size": 1}, "spec": {"size": 9}, "metadata": {"labels": {"a": "b"}}});
    let patched = writer
        .patch(&format!("{path}/status"), MERGE, &status)
        .await
        .json();
    assert_eq!(
        (&patched["status"], &patched["spec"]),
        (&json!({"size": 1}), &json!({"size": 1}))
    );
    assert_eq!(patched["metadata"].get("labels"), None);
    let patched = writer
        .patch(&path, MERGE, &json!({"spec": {"size": 2}}))
        .await
        .json();
    assert_eq!(patched["metadata"]["generation"], 2);
    assert_eq!(
        refusal(&writer.send("PUT", &path, &widget("w")).await),
        "422 Invalid: widgets.example.com \"w\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for \
         an update"
    );
    let text = refusal(&writer.patch(&path, STRATEGIC, &json!({})).await);
    assert_eq!(
        text,
        "415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: \
         application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    );
    assert_eq!(
        watch.ready(),
        [
            "ADDED default/w@4",
            "MODIFIED default/w@5",
            "MODIFIED default/w@6"
        ]
    );
}

#[tokio::test]
async fn a_deleted_definition_takes_its_objects_along() {
    let writer = Writer::new();
    created(&writer, DEFINITIONS, &definition()).await;
    let mut held = widget("held");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    created(&writer, WIDGETS, &held).await;
    created(&writer, WIDGETS, &widget("free")).await;
    let path = format!("{DEFINITIONS}/widgets.example.com");
    let marked = writer.delete(&path).await.json();
    assert_eq!(
        marked["metadata"]["finalizers"],
        json!(["customresourcecleanup.apiextensions.k8s.io"])
    );
    assert_eq!(writer.get(&format!("{WIDGETS}/free")).await.code, 404);
    assert_eq!(writer.get(&path).await.code, 200);
    let change = json!([{"op": "remove", "path": "/metadata/finalizers"}]);
    assert_eq!(
        writer
            .patch(&format!("{WIDGETS}/held"), JSON_PATCH, &change)
            .await
            .code,
        200
    );
    assert_eq!(writer.get(&path).await.code, 404);
    assert_eq!(writer.get(WIDGETS).await.code, 404);
    // It may come back.
    created(&writer, DEFINITIONS, &definition()).await;
    assert_eq!(writer.get(WIDGETS).await.items(), Vec::<String>::new());
    created(&writer, WIDGETS, &widget("free")).await;
}

#[tokio::test]
async fn a_definition_that_defines_nothing_is_refused() {
    let mut bad = definition();
    bad["metadata"]["name"] = "gadgets.example.com".into();
    bad["spec"]["versions"] = json!([]);
    assert_eq!(
        refusal(&Writer::new().post(DEFINITIONS, &bad).await),
        "422 Invalid: CustomResourceDefinition.apiextensions.k8s.io \"gadgets.example.com\" is invalid: [metadata.name: \
         Invalid value: \"gadgets.example.com\": must be spec.names.plural+\".\"+spec.group, spec.versions: Invalid value: \
         []: must have exactly one version marked as storage version]"
    );
}

#[tokio::test]
async fn definitions_from_a_file_are_served_from_the_start() {
    let mut storage = Storage::new(WindowConfig::kube_apiserver());
    for (resource, draft) in objects_file::interpret(vec![definition()]).unwrap() {
        let id = storage.register(&resource);
        storage.load(id, &draft).unwrap();
    }
    let server = ApiServer::new(storage, Vec::new(), WatchConfig::kube_apiserver(), 1);
    let writer = Writer::of(server);
    created(&writer, WIDGETS, &widget("w")).await;
    let stored = writer
        .get(&format!("{DEFINITIONS}/widgets.example.com"))
        .await
        .json();
    assert_eq!(stored["status"]["conditions"][1]["type"], "Established");
}

#[test]
fn the_objects_of_a_file_have_the_scope_and_plural_of_its_definitions() {
    let mut own = definition();
    own["metadata"]["name"] = "geese.example.com".into();
    own["spec"]["names"] = json!({"plural": "geese", "kind": "Goose"});
    let goose = json!({"kind": "Goose", "apiVersion": "example.com/v1", "metadata": {"name": "g"}});
    let read =
        objects_file::interpret(vec![goose, json!({"kind": "List", "items": [own]})]).unwrap();
    assert_eq!(
        read[0].0.collection_path(None),
        "/apis/example.com/v1/geese"
    );
    assert_eq!(read[0].1.key().as_str(), "default/g");
}

#[tokio::test]
async fn a_scale_shows_and_sets_replicas_and_nothing_else() {
    let writer = Writer::new();
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let deployment = json!({"metadata": {"name": "d"}, "spec": {
        "replicas": 2, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }});
    let object = created(&writer, deployments, &deployment).await;
    let path = format!("{deployments}/d/scale");
    let scale = writer.get(&path).await.json();
    let metadata = &object["metadata"];
    assert_eq!(
        scale,
        json!({
            "kind": "Scale", "apiVersion": "autoscaling/v1",
            "metadata": {"name": "d", "namespace": "default", "uid": metadata["uid"],
                         "resourceVersion": "2", "creationTimestamp": metadata["creationTimestamp"]},
            "spec": {"replicas": 2}, "status": {"replicas": 0, "selector": "a=b"},
        })
    );
    let patched = writer
        .patch(&path, MERGE, &json!({"spec": {"replicas": 3}}))
        .await;
    assert_eq!(
        (patched.code, &patched.json()["spec"]),
        (200, &json!({"replicas": 3}))
    );
    assert_eq!(writer.send("PUT", &path, &scale).await.code, 409);
    let object = writer.get(&format!("{deployments}/d")).await.json();
    assert_eq!(
        (
            &object["spec"]["replicas"],
            &object["metadata"]["generation"]
        ),
        (&json!(3), &json!(2))
    );
    let scaler = &object["metadata"]["managedFields"][1];
    assert_eq!(
        (&scaler["subresource"], &scaler["fieldsV1"]),
        (&json!("scale"), &json!({"f:spec": {"f:replicas": {}}}))
    );
    assert_eq!(
        writer.get(&format!("{CONFIG_MAPS}/m/scale")).await.code,
        404
    );
}

#[tokio::test]
async fn a_collection_is_deleted_object_by_object_within_its_namespace() {
    let writer = Writer::new();
    for name in ["a", "b"] {
        created(&writer, CONFIG_MAPS, &config_map(name)).await;
    }
    let other = "/api/v1/namespaces/kube-system/configmaps";
    created(&writer, other, &config_map("c")).await;
    let mut watch = writer.watch("/api/v1/configmaps").await;
    let answer = writer.delete(CONFIG_MAPS).await;
    assert_eq!(
        (answer.code, &answer.json()["kind"]),
        (200, &json!("ConfigMapList"))
    );
    assert_eq!(answer.items(), ["default/a@2", "default/b@3"]);
    assert_eq!(
        watch.ready(),
        [
            "ADDED default/a@2",
            "ADDED default/b@3",
            "ADDED kube-system/c@4",
            "DELETED default/a@5",
            "DELETED default/b@6",
        ]
    );
    assert_eq!(writer.delete("/api/v1/configmaps").await.code, 405);
    assert_eq!(writer.delete("/api/v1/namespaces").await.code, 405);
}

#[tokio::test]
async fn a_namespace_goes_with_the_last_of_its_objects() {
    let writer = Writer::new();
    created(
        &writer,
        "/api/v1/namespaces",
        &json!({"metadata": {"name": "mine"}}),
    )
    .await;
    let pods = "/api/v1/namespaces/mine/pods";
    created(&writer, pods, &pod("bound", "n")).await;
    created(
        &writer,
        "/api/v1/namespaces/mine/configmaps",
        &config_map("m"),
    )
    .await;
    created(&writer, PODS, &pod("elsewhere", "n")).await;
    assert_eq!(
        writer.delete("/api/v1/namespaces/mine").await.json()["status"]["phase"],
        "Terminating"
    );
    assert_eq!(
        writer
            .get("/api/v1/namespaces/mine/configmaps/m")
            .await
            .code,
        404
    );
    // The pod has its grace, and holds the namespace meanwhile.
    assert_eq!(writer.get("/api/v1/namespaces/mine").await.code, 200);
    let now = json!({"gracePeriodSeconds": 0});
    assert_eq!(
        writer
            .send("DELETE", &format!("{pods}/bound"), &now)
            .await
            .code,
        200
    );
    assert_eq!(writer.get("/api/v1/namespaces/mine").await.code, 404);
    assert_eq!(writer.get(&format!("{PODS}/elsewhere")).await.code, 200);
    created(
        &writer,
        "/api/v1/namespaces",
        &json!({"metadata": {"name": "empty"}}),
    )
    .await;
    writer.delete("/api/v1/namespaces/empty").await;
    assert_eq!(writer.get("/api/v1/namespaces/empty").await.code, 404);
}
