//! A proxy between a real server and whoever asks it, which meddles with one thing on the way. Only tests have it.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::Response,
};
use bytes::{Bytes, BytesMut};
use fake_apiserver::{
    config::{ObjectSource, ServerConfig},
    control::{CommitRecord, WriteKind},
    profiles::ProfileKind,
};
use futures_util::TryStreamExt as _;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use tokio::{net::TcpListener, sync::oneshot, task::JoinSet};

/// What happens on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meddling {
    /// Nothing.
    None,
    /// The n-th watch event of a type, counted from 1, does not arrive.
    Drop(&'static str, u64),
    /// It arrives twice.
    Repeat(&'static str, u64),
    /// The watch in which it was ends before it, with 410.
    Expire(&'static str, u64),
    /// The server's list of its writes leaves one out.
    HideCommit,
    /// The server's list of its writes has one more at its end.
    InventCommit,
}

/// A server with 100 pods and the proxy in front of it; dropping it ends both.
pub(crate) struct Meddled {
    pub(crate) base_url: String,
    /// Watch events that were meddled with.
    pub(crate) hits: Arc<AtomicU64>,
    _tasks: JoinSet<()>,
}

#[derive(Clone)]
struct Proxy {
    client: Client<HttpConnector, Body>,
    upstream: SocketAddr,
    meddling: Meddling,
    events: Arc<AtomicU64>,
    hits: Arc<AtomicU64>,
}

impl Meddled {
    pub(crate) async fn start(meddling: Meddling) -> Self {
        let mut tasks = JoinSet::new();
        let mut config = ServerConfig::empty(SocketAddr::from(([127, 0, 0, 1], 0)), 1);
        config.objects = vec![ObjectSource::Profile {
            kind: ProfileKind::Pod6k,
            count: 100,
        }];
        let (ready, listening) = oneshot::channel();
        tasks.spawn(async move {
            let ready = |address| ready.send(address).unwrap();
            fake_apiserver::run(config, ready, std::future::pending())
                .await
                .unwrap();
        });
        let proxy = Proxy {
            client: Client::builder(TokioExecutor::new()).build_http(),
            upstream: listening.await.unwrap(),
            meddling,
            events: Arc::default(),
            hits: Arc::default(),
        };
        let hits = Arc::clone(&proxy.hits);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(pass).with_state(proxy);
        tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            base_url,
            hits,
            _tasks: tasks,
        }
    }
}

async fn pass(State(proxy): State<Proxy>, mut request: Request) -> Response {
    let path = request.uri().path_and_query().unwrap().clone();
    *request.uri_mut() = format!("http://{}{path}", proxy.upstream).parse().unwrap();
    let response = proxy.client.request(request).await.unwrap();
    let (mut head, body) = response.into_parts();
    let body = Body::new(body);
    let query = path.query().unwrap_or("");
    if query.contains("watch=") {
        return Response::from_parts(head, watched(proxy, body));
    }
    if path.path().ends_with("/commits") {
        head.headers.remove("content-length");
        let commits = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        return Response::from_parts(head, proxy.commits(&commits).into());
    }
    Response::from_parts(head, body)
}

/// Passes whole lines on.
fn watched(proxy: Proxy, body: Body) -> Body {
    let mut pending = BytesMut::new();
    let mut expired = false;
    let lines = body.into_data_stream().map_ok(move |chunk| {
        pending.extend_from_slice(&chunk);
        let mut passed = Vec::new();
        while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
            let line = pending.split_to(end + 1);
            if !expired {
                expired = proxy.event(&line, &mut passed);
            }
        }
        Bytes::from(passed)
    });
    Body::from_stream(lines)
}

impl Proxy {
    /// Passes an event on, or does with it what is to be done; whether nothing may follow.
    fn event(&self, line: &[u8], passed: &mut Vec<u8>) -> bool {
        let is_hit = |kind: &str, nth: u64| {
            let named = format!("{{\"type\":\"{kind}\"");
            let counts = line.starts_with(named.as_bytes());
            let hit = counts && self.events.fetch_add(1, Ordering::Relaxed) + 1 == nth;
            self.hits.fetch_add(u64::from(hit), Ordering::Relaxed);
            hit
        };
        match self.meddling {
            Meddling::Drop(kind, nth) if is_hit(kind, nth) => {}
            Meddling::Repeat(kind, nth) if is_hit(kind, nth) => {
                passed.extend_from_slice(line);
                passed.extend_from_slice(line);
            }
            Meddling::Expire(kind, nth) if is_hit(kind, nth) => {
                passed.extend_from_slice(
                    br#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}}"#,
                );
                passed.push(b'\n');
                return true;
            }
            _ => passed.extend_from_slice(line),
        }
        false
    }

    fn commits(&self, body: &[u8]) -> Vec<u8> {
        let mut commits: Vec<CommitRecord> = serde_json::from_slice(body).unwrap();
        match self.meddling {
            Meddling::HideCommit => {
                commits.remove(commits.len() / 2);
            }
            Meddling::InventCommit => {
                let last = commits.last().unwrap().clone();
                commits.push(CommitRecord {
                    resource_version: last.resource_version + 1,
                    kind: WriteKind::Update,
                    ..last
                });
            }
            _ => {}
        }
        serde_json::to_vec(&commits).unwrap()
    }
}
