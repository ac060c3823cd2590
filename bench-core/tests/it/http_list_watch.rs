//! `HttpListWatch` over a service in process that answers with literal bodies.

use std::{
    collections::HashMap,
    convert::Infallible,
    io,
    sync::{Arc, Mutex},
};

use bench_core::{
    api::{KubeObject, ListOptions, Object, Resource, ResourceVersion, WatchEvent, WatchOptions},
    cache::{
        ControllerPlacement, DeltaObject, Informer, InformerSettings, InlineEventHandler,
        NoObserver, QueueKind, ReflectorSettings,
    },
    list_watch::{
        ApiError, FrameError, HttpListWatch, ListerWatcher as _, Recovery, RefusedWatches,
        WatchStream as _,
    },
};
use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{Empty, Full, StreamBody};
use k8s_openapi::api::core::v1::Pod;
use tower::{Service, service_fn};

type Answer = Response<Full<Bytes>>;

fn answer(code: u16, body: impl Into<Bytes>) -> Answer {
    Response::builder()
        .status(code)
        .body(Full::new(body.into()))
        .expect("a valid code")
}

/// Answers by path and query and keeps what was asked.
fn service(
    asked: &Arc<Mutex<Vec<String>>>,
    answers: impl Fn(&str) -> Answer + Clone + Send + Sync + 'static,
) -> impl Service<Request<Empty<Bytes>>, Response = Answer, Error = Infallible, Future: Send>
+ Clone
+ Send
+ Sync
+ 'static {
    let asked = Arc::clone(asked);
    service_fn(move |request: Request<Empty<Bytes>>| {
        let uri = request.uri().to_string();
        asked.lock().expect("not poisoned").push(uri.clone());
        std::future::ready(Ok(answers(&uri)))
    })
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

async fn events<T: KubeObject>(body: &'static str) -> Vec<Result<WatchEvent<T>, ApiError>> {
    let service = service(&Arc::default(), move |_| answer(200, body));
    let server = HttpListWatch::<_, T>::new(service, "", &Resource::pods(), None);
    let mut stream = server
        .watch(&watch_options())
        .await
        .expect("answered with 200");
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    events
}

const ADDED: &str = r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"t","resourceVersion":"8"}}}"#;

#[tokio::test]
async fn half_an_event_at_the_end_of_a_stream_is_none_and_a_whole_one_without_line_end_is_one() {
    assert_eq!(events::<Object>(ADDED).await.len(), 1);
    assert_eq!(events::<Object>(&ADDED[..ADDED.len() - 1]).await.len(), 0);
}

#[tokio::test]
async fn typed_and_raw_objects_come_from_the_same_stream() {
    let typed = events::<Pod>(ADDED).await.remove(0).unwrap();
    let raw = events::<Object>(ADDED).await.remove(0).unwrap();
    let (WatchEvent::Added(typed), WatchEvent::Added(raw)) = (typed, raw) else {
        panic!("both were added")
    };
    assert_eq!(KubeObject::key(&*typed), raw.key());
}

#[tokio::test]
async fn requests_name_path_and_query_in_all_namespaces_and_in_one() {
    let asked = Arc::default();
    let service = service(&asked, |_| {
        answer(200, r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#)
    });
    let leases = HttpListWatch::<_, Object>::new(
        service.clone(),
        "http://127.0.0.1:1/",
        &Resource::leases(),
        Some("x"),
    );
    leases
        .list(&ListOptions {
            limit: 500,
            ..ListOptions::most_recent()
        })
        .await
        .unwrap();
    HttpListWatch::<_, Object>::new(service, "", &Resource::nodes(), None)
        .watch(&watch_options())
        .await
        .unwrap();
    let expected = [
        "http://127.0.0.1:1/apis/coordination.k8s.io/v1/namespaces/x/leases?limit=500",
        "/api/v1/nodes?allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=310&watch=true",
    ];
    assert_eq!(*asked.lock().unwrap(), expected);
}

#[tokio::test]
async fn an_http_error_tells_what_to_do_whether_its_body_is_a_status_or_not() {
    let refused = async |code, body: &'static str| {
        let server = HttpListWatch::<_, Object>::new(
            service(&Arc::default(), move |_| answer(code, body)),
            "",
            &Resource::pods(),
            None,
        );
        server
            .watch(&watch_options())
            .await
            .map(|_| ())
            .expect_err("refused")
            .recovery()
    };
    let gone = r#"{"kind":"Status","status":"Failure","reason":"Expired","code":410}"#;
    assert_eq!(refused(410, gone).await, Recovery::Relist);
    assert_eq!(refused(410, "gone").await, Recovery::Relist);
    assert_eq!(
        refused(429, "Too many requests, please try again later.\n").await,
        Recovery::BackOff
    );
    assert_eq!(refused(403, "{}").await, Recovery::Stop);
    assert_eq!(
        refused(504, "Too large resource version").await,
        Recovery::Relist,
        "a text is a cause"
    );
}

