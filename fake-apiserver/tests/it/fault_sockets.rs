//! Faults as they are on the wire, and those that need one.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use fake_apiserver::{
    ApiServer,
    control::{WriteKind, WriteRequest},
    serve,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket, TcpStream},
    task::JoinSet,
    time::timeout,
};

use crate::{
    fault_requests::set_faults,
    socket::{connect, read_headers},
};

const LIMIT: Duration = Duration::from_secs(30);
const WATCH: &str = "/apis/coordination.k8s.io/v1/leases?watch=1&resourceVersion=1";

/// A server without objects, served until the set is dropped.
async fn served(script: &str) -> (Arc<ApiServer>, SocketAddr, JoinSet<()>) {
    let server = ApiServer::empty(1);
    set_faults(&server, script);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut tasks = JoinSet::new();
    let serving = Arc::clone(&server);
    tasks.spawn(async move {
        serve(listener, serving, std::future::pending())
            .await
            .unwrap();
    });
    (server, address, tasks)
}

fn create(server: &ApiServer, name: &str) {
    let request = WriteRequest {
        resource: "leases".to_owned(),
        op: WriteKind::Create,
        key: Some(format!("a/{name}")),
    };
    server.write(&request).unwrap();
}

/// Reads until these bytes have come.
async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    while !text.contains(end) {
        text.push(char::from(stream.read_u8().await.unwrap()));
    }
    text
}

#[tokio::test]
async fn a_client_is_told_apart_by_its_address() {
    timeout(LIMIT, async {
        let script = "faults: [{match: {remote: 127.0.0.2}, fault: {error: {code: 418}}}]";
        let (_server, address, _tasks) = served(script).await;
        let mut codes = Vec::new();
        for own in ["127.0.0.1:0", "127.0.0.2:0"] {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind(own.parse().unwrap()).unwrap();
            let mut stream = socket.connect(address).await.unwrap();
            stream
                .write_all(b"GET /version HTTP/1.1\r\nHost: t\r\n\r\n")
                .await
                .unwrap();
            let head = read_headers(&mut stream).await;
            codes.push(head.split(' ').nth(1).unwrap().to_owned());
        }
        assert_eq!(codes, ["200", "418"]);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_cut_answer_has_half_a_line_and_no_end_and_a_closed_one_ends_properly() {
    timeout(LIMIT, async {
        for (fault, ends_properly) in [("cut", false), ("close", true)] {
            let script = format!(
                "faults: [{{match: {{verbs: [watch]}}, fault: {{{fault}: {{after_events: 1}}}}}}]"
            );
            let (server, address, _tasks) = served(&script).await;
            let mut stream = connect(address, WATCH).await;
            read_headers(&mut stream).await;
            create(&server, "x");
            create(&server, "y");
            let rest = if ends_properly {
                // The connection lives on for another request.
                read_until(&mut stream, "\r\n0\r\n\r\n").await
            } else {
                let mut rest = String::new();
                stream.read_to_string(&mut rest).await.unwrap();
                rest
            };
            assert_eq!(rest.matches("}}\n").count(), 1, "{rest}");
            assert_eq!(rest.ends_with("\r\n0\r\n\r\n"), ends_properly, "{rest}");
            let begun_lines = rest.matches(r#"{"type":"ADDED""#).count();
            assert_eq!(begun_lines, if ends_properly { 1 } else { 2 }, "{rest}");
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_half_open_connection_takes_and_gives_nothing_and_a_stalled_one_stops_with_the_server() {
    timeout(LIMIT, async {
        let script = "faults: [{match: {resources: [leases], verbs: [watch], nth: 1}, fault: {half_open: {after_events: 1}}},
                               {match: {resources: [leases], verbs: [watch], nth: 2}, fault: {stall: {after_events: 1}}}]";
        let (server, address, mut tasks) = served(script).await;
        let mut streams = Vec::new();
        for _ in 0..3 {
            let mut stream = connect(address, WATCH).await;
            read_headers(&mut stream).await;
            streams.push(stream);
        }
        let [mut dead, mut stalled, mut healthy] = <[_; 3]>::try_from(streams).unwrap();
        create(&server, "first");
        for stream in [&mut dead, &mut stalled, &mut healthy] {
            read_until(stream, "first").await;
            read_until(stream, "\n\r\n").await;
        }
        create(&server, "second");
        read_until(&mut healthy, "second").await;
        for stream in [&dead, &stalled] {
            let error = stream.try_read(&mut [0]).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
        }
        dead.write_all(b"anything").await.unwrap();
        server.request_shutdown();
        let mut rest = String::new();
        stalled.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "0\r\n\r\n", "nothing more, and a proper end");
        tasks.join_next().await.unwrap().unwrap();
    })
    .await
    .unwrap();
}
