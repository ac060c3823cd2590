//! The client of the server's control API, and of its discovery.

use std::time::Duration;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use fake_apiserver::control::{ChurnRequest, ChurnSummary, CommitRecord, PREFIX, ServerState};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde::de::DeserializeOwned;

/// How long a control request may take.
const LIMIT: Duration = Duration::from_secs(30);

/// Talks to one server.
#[derive(Debug, Clone)]
pub struct ControlClient {
    client: Client<HttpConnector, Full<Bytes>>,
    base_url: String,
}

impl ControlClient {
    /// A client of the server at an address such as `http://127.0.0.1:8001`.
    pub fn new(base_url: &str) -> Self {
        Self {
            client: Client::builder(TokioExecutor::new()).build_http(),
            base_url: base_url.to_owned(),
        }
    }

    /// The server's counters.
    ///
    /// # Errors
    /// If the server does not answer as it should; so for every method.
    pub async fn state(&self) -> anyhow::Result<ServerState> {
        self.json(Method::GET, "state", Bytes::new()).await
    }

    /// Starts a churn.
    ///
    /// # Errors
    /// As [`ControlClient::state`].
    pub async fn start_churn(&self, churn: &ChurnRequest) -> anyhow::Result<()> {
        let body = serde_json::to_vec(churn).context("a churn request cannot be written")?;
        self.send(Method::POST, "churn", body.into())
            .await
            .map(|_| ())
    }

    /// Stops the churn.
    ///
    /// # Errors
    /// As [`ControlClient::state`].
    pub async fn stop_churn(&self) -> anyhow::Result<ChurnSummary> {
        self.json(Method::POST, "churn/stop", Bytes::new()).await
    }

    /// The writes after a version, in order.
    ///
    /// # Errors
    /// As [`ControlClient::state`].
    pub async fn commits_since(&self, version: u64) -> anyhow::Result<Vec<CommitRecord>> {
        self.json(
            Method::GET,
            &format!("commits?since={version}"),
            Bytes::new(),
        )
        .await
    }

    /// A document of the Kubernetes API, such as `/api/v1`.
    ///
    /// # Errors
    /// As [`ControlClient::state`].
    pub async fn document<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        let answer = self.request(Method::GET, path, Bytes::new()).await?;
        serde_json::from_slice(&answer)
            .with_context(|| format!("the server's answer to {path} cannot be read"))
    }

    async fn json<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> anyhow::Result<T> {
        let answer = self.send(method, path, body).await?;
        serde_json::from_slice(&answer)
            .with_context(|| format!("the server's answer to {path} cannot be read"))
    }

    async fn send(&self, method: Method, path: &str, body: Bytes) -> anyhow::Result<Bytes> {
        self.request(method, &format!("{PREFIX}/{path}"), body)
            .await
    }

    async fn request(&self, method: Method, path: &str, body: Bytes) -> anyhow::Result<Bytes> {
        let url = format!("{}{path}", self.base_url);
        let request = Request::builder()
            .method(method)
            .uri(&url)
            .header("content-type", "application/json");
        let request = request
            .body(Full::new(body))
            .with_context(|| format!("{url} is no address"))?;
        let exchange = async {
            let response = self.client.request(request).await?;
            let status = response.status();
            anyhow::Ok((status, response.into_body().collect().await?.to_bytes()))
        };
        let answered = tokio::time::timeout(LIMIT, exchange).await;
        let (status, answer) = answered
            .with_context(|| format!("{url} did not answer within {LIMIT:?}"))?
            .with_context(|| format!("{url} cannot be reached"))?;
        if !status.is_success() {
            bail!(
                "{url} answered {status}: {}",
                String::from_utf8_lossy(&answer).trim()
            );
        }
        Ok(answer)
    }
}
