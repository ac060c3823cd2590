//! An in-process client that knows JSON and nothing else of the server.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, BodyDataStream},
};
use fake_apiserver::{
    ApiServer,
    config::{WatchConfig, WindowConfig},
    control::{WriteKind, WriteRequest},
    objects_file, router,
    storage::Storage,
};
use futures_util::{FutureExt as _, StreamExt as _};
use http::{HeaderMap, Request};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

pub(crate) struct Client {
    pub(crate) server: Arc<ApiServer>,
    router: Router,
}

/// An answer that has ended.
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

/// An answer that has ended and may not be text.
pub(crate) struct AnswerBytes {
    pub(crate) code: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Client {
    pub(crate) fn new(storage: Storage, config: WatchConfig) -> Self {
        let server = ApiServer::new(storage, Vec::new(), config, 1);
        Self {
            router: router(Arc::clone(&server)),
            server,
        }
    }

    /// Pods with these keys at the versions 2, 3, …, and a kube-apiserver's settings.
    pub(crate) fn with_pods(keys: &[&str]) -> Self {
        let mut storage = Storage::new(WindowConfig::kube_apiserver());
        load_pods(&mut storage, keys);
        Self::new(storage, WatchConfig::kube_apiserver())
    }

    pub(crate) fn of(server: Arc<ApiServer>) -> Self {
        Self {
            router: router(Arc::clone(&server)),
            server,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path).await
    }

    pub(crate) async fn send(&self, method: &str, path: &str) -> Answer {
        self.send_as(method, path, "", "").await
    }

    /// As a client with this User-Agent, and with a body.
    pub(crate) async fn send_as(
        &self,
        method: &str,
        path: &str,
        user_agent: &str,
        body: &'static str,
    ) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("user-agent", user_agent)
            .body(Body::from(body))
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer {
            code: parts.status.as_u16(),
            headers: parts.headers,
            text: text_of(bytes.to_vec()),
        }
    }

    /// A GET with an Accept header.
    pub(crate) async fn get_as(&self, path: &str, accept: &str) -> Answer {
        let answer = self.get_bytes(path, &[("accept", accept)]).await;
        Answer {
            code: answer.code,
            headers: answer.headers,
            text: text_of(answer.bytes),
        }
    }

    /// A GET with headers, whatever comes back.
    pub(crate) async fn get_bytes(&self, path: &str, headers: &[(&str, &str)]) -> AnswerBytes {
        let mut request = Request::get(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        AnswerBytes {
            code: parts.status.as_u16(),
            headers: parts.headers,
            bytes: body.collect().await.unwrap().to_bytes().to_vec(),
        }
    }

    pub(crate) async fn watch(&self, path: &str) -> Watch {
        let request = Request::get(path).body(Body::empty()).unwrap();
        self.open_watch(request).await
    }

    /// A WATCH as a client with this User-Agent.
    pub(crate) async fn watch_as(&self, path: &str, user_agent: &str) -> Watch {
        let request = Request::get(path).header("user-agent", user_agent);
        self.open_watch(request.body(Body::empty()).unwrap()).await
    }

    /// A WATCH with an Accept header.
    pub(crate) async fn watch_accepting(&self, path: &str, accept: &str) -> Watch {
        let request = Request::get(path).header("accept", accept);
        self.open_watch(request.body(Body::empty()).unwrap()).await
    }

    async fn open_watch(&self, request: Request<Body>) -> Watch {
        let path = request.uri().to_string();
        let response = self.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["content-type"], "application/json");
        Watch {
            frames: response.into_body().into_data_stream(),
            buffer: Vec::new(),
        }
    }

    /// Writes to a pod and returns the new version.
    #[track_caller]
    pub(crate) fn write(&self, op: WriteKind, key: &str) -> u64 {
        let request = WriteRequest {
            resource: "pods".to_owned(),
            op,
            key: Some(key.to_owned()),
        };
        self.server.write(&request).unwrap().resource_version
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// `namespace/name@version` of each item.
    pub(crate) fn items(&self) -> Vec<String> {
        self.json()["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(describe)
            .collect()
    }
}

pub(crate) struct Watch {
    frames: BodyDataStream,
    buffer: Vec<u8>,
}

impl Watch {
    /// The next event's line; `None` if the stream has ended, at an event border.
    pub(crate) async fn next_line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(String::from_utf8(line).unwrap().trim_end().to_owned());
            }
            match self.frames.next().await {
                Some(frame) => self.buffer.extend_from_slice(&frame.unwrap()),
                None => {
                    assert_eq!(self.buffer, b"", "the stream ended inside an event");
                    return None;
                }
            }
        }
    }

    /// The next bytes as they come; `None` at a clean end, an error where the answer broke off.
    pub(crate) async fn next_chunk(&mut self) -> Option<Result<String, axum::Error>> {
        let chunk = self.frames.next().await?;
        Some(chunk.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()))
    }

    /// What is there without waiting: `TYPE namespace/name@version`, and `END`.
    pub(crate) fn ready(&mut self) -> Vec<String> {
        let mut events = Vec::new();
        while let Some(line) = self.next_line().now_or_never() {
            let Some(line) = line else {
                events.push("END".to_owned());
                break;
            };
            let event: Value = serde_json::from_str(&line).unwrap();
            events.push(format!(
                "{} {}",
                event["type"].as_str().unwrap(),
                describe(&event["object"])
            ));
        }
        events
    }
}

/// Without the newline after compact JSON.
fn text_of(bytes: Vec<u8>) -> String {
    let mut text = String::from_utf8(bytes).unwrap();
    if text.starts_with('{') && text.ends_with('\n') {
        text.pop();
    }
    text
}

pub(crate) fn load_pods(storage: &mut Storage, keys: &[&str]) {
    load(storage, "Pod", keys);
}

pub(crate) fn load(storage: &mut Storage, kind: &str, keys: &[&str]) {
    for key in keys {
        let (namespace, name) = key.split_once('/').unwrap();
        let object = json!({
            "kind": kind,
            "apiVersion": "v1",
            "metadata": {"name": name, "namespace": namespace, "uid": format!("uid-of-{name}")},
        });
        for (resource, draft) in objects_file::interpret(vec![object]).unwrap() {
            let id = storage.register(&resource);
            storage.load(id, &draft).unwrap();
        }
    }
}

fn describe(object: &Value) -> String {
    let metadata = &object["metadata"];
    let text = |name: &str| metadata[name].as_str().unwrap_or("").to_owned();
    if metadata["name"].is_null() {
        return match object["code"].as_u64() {
            Some(code) => format!("{code}: {}", object["message"].as_str().unwrap()),
            None => format!("@{}", text("resourceVersion")),
        };
    }
    format!(
        "{}/{}@{}",
        text("namespace"),
        text("name"),
        text("resourceVersion")
    )
}
