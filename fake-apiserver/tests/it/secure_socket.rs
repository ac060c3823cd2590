//! TLS, HTTP/2, the kubeconfig and the token, on real sockets.

use std::{os::unix::fs::PermissionsExt as _, time::Duration};

use fake_apiserver::{
    BearerToken,
    config::{ObjectSource, ServerConfig},
    profiles::ProfileKind,
};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::rustls::RootCertStore;

use crate::secure_client::{SecureServer, token};

const LIMIT: Duration = Duration::from_secs(30);

fn three_leases() -> ServerConfig {
    let mut config = ServerConfig::empty("127.0.0.1:0".parse().unwrap(), 1);
    config.objects.push(ObjectSource::Profile {
        kind: ProfileKind::Lease,
        count: 3,
    });
    config
}

#[tokio::test]
async fn a_client_with_the_kubeconfig_is_served_over_http2_and_http1_and_others_are_not() {
    timeout(LIMIT, async {
        let (server, kubeconfig) = SecureServer::run(three_leases()).await;
        assert_eq!(
            kubeconfig.field("server"),
            format!("https://{}", server.address)
        );
        assert_eq!(kubeconfig.mode, 0o600);

        let mut client = server.http2(None).await;
        let response = client
            .get("/apis/coordination.k8s.io/v1/leases", "", None)
            .await
            .unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let list: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(list["items"].as_array().unwrap().len(), 3);

        let mut stream = server.connect(None, &["http/1.1"]).await.unwrap();
        stream
            .write_all(b"GET /version HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
            .await
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");

        let untrusting = server.connect(Some(RootCertStore::empty()), &["h2"]).await;
        let error = untrusting.unwrap_err().to_string();
        assert!(error.contains("UnknownIssuer"), "{error}");
        let mut plain = TcpStream::connect(server.address).await.unwrap();
        plain
            .write_all(b"GET /version HTTP/1.1\r\nHost: t\r\n\r\n")
            .await
            .unwrap();
        let mut answer = Vec::new();
        // A TLS alert and the end, or a reset: no HTTP in any case.
        let _ = plain.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
        server.stop().await;
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn an_open_http2_watch_ends_cleanly_when_the_server_stops() {
    timeout(LIMIT, async {
        let (server, _) = SecureServer::run(three_leases()).await;
        let mut client = server.http2(None).await;
        let path = "/apis/coordination.k8s.io/v1/leases?watch=1&resourceVersion=4";
        let response = client.get(path, "", None).await.unwrap();
        assert_eq!(response.status(), 200);
        server.stop().await;
        let rest = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(rest, "");
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn with_a_token_only_public_paths_are_open_to_all() {
    timeout(LIMIT, async {
        let mut config = three_leases();
        config.token = Some(token("s3cret"));
        let (server, kubeconfig) = SecureServer::run(config).await;
        assert_eq!(kubeconfig.field("token"), "\"s3cret\"");
        let mut client = server.http2(None).await;
        let mut code = async |path: &str, token: Option<&str>| {
            let response = client.get(path, "", token).await.unwrap();
            response.status().as_u16()
        };
        for path in [
            "/api/v1/pods",
            "/api",
            "/metrics",
            "/informer-bench/v1/state",
        ] {
            assert_eq!(code(path, Some("s3cret")).await, 200, "{path}");
            for wrong in [
                None,
                Some("s3cre"),
                Some("s3cret2"),
                Some("s3creT"),
                Some(""),
            ] {
                assert_eq!(code(path, wrong).await, 401, "{path} {wrong:?}");
            }
        }
        for path in ["/healthz", "/livez", "/readyz", "/version"] {
            assert_eq!(code(path, None).await, 200, "{path}");
        }
        let response = client.get("/api/v1/pods", "", None).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(
            serde_json::from_slice::<Value>(&body).unwrap(),
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                   "message": "Unauthorized", "reason": "Unauthorized", "code": 401})
        );
        server.stop().await;
    })
    .await
    .unwrap();
}

#[test]
fn a_token_file_is_read_or_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let made = BearerToken::from_file(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!((text.len(), text.trim().len()), (33, 32));
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(BearerToken::from_file(&path).unwrap(), made);
    assert_eq!(format!("{made:?}"), "BearerToken", "never printed");
    std::fs::write(&path, "two words\n").unwrap();
    assert!(BearerToken::from_file(&path).is_err());
    std::fs::write(&path, "\n").unwrap();
    assert!(BearerToken::from_file(&path).is_err());
}
