//! Runs the program and keeps what it printed.

use std::process::{Command, Stdio};

use bench_core::measure::record::RunRecord;

/// A run that is over in seconds: two variants of 200 objects. Callers add a verb in front and `--out`.
pub(crate) const SMALL: [&str; 8] = [
    "--count",
    "200",
    "--window",
    "1s",
    "--warm-up",
    "200ms",
    "--rounds",
    "1",
];

/// What a run of the program left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The program with arguments, neither input nor terminal attached.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loadgen"));
    command
        .args(arguments)
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub(crate) fn loadgen(arguments: &[&str]) -> Ran {
    let output = program(arguments).output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The records below a results directory, in the order of running; each must be readable.
pub(crate) fn records(directory: &std::path::Path) -> Vec<RunRecord> {
    reports::read::read_records(directory).unwrap()
}
