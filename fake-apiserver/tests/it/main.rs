//! The server as its clients see it, and its storage against a model.

#![expect(
    clippy::unwrap_used,
    reason = "clippy takes only functions marked as tests for test code"
)]

mod churn;
mod client;
mod command_line;
mod documents;
mod informers;
mod list;
mod model;
mod objects_file;
mod profiles;
mod public_reports;
mod relist_memory;
mod representations;
mod selector_model;
mod selectors;
mod socket;
mod storage_model;
mod watch_lifetime;
mod watch_start;
