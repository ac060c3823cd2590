//! A client that writes, and what its tests have in common.

use std::sync::Arc;

use axum::body::Body;
use fake_apiserver::{ApiServer, router};
use http::Request;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::client::{Answer, Client, Watch};

pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
pub(crate) const STRATEGIC: &str = "application/strategic-merge-patch+json";

pub(crate) struct Writer {
    server: Arc<ApiServer>,
}

impl Writer {
    pub(crate) fn of(server: Arc<ApiServer>) -> Self {
        Self { server }
    }

    pub(crate) fn new() -> Self {
        Self {
            server: ApiServer::empty(1),
        }
    }

    pub(crate) async fn raw(
        &self,
        method: &str,
        path: &str,
        media_type: &str,
        body: Vec<u8>,
    ) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", media_type)
            .header("user-agent", "tester/1.0")
            .body(Body::from(body))
            .unwrap();
        let response = router(Arc::clone(&self.server))
            .oneshot(request)
            .await
            .unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Answer {
            code: parts.status.as_u16(),
            headers: parts.headers,
            text: text
                .strip_suffix('\n')
                .expect("answers end a line")
                .to_owned(),
        }
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.raw(
            method,
            path,
            "application/json",
            body.to_string().into_bytes(),
        )
        .await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, body).await
    }

    pub(crate) async fn patch(&self, path: &str, media_type: &str, body: &Value) -> Answer {
        self.raw("PATCH", path, media_type, body.to_string().into_bytes())
            .await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.raw("GET", path, "application/json", Vec::new()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.raw("DELETE", path, "application/json", Vec::new())
            .await
    }

    /// All events of a resource from the first version on.
    pub(crate) async fn watch(&self, collection: &str) -> Watch {
        self.watch_from(collection, 1).await
    }

    pub(crate) async fn watch_from(&self, collection: &str, version: u64) -> Watch {
        let client = Client::of(Arc::clone(&self.server));
        let path = format!("{collection}?watch=true&resourceVersion={version}");
        client.watch(&path).await
    }
}

/// Creates what must be created.
pub(crate) async fn created(writer: &Writer, path: &str, body: &Value) -> Value {
    let answer = writer.post(path, body).await;
    assert_eq!(answer.code, 201, "{}", answer.text);
    answer.json()
}

pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";

pub(crate) fn config_map(name: &str) -> Value {
    json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}, "data": {"a": "1"}})
}

pub(crate) fn pod(name: &str, node: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i:1"}]}})
}

/// The answer's message, and its code and reason before it.
pub(crate) fn refusal(answer: &Answer) -> String {
    let status = answer.json();
    assert_eq!(status["kind"], "Status", "{status}");
    assert_eq!(status["code"], answer.code, "{status}");
    let reason = status["reason"].as_str().unwrap_or("-");
    format!(
        "{} {reason}: {}",
        answer.code,
        status["message"].as_str().unwrap()
    )
}
