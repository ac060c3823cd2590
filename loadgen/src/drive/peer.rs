//! An informer of another implementation, in a process of its own: it is told what to run, and tells what it did. The protocol is
//! in `benches/peers/client-go/dynamics/main.go`.

use std::{path::Path, process::Stdio, sync::OnceLock, time::Duration};

use anyhow::{Context as _, anyhow, bail};
use bench_core::{
    cache::{QueueKind, QueueLength},
    measure::{clock::MonotonicTime, process::ResidentMemory},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use super::{
    DriveSettings,
    peer_log::Report,
    under_test::{Observed, convergence_limit},
};
use crate::{handler_cost::HandlerCost, scenario::choice::HandlerKind, server_process::LastLines};

/// Between two looks at whether anything is under way.
const POLL: Duration = Duration::from_millis(50);

/// What it calls itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PeerIdentity {
    /// Its release, such as `v0.27.16`.
    pub release: String,
    /// The compiler that built it, such as `go1.26.8`.
    pub go: String,
    /// Objects in its cache when it had synced.
    pub(super) known: u64,
}

/// A running program. Dropping it ends the process, and so does the end of this process.
pub(super) struct Peer {
    commands: mpsc::UnboundedSender<Exchange>,
    /// The first answer comes without a command.
    identity: OnceLock<PeerIdentity>,
    _conversation: JoinSet<()>,
}

/// A line to write, if any, and where its answer goes. So an exchange whose asker has gone is still brought to its end.
struct Exchange {
    line: Option<String>,
    answer: oneshot::Sender<anyhow::Result<String>>,
}

#[derive(Deserialize)]
struct Sample {
    cpu_ns: u64,
    rss_bytes: u64,
    rss_peak_bytes: u64,
    queue_keys: u64,
    queue_deltas: u64,
    in_process: u64,
    listener: Option<u64>,
    live: u64,
    sync: u64,
    stale: u64,
    handled: u64,
    seen: u64,
}

impl Peer {
    /// Starts the program, which connects to the server at once.
    pub(super) fn start(program: &Path, settings: &DriveSettings) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A streaming list would compare lists, not queues. Read by the releases that know it.
            .env("KUBE_FEATURE_WatchListClient", "false")
            .kill_on_drop(true);
        let mut child = command
            .spawn()
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let talk = Conversation {
            stdin: child.stdin.take().expect("it is piped"),
            stdout: BufReader::new(child.stdout.take().expect("it is piped")),
            stderr: LastLines::of(child.stderr.take().expect("it is piped")),
            _child: child,
        };
        let (commands, exchanges) = mpsc::unbounded_channel();
        let mut conversation = JoinSet::new();
        conversation.spawn(talk.converse(settings_line(settings), exchanges));
        Ok(Self {
            commands,
            identity: OnceLock::new(),
            _conversation: conversation,
        })
    }

    /// Waits until it has synced.
    pub(super) async fn wait_until_synced(&self) -> anyhow::Result<()> {
        let identity = self.exchange(None).await?;
        self.identity.set(identity).ok();
        Ok(())
    }

    /// What it said of itself when it had synced.
    pub(super) fn identity(&self) -> Option<&PeerIdentity> {
        self.identity.get()
    }

    pub(super) async fn observe(&self) -> anyhow::Result<Observed> {
        Ok(self.sample().await?.into())
    }

    pub(super) async fn end_resyncs(&self) -> anyhow::Result<()> {
        let serde::de::IgnoredAny = self.exchange(Some("end_resyncs")).await?;
        Ok(())
    }

    /// Waits until it has seen `version` and nothing is pending anywhere; false if that took too long.
    pub(super) async fn wait_until_converged(
        &self,
        version: u64,
        settings: &DriveSettings,
    ) -> anyhow::Result<bool> {
        let first = self.sample().await?;
        let known = self.identity().map_or(0, |identity| identity.known);
        let first: Observed = first.into();
        let waiting = first.listener.unwrap_or(0);
        let queue = QueueLength {
            whole: most_whole(settings, first.queue),
            ..first.queue
        };
        let limit = convergence_limit(settings, known, queue, waiting);
        let began = MonotonicTime::now();
        // What was popped and has not reached a listener yet is nowhere counted, so idle twice, and nothing handled between.
        let mut idle_at = None;
        while MonotonicTime::now().since(began) < limit {
            let sample = self.sample().await?;
            let idle = sample.seen >= version
                && sample.queue_keys == 0
                && sample.in_process == 0
                && sample.listener.unwrap_or(0) == 0;
            if idle && idle_at == Some(sample.handled) {
                return Ok(true);
            }
            idle_at = idle.then_some(sample.handled);
            tokio::time::sleep(POLL).await;
        }
        Ok(false)
    }

    /// Ends it and takes everything that it recorded.
    pub(super) async fn stop(self) -> anyhow::Result<Report> {
        self.exchange(Some("report")).await
    }

    async fn sample(&self) -> anyhow::Result<Sample> {
        self.exchange(Some("sample")).await
    }

    async fn exchange<T: DeserializeOwned>(&self, command: Option<&str>) -> anyhow::Result<T> {
        let (answer, answered) = oneshot::channel();
        let line = command.map(|command| json!(command).to_string());
        let ended = || anyhow!("the informer's process has ended");
        self.commands
            .send(Exchange { line, answer })
            .map_err(|_| ended())?;
        let line = answered.await.map_err(|_| ended())??;
        serde_json::from_str(&line).context("the informer's process gave an answer that is none")
    }
}

