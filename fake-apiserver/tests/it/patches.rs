//! Patches, parts of objects, and what an update may not change.

use serde_json::{Value, json};

use crate::writer::{
    CONFIG_MAPS, JSON_PATCH, MERGE, PODS, STRATEGIC, Writer, config_map, created, pod, refusal,
};

#[tokio::test]
async fn an_update_that_changes_nothing_makes_no_version_and_no_event() {
    let writer = Writer::new();
    let mut watch = writer.watch("/api/v1/configmaps").await;
    let object = created(&writer, CONFIG_MAPS, &config_map("m")).await;
    let path = format!("{CONFIG_MAPS}/m");
    assert_eq!(writer.send("PUT", &path, &object).await.json(), object);
    let patched = writer
        .patch(&path, MERGE, &json!({"data": {"a": "1"}}))
        .await;
    assert_eq!(patched.json(), object);
    assert_eq!(watch.ready(), ["ADDED default/m@2"]);
}

#[tokio::test]
async fn the_server_keeps_what_is_its_own() {
    let writer = Writer::new();
    let object = created(&writer, PODS, &pod("p", "")).await;
    let path = format!("{PODS}/p");
    let change = json!({"metadata": {"generation": 9, "creationTimestamp": "2001-01-01T00:00:00Z"}, "status": {"phase": "Running"}});
    assert_eq!(writer.patch(&path, MERGE, &change).await.json(), object);
    let change = json!({"metadata": {"uid": "another"}});
    let text = refusal(&writer.patch(&path, MERGE, &change).await);
    assert_eq!(
        text,
        "422 Invalid: Pod \"p\" is invalid: metadata.uid: Invalid value: \"another\": field is immutable"
    );
    let change = json!({"spec": {"nodeName": "n"}});
    let text = refusal(&writer.patch(&path, MERGE, &change).await);
    assert!(text.starts_with("422 Invalid: Pod \"p\" is invalid: spec: Forbidden: pod updates may not change fields other than"), "{text}");
}

#[tokio::test]
async fn a_status_has_a_path_of_its_own() {
    let writer = Writer::new();
    created(&writer, PODS, &pod("p", "n")).await;
    let path = format!("{PODS}/p/status");
    let change = json!({"status": {"phase": "Running"}, "spec": {"nodeName": "m"}});
    let patched = writer.patch(&path, STRATEGIC, &change).await;
    assert_eq!(patched.code, 200, "{}", patched.text);
    let object = patched.json();
    assert_eq!(
        (&object["status"]["phase"], &object["spec"]["nodeName"]),
        (&json!("Running"), &json!("n"))
    );
    assert_eq!(object["metadata"]["generation"], 1);
    assert_eq!(writer.get(&path).await.json(), object);
    let answer = writer.get(&format!("{CONFIG_MAPS}/m/status")).await;
    assert_eq!(
        refusal(&answer),
        "404 NotFound: the server could not find the requested resource"
    );
}

