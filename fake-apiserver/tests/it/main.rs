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
mod documents;
mod fault_events;
mod fault_requests;
mod fault_script;
mod fault_sockets;
mod fault_streams;
mod fault_timeline;
mod half_open;
mod informers;
mod limits;
mod list;
mod metrics;
mod model;
mod objects_file;
mod patches;
mod profiles;
mod public_reports;
mod relist_memory;
mod representations;
mod secure_client;
mod secure_socket;
mod selector_model;
mod selectors;
mod socket;
mod storage_model;
mod trace;
mod watch_lifetime;
mod watch_start;
mod writer;
mod writes;
mod writes_fuzz;
mod writes_model;
