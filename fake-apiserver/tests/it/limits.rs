//! What connections may cost, on real sockets.

use std::{net::SocketAddr, time::Duration};

use fake_apiserver::{ApiServer, Endpoint, config::ConnectionLimits, serve_endpoint};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::timeout,
};

const LIMIT: Duration = Duration::from_secs(30);

/// Serves until the set is dropped.
async fn served(limits: ConnectionLimits) -> (SocketAddr, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let endpoint = Endpoint {
        listener,
        tls: None,
        limits,
    };
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        serve_endpoint(endpoint, ApiServer::empty(1), std::future::pending())
            .await
            .unwrap();
    });
    (address, tasks)
}

/// What the server answers to these bytes until it closes the connection.
async fn talk(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

const GET: &[u8] = b"GET /version HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn a_body_over_the_limit_is_refused_with_413_and_one_at_the_limit_is_not() {
    timeout(LIMIT, async {
        let limits = ConnectionLimits {
            body_bytes: 100,
            ..ConnectionLimits::usual()
        };
        let (address, _tasks) = served(limits).await;
        let put = async |length: usize| {
            let head = format!(
                "PUT /informer-bench/v1/faults HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
            );
            let body = format!("seed: 1 {}", "#".repeat(length - 8));
            talk(address, format!("{head}{body}").as_bytes()).await
        };
        let fits = put(100).await;
        assert!(fits.starts_with("HTTP/1.1 204 "), "{fits}");
        let too_long = put(101).await;
        assert!(too_long.starts_with("HTTP/1.1 413 "), "{too_long}");
        let status = r#""message":"Request entity too large: limit is 100","reason":"RequestEntityTooLarge","code":413}"#;
        assert!(too_long.trim_end().ends_with(status), "{too_long}");
        let unannounced = "PUT /informer-bench/v1/faults HTTP/1.1\r\nHost: t\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
        let chunk = format!("65\r\n{}\r\n0\r\n\r\n", "#".repeat(101));
        let refused = talk(address, format!("{unannounced}{chunk}").as_bytes()).await;
        assert!(refused.starts_with("HTTP/1.1 4"), "{refused}");
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_head_over_the_limit_is_refused_with_431() {
    timeout(LIMIT, async {
        let limits = ConnectionLimits {
            header_bytes: 8192,
            ..ConnectionLimits::usual()
        };
        let (address, _tasks) = served(limits).await;
        let healthy = talk(address, GET).await;
        assert!(healthy.starts_with("HTTP/1.1 200 "), "{healthy}");
        let large = format!(
            "GET /version HTTP/1.1\r\nHost: t\r\nX: {}\r\n",
            "x".repeat(8192)
        );
        let refused = talk(address, large.as_bytes()).await;
        assert!(refused.starts_with("HTTP/1.1 431 "), "{refused}");
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn whoever_takes_too_long_to_ask_is_cut_off_and_an_open_watch_is_not() {
    timeout(LIMIT, async {
        let limits = ConnectionLimits {
            header_time: Duration::from_millis(100),
            ..ConnectionLimits::usual()
        };
        let (address, _tasks) = served(limits).await;
        let mut watch = TcpStream::connect(address).await.unwrap();
        watch
            .write_all(b"GET /api/v1/pods?watch=1&timeoutSeconds=2 HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
            .await
            .unwrap();
        assert_eq!(talk(address, b"").await, "", "silence");
        let half = talk(address, b"GET /version HTTP/1.1\r\nHost:").await;
        assert!(half.is_empty() || half.starts_with("HTTP/1.1 408 "), "{half}");
        let mut answer = String::new();
        watch.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("\r\n0\r\n\r\n"), "ended by its own deadline: {answer}");
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn one_connection_too_many_waits_until_another_ends() {
    timeout(LIMIT, async {
        let limits = ConnectionLimits {
            connections: 1,
            ..ConnectionLimits::usual()
        };
        let (address, _tasks) = served(limits).await;
        let mut first = TcpStream::connect(address).await.unwrap();
        first
            .write_all(b"GET /version HTTP/1.1\r\nHost: t\r\n\r\n")
            .await
            .unwrap();
        assert_eq!(first.read_u8().await.unwrap(), b'H');
        let mut second = Box::pin(talk(address, GET));
        let mut third = Box::pin(talk(address, GET));
        // The first is kept alive, and is answered as often as it asks; the others are not.
        for _ in 0..20 {
            first
                .write_all(b"GET /version HTTP/1.1\r\nHost: t\r\n\r\n")
                .await
                .unwrap();
            let answered = tokio::select! {
                biased;
                _ = &mut second => "second",
                _ = &mut third => "third",
                _ = first.read_u8() => "first",
            };
            assert_eq!(answered, "first");
        }
        drop(first);
        let (second, third) = tokio::join!(second, third);
        assert!(second.starts_with("HTTP/1.1 200 "), "{second}");
        assert!(third.starts_with("HTTP/1.1 200 "), "{third}");
    })
    .await
    .unwrap();
}
