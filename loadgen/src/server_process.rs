//! The server as a process of its own: this binary, started again as `loadgen serve`.

use std::{collections::VecDeque, path::Path, process::Stdio, sync::Arc, time::Duration};

use anyhow::{Context as _, anyhow, bail};
use bench_core::measure::environment::{allowed_cores, pin_to_core};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    process::{Child, ChildStdin, Command},
    task::JoinSet,
    time::timeout,
};

/// How long a server may take to generate or read its objects.
const START_LIMIT: Duration = Duration::from_mins(2);

/// How long after a server's end its last words may take to arrive.
const LAST_WORDS_LIMIT: Duration = Duration::from_secs(1);

/// Lines of its stderr that are kept.
const LINES_KEPT: usize = 20;

/// A running server. Dropping it ends the process, and so does the end of this process, whatever ends it.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    // The server ends when this closes.
    _stdin: ChildStdin,
    stderr: LastLines,
    base_url: String,
}

/// Reads a stream to its end, so that its writer never waits, and keeps the last lines.
#[derive(Debug)]
pub(crate) struct LastLines {
    lines: Arc<Mutex<VecDeque<String>>>,
    reader: JoinSet<()>,
}

/// What a server holds.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// Real objects.
    File(&'a Path),
    /// Objects that are made up.
    Profile {
        /// Such as `pod-6k`.
        name: &'a str,
        /// How many.
        count: u64,
    },
}

/// Where server and client run.
#[derive(Debug, Clone)]
pub struct Placement {
    server_core: Option<usize>,
    client_core: Option<usize>,
}

impl Placement {
    /// The server on the first core and the client on the second, where there are two.
    pub fn of_this_machine() -> Self {
        match allowed_cores().unwrap_or_default()[..] {
            [server, client, ..] => Self {
                server_core: Some(server),
                client_core: Some(client),
            },
            _ => Self {
                server_core: None,
                client_core: None,
            },
        }
    }

    /// Keeps the calling thread and those that it makes on the client's core. Returns a sentence that says what was possible.
    pub fn pin_client(&self) -> String {
        match (self.server_core, self.client_core) {
            (Some(server), Some(client)) => match pin_to_core(client) {
                Ok(()) => format!("server on core {server}, client on core {client}"),
                Err(error) => format!("client not pinned: {error}"),
            },
            _ => "server and client share a core".to_owned(),
        }
    }
}

impl ServerProcess {
    /// Starts a server and waits until it listens.
    ///
    /// # Errors
    /// If it does not start; with what it wrote to stderr.
    pub async fn start(
        content: Content<'_>,
        seed: u64,
        placement: &Placement,
    ) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("this program's path cannot be found")?;
        let mut command = Command::new(program);
        command.arg("serve").arg("--seed").arg(seed.to_string());
        match content {
            Content::File(path) => command.arg("--objects").arg(path),
            Content::Profile { name, count } => command
                .arg("--profile")
                .arg(name)
                .arg("--count")
                .arg(count.to_string()),
        };
        if let Some(core) = placement.server_core {
            command.arg("--core").arg(core.to_string());
        }
        command
            .arg("--until-stdin-ends")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // A signal to the terminal is for us to handle, not for the server.
        command.process_group(0);
        let mut child = command.spawn().context("the server cannot be started")?;
        let stdin = child.stdin.take().expect("it is piped");
        let stdout = child.stdout.take().expect("it is piped");
        let mut stderr = LastLines::of(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        let read = timeout(START_LIMIT, BufReader::new(stdout).read_line(&mut line)).await;
        read.context("the server did not listen in time")?
            .context("the server's output cannot be read")?;
        let Some(base_url) = line.trim().strip_prefix("listening on ") else {
            bail!("the server did not start: {}", stderr.text().await);
        };
        tracing::info!(pid = child.id(), base_url, "server started");
        Ok(Self {
            base_url: base_url.to_owned(),
            child,
            _stdin: stdin,
            stderr,
        })
    }

    /// Its address, such as `http://127.0.0.1:8001`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Waits until it has ended by itself, which it should not, and says how, with what it last wrote to stderr. Cancel safe.
    pub async fn ended(&mut self) -> anyhow::Error {
        match self.child.wait().await {
            Ok(status) => {
                let last_words = self.stderr.text().await;
                anyhow!(
                    "the server ended during the trial ({status}); it had last written: {last_words}"
                )
            }
            Err(error) => anyhow!(error).context("the server cannot be waited for"),
        }
    }

    /// Why a trial failed: the server's end if it has ended, which explains whatever else went wrong.
    pub async fn cause_of(&mut self, error: anyhow::Error) -> anyhow::Error {
        timeout(LAST_WORDS_LIMIT, self.ended())
            .await
            .unwrap_or(error)
    }

    /// Ends it.
    pub async fn stop(mut self) {
        if let Err(error) = self.child.kill().await {
            tracing::warn!(%error, "the server had ended already");
        }
    }
}

impl LastLines {
    /// Begins to read.
    pub(crate) fn of(stream: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let lines = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&lines);
        let mut reader = JoinSet::new();
        reader.spawn(async move {
            let mut stream = BufReader::new(stream);
            let mut line = Vec::new();
            while matches!(stream.read_until(b'\n', &mut line).await, Ok(1..)) {
                let mut kept = kept.lock();
                if kept.len() == LINES_KEPT {
                    kept.pop_front();
                }
                kept.push_back(String::from_utf8_lossy(&line).trim_end().to_owned());
                line.clear();
            }
        });
        Self { lines, reader }
    }

    /// The last lines, once the stream has ended or a second has passed. Cancel safe.
    pub(crate) async fn text(&mut self) -> String {
        // Past the limit somebody else holds the stream; what came so far must do.
        let _ = timeout(LAST_WORDS_LIMIT, self.reader.join_next()).await;
        let lines = self.lines.lock();
        if lines.is_empty() {
            "nothing".to_owned()
        } else {
            lines.iter().cloned().collect::<Vec<_>>().join("\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_lines_of_a_long_stream_are_kept() {
        let mut written: Vec<_> = (0..1000).map(|line| format!("line {line}")).collect();
        written.push("no end".to_owned());
        let mut last = LastLines::of(std::io::Cursor::new(written.join("\n")));
        let text = last.text().await;
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), LINES_KEPT);
        assert_eq!((lines[0], lines[19]), ("line 981", "no end"));
        assert_eq!(last.text().await, text, "asking again changes nothing");
        assert_eq!(LastLines::of(tokio::io::empty()).text().await, "nothing");
    }
}
