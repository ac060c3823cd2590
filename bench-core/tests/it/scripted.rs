//! Objects and a scripted server for the tests of the cache.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use bench_core::{
    api::{
        KubeObject, ListOptions, ListPage, Object, ResourceVersion, Status, WatchEvent,
        WatchOptions,
    },
    list_watch::{ApiError, ListerWatcher, WatchStream},
};
use tokio::sync::mpsc;

/// An object `t/<name>` at a version, decoded from literal JSON.
pub(crate) fn object(name: &str, version: u64) -> Arc<Object> {
    let json = format!(
        r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"t","uid":"u-{name}","resourceVersion":"{version}"}}}}"#
    );
    Arc::new(Object::decode(json.as_bytes()).expect("literal JSON"))
}

/// An object without a name, hence without a key.
pub(crate) fn nameless(version: u64) -> Arc<Object> {
    let json = format!(r#"{{"metadata":{{"resourceVersion":"{version}"}}}}"#);
    Arc::new(Object::decode(json.as_bytes()).expect("literal JSON"))
}

/// `name@version`.
pub(crate) fn text(object: &Object) -> String {
    format!(
        "{}@{}",
        object.key().expect("named").name(),
        object.resource_version()
    )
}

pub(crate) fn expired() -> Status {
    Status::failure(410, "Expired", "too old resource version: 1 (900)")
}

/// What the scripted server answers to the next request of a kind.
pub(crate) enum Answer {
    Page {
        version: u64,
        items: Vec<Arc<Object>>,
        continue_token: &'static str,
    },
    ListFails(ApiError),
    /// Events, after which the stream ends.
    Stream(Vec<Result<WatchEvent<Object>, ApiError>>),
    /// A stream that the test feeds.
    Fed(mpsc::UnboundedReceiver<Result<WatchEvent<Object>, ApiError>>),
    WatchFails(ApiError),
}

pub(crate) fn page(version: u64, items: Vec<Arc<Object>>) -> Answer {
    Answer::Page {
        version,
        items,
        continue_token: "",
    }
}

/// Answers from a script and keeps the requests; once the script is over, requests wait for ever.
#[derive(Clone)]
pub(crate) struct ScriptedServer(Arc<Shared>);

struct Shared {
    answers: Mutex<VecDeque<Answer>>,
    requests: Mutex<Vec<String>>,
}

pub(crate) struct ScriptedWatch(mpsc::UnboundedReceiver<Result<WatchEvent<Object>, ApiError>>);

impl ScriptedServer {
    pub(crate) fn new(answers: Vec<Answer>) -> Self {
        Self(Arc::new(Shared {
            answers: Mutex::new(answers.into()),
            requests: Mutex::new(Vec::new()),
        }))
    }

    /// `LIST query` and `WATCH query`, without the random timeout.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.0.requests.lock().expect("not poisoned").clone()
    }

    async fn answer(&self, request: String) -> Answer {
        self.0.requests.lock().expect("not poisoned").push(request);
        let answer = self.0.answers.lock().expect("not poisoned").pop_front();
        match answer {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }
}

impl ListerWatcher<Object> for ScriptedServer {
    type Watch = ScriptedWatch;

    async fn list(&self, options: &ListOptions) -> Result<ListPage<Object>, ApiError> {
        match self.answer(format!("LIST {}", options.query())).await {
            Answer::Page {
                version,
                items,
                continue_token,
            } => Ok(ListPage {
                resource_version: ResourceVersion::from(version),
                continue_token: continue_token.to_owned(),
                items,
            }),
            Answer::ListFails(error) => Err(error),
            _ => panic!("the script expected a WATCH, got LIST {}", options.query()),
        }
    }

    async fn watch(&self, options: &WatchOptions) -> Result<ScriptedWatch, ApiError> {
        let seconds = options
            .timeout_seconds
            .expect("a reflector always sends a timeout");
        assert!((300..600).contains(&seconds), "timeoutSeconds={seconds}");
        let query = WatchOptions {
            timeout_seconds: None,
            ..options.clone()
        }
        .query();
        match self.answer(format!("WATCH {query}")).await {
            Answer::Stream(events) => {
                let (sender, receiver) = mpsc::unbounded_channel();
                for event in events {
                    sender.send(event).expect("the receiver is here");
                }
                Ok(ScriptedWatch(receiver))
            }
            Answer::Fed(receiver) => Ok(ScriptedWatch(receiver)),
            Answer::WatchFails(error) => Err(error),
            _ => panic!("the script expected a LIST, got WATCH {query}"),
        }
    }
}

impl WatchStream<Object> for ScriptedWatch {
    async fn next(&mut self) -> Option<Result<WatchEvent<Object>, ApiError>> {
        self.0.recv().await
    }
}
