//! A server that speaks Kubernetes' LIST and WATCH to informers, over objects that it made up or read from a file, at a
//! configurable, seeded churn.
//!
//! - Pure state: [`storage`], [`watch_cache`], [`stored_object`], [`watcher_registry`], [`churn`], [`list`], [`watch`].
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
//! Deliberately absent: authentication, selectors (refused, never ignored), protobuf; of the cluster behind a server: scheduler,
//! controllers, garbage collector.

mod api_server;
pub mod churn;
mod churn_driver;
pub mod config;
mod continue_token;
pub mod control;
mod control_routes;
mod custom_kind;
mod discovery;
pub mod failure;
mod known_kinds;
pub mod list;
mod list_body;
mod object_name;
pub mod objects_file;
pub mod profiles;
pub mod query;
mod routes;
mod run;
mod schema;
mod serve;
pub mod storage;
pub mod stored_object;
pub mod watch;
pub mod watch_cache;
mod watch_stream;
pub mod watcher_registry;
mod write;
mod write_request;

pub use api_server::{ApiServer, StartChurnError};
pub use routes::router;
pub use run::{RunError, run};
pub use serve::serve;
pub use write_request::RequestedWriteError;
