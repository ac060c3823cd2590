//! The Go program that replays a trace on client-go.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
};

use super::trace::{Preset, Trace};

/// A running replay program.
#[derive(Debug)]
pub struct Peer {
    child: Child,
    /// Where traces go; closing it ends the program.
    pub input: ChildStdin,
    /// Where outcomes come from, one line for each line of input.
    pub output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts the program of a preset from the folder where the programs were built.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(programs: &Path, preset: Preset) -> io::Result<Self> {
        // That of the work queue is a test: see there.
        let arguments: &[&str] = match preset {
            Preset::WorkQueue => &["-test.run=^TestReplay$", "-test.timeout=0"],
            _ => &[],
        };
        let mut child = Command::new(programs.join(preset.program()))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().expect("it was asked for");
        let output = child.stdout.take().expect("it was asked for");
        Ok(Self {
            child,
            input,
            output: BufReader::with_capacity(1 << 16, output),
        })
    }

    /// Replays one trace and returns the release of client-go and the outcomes, a line each.
    ///
    /// # Errors
    /// If the program ended.
    pub fn replay(&mut self, trace: &Trace) -> io::Result<(String, String)> {
        let mut lines = String::new();
        for line in trace.lines() {
            lines.extend([&line, "\n"]);
        }
        let (input, output) = (&mut self.input, &mut self.output);
        thread::scope(|scope| {
            // On a thread of its own: the program may wait until its answers are read.
            let written = scope.spawn(|| input.write_all(lines.as_bytes()));
            let mut release = String::new();
            read_line(output, &mut release)?;
            let mut outcomes = String::new();
            for _ in &trace.operations {
                read_line(output, &mut outcomes)?;
            }
            written.join().expect("writing does not panic")?;
            Ok((release.trim_end().to_owned(), outcomes))
        })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Nobody waits for its answers any more; that it is gone already is no harm.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Appends a line with its end.
///
/// # Errors
/// [`io::ErrorKind::UnexpectedEof`] if there is none.
pub fn read_line(from: &mut BufReader<ChildStdout>, to: &mut String) -> io::Result<()> {
    let read = from.read_line(to)?;
    if read == 0 || !to.ends_with('\n') {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the Go program ended",
        ));
    }
    Ok(())
}
