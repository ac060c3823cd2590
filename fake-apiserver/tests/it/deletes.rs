//! Deletes: grace, finalizers, preconditions, propagation, namespaces.

use serde_json::{Value, json};

use crate::writer::{
    CONFIG_MAPS, JSON_PATCH, MERGE, PODS, Writer, config_map, created, pod, refusal,
};

#[tokio::test]
async fn a_delete_answers_with_a_status_or_with_the_object_and_ends_in_an_event() {
    let writer = Writer::new();
    let mut watch = writer.watch("/api/v1/configmaps").await;
    let uid = created(&writer, CONFIG_MAPS, &config_map("m")).await["metadata"]["uid"].clone();
    let path = format!("{CONFIG_MAPS}/m");
    assert_eq!(
        writer.delete(&path).await.json(),
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
               "details": {"name": "m", "kind": "configmaps", "uid": uid}})
    );
    assert_eq!(
        refusal(&writer.delete(&path).await),
        "404 NotFound: configmaps \"m\" not found"
    );
    assert_eq!(watch.ready(), ["ADDED default/m@2", "DELETED default/m@3"]);
    let service = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    let services = "/api/v1/namespaces/default/services";
    created(&writer, services, &service).await;
    assert_eq!(
        writer.delete(&format!("{services}/s")).await.json()["kind"],
        "Service"
    );
}

#[tokio::test]
async fn a_scheduled_pod_gets_its_grace_and_an_unscheduled_one_goes_at_once() {
    let writer = Writer::new();
    let mut watch = writer.watch("/api/v1/pods").await;
    created(&writer, PODS, &pod("bound", "n")).await;
    created(&writer, PODS, &pod("free", "")).await;
    let marked = writer.delete(&format!("{PODS}/bound")).await.json();
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 30);
    assert_eq!(marked["metadata"]["generation"], 2);
    assert_eq!(writer.delete(&format!("{PODS}/bound")).await.json(), marked);
    writer.delete(&format!("{PODS}/free")).await;
    assert_eq!(
        watch.ready(),
        [
            "ADDED default/bound@2",
            "ADDED default/free@3",
            "MODIFIED default/bound@4",
            "MODIFIED default/free@5",
            "DELETED default/free@6",
        ]
    );
    let now = json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0});
    assert_eq!(
        writer
            .send("DELETE", &format!("{PODS}/bound"), &now)
            .await
            .code,
        200
    );
    assert_eq!(
        watch.ready(),
        ["MODIFIED default/bound@7", "DELETED default/bound@8"]
    );
}

#[tokio::test]
async fn finalizers_hold_an_object_until_the_last_is_removed() {
    let writer = Writer::new();
    let mut watch = writer.watch("/api/v1/configmaps").await;
    let mut object = config_map("m");
    object["metadata"]["finalizers"] = json!(["example.com/a", "example.com/b"]);
    created(&writer, CONFIG_MAPS, &object).await;
    let path = format!("{CONFIG_MAPS}/m");
    let marked = writer.delete(&path).await.json();
    assert_eq!(
        (
            &marked["kind"],
            &marked["metadata"]["deletionGracePeriodSeconds"]
        ),
        (&json!("ConfigMap"), &json!(0))
    );
    assert_eq!(writer.delete(&path).await.json(), marked);
    let again = refusal(&writer.post(CONFIG_MAPS, &config_map("m")).await);
    assert_eq!(
        again,
        "409 AlreadyExists: object is being deleted: configmaps \"m\" already exists"
    );
    let more = json!({"metadata": {"finalizers": ["example.com/a", "example.com/c"]}});
    assert_eq!(
        refusal(&writer.patch(&path, MERGE, &more).await),
        "422 Invalid: ConfigMap \"m\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the \
         object is being deleted, found new finalizers []string{\"example.com/c\"}"
    );
    writer
        .patch(
            &path,
            JSON_PATCH,
            &json!([{"op": "remove", "path": "/metadata/finalizers/0"}]),
        )
        .await;
    let last = writer
        .patch(&path, MERGE, &json!({"metadata": {"finalizers": null}}))
        .await;
    assert_eq!(
        (last.code, &last.json()["metadata"]["finalizers"]),
        (200, &Value::Null)
    );
    assert_eq!(
        watch.ready(),
        [
            "ADDED default/m@2",
            "MODIFIED default/m@3",
            "MODIFIED default/m@4",
            "DELETED default/m@5"
        ]
    );
}

#[tokio::test]
async fn a_pod_is_bound_once_and_evicted_as_it_would_be_deleted() {
    let writer = Writer::new();
    created(&writer, PODS, &pod("p", "")).await;
    let path = format!("{PODS}/p/binding");
    let binding = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n1"}});
    assert_eq!(
        writer.post(&path, &binding).await.text,
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}"#
    );
    let bound = writer.get(&format!("{PODS}/p")).await.json();
    assert_eq!(bound["spec"]["nodeName"], "n1");
    assert_eq!(bound["status"]["conditions"][0]["type"], "PodScheduled");
    assert_eq!(
        refusal(&writer.post(&path, &binding).await),
        "409 Conflict: Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n1\""
    );
    let eviction = json!({"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": "p"},
                          "deleteOptions": {"gracePeriodSeconds": 0}});
    assert_eq!(
        writer
            .post(&format!("{PODS}/p/eviction"), &eviction)
            .await
            .code,
        201
    );
    assert_eq!(writer.get(&format!("{PODS}/p")).await.code, 404);
    assert_eq!(
        writer
            .post(&format!("{PODS}/p/eviction"), &eviction)
            .await
            .code,
        404
    );
    assert_eq!(
        writer
            .post(&format!("{CONFIG_MAPS}/m/binding"), &binding)
            .await
            .code,
        404
    );
}

