//! The server as its clients see it, and its storage against a model.

#![expect(
    clippy::unwrap_used,
    reason = "clippy takes only functions marked as tests for test code"
)]

mod applies;
mod churn;
mod client;
mod command_line;
mod custom_resources;
mod deletes;
mod informers;
mod list;
mod model;
mod objects_file;
mod patches;
mod profiles;
mod relist_memory;
mod socket;
mod storage_model;
mod watch_lifetime;
mod watch_start;
mod writer;
mod writes;
mod writes_fuzz;
mod writes_model;
