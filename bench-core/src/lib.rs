//! The informer and the instruments.
//!
//! - [`api`]: Kubernetes' words as types: keys, versions, objects, requests, errors.
//! - [`list_watch`]: the port to an API server and its HTTP client.
//! - [`cache`]: client-go's `tools/cache`: queue, indexer, reflector, controller, informers.
//! - [`workqueue`]: client-go's `util/workqueue`.
//! - [`verify`]: whether what a handler saw was legal and the cache equals the server.
//! - [`measure`]: clocks, histograms, process cost, environment, the run record.

pub mod api;
pub mod cache;
pub mod list_watch;
pub mod measure;
pub mod verify;
pub mod workqueue;