/// Seen in traces of client-go 0.27 and of 0.34 and later.
#[tokio::test]
async fn a_refused_watch_is_known_by_its_status_or_by_its_code_alone() {
    const TOO_LARGE: &str = r#"{"kind":"Status","status":"Failure","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge"}]},"code":504}"#;
    let recoveries = async |code, body: &'static str| {
        let refused = async |known_by| {
            let service = service(&Arc::default(), move |_| answer(code, body));
            let server = HttpListWatch::<_, Object>::new(service, "", &Resource::pods(), None)
                .with_refused_watches(known_by);
            let refused = server.watch(&watch_options()).await.map(|_| ());
            let listed = server.list(&ListOptions::most_recent()).await.map(|_| ());
            (
                refused.expect_err("refused").recovery(),
                listed.expect_err("refused").recovery(),
            )
        };
        let (by_status, list) = refused(RefusedWatches::ByStatus).await;
        let (by_code, same_list) = refused(RefusedWatches::ByCode).await;
        assert_eq!(list, same_list, "lists are always known by their Status");
        assert_eq!(list, by_status);
        (by_status, by_code)
    };
    assert_eq!(
        recoveries(504, TOO_LARGE).await,
        (Recovery::Relist, Recovery::Stop)
    );
    let not_found = r#"{"kind":"Status","status":"Failure","reason":"NotFound","code":410}"#;
    assert_eq!(
        recoveries(410, not_found).await,
        (Recovery::Stop, Recovery::Relist)
    );
    let without_code = r#"{"kind":"Status","status":"Failure","message":"gone"}"#;
    assert_eq!(
        recoveries(410, without_code).await,
        (Recovery::Stop, Recovery::Relist)
    );
}

#[tokio::test]
async fn what_is_left_at_the_end_of_a_stream_is_an_error_if_it_can_be_the_beginning_of_none() {
    let events = events::<Object>("<html").await;
    assert!(
        matches!(&*events, [Err(ApiError::Frame(FrameError::Json(_)))]),
        "{events:?}"
    );
}

/// Its body is cut, not ended.
#[tokio::test]
async fn an_event_whose_line_end_was_cut_off_counts() {
    for (sent, expected) in [(ADDED, 1), (&ADDED[..ADDED.len() - 1], 0)] {
        let service = service_fn(move |_: Request<Empty<Bytes>>| {
            let frames = [
                Ok(Frame::data(Bytes::from(sent))),
                Err(io::ErrorKind::UnexpectedEof),
            ];
            let frames = futures_util::stream::iter(frames.map(|it| it.map_err(io::Error::from)));
            std::future::ready(Ok::<_, Infallible>(Response::new(StreamBody::new(frames))))
        });
        let server = HttpListWatch::<_, Object>::new(service, "", &Resource::pods(), None);
        let mut stream = server.watch(&watch_options()).await.expect("answered");
        let mut events = 0;
        while let Some(event) = stream.next().await {
            event.expect("an event");
            events += 1;
        }
        assert_eq!(events, expected);
    }
}

struct Silent;

impl InlineEventHandler<Object> for Silent {
    fn on_add(&mut self, _: &Arc<Object>, _: bench_core::cache::AddOrigin) {}
    fn on_update(&mut self, _: &Arc<Object>, _: &Arc<Object>) {}
    fn on_delete(&mut self, _: &DeltaObject<Object>) {}
}

/// The page of `count` objects that a query asks for.
fn page(count: usize, uri: &str) -> String {
    let start: usize = uri.split_once("continue=").map_or(0, |(_, rest)| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().expect("our own token")
    });
    let end = (start + 500).min(count);
    let items: Vec<_> = (start..end)
        .map(|number| {
            format!(
                r#"{{"metadata":{{"name":"p{number}","namespace":"t","resourceVersion":"{}"}}}}"#,
                number + 1
            )
        })
        .collect();
    let token = if end < count {
        end.to_string()
    } else {
        String::new()
    };
    format!(
        r#"{{"metadata":{{"resourceVersion":"5000","continue":"{token}"}},"items":[{}]}}"#,
        items.join(",")
    )
}

#[tokio::test(start_paused = true)]
async fn an_informer_keeps_the_objects_of_every_page() {
    for count in [499, 500, 501, 1_000, 1_001] {
        let service = service(&Arc::default(), move |uri| {
            // A refused watch is tried again from the same version: the list stays the only one.
            if uri.contains("watch=true") {
                answer(429, "later")
            } else {
                answer(200, page(count, uri))
            }
        });
        let server = HttpListWatch::<_, Object>::new(service, "", &Resource::pods(), None);
        let settings = InformerSettings {
            queue: QueueKind::DeltaFifo,
            resync_period: None,
            placement: ControllerPlacement::Task,
            reflector: ReflectorSettings::client_go(7),
        };
        let informer =
            Informer::start(server, settings, Silent, HashMap::new(), NoObserver).unwrap();
        informer.wait_until_synced().await;
        assert_eq!(informer.stop().await.len(), count);
    }
}
