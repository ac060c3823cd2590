//! Which requests `HttpListWatch` makes again, by the rules of client-go's `rest/with_retry.go`, under a paused clock.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex},
};

use bench_core::{
    api::{ListOptions, Object, Resource, ResourceVersion, WatchOptions},
    list_watch::{ApiError, HttpListWatch, ListerWatcher as _, Recovery, WatchStream as _},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{Empty, Full};
use tokio::time::Instant;
use tower::{Service, service_fn};

type Answer = Result<Response<Full<Bytes>>, io::Error>;
type Script = VecDeque<fn() -> Answer>;

/// Answers from a script; the last answer is given for ever. Keeps when it was asked, in milliseconds.
#[derive(Clone)]
struct Server {
    answers: Arc<Mutex<Script>>,
    asked: Arc<Mutex<Vec<u128>>>,
    began: Instant,
}

impl Server {
    fn new(answers: &[fn() -> Answer]) -> Self {
        Self {
            answers: Arc::new(Mutex::new(answers.iter().copied().collect())),
            asked: Arc::default(),
            began: Instant::now(),
        }
    }

    fn list_watch(
        &self,
    ) -> HttpListWatch<
        impl Service<
            Request<Empty<Bytes>>,
            Response = Response<Full<Bytes>>,
            Error = io::Error,
            Future: Send,
        > + Clone
        + Send
        + Sync
        + 'static,
        Object,
    > {
        let server = self.clone();
        let service = service_fn(move |_: Request<Empty<Bytes>>| {
            let asked = server.began.elapsed().as_millis();
            server.asked.lock().expect("not poisoned").push(asked);
            let mut answers = server.answers.lock().expect("not poisoned");
            let answer = if answers.len() > 1 {
                answers.pop_front()
            } else {
                answers.front().copied()
            };
            std::future::ready(answer.expect("the script holds an answer")())
        });
        HttpListWatch::new(service, "", &Resource::pods(), None)
    }

    fn asked(&self) -> Vec<u128> {
        self.asked.lock().expect("not poisoned").clone()
    }

    async fn list(&self) -> Result<usize, ApiError> {
        let listed = self.list_watch().list(&ListOptions::most_recent()).await;
        listed.map(|page| page.items.len())
    }
}

#[expect(clippy::unnecessary_wraps, reason = "scripts hold failures, too")]
fn answer(code: u16, retry_after: Option<&str>, body: &'static str) -> Answer {
    let mut response = Response::builder().status(code);
    if let Some(seconds) = retry_after {
        response = response.header("Retry-After", seconds);
    }
    Ok(response.body(Full::new(body.into())).expect("valid"))
}

fn listed() -> Answer {
    answer(
        200,
        None,
        r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#,
    )
}

fn reset() -> Answer {
    Err(io::ErrorKind::ConnectionReset.into())
}

fn watch_options() -> WatchOptions {
    WatchOptions {
        resource_version: ResourceVersion::from(7),
        resource_version_match: None,
        allow_watch_bookmarks: true,
        send_initial_events: None,
        timeout_seconds: Some(310),
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_names_a_wait_in_its_header_is_asked_for_again_after_it() {
    let server = Server::new(&[
        || {
            answer(
                429,
                Some("3"),
                "Too many requests, please try again later.\n",
            )
        },
        || answer(503, Some("1"), "{}"),
        || answer(500, Some("0"), "{}"),
        || answer(429, Some("-1"), "{}"),
        listed,
    ]);
    assert_eq!(server.list().await.expect("the fifth"), 0);
    assert_eq!(server.asked(), [0, 3_000, 4_000, 4_000, 4_000]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_that_header_is_final_whatever_its_body_says() {
    const BODY: &str = r#"{"kind":"Status","reason":"TooManyRequests","details":{"retryAfterSeconds":1},"code":429}"#;
    let scripts: [fn() -> Answer; 4] = [
        || answer(429, None, BODY),
        || answer(503, None, "{}"),
        || answer(429, Some("Fri, 31 Dec 1999 23:59:59 GMT"), BODY),
        || answer(410, Some("1"), "{}"),
    ];
    for script in scripts {
        let server = Server::new(&[script]);
        server.list().await.expect_err("final");
        assert_eq!(server.asked(), [0]);
    }
}

#[tokio::test(start_paused = true)]
async fn after_ten_retries_the_answer_counts() {
    let server = Server::new(&[|| answer(429, Some("2"), "later")]);
    let error = server.list().await.expect_err("for ever");
    assert_eq!(error.recovery(), Recovery::BackOff);
    let expected: Vec<_> = (0..=10).map(|retry| retry * 2_000).collect();
    assert_eq!(server.asked(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_closes_before_the_answer_is_tried_again_each_second() {
    let server = Server::new(&[reset, || Err(io::ErrorKind::UnexpectedEof.into()), listed]);
    assert_eq!(server.list().await.expect("the third"), 0);
    assert_eq!(server.asked(), [0, 1_000, 2_000]);
}

#[tokio::test(start_paused = true)]
async fn if_it_closes_for_ever_a_list_is_an_error_and_a_watch_an_empty_stream() {
    let server = Server::new(&[reset]);
    let error = server.list().await.expect_err("for ever");
    assert!(matches!(error, ApiError::ConnectionClosed(_)), "{error}");
    assert_eq!(server.asked().len(), 11);
    let watch = server.list_watch().watch(&watch_options()).await;
    assert!(watch.expect("empty").next().await.is_none());
    assert_eq!(server.asked().len(), 22);
}

#[tokio::test(start_paused = true)]
async fn a_refused_connection_is_not_tried_again_here() {
    let server = Server::new(&[|| Err(io::ErrorKind::ConnectionRefused.into())]);
    let error = server.list().await.expect_err("refused");
    assert_eq!(error.recovery(), Recovery::BackOff);
    assert_eq!(server.asked(), [0]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_waits_as_a_list_does() {
    let server = Server::new(&[
        || answer(429, Some("5"), "later"),
        || {
            answer(
                200,
                None,
                r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}"#,
            )
        },
    ]);
    let mut watch = server
        .list_watch()
        .watch(&watch_options())
        .await
        .expect("the second");
    assert!(watch.next().await.is_some());
    assert_eq!(server.asked(), [0, 5_000]);
}
