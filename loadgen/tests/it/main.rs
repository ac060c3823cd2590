//! The program as its users run it.

#![expect(
    clippy::unwrap_used,
    reason = "clippy takes only functions marked as tests for test code"
)]

mod program;
mod refusals;
mod small_run;
