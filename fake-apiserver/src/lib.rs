//! A server that speaks Kubernetes' GET, LIST and WATCH to informers and kubectl, over objects that it made up or read from a
//! file, at a configurable, seeded churn.
//!
//! - Pure state: [`storage`], [`watch_cache`], [`stored_object`], [`watcher_registry`], [`churn`], [`list`], [`watch`],
//!   [`selectors`].
//! - Content: [`profiles`] makes objects up, [`objects_file`] reads real ones.
//! - The server: [`ApiServer`] holds the state, [`router`] serves it in process, [`serve`] over TCP, [`run`] from a
//!   [`ServerConfig`](config::ServerConfig).
//! - [`control`]: the wire types with which a load generator steers it.
//!
//! In process, without a socket:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! use axum::body::Body;
//! use fake_apiserver::{ApiServer, config::{ObjectSource, ServerConfig}, profiles::ProfileKind, router};
//! use http_body_util::BodyExt as _;
//! use tower::ServiceExt as _;
//!
//! let mut config = ServerConfig::empty("127.0.0.1:0".parse().unwrap(), 1);
//! config.objects = vec![ObjectSource::Profile { kind: ProfileKind::Lease, count: 3 }];
//! let server = ApiServer::try_from_config(&config).unwrap();
//!
//! let request = http::Request::get("/apis/coordination.k8s.io/v1/leases?limit=2").body(Body::empty()).unwrap();
//! let response = router(server).oneshot(request).await.unwrap();
//! let body = response.into_body().collect().await.unwrap().to_bytes();
//! let page: serde_json::Value = serde_json::from_slice(&body).unwrap();
//! assert_eq!(page["items"].as_array().unwrap().len(), 2);
//! assert_eq!(page["metadata"]["remainingItemCount"], 1);
//! # }
//! ```
//!
//! Answers come as stored, as a `Table` or as metadata alone, in JSON or YAML, indented for people, and compressed by a
//! kube-apiserver's rules. A built-in resource's columns have our own words for descriptions; schemas under `/openapi` name
//! the kinds and what can be done with them, but not their fields.
//!
//! Deliberately absent: authentication other than by one bearer token, authorisation, protobuf (406 and 415, as a server without
//! it must answer), `selectableFields` of custom resources, websockets; of the cluster behind a server: scheduler, controllers,
//! garbage collector.

mod accept;
mod answer_body;
mod api_server;
mod authentication;
mod calendar;
pub mod churn;
mod churn_driver;
mod common_headers;
pub mod config;
mod connection;
mod continue_token;
pub mod control;
mod control_routes;
mod custom_kind;
mod discovery;
mod documents;
pub mod failure;
pub mod fault;
mod go_duration;
mod health;
mod indent;
mod known_kinds;
mod kubeconfig;
pub mod list;
mod list_body;
mod metrics;
mod object_name;
pub mod objects_file;
mod openapi;
pub mod profiles;
pub mod query;
mod representation;
pub mod request_info;
mod routes;
mod run;
mod schema;
pub mod selectors;
mod serve;
pub mod storage;
pub mod stored_object;
mod tables;
mod tls;
pub mod trace;
pub mod watch;
pub mod watch_cache;
mod watch_stream;
mod watch_view;
pub mod watcher_registry;
mod write;
mod write_request;

pub use api_server::{ApiServer, StartChurnError};
pub use authentication::{BearerToken, TokenError};
pub use routes::router;
pub use run::{RunError, run};
pub use serve::{Endpoint, serve, serve_endpoint};
pub use tls::{TlsError, TlsIdentity};
pub use write_request::RequestedWriteError;
