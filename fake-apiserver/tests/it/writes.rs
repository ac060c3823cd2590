//! Creates and updates as a client sends them: literal answers, and what a watch sees of them.

use serde_json::json;

use crate::writer::{CONFIG_MAPS, PODS, Writer, config_map, created, pod, refusal};

#[tokio::test]
async fn a_created_object_is_answered_stored_and_watched_with_the_same_bytes() {
    let writer = Writer::new();
    let mut watch = writer.watch("/api/v1/configmaps").await;
    let answer = writer.post(CONFIG_MAPS, &config_map("m")).await;
    assert_eq!(answer.code, 201);
    assert_eq!(answer.headers["content-type"], "application/json");
    let object = answer.json();
    let metadata = &object["metadata"];
    let (uid, time) = (
        metadata["uid"].as_str().unwrap(),
        metadata["creationTimestamp"].as_str().unwrap(),
    );
    assert_eq!((uid.len(), &uid[14..15]), (36, "4"));
    assert_eq!((time.len(), &time[19..]), (20, "Z"));
    assert!(
        answer.text.starts_with(&format!(
            r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"m","namespace":"default","uid":"{uid}","resourceVersion":"2","creationTimestamp":"{time}""#
        )),
        "{}",
        answer.text
    );
    assert!(
        answer.text.ends_with(r#","data":{"a":"1"}}"#),
        "{}",
        answer.text
    );
    assert_eq!(
        writer.get(&format!("{CONFIG_MAPS}/m")).await.text,
        answer.text
    );
    assert_eq!(
        watch.next_line().await.unwrap(),
        format!(r#"{{"type":"ADDED","object":{}}}"#, answer.text)
    );
}

#[tokio::test]
async fn a_second_create_is_refused_with_the_name() {
    let writer = Writer::new();
    created(&writer, CONFIG_MAPS, &config_map("m")).await;
    assert_eq!(
        writer.post(CONFIG_MAPS, &config_map("m")).await.text,
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"m\" already exists","reason":"AlreadyExists","details":{"name":"m","kind":"configmaps"},"code":409}"#
    );
}

#[tokio::test]
async fn names_are_generated_from_their_base() {
    let writer = Writer::new();
    let body = json!({"metadata": {"generateName": "web-"}});
    let object = created(&writer, CONFIG_MAPS, &body).await;
    let name = object["metadata"]["name"].as_str().unwrap();
    let suffix = name.strip_prefix("web-").unwrap();
    assert!(
        suffix.len() == 5
            && suffix
                .chars()
                .all(|c| "bcdfghjklmnpqrstvwxz2456789".contains(c)),
        "{name}"
    );
    assert_eq!(object["metadata"]["generateName"], "web-");
    let long = json!({"metadata": {"generateName": "a".repeat(70)}});
    let object = created(&writer, CONFIG_MAPS, &long).await;
    assert_eq!(object["metadata"]["name"].as_str().unwrap().len(), 63);
}

#[tokio::test]
async fn what_cannot_be_created_is_refused_as_upstream_words_it() {
    let writer = Writer::new();
    for (path, body, expected) in [
        (
            "/api/v1/namespaces/nowhere/configmaps",
            config_map("m"),
            r#"404 NotFound: namespaces "nowhere" not found"#,
        ),
        (
            CONFIG_MAPS,
            json!({"metadata": {"name": "m", "namespace": "other"}}),
            "400 BadRequest: the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            CONFIG_MAPS,
            json!({"metadata": {}}),
            "422 Invalid: ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required",
        ),
        (
            CONFIG_MAPS,
            json!({"apiVersion": "v2", "metadata": {"name": "m"}}),
            "400 BadRequest: the API version in the data (v2) does not match the expected API version (v1)",
        ),
        (
            CONFIG_MAPS,
            json!({"metadata": {"name": "m", "resourceVersion": "7"}}),
            "500 -: resourceVersion should not be set on objects to be created",
        ),
        (
            PODS,
            json!({"metadata": {"name": "p"}, "spec": {"containers": []}}),
            "422 Invalid: Pod \"p\" is invalid: spec.containers: Required value",
        ),
        (
            PODS,
            json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": 1}]}}),
            "400 BadRequest: Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number into Go \
             struct field Pod.spec.containers[0].name of type string",
        ),
        (
            "/api/v1/configmaps",
            config_map("m"),
            "405 MethodNotAllowed: the server does not allow this method on the requested resource",
        ),
        (
            "/api/v1/namespaces/default/configmaps/m",
            config_map("m"),
            "405 MethodNotAllowed: the server does not allow this method on the requested resource",
        ),
        (
            "/api/v1/namespaces/default/nothings",
            config_map("m"),
            "404 NotFound: the server could not find the requested resource",
        ),
    ] {
        assert_eq!(
            refusal(&writer.post(path, &body).await),
            expected,
            "{path} {body}"
        );
    }
    assert_eq!(
        writer.get("/api/v1/configmaps").await.items(),
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn a_bad_name_is_invalid_with_its_cause() {
    let answer = Writer::new()
        .post(CONFIG_MAPS, &config_map("Bad_Name"))
        .await;
    let why = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
               start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
               '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    assert_eq!(
        answer.json(),
        json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": format!("ConfigMap \"Bad_Name\" is invalid: metadata.name: Invalid value: \"Bad_Name\": {why}"),
            "reason": "Invalid",
            "details": {
                "name": "Bad_Name",
                "kind": "ConfigMap",
                "causes": [{
                    "reason": "FieldValueInvalid",
                    "message": format!("Invalid value: \"Bad_Name\": {why}"),
                    "field": "metadata.name",
                }],
            },
            "code": 422,
        })
    );
}

