//! Client-go's informers at scripted servers.

use std::{
    io::{self, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::{
    line::Line,
    outcome::Outcome,
    record::Run,
    script::{InformerSpec, Script, Streaming},
    server::ScriptedServer,
    tcp::listen,
};

/// One informer to run.
#[derive(Debug, Serialize)]
struct Errand {
    script: String,
    url: String,
    informer: InformerSpec,
    final_version: String,
    requests: Option<usize>,
}

#[derive(Deserialize)]
struct Release {
    client_go: String,
}

/// Runs every script at once on a line of client-go, and returns its release and the runs, in the order of the scripts.
/// Scripts that differ in [`Streaming`] go to processes of their own, since client-go takes that from the environment.
///
/// # Errors
/// If the line's program cannot be run.
pub async fn run_all(
    programs: &Path,
    line: Line,
    scripts: &[Script],
) -> io::Result<(String, Vec<Run>)> {
    let run = |streaming| {
        let scripts = scripts.iter().filter(move |it| it.streaming == streaming);
        run_together(programs, line, streaming, scripts.cloned().collect())
    };
    let (default, off, on) = tokio::join!(
        run(Streaming::Default),
        run(Streaming::Off),
        run(Streaming::On)
    );
    let mut release = String::new();
    let mut runs = Vec::new();
    for together in [default?, off?, on?] {
        release = together.0;
        runs.extend(together.1);
    }
    let place = |run: &Run| {
        let mut names = scripts.iter().map(|script| &script.name);
        names.position(|name| *name == run.outcome.script)
    };
    runs.sort_by_key(place);
    Ok((release, runs))
}

async fn run_together(
    programs: &Path,
    line: Line,
    streaming: Streaming,
    scripts: Vec<Script>,
) -> io::Result<(String, Vec<Run>)> {
    let mut servers = Vec::new();
    let mut errands = Vec::new();
    for script in scripts {
        let server = ScriptedServer::new(script.clone());
        let listening = listen(server.clone()).await?;
        errands.push(Errand {
            script: script.name,
            url: format!("http://{}", listening.address),
            informer: script.informer,
            final_version: script.final_version,
            requests: script.requests,
        });
        servers.push((server, listening));
    }
    let mut command = Command::new(programs.join(line.name()));
    command.arg("informers");
    command.envs(line.environment(streaming));
    let input = serde_json::to_vec(&errands)?;
    let answered = spawn_blocking(move || execute(command, &input)).await;
    let answer = answered.map_err(io::Error::other)??;
    let mut lines = answer.lines();
    let release: Release = serde_json::from_str(lines.next().unwrap_or_default())?;
    let mut runs = Vec::new();
    for ((server, _), line) in servers.iter().zip(lines) {
        let mut outcome: Outcome = serde_json::from_str(line)?;
        outcome.normalize(server.script());
        runs.push(Run {
            requests: server.requests(),
            outcome,
        });
    }
    if runs.len() == servers.len() {
        Ok((release.client_go, runs))
    } else {
        Err(io::Error::other("the Go program left scripts out"))
    }
}

fn execute(mut command: Command, input: &[u8]) -> io::Result<String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    // It reads all before it writes any.
    child
        .stdin
        .take()
        .expect("it was asked for")
        .write_all(input)?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!(
            "the Go program failed: {}",
            output.status
        )));
    }
    String::from_utf8(output.stdout).map_err(io::Error::other)
}