#[tokio::test]
async fn preconditions_guard_a_delete() {
    let writer = Writer::new();
    let object = created(&writer, CONFIG_MAPS, &config_map("m")).await;
    let uid = object["metadata"]["uid"].as_str().unwrap();
    let path = format!("{CONFIG_MAPS}/m");
    let with = |preconditions: Value| json!({"preconditions": preconditions});
    assert_eq!(
        refusal(
            &writer
                .send("DELETE", &path, &with(json!({"uid": "u"})))
                .await
        ),
        format!(
            "409 Conflict: Operation cannot be fulfilled on ConfigMap \"m\": the UID in the precondition (u) does not \
             match the UID in record ({uid}). The object might have been deleted and then recreated"
        )
    );
    assert_eq!(
        refusal(
            &writer
                .send("DELETE", &path, &with(json!({"resourceVersion": "1"})))
                .await
        ),
        "409 Conflict: Operation cannot be fulfilled on ConfigMap \"m\": the ResourceVersion in the precondition (1) does \
         not match the ResourceVersion in record (2). The object might have been modified"
    );
    let right = with(json!({"uid": uid, "resourceVersion": "2"}));
    assert_eq!(writer.send("DELETE", &path, &right).await.code, 200);
}

#[tokio::test]
async fn propagation_becomes_a_finalizer_for_a_garbage_collector() {
    let writer = Writer::new();
    for (name, policy, finalizers) in [
        ("a", "Orphan", json!(["orphan"])),
        ("b", "Foreground", json!(["foregroundDeletion"])),
    ] {
        created(&writer, CONFIG_MAPS, &config_map(name)).await;
        let path = format!("{CONFIG_MAPS}/{name}");
        let answer = writer
            .send("DELETE", &path, &json!({"propagationPolicy": policy}))
            .await;
        assert_eq!(answer.json()["metadata"]["finalizers"], finalizers);
    }
    created(&writer, CONFIG_MAPS, &config_map("c")).await;
    let path = format!("{CONFIG_MAPS}/c");
    let both = json!({"propagationPolicy": "Background", "orphanDependents": true});
    assert_eq!(
        refusal(&writer.send("DELETE", &path, &both).await),
        "422 Invalid: DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: \"Background\": \
         orphanDependents and deletionPropagation cannot be both set"
    );
    let unknown = json!({"propagationPolicy": "Sideways"});
    assert_eq!(
        refusal(&writer.send("DELETE", &path, &unknown).await),
        "422 Invalid: DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Sideways\": \
         supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""
    );
    let background = json!({"propagationPolicy": "Background"});
    assert_eq!(
        writer.send("DELETE", &path, &background).await.json()["status"],
        "Success"
    );
}

#[tokio::test]
async fn namespaces_exist_from_the_start_are_made_and_are_not_all_deleted() {
    let writer = Writer::new();
    let names: Vec<String> = writer.get("/api/v1/namespaces").await.items();
    assert_eq!(
        names,
        [
            "/default@1",
            "/kube-node-lease@1",
            "/kube-public@1",
            "/kube-system@1"
        ]
    );
    let made = created(
        &writer,
        "/api/v1/namespaces",
        &json!({"metadata": {"name": "mine"}}),
    )
    .await;
    assert_eq!(
        made["metadata"]["labels"],
        json!({"kubernetes.io/metadata.name": "mine"})
    );
    assert_eq!(
        (&made["spec"], &made["status"]),
        (
            &json!({"finalizers": ["kubernetes"]}),
            &json!({"phase": "Active"})
        )
    );
    created(
        &writer,
        "/api/v1/namespaces/mine/configmaps",
        &config_map("m"),
    )
    .await;
    assert_eq!(
        refusal(&writer.delete("/api/v1/namespaces/default").await),
        "403 Forbidden: namespaces \"default\" is forbidden: this namespace may not be deleted"
    );
    // Its grace keeps the namespace.
    let pods = "/api/v1/namespaces/mine/pods";
    created(&writer, pods, &pod("bound", "n")).await;
    let marked = writer.delete("/api/v1/namespaces/mine").await.json();
    assert_eq!(
        (&marked["kind"], &marked["status"]["phase"]),
        (&json!("Namespace"), &json!("Terminating"))
    );
    assert_eq!(
        writer
            .post("/api/v1/namespaces/mine/configmaps", &config_map("n"))
            .await
            .json(),
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "configmaps \"n\" is forbidden: unable to create new content in namespace mine because it is being terminated",
            "reason": "Forbidden",
            "details": {"name": "n", "kind": "configmaps", "causes": [{
                "reason": "NamespaceTerminating", "message": "namespace mine is being terminated", "field": "metadata.namespace",
            }]},
            "code": 403,
        })
    );
}