#[tokio::test]
async fn an_update_of_another_version_conflicts() {
    let writer = Writer::new();
    let mut object = created(&writer, CONFIG_MAPS, &config_map("m")).await;
    let path = format!("{CONFIG_MAPS}/m");
    object["data"]["a"] = "2".into();
    let updated = writer.send("PUT", &path, &object).await;
    assert_eq!(
        (updated.code, &updated.json()["metadata"]["resourceVersion"]),
        (200, &json!("3"))
    );
    assert_eq!(
        writer.send("PUT", &path, &object).await.text,
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled on configmaps \"m\": the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict","details":{"name":"m","kind":"configmaps"},"code":409}"#
    );
    // Without a version the last writer wins.
    let unconditional = writer.send("PUT", &path, &config_map("m")).await;
    assert_eq!(unconditional.code, 200, "{}", unconditional.text);
    assert_eq!(unconditional.json()["data"], json!({"a": "1"}));
    // Another uid is another object.
    object["metadata"]["uid"] = "u".into();
    let text = refusal(&writer.send("PUT", &path, &object).await);
    let uid = updated.json()["metadata"]["uid"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        text,
        format!(
            "409 Conflict: Operation cannot be fulfilled on configmaps \"m\": StorageError: invalid object, Code: 4, Key: \
             /registry/configmaps/default/m, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in \
             precondition: u, UID in object meta: {uid}"
        )
    );
}

#[tokio::test]
async fn leases_need_a_version_and_are_created_by_a_put() {
    let writer = Writer::new();
    let path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
    let lease = json!({"metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}});
    assert_eq!(writer.send("PUT", path, &lease).await.code, 201);
    assert_eq!(
        refusal(&writer.send("PUT", path, &lease).await),
        "422 Invalid: leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: 0: must be \
         specified for an update"
    );
    let pod = writer
        .send("PUT", &format!("{PODS}/p"), &pod("p", ""))
        .await;
    assert_eq!(refusal(&pod), "404 NotFound: pods \"p\" not found");
}

#[tokio::test]
async fn a_put_names_the_object_of_its_path() {
    let writer = Writer::new();
    created(&writer, CONFIG_MAPS, &config_map("m")).await;
    let path = format!("{CONFIG_MAPS}/m");
    for (body, expected) in [
        (
            config_map("n"),
            "400 BadRequest: the name of the object (n) does not match the name on the URL (m)",
        ),
        (
            json!({}),
            "400 BadRequest: the name of the object (m based on URL) was undeterminable: name must be provided",
        ),
    ] {
        assert_eq!(refusal(&writer.send("PUT", &path, &body).await), expected);
    }
}

#[tokio::test]
async fn bodies_and_objects_have_a_largest_size() {
    let writer = Writer::new();
    let of_size =
        |bytes: usize| json!({"metadata": {"name": "m"}, "data": {"a": "x".repeat(bytes)}});
    assert_eq!(
        refusal(&writer.post(CONFIG_MAPS, &of_size(3 * 1024 * 1024)).await),
        "413 RequestEntityTooLarge: Request entity too large: limit is 3145728"
    );
    assert_eq!(
        refusal(&writer.post(CONFIG_MAPS, &of_size(3 * 512 * 1024)).await),
        "500 -: etcdserver: request is too large"
    );
    assert_eq!(
        writer
            .post(CONFIG_MAPS, &of_size(3 * 512 * 1024 - 2000))
            .await
            .code,
        201
    );
}

#[tokio::test]
async fn yaml_is_read_and_protobuf_refused() {
    let writer = Writer::new();
    let yaml = b"metadata:\n  name: m\ndata:\n  a: \"1\"\n".to_vec();
    assert_eq!(
        writer
            .raw("POST", CONFIG_MAPS, "application/yaml", yaml)
            .await
            .code,
        201
    );
    let answer = writer
        .raw(
            "POST",
            CONFIG_MAPS,
            "application/vnd.kubernetes.protobuf",
            vec![0],
        )
        .await;
    assert_eq!(
        answer.text,
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the body of the request was in an unknown format - accepted media types include: application/json, application/yaml","reason":"UnsupportedMediaType","code":415}"#
    );
}
