//! The server on real sockets: a few tests, in real time.

use std::{sync::Arc, time::Duration};

use fake_apiserver::{
    ApiServer,
    config::{ObjectSource, ServerConfig},
    profiles::ProfileKind,
    serve,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinSet,
    time::timeout,
};

const LIMIT: Duration = Duration::from_secs(20);

pub(crate) async fn connect(address: std::net::SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// One GET on a connection of its own: the whole answer.
pub(crate) async fn get(address: std::net::SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

pub(crate) async fn read_headers(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

#[tokio::test]
async fn shutdown_ends_watches_cleanly_cuts_whoever_does_not_read_and_frees_the_port() {
    timeout(LIMIT, async {
        let mut config = ServerConfig::empty("127.0.0.1:0".parse().unwrap(), 1);
        // More than the sockets' buffers hold.
        config.objects.push(ObjectSource::Profile {
            kind: ProfileKind::Pod50k,
            count: 600,
        });
        let server = ApiServer::try_from_config(&config).unwrap();
        let listener = TcpListener::bind(config.listen).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let mut tasks = JoinSet::new();
        let serving = Arc::clone(&server);
        tasks.spawn(async move {
            serve(listener, serving, async { stopped.await.unwrap() })
                .await
                .unwrap();
        });
        let mut idle = Vec::new();
        for _ in 0..3 {
            let mut stream = connect(address, "/api/v1/nodes?watch=true").await;
            let head = read_headers(&mut stream).await.to_lowercase();
            assert!(head.starts_with("http/1.1 200 ok\r\n"), "{head}");
            assert!(head.contains("transfer-encoding: chunked\r\n"), "{head}");
            idle.push(stream);
        }
        let mut never_reads = connect(address, "/api/v1/pods").await;
        read_headers(&mut never_reads).await;

        stop.send(()).unwrap();
        for mut stream in idle {
            let mut rest = String::new();
            timeout(Duration::from_secs(1), stream.read_to_string(&mut rest))
                .await
                .unwrap()
                .unwrap();
            assert_eq!(rest, "0\r\n\r\n", "an empty body, properly ended");
        }
        timeout(Duration::from_secs(6), tasks.join_next())
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        TcpListener::bind(address).await.unwrap();
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn the_control_api_steers_and_stops_a_server() {
    timeout(LIMIT, async {
        let mut config = ServerConfig::empty("127.0.0.1:0".parse().unwrap(), 1);
        config.objects.push(ObjectSource::Profile { kind: ProfileKind::Lease, count: 10 });
        let (ready, address) = oneshot::channel();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let ready = move |address| ready.send(address).unwrap();
            fake_apiserver::run(config, ready, std::future::pending()).await.unwrap();
        });
        let address = address.await.unwrap();
        let post = async |path: &str, body: &str| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = format!(
                "POST /informer-bench/v1/{path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            (head.split(' ').nth(1).unwrap().to_owned(), body.to_owned())
        };
        let (code, body) = post("write", r#"{"resource":"leases","op":"update"}"#).await;
        let prefix = r#"{"resource_version":12,"kind":"update","key":"kube-node-lease/node-00000","scheduled_ns":"#;
        assert!(code == "200" && body.starts_with(prefix), "{code} {body}");
        let (code, body) = post("write", r#"{"resource":"leases","op":"delete","key":"a/b"}"#).await;
        assert_eq!((&*code, &*body), ("404", r#"{"error":"a/b not found"}"#));
        let churn = r#"{"resource":"leases","rate_per_second":-1,"mix":{"create":0,"update":1,"delete":0},"arrivals":"poisson","keys":{"zipf":{"exponent":1.1}},"seed":1}"#;
        let (code, body) = post("churn", churn).await;
        assert_eq!((&*code, &*body), ("400", r#"{"error":"rate_per_second: must be above 0"}"#));
        let (code, _) = post("churn", &churn.replace("-1", "100")).await;
        assert_eq!(code, "202");
        let (code, body) = post("churn/stop", "").await;
        assert!(code == "200" && body.starts_with(r#"{"scheduled":"#), "{code} {body}");
        assert_eq!(post("shutdown", "").await.0, "202");
        tasks.join_next().await.unwrap().unwrap();
    })
    .await
    .unwrap();
}
