//! Drives informers against an API server and measures what a resync period costs and what it buys.
//!
//! - [`scenario`], [`plan`]: what is asked, and the trials that answer it.
//! - [`drive`]: one trial: an informer, a server, a window, verification, numbers.
//! - [`run`]: the trials of a plan, each in a process of its own against a server process of its own; [`results`] writes their records.
//! - [`cli`], [`table`]: the command line and what it prints.

pub mod cli;
mod client_go;
pub mod control_client;
mod discovery;
pub mod drive;
pub mod exit_code;
pub mod handler_cost;
mod input;
pub mod interrupt;
pub mod plan;
pub mod quantity;
pub mod results;
pub mod run;
pub mod scenario;
mod serve;
pub mod server_process;
pub mod table;
mod trial_process;
mod warnings;
