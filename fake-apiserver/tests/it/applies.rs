//! Server-side apply over HTTP: creation, ownership, conflicts.

use serde_json::{Value, json};

use crate::{
    client::Answer,
    writer::{CONFIG_MAPS, MERGE, Writer, config_map, created, refusal},
};

const APPLY: &str = "application/apply-patch+yaml";

fn config(data: &Value) -> Value {
    json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m"}, "data": data})
}

async fn apply(writer: &Writer, query: &str, data: &Value) -> Answer {
    let path = format!("{CONFIG_MAPS}/m?{query}");
    writer.patch(&path, APPLY, &config(data)).await
}

#[tokio::test(start_paused = true)]
async fn an_apply_creates_owns_and_removes() {
    let writer = Writer::new();
    let mut watch = writer.watch(CONFIG_MAPS).await;
    let made = apply(&writer, "fieldManager=me", &json!({"a": "1", "b": "2"})).await;
    assert_eq!(made.code, 201, "{}", made.text);
    let object = made.json();
    assert_eq!(
        object["metadata"]["managedFields"],
        json!([{
            "manager": "me", "operation": "Apply", "apiVersion": "v1",
            "time": object["metadata"]["creationTimestamp"],
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {"f:a": {}, "f:b": {}}},
        }])
    );
    let same = apply(&writer, "fieldManager=me", &json!({"a": "1", "b": "2"})).await;
    assert_eq!((same.code, same.json()), (200, object));
    let less = apply(&writer, "fieldManager=me", &json!({"a": "1"}))
        .await
        .json();
    assert_eq!(less["data"], json!({"a": "1"}));
    assert_eq!(watch.ready(), ["ADDED default/m@2", "MODIFIED default/m@3"]);
}

#[tokio::test]
async fn an_apply_conflicts_with_what_others_wrote_until_it_is_forced() {
    let writer = Writer::new();
    created(&writer, CONFIG_MAPS, &config_map("m")).await;
    let refused = apply(
        &writer,
        "fieldManager=me&force=false",
        &json!({"a": "9", "b": "2"}),
    )
    .await;
    assert_eq!(
        refused.text,
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Apply failed with 1 conflict: conflict with \"tester\" using v1: .data.a","reason":"Conflict","details":{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"tester\" using v1","field":".data.a"}]},"code":409}"#
    );
    let forced = apply(
        &writer,
        "fieldManager=me&force=true",
        &json!({"a": "9", "b": "2"}),
    )
    .await;
    assert_eq!(
        (forced.code, &forced.json()["data"]),
        (200, &json!({"a": "9", "b": "2"}))
    );
    // Who updates without applying takes the field back, without being asked.
    let path = format!("{CONFIG_MAPS}/m");
    writer
        .patch(&path, MERGE, &json!({"data": {"a": "1"}}))
        .await;
    let refused = apply(&writer, "fieldManager=me", &json!({"a": "9", "b": "2"})).await;
    assert!(
        refusal(&refused).ends_with("conflict with \"tester\" using v1: .data.a"),
        "{}",
        refused.text
    );
}

#[tokio::test]
async fn an_apply_without_manager_or_of_another_object_is_refused() {
    let writer = Writer::new();
    assert_eq!(
        refusal(&apply(&writer, "", &json!({})).await),
        "422 Invalid: PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"
    );
    let path = format!("{CONFIG_MAPS}/other?fieldManager=me");
    assert_eq!(
        refusal(&writer.patch(&path, APPLY, &config(&json!({}))).await),
        "400 BadRequest: the name of the object (m) does not match the name on the URL (other)"
    );
    let path = "/api/v1/namespaces/nowhere/configmaps/m?fieldManager=me";
    assert_eq!(
        refusal(&writer.patch(path, APPLY, &config(&json!({}))).await),
        "404 NotFound: namespaces \"nowhere\" not found"
    );
}