impl From<Sample> for Observed {
    fn from(sample: Sample) -> Self {
        Self {
            cpu: Duration::from_nanos(sample.cpu_ns),
            memory: ResidentMemory {
                now_bytes: sample.rss_bytes,
                peak_bytes: sample.rss_peak_bytes,
            },
            queue: QueueLength {
                keys: sample.queue_keys,
                deltas: sample.queue_deltas,
                in_process: sample.in_process,
                whole: 0,
            },
            listener: sample.listener,
            live: sample.live,
            sync: sample.sync,
            stale_keys: sample.stale,
        }
    }
}

/// How many whole resyncs may be waiting: no more than entries wait, and no more than there were.
fn most_whole(settings: &DriveSettings, queue: QueueLength) -> u64 {
    let (QueueKind::AtomicFifo, Some(period)) = (settings.queue, settings.resync_period) else {
        return 0;
    };
    let measured = settings.warm_up + settings.window;
    let resyncs = measured.as_nanos() / period.as_nanos().max(1) + 1;
    let entries = queue.keys + queue.in_process;
    entries.min(u64::try_from(resyncs).unwrap_or(u64::MAX))
}

fn settings_line(settings: &DriveSettings) -> String {
    let cost = match settings.handler {
        HandlerKind::Probe => HandlerCost::None,
        HandlerKind::Inline | HandlerKind::WorkQueue => settings.handler_cost,
    };
    let nanoseconds = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let line = json!({
        "server": settings.base_url,
        "informer": settings.informer.to_string(),
        "resync_ns": settings.resync_period.map_or(0, nanoseconds),
        "cost": {"kind": cost.kind(), "ns": nanoseconds(cost.duration())},
        "lose": settings.losses.adds_and_updates,
        "lose_deletes": settings.losses.deletes,
        "seed": settings.seed,
    });
    line.to_string()
}

struct Conversation {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    stderr: LastLines,
    _child: Child,
}

impl Conversation {
    async fn converse(
        mut self,
        settings: String,
        mut exchanges: mpsc::UnboundedReceiver<Exchange>,
    ) {
        let mut next = Some(settings);
        while let Some(exchange) = exchanges.recv().await {
            let line = next.take().or(exchange.line);
            let answer = self.ask(line).await;
            let answer = match answer {
                Ok(answer) => Ok(answer),
                Err(error) => Err(error.context(format!(
                    "the informer's process had last written: {}",
                    self.stderr.text().await
                ))),
            };
            // Whoever asked may be gone.
            let _ = exchange.answer.send(answer);
        }
    }

    async fn ask(&mut self, line: Option<String>) -> anyhow::Result<String> {
        if let Some(line) = line {
            self.stdin
                .write_all((line + "\n").as_bytes())
                .await
                .context("the informer's process takes no more commands")?;
        }
        let mut answer = String::new();
        if self.stdout.read_line(&mut answer).await? == 0 {
            bail!("the informer's process gave no answer");
        }
        Ok(answer)
    }
}
