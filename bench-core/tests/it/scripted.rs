//! Objects and a scripted server for the tests of the cache.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use bench_core::{
    api::{
        KubeObject, ListOptions, ListPage, Object, ResourceVersion, Status, WatchEvent,
        WatchOptions,
    },
    list_watch::{ApiError, ListerWatcher, WatchStream},
};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until},
};

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
    /// A list whose metadata has no version.
    Versionless(Vec<Arc<Object>>),
    ListFails(ApiError),
    /// Events, after which the stream ends.
    Stream(Vec<Result<WatchEvent<Object>, ApiError>>),
    /// Events, after which the stream stays open for so long and then ends.
    StreamFor(Duration, Vec<Result<WatchEvent<Object>, ApiError>>),
    /// A stream that the test feeds.
    Fed(mpsc::UnboundedReceiver<Result<WatchEvent<Object>, ApiError>>),
    WatchFails(ApiError),
    /// The server takes so long to give this answer.
    After(Duration, Box<Self>),
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
    requests: Mutex<Vec<Request>>,
    began: Instant,
}

/// A request as the server got it.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// `LIST query` or `WATCH query`, without the random timeout.
    pub(crate) text: String,
    /// Since the server began.
    pub(crate) at: Duration,
    /// `timeoutSeconds` of a watch.
    pub(crate) timeout_seconds: Option<u64>,
}

pub(crate) struct ScriptedWatch {
    events: mpsc::UnboundedReceiver<Result<WatchEvent<Object>, ApiError>>,
    closes_at: Instant,
}

impl ScriptedServer {
    pub(crate) fn new(answers: Vec<Answer>) -> Self {
        Self(Arc::new(Shared {
            answers: Mutex::new(answers.into()),
            requests: Mutex::new(Vec::new()),
            began: Instant::now(),
        }))
    }

    pub(crate) fn requests_in_full(&self) -> Vec<Request> {
        self.0.requests.lock().expect("not poisoned").clone()
    }

    /// `LIST query` and `WATCH query`, without the random timeout.
    pub(crate) fn requests(&self) -> Vec<String> {
        let requests = self.requests_in_full();
        requests.into_iter().map(|request| request.text).collect()
    }

    async fn answer(&self, text: String, timeout_seconds: Option<u64>) -> Answer {
        self.0.requests.lock().expect("not poisoned").push(Request {
            text,
            at: self.0.began.elapsed(),
            timeout_seconds,
        });
        let answer = self.0.answers.lock().expect("not poisoned").pop_front();
        match answer {
            Some(Answer::After(delay, answer)) => {
                sleep(delay).await; // the server's, in paused time
                *answer
            }
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }
}

impl ListerWatcher<Object> for ScriptedServer {
    type Watch = ScriptedWatch;

    async fn list(&self, options: &ListOptions) -> Result<ListPage<Object>, ApiError> {
        match self.answer(format!("LIST {}", options.query()), None).await {
            Answer::Page {
                version,
                items,
                continue_token,
            } => Ok(ListPage {
                resource_version: ResourceVersion::from(version),
                continue_token: continue_token.to_owned(),
                items,
            }),
            Answer::Versionless(items) => Ok(ListPage {
                resource_version: ResourceVersion::unset(),
                continue_token: String::new(),
                items,
            }),
            Answer::ListFails(error) => Err(error),
            _ => panic!("the script expected a WATCH, got LIST {}", options.query()),
        }
    }

    async fn watch(&self, options: &WatchOptions) -> Result<ScriptedWatch, ApiError> {
        let seconds = options.timeout_seconds;
        assert!(seconds.is_some(), "a reflector always sends a timeout");
        let query = WatchOptions {
            timeout_seconds: None,
            ..options.clone()
        }
        .query();
        let (events, open_for) = match self.answer(format!("WATCH {query}"), seconds).await {
            Answer::Stream(events) => (events, Duration::ZERO),
            Answer::StreamFor(open_for, events) => (events, open_for),
            Answer::Fed(events) => {
                return Ok(ScriptedWatch {
                    events,
                    closes_at: Instant::now(),
                });
            }
            Answer::WatchFails(error) => return Err(error),
            _ => panic!("the script expected a LIST, got WATCH {query}"),
        };
        let (sender, receiver) = mpsc::unbounded_channel();
        for event in events {
            sender.send(event).expect("the receiver is here");
        }
        Ok(ScriptedWatch {
            events: receiver,
            closes_at: Instant::now() + open_for,
        })
    }
}

impl WatchStream<Object> for ScriptedWatch {
    async fn next(&mut self) -> Option<Result<WatchEvent<Object>, ApiError>> {
        let event = self.events.recv().await;
        if event.is_none() {
            sleep_until(self.closes_at).await; // the server's, in paused time
        }
        event
    }
}
