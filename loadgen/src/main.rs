//! `loadgen`: measures what an informer's resync period costs and what it buys. See the library's `cli`.

use std::{alloc::System, io::IsTerminal as _, process::ExitCode};

use bench_core::measure::allocations::{INSTRUMENTED_SYSTEM, StatsAlloc};
use clap::Parser as _;
use loadgen::cli::{Cli, execute};

/// Counts allocations. What that costs is in `METHODOLOGY.md`.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    let filter =
        tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "error".into());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    match execute(Cli::parse()) {
        Ok(code) => code.into(),
        Err(error) => {
            loadgen::table::print_error(&format!("{error:#}"));
            loadgen::exit_code::ExitCode::CouldNotRun.into()
        }
    }
}
