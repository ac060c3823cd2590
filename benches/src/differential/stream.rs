//! Millions of operations through one Go program: one thread makes traces and replays ours, another compares.

use std::{
    io::{self, Write as _},
    path::Path,
    sync::mpsc::{Receiver, sync_channel},
    thread,
};

use super::{
    generate::generate,
    peer::{Peer, read_line},
    replay::replay,
    trace::Preset,
};

/// What a run found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Streamed {
    /// Traces that were compared.
    pub traces: u64,
    /// Operations that were compared.
    pub operations: u64,
    /// The release of client-go, as the program said.
    pub release: String,
    /// The seed of the first trace that differed.
    pub different: Option<u64>,
}

/// Traces that are under way; a bound on memory.
const UNDER_WAY: usize = 256;

struct Expected {
    seed: u64,
    operations: u64,
    outcomes: String,
}

/// Compares traces of the seeds from `first_seed` on until there were at least `operations`, or one differed.
///
/// # Errors
/// If the Go program cannot be started or ends.
pub fn stream(
    programs: &Path,
    preset: Preset,
    first_seed: u64,
    operations: u64,
) -> io::Result<Streamed> {
    let mut peer = Peer::start(programs, preset)?;
    let (sender, receiver) = sync_channel(UNDER_WAY);
    let (input, output) = (&mut peer.input, &mut peer.output);
    thread::scope(|scope| {
        let comparer = scope.spawn(move || compare(output, &receiver));
        let mut made = 0;
        for seed in first_seed.. {
            if made >= operations {
                break;
            }
            let trace = generate(preset, seed);
            let expected = Expected {
                seed,
                operations: trace.operations.len() as u64,
                outcomes: replay(&trace),
            };
            made += expected.operations;
            // Before the trace is written, so that whatever the program answers is awaited.
            if sender.send(expected).is_err() {
                break;
            }
            let mut lines = String::new();
            for line in trace.lines() {
                lines.extend([&line, "\n"]);
            }
            input.write_all(lines.as_bytes())?;
        }
        drop(sender);
        comparer.join().expect("comparing does not panic")
    })
}

fn compare(
    output: &mut io::BufReader<std::process::ChildStdout>,
    receiver: &Receiver<Expected>,
) -> io::Result<Streamed> {
    let mut streamed = Streamed {
        traces: 0,
        operations: 0,
        release: String::new(),
        different: None,
    };
    let mut outcomes = String::new();
    for expected in receiver {
        streamed.release.clear();
        read_line(output, &mut streamed.release)?;
        outcomes.clear();
        for _ in 0..expected.operations {
            read_line(output, &mut outcomes)?;
        }
        streamed.traces += 1;
        streamed.operations += expected.operations;
        if outcomes != expected.outcomes {
            streamed.different = Some(expected.seed);
            break;
        }
    }
    streamed.release.truncate(streamed.release.trim_end().len());
    Ok(streamed)
}