#[tokio::test]
async fn the_generation_counts_changes_of_the_specification() {
    let writer = Writer::new();
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let deployment = json!({"metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }});
    let object = created(&writer, path, &deployment).await;
    assert_eq!(
        (
            &object["metadata"]["generation"],
            &object["spec"]["replicas"]
        ),
        (&json!(1), &json!(1))
    );
    let path = format!("{path}/d");
    let mut generations = Vec::new();
    for (path, change) in [
        (path.clone(), json!({"metadata": {"labels": {"x": "y"}}})),
        (path.clone(), json!({"spec": {"replicas": 3}})),
        (path.clone(), json!({"spec": {"replicas": 3}})),
        (
            path.clone(),
            json!({"metadata": {"annotations": {"x": "y"}}}),
        ),
        (
            format!("{path}/status"),
            json!({"status": {"observedGeneration": 3}}),
        ),
    ] {
        let answer = writer.patch(&path, MERGE, &change).await;
        generations.push(answer.json()["metadata"]["generation"].as_i64().unwrap());
    }
    assert_eq!(generations, [1, 2, 2, 3, 3]);
    let change = json!({"spec": {"selector": {"matchLabels": {"a": "c"}}, "template": {"metadata": {"labels": {"a": "c"}}}}});
    let text = refusal(&writer.patch(&path, MERGE, &change).await);
    assert_eq!(
        text,
        "422 Invalid: Deployment.apps \"d\" is invalid: spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"c\"}}: \
         field is immutable"
    );
}

#[tokio::test]
async fn a_dry_run_answers_as_the_write_would_and_does_nothing() {
    let writer = Writer::new();
    let mut watch = writer.watch("/api/v1/configmaps").await;
    let answer = writer
        .post(&format!("{CONFIG_MAPS}?dryRun=All"), &config_map("m"))
        .await;
    assert_eq!(answer.code, 201);
    assert_eq!(answer.json()["metadata"].get("resourceVersion"), None);
    assert_eq!(writer.get(&format!("{CONFIG_MAPS}/m")).await.code, 404);
    let object = created(&writer, CONFIG_MAPS, &config_map("m")).await;
    assert_eq!(
        writer
            .post(&format!("{CONFIG_MAPS}?dryRun=All"), &config_map("m"))
            .await
            .code,
        409
    );
    let path = format!("{CONFIG_MAPS}/m");
    let patched = writer
        .patch(
            &format!("{path}?dryRun=All"),
            MERGE,
            &json!({"data": {"b": "2"}}),
        )
        .await;
    assert_eq!(patched.json()["data"], json!({"a": "1", "b": "2"}));
    assert_eq!(writer.delete(&format!("{path}?dryRun=All")).await.code, 200);
    assert_eq!(writer.get(&path).await.json(), object);
    assert_eq!(watch.ready(), ["ADDED default/m@2"]);
    assert_eq!(
        refusal(&writer.delete(&format!("{path}?dryRun=Some")).await),
        "422 Invalid: DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: supported values: \
         \"All\""
    );
}

#[tokio::test]
async fn patches_of_every_type_are_applied_or_refused() {
    let writer = Writer::new();
    created(&writer, CONFIG_MAPS, &config_map("m")).await;
    let path = format!("{CONFIG_MAPS}/m");
    let patched = writer
        .patch(
            &path,
            JSON_PATCH,
            &json!([{"op": "add", "path": "/data/b", "value": "2"}]),
        )
        .await;
    assert_eq!(patched.json()["data"], json!({"a": "1", "b": "2"}));
    let patched = writer
        .patch(&path, MERGE, &json!({"data": {"a": null}}))
        .await;
    assert_eq!(patched.json()["data"], json!({"b": "2"}));
    let patched = writer
        .patch(
            &path,
            STRATEGIC,
            &json!({"data": {"$patch": "replace", "c": "3"}}),
        )
        .await;
    assert_eq!(patched.json()["data"], json!({"c": "3"}));
    let failed = writer
        .patch(
            &path,
            JSON_PATCH,
            &json!([{"op": "test", "path": "/data/c", "value": "4"}]),
        )
        .await;
    assert_eq!(
        failed.text,
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server rejected our request due to an error in our request","reason":"Invalid","details":{},"code":422}"#
    );
    let stale = writer
        .patch(
            &path,
            MERGE,
            &json!({"metadata": {"resourceVersion": "2"}, "data": {"x": "y"}}),
        )
        .await;
    assert_eq!(stale.code, 409);
    let many: Vec<Value> = (0..10_001)
        .map(|_| json!({"op": "test", "path": "", "value": 1}))
        .collect();
    assert_eq!(
        refusal(&writer.patch(&path, JSON_PATCH, &many.into()).await),
        "413 RequestEntityTooLarge: Request entity too large: The allowed maximum operations in a JSON patch is 10000, got \
         10001"
    );
    assert_eq!(
        refusal(
            &writer
                .patch(&format!("{path}?force=true"), MERGE, &json!({}))
                .await
        ),
        "422 Invalid: PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch"
    );
    assert_eq!(
        writer
            .patch(&format!("{CONFIG_MAPS}/none"), MERGE, &json!({}))
            .await
            .code,
        404
    );
    let text = refusal(&writer.patch(&path, "text/plain", &json!({})).await);
    assert!(text.starts_with("415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json"), "{text}");
}

#[tokio::test]
async fn unknown_fields_are_dropped_with_a_warning_or_refused() {
    let writer = Writer::new();
    let mut object = config_map("m");
    object["colour"] = "red".into();
    let strict = writer
        .post(&format!("{CONFIG_MAPS}?fieldValidation=Strict"), &object)
        .await;
    assert_eq!(
        refusal(&strict),
        "400 BadRequest: ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \
         \"colour\""
    );
    let warned = writer.post(CONFIG_MAPS, &object).await;
    assert_eq!(
        warned.headers["warning"],
        r#"299 - "unknown field \"colour\"""#
    );
    assert_eq!(warned.json().get("colour"), None);
    let ignored = writer
        .patch(
            &format!("{CONFIG_MAPS}/m?fieldValidation=Ignore"),
            MERGE,
            &json!({"x": 1}),
        )
        .await;
    assert_eq!((ignored.code, ignored.headers.get("warning")), (200, None));
    assert_eq!(
        refusal(
            &writer
                .post(&format!("{CONFIG_MAPS}?fieldValidation=Loose"), &object)
                .await
        ),
        "422 Invalid: CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"Loose\": supported \
         values: \"\", \"Ignore\", \"Strict\", \"Warn\""
    );
}
