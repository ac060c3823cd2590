//! Bodies that nobody means: every request is answered, nothing panics, and a 500 is one that a real server has, too.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value, json};

use crate::writer::{JSON_PATCH, MERGE, STRATEGIC, Writer};

const APPLY: &str = "application/apply-patch+yaml";

/// Collections of every kind with rules of its own.
const COLLECTIONS: [&str; 10] = [
    "/api/v1/namespaces/default/pods",
    "/api/v1/namespaces/default/services",
    "/api/v1/namespaces/default/secrets",
    "/api/v1/namespaces",
    "/api/v1/nodes",
    "/apis/apps/v1/namespaces/default/deployments",
    "/apis/batch/v1/namespaces/default/jobs",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
];

/// Names of fields that the rules look at.
const NAMES: [&str; 44] = [
    "metadata",
    "spec",
    "status",
    "data",
    "stringData",
    "name",
    "generateName",
    "namespace",
    "uid",
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
    "managedFields",
    "resourceVersion",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "containers",
    "image",
    "ports",
    "port",
    "env",
    "volumes",
    "template",
    "selector",
    "matchLabels",
    "replicas",
    "strategy",
    "type",
    "names",
    "plural",
    "kind",
    "group",
    "versions",
    "scope",
    "tolerations",
    "resources",
    "limits",
    "conditions",
    "$patch",
    "$retainKeys",
    "$setElementOrder/containers",
    "immutable",
];

const MEANT: [&str; 5] = [
    "resourceVersion should not be set on objects to be created",
    "etcdserver: request is too large",
    "failed to create typed patch object",
    "does not contain declared merge key",
    "strconv.ParseUint",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        select(vec![0_i64, 1, -1, i64::MIN, i64::MAX]).prop_map(Value::from),
        select(vec![
            "",
            "a",
            "m",
            "A_b",
            "TCP",
            "RollingUpdate",
            "2026-01-01T00:00:00Z",
            "replace"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            1 => vec(inner.clone(), 0..3).prop_map(Value::from),
            3 => vec((select(NAMES.to_vec()), inner), 0..6).prop_map(|fields| {
                let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
                Value::Object(fields.collect::<Map<_, _>>())
            }),
        ]
    })
}

fn body() -> impl Strategy<Value = Value> {
    // Mostly with a name that the patches find.
    (value(), value(), any::<bool>()).prop_map(|(mut body, spec, is_named)| {
        if let (Some(fields), true) = (body.as_object_mut(), is_named) {
            fields.insert("metadata".to_owned(), json!({"name": "m"}));
            fields.insert("spec".to_owned(), spec);
        }
        body
    })
}

#[derive(Debug, Clone)]
struct Request {
    method: &'static str,
    media_type: &'static str,
    body: Value,
}

fn request() -> impl Strategy<Value = Request> {
    let kind = select(vec![
        ("POST", "application/json"),
        ("PUT", "application/json"),
        ("PATCH", MERGE),
        ("PATCH", STRATEGIC),
        ("PATCH", APPLY),
        ("PATCH", JSON_PATCH),
        ("DELETE", "application/json"),
    ]);
    (kind, body()).prop_map(|((method, media_type), body)| {
        let body = match media_type {
            JSON_PATCH => json!([{"op": "add", "path": "/spec", "value": body}]),
            _ => body,
        };
        Request {
            method,
            media_type,
            body,
        }
    })
}

async fn run(collection: &str, requests: Vec<Request>) {
    let writer = Writer::new();
    for request in requests {
        let Request {
            method,
            media_type,
            body,
        } = &request;
        let path = match *method {
            "POST" => collection.to_owned(),
            _ => format!("{collection}/m?fieldManager=f"),
        };
        let answer = writer
            .raw(method, &path, media_type, body.to_string().into_bytes())
            .await;
        let is_meant = answer.code < 500 || MEANT.iter().any(|text| answer.text.contains(text));
        assert!(is_meant, "{request:?} {}", answer.text);
        assert!(answer.json().is_object(), "{request:?} {}", answer.text);
    }
    // Whatever was accepted can be listed.
    assert_eq!(writer.get(collection).await.code, 200);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_body_is_answered(collection in select(COLLECTIONS.to_vec()), requests in vec(request(), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(run(collection, requests));
    }
}
