//! The program as its users run it.

#![expect(
    clippy::unwrap_used,
    reason = "clippy takes only functions marked as tests for test code"
)]

mod interruption;
mod meddler;
mod program;
mod rate;
mod real_objects;
mod refusals;
mod server;
mod small_run;
mod verification;
