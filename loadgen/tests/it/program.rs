//! Runs the program and keeps what it printed.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, ChildStderr, Command, Stdio},
};

use bench_core::measure::record::RunRecord;

/// A run that is over in seconds: two variants of 200 objects. Callers add a verb in front and `--out`.
pub(crate) const SMALL: [&str; 10] = [
    "--queue",
    "delta-fifo",
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

/// A run that is looked at while it goes on: by its log.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    heard: String,
}

impl Running {
    /// Starts the program; `log` is what `RUST_LOG` says.
    pub(crate) fn start(arguments: &[&str], log: &str) -> Self {
        let mut child = program(arguments).env("RUST_LOG", log).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self {
            child,
            stderr,
            heard: String::new(),
        }
    }

    /// Reads on to the next line of stderr that `is_it`, and returns it.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, is_it: impl Fn(&str) -> bool) -> String {
        loop {
            let mut line = String::new();
            let read = self.stderr.read_line(&mut line).unwrap();
            self.heard += &line;
            assert!(read > 0, "ended before what was waited for: {}", self.heard);
            if is_it(&line) {
                return line;
            }
        }
    }

    /// Does what Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        signal("INT", self.child.id());
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self) -> Ran {
        self.stderr.read_to_string(&mut self.heard).unwrap();
        let mut stdout = String::new();
        let mut pipe = self.child.stdout.take().unwrap();
        pipe.read_to_string(&mut stdout).unwrap();
        Ran {
            code: self.child.wait().unwrap().code(),
            stdout,
            stderr: self.heard,
        }
    }
}

pub(crate) fn signal(name: &str, process: u32) {
    let sent = Command::new("kill")
        .args([format!("-{name}"), process.to_string()])
        .status()
        .unwrap();
    assert!(sent.success(), "kill -{name} {process}");
}

/// The number after `name=` in a line of the log.
pub(crate) fn field(line: &str, name: &str) -> u32 {
    let (_, rest) = line.split_once(&format!(" {name}=")).expect(line);
    let digits = rest.split(|it: char| !it.is_ascii_digit()).next().unwrap();
    digits.parse().expect(line)
}

/// The records below a results directory, in the order of running; each must be readable.
pub(crate) fn records(directory: &std::path::Path) -> Vec<RunRecord> {
    reports::read::read_records(directory).unwrap()
}
