//! Client-go's outcomes, kept; and the comparison with them.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{line::Line, outcome::Outcome, script::Script, server::Request, waits::Wait};

/// What one run showed: the requests, which the server knows, and the outcome, which the client knows.
#[derive(Debug, Clone)]
pub struct Run {
    /// In the order in which they came.
    pub requests: Vec<Request>,
    /// The rest.
    pub outcome: Outcome,
}

/// What client-go does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Each request and how long client-go waits before it; nothing is known of the first.
    pub requests: Vec<(String, Option<Wait>)>,
    /// The rest.
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Serialize, Deserialize)]
struct Release {
    client_go: String,
}

/// All that was recorded of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The release of client-go.
    pub release: String,
    /// In the order of the scripts.
    pub all: Vec<Recorded>,
}

impl Recorded {
    /// What several runs of one script show alike; the waits tell from which range they are drawn. `delay` is what the machine
    /// may have added to a wait.
    ///
    /// # Errors
    /// What differs between the runs, or a wait that is drawn from no known range.
    pub fn of(runs: &[Run], delay: Duration) -> Result<Self, String> {
        let (first, others) = runs.split_first().ok_or("no run")?;
        let script = &first.outcome.script;
        for other in others {
            if texts(&first.requests) != texts(&other.requests) || first.outcome != other.outcome {
                return Err(format!(
                    "{script}: client-go does not always do the same:\n{first:#?}\n{other:#?}"
                ));
            }
        }
        let requests = first.requests.iter().enumerate().map(|(place, request)| {
            let waits: Vec<_> = runs
                .iter()
                .filter_map(|run| run.requests[place].waited)
                .collect();
            if waits.is_empty() {
                return Ok((request.text.clone(), None));
            }
            let wait = Wait::of(&waits, delay);
            let wait = wait.ok_or_else(|| {
                format!("{script}: request {place}: waits of {waits:?} are of no known range")
            })?;
            Ok((request.text.clone(), Some(wait)))
        });
        Ok(Self {
            requests: requests.collect::<Result<_, String>>()?,
            outcome: first.outcome.clone(),
        })
    }

    /// What differs in another run, a line each. `delay` is what the machine may have added to a wait.
    pub fn differences(&self, run: &Run, delay: Duration) -> Vec<String> {
        let mut differences = Vec::new();
        for place in 0..self.requests.len().max(run.requests.len()) {
            let recorded = self.requests.get(place);
            let asked = run.requests.get(place);
            let alike = recorded.zip(asked).is_some_and(|((text, wait), asked)| {
                *text == asked.text
                    && match (wait, asked.waited) {
                        (None, None) => true,
                        (Some(wait), Some(waited)) => wait.admits(waited, delay),
                        _ => false,
                    }
            });
            if !alike {
                differences.push(format!(
                    "request {place}: recorded {recorded:?}, now {asked:?}"
                ));
            }
        }
        let (recorded, now) = (&self.outcome, &run.outcome);
        for (what, recorded, now) in [
            (
                "timed out",
                recorded.timed_out.to_string(),
                now.timed_out.to_string(),
            ),
            (
                "synced",
                recorded.synced.to_string(),
                now.synced.to_string(),
            ),
            (
                "last version",
                recorded.last_version.clone(),
                now.last_version.clone(),
            ),
            (
                "store",
                format!("{:?}", recorded.store),
                format!("{:?}", now.store),
            ),
            (
                "handlers synced",
                format!("{:?}", recorded.handlers_synced),
                format!("{:?}", now.handlers_synced),
            ),
            (
                "failures",
                format!("{:?}", recorded.failures),
                format!("{:?}", now.failures),
            ),
            (
                "handlers",
                format!("{:?}", recorded.handlers),
                format!("{:?}", now.handlers),
            ),
        ] {
            if recorded != now {
                differences.push(format!("{what}:\n  recorded {recorded}\n  now      {now}"));
            }
        }
        differences
    }
}

fn texts(requests: &[Request]) -> Vec<&str> {
    requests.iter().map(|request| &*request.text).collect()
}

impl Record {
    /// The file of a line.
    pub fn path(folder: &Path, line: Line) -> PathBuf {
        folder.join(format!("{}.jsonl", line.name()))
    }

    /// Reads what was recorded of a line.
    ///
    /// # Errors
    /// If it cannot be read or is no such file.
    pub fn read(folder: &Path, line: Line) -> io::Result<Self> {
        let text = fs::read_to_string(Self::path(folder, line))?;
        let mut lines = text.lines();
        let release: Release = serde_json::from_str(lines.next().unwrap_or_default())?;
        Ok(Self {
            release: release.client_go,
            all: lines.map(serde_json::from_str).collect::<Result<_, _>>()?,
        })
    }

    /// Writes it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, folder: &Path, line: Line) -> io::Result<()> {
        let release = Release {
            client_go: self.release.clone(),
        };
        let mut text = serde_json::to_string(&release)? + "\n";
        for recorded in &self.all {
            text.push_str(&serde_json::to_string(recorded)?);
            text.push('\n');
        }
        fs::write(Self::path(folder, line), text)
    }
}

/// The file of the scripts.
pub fn scripts_path(folder: &Path) -> PathBuf {
    folder.join("scripts.jsonl")
}

/// The scripts as their file holds them, a line each.
///
/// # Errors
/// Never: every script can be written.
pub fn scripts_text(scripts: &[Script]) -> serde_json::Result<String> {
    let mut text = String::new();
    for script in scripts {
        text.push_str(&serde_json::to_string(script)?);
        text.push('\n');
    }
    Ok(text)
}
