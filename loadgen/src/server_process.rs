//! The server as a process of its own: this binary, started again as `loadgen serve`.

use std::{path::Path, process::Stdio, time::Duration};

use anyhow::{Context as _, bail};
use bench_core::measure::environment::{allowed_cores, pin_to_core};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    process::{Child, Command},
};

/// How long a server may take to generate or read its objects.
const START_LIMIT: Duration = Duration::from_secs(120);

/// A running server. Dropping it ends the process.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    base_url: String,
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
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // A signal to the terminal is for us to handle, not for the server.
        command.process_group(0);
        let mut child = command.spawn().context("the server cannot be started")?;
        let stdout = child
            .stdout
            .take()
            .context("the server's output cannot be read")?;
        let mut line = String::new();
        let read =
            tokio::time::timeout(START_LIMIT, BufReader::new(stdout).read_line(&mut line)).await;
        read.context("the server did not listen in time")?
            .context("the server's output cannot be read")?;
        let Some(base_url) = line.trim().strip_prefix("listening on ") else {
            let mut error = String::new();
            if let Some(mut stderr) = child.stderr.take() {
                stderr
                    .read_to_string(&mut error)
                    .await
                    .context("the server's errors cannot be read")?;
            }
            bail!("the server did not start: {}", error.trim());
        };
        Ok(Self {
            base_url: base_url.to_owned(),
            child,
        })
    }

    /// Its address, such as `http://127.0.0.1:8001`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Ends it.
    pub async fn stop(mut self) {
        if let Err(error) = self.child.kill().await {
            tracing::warn!(%error, "the server had ended already");
        }
    }
}
