//! A server that speaks Kubernetes' LIST and WATCH to informers, over objects that it made up or read from a file, at a
//! configurable, seeded churn.
//!
//! - Pure state: [`storage`], [`watch_cache`], [`stored_object`], [`watcher_registry`], [`churn`], [`list`], [`watch`].
//! - Content: [`profiles`] makes objects up, [`objects_file`] reads real ones.
//! - The server: [`ApiServer`] holds the state, [`router`] serves it in process, [`serve`] over TCP, [`run`] from a
//!   [`ServerConfig`](config::ServerConfig).
//! - [`control`]: the wire types with which a load generator steers it.
//!
//! Deliberately absent: authentication, writes by Kubernetes' own verbs, selectors (refused, never ignored), protobuf.

mod api_server;
pub mod churn;
mod churn_driver;
pub mod config;
mod continue_token;
pub mod control;
mod control_routes;
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
mod serve;
pub mod storage;
pub mod stored_object;
pub mod watch;
pub mod watch_cache;
mod watch_stream;
pub mod watcher_registry;

pub use api_server::{ApiServer, RequestedWriteError, StartChurnError};
pub use routes::router;
pub use run::{RunError, run};
pub use serve::serve;
