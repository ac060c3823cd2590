//! Recorded traces: files of a header, the release of client-go that answered, and operations each followed by its outcome.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::trace::Trace;

/// A trace and what client-go made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The trace.
    pub trace: Trace,
    /// The line in which the program named its release.
    pub release: String,
    /// The outcomes, a line each.
    pub outcomes: String,
}

impl Recorded {
    /// Reads the traces of a file.
    ///
    /// # Errors
    /// If it cannot be read or is no such file.
    pub fn read(path: &Path) -> io::Result<Vec<Self>> {
        let text = fs::read_to_string(path)?;
        let invalid = |error| {
            let message = format!("{}: {error}", path.display());
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        let mut all: Vec<Self> = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let answer = lines.next().unwrap_or_default();
            if line.starts_with("{\"trace\"") {
                all.push(Self {
                    trace: Trace {
                        header: serde_json::from_str(line)
                            .map_err(|error| invalid(error.to_string()))?,
                        operations: Vec::new(),
                    },
                    release: answer.to_owned(),
                    outcomes: String::new(),
                });
                continue;
            }
            let recorded = all
                .last_mut()
                .ok_or_else(|| invalid("no header".to_owned()))?;
            let operation =
                serde_json::from_str(line).map_err(|error| invalid(error.to_string()))?;
            recorded.trace.operations.push(operation);
            recorded.outcomes.extend([answer, "\n"]);
        }
        Ok(all)
    }

    /// Writes traces to a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(path: &Path, all: &[Self]) -> io::Result<()> {
        let mut text = String::new();
        for recorded in all {
            let answers =
                std::iter::once(recorded.release.as_str()).chain(recorded.outcomes.lines());
            for (line, answer) in recorded.trace.lines().zip(answers) {
                text.extend([&line, "\n", answer, "\n"]);
            }
        }
        fs::write(path, text)
    }
}

/// The files of a corpus, sorted.
///
/// # Errors
/// If the folder cannot be read.
pub fn corpus_files(corpus: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(corpus)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// The first operation whose outcomes differ: its place, then each side's outcome.
pub fn first_difference<'a>(ours: &'a str, theirs: &'a str) -> Option<(usize, &'a str, &'a str)> {
    let (mut ours, mut theirs) = (ours.lines(), theirs.lines());
    let mut place = 0;
    loop {
        match (ours.next(), theirs.next()) {
            (None, None) => return None,
            (ours, theirs) if ours != theirs => {
                return Some((place, ours.unwrap_or(""), theirs.unwrap_or("")));
            }
            _ => place += 1,
        }
    }
}
