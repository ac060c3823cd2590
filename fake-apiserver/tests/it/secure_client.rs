//! A server over TLS, and HTTP/2 clients that trust it.

use std::{net::SocketAddr, os::unix::fs::PermissionsExt as _, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use fake_apiserver::{
    ApiServer, BearerToken, Endpoint, TlsIdentity,
    config::{ConnectionLimits, ServerConfig, Transport},
    run, serve_endpoint,
};
use http::{Request, Response};
use http_body_util::Empty;
use hyper::{body::Incoming, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinSet,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore, crypto,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    },
};

/// A running server and what a client needs to reach it.
pub(crate) struct SecureServer {
    pub(crate) address: SocketAddr,
    authority_pem: String,
    stop: Option<oneshot::Sender<()>>,
    // Held until the end.
    clients: Mutex<Vec<Http2Client>>,
    tasks: JoinSet<()>,
}

impl SecureServer {
    /// Serves what a test holds itself.
    pub(crate) async fn serve(server: &Arc<ApiServer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let identity = TlsIdentity::self_signed(address.ip()).unwrap();
        let authority_pem = identity.authority_pem().to_owned();
        let endpoint = Endpoint {
            listener,
            tls: Some(identity),
            limits: ConnectionLimits::usual(),
        };
        let (stop, stopped) = oneshot::channel();
        let mut tasks = JoinSet::new();
        let server = Arc::clone(server);
        tasks.spawn(async move {
            let stopped = async { stopped.await.unwrap() };
            serve_endpoint(endpoint, server, stopped).await.unwrap();
        });
        Self {
            address,
            authority_pem,
            stop: Some(stop),
            clients: Mutex::default(),
            tasks,
        }
    }

    /// Runs a configuration with TLS and a kubeconfig, whose text is given too.
    pub(crate) async fn run(mut config: ServerConfig) -> (Self, Kubeconfig) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kubeconfig");
        config.transport = Transport::Tls;
        config.kubeconfig_out = Some(path.clone());
        let (ready, address) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let ready = move |address| ready.send(address).unwrap();
            let stopped = async { stopped.await.unwrap() };
            run(config, ready, stopped).await.unwrap();
        });
        let address = address.await.unwrap();
        let kubeconfig = Kubeconfig {
            text: std::fs::read_to_string(&path).unwrap(),
            mode: std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        };
        let data = kubeconfig.field("certificate-authority-data");
        let server = Self {
            address,
            authority_pem: String::from_utf8(STANDARD.decode(data).unwrap()).unwrap(),
            stop: Some(stop),
            clients: Mutex::default(),
            tasks,
        };
        (server, kubeconfig)
    }

    /// Keeps a connection open as long as this.
    pub(crate) fn keep(&self, client: Http2Client) {
        self.clients.lock().push(client);
    }

    /// Stops the server and waits for its end.
    pub(crate) async fn stop(mut self) {
        self.stop.take().unwrap().send(()).unwrap();
        self.tasks.join_next().await.unwrap().unwrap();
    }

    fn trusted(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_slice(self.authority_pem.as_bytes());
        roots.add(authority.unwrap()).unwrap();
        roots
    }

    /// Connects and agrees on a protocol; the error is the handshake's.
    pub(crate) async fn connect(
        &self,
        trusted: Option<RootCertStore>,
        protocols: &[&str],
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let provider = Arc::new(crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(trusted.unwrap_or_else(|| self.trusted()))
            .with_no_client_auth();
        config.alpn_protocols = protocols
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        let stream = TcpStream::connect(self.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await
    }

    /// An HTTP/2 connection; with a ping interval, one that takes the peer for dead if a ping is not answered in time.
    pub(crate) async fn http2(&self, ping: Option<Ping>) -> Http2Client {
        let stream = self.connect(None, &["h2"]).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new());
        if let Some(ping) = ping {
            builder
                .keep_alive_interval(ping.interval)
                .keep_alive_timeout(ping.timeout)
                .keep_alive_while_idle(true);
        }
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
        let mut driver = JoinSet::new();
        driver.spawn(async move { connection.await.err() });
        Http2Client {
            sender,
            authority: self.address.to_string(),
            driver,
        }
    }
}

/// A kubeconfig that a server wrote.
pub(crate) struct Kubeconfig {
    text: String,
    pub(crate) mode: u32,
}

impl Kubeconfig {
    /// The text after a field's name.
    #[track_caller]
    pub(crate) fn field(&self, name: &str) -> String {
        let start = format!("{name}: ");
        let lines = self.text.lines().map(str::trim);
        let mut values = lines.filter_map(|line| line.strip_prefix(&start));
        values.next().expect(name).to_owned()
    }
}

/// How often a client asks whether the peer lives, and how long it waits for the answer.
#[derive(Clone, Copy)]
pub(crate) struct Ping {
    pub(crate) interval: Duration,
    pub(crate) timeout: Duration,
}

/// One HTTP/2 connection.
pub(crate) struct Http2Client {
    sender: http2::SendRequest<Empty<Bytes>>,
    authority: String,
    driver: JoinSet<Option<hyper::Error>>,
}

impl Http2Client {
    /// What the connection ended with, once it has.
    pub(crate) async fn ended(mut self) -> Option<hyper::Error> {
        self.driver.join_next().await.unwrap().unwrap()
    }

    pub(crate) async fn get(
        &mut self,
        path: &str,
        user_agent: &str,
        token: Option<&str>,
    ) -> hyper::Result<Response<Incoming>> {
        let mut request = Request::get(format!("https://{}{path}", self.authority))
            .header("user-agent", user_agent);
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Empty::new()).unwrap();
        self.sender.send_request(request).await
    }
}

/// A token for tests.
pub(crate) fn token(text: &str) -> BearerToken {
    BearerToken::try_new(text).unwrap()
}
