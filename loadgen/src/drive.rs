//! Drives one informer against one server and measures it: start, sync, warm up, measure, stop, converge, verify.

mod accounting;
mod analysis;
mod informer_warnings;
mod own_informer;
mod peer;
mod peer_log;
mod recorder;
mod repair;
mod sampler;
mod under_test;
mod verification;

use std::{path::PathBuf, time::Duration};

use anyhow::{Context as _, bail};
use bench_core::{
    api::Resource,
    cache::QueueKind,
    measure::{
        allocations::AllocationCount,
        clock::MonotonicTime,
        process::reset_resident_memory_peak,
        record::{Measurements, Outcome, TimelinePoint, Warning},
    },
};
use fake_apiserver::control::ChurnRequest;

use crate::{
    control_client::ControlClient,
    handler_cost::HandlerCost,
    interrupt::Interrupt,
    scenario::choice::{HandlerKind, InformerKind},
};

use analysis::{Inputs, analyse};
pub use peer::PeerIdentity;
pub use recorder::Losses;
use recorder::{Cause, Log, Recorder};
use under_test::{Left, UnderTest};

/// How long an informer may take for its first list: 150,000 pods take about ten seconds here.
const SYNC_LIMIT: Duration = Duration::from_secs(90);

/// How long an interrupted trial may take to work off what is pending. Whoever pressed Ctrl-C waits for it.
const INTERRUPTED_LIMIT: Duration = Duration::from_secs(10);

const NOT_SETTLED: &str =
    "what was pending at Ctrl-C was not handled within 10 s, so nothing was verified";

/// What one trial does, all of it decided.
#[derive(Debug, Clone)]
pub struct DriveSettings {
    /// Address of the server, such as `http://127.0.0.1:8001`.
    pub base_url: String,
    /// What is watched and churned.
    pub resource: Resource,
    /// Generation of the queue.
    pub queue: QueueKind,
    /// Program that runs another implementation's informer; absent for the one of this repository.
    pub peer: Option<PathBuf>,
    /// Plain or shared.
    pub informer: InformerKind,
    /// What the handler does.
    pub handler: HandlerKind,
    /// Reconcilers of a workqueue handler.
    pub workers: usize,
    /// Cost of one handler call.
    pub handler_cost: HandlerCost,
    /// What the handler loses on purpose.
    pub losses: Losses,
    /// Resync period; absent means never.
    pub resync_period: Option<Duration>,
    /// Writes by the server; absent means none.
    pub churn: Option<ChurnRequest>,
    /// Unmeasured time under churn.
    pub warm_up: Duration,
    /// Measured time.
    pub window: Duration,
    /// Seed of the informer's jitter and the losses.
    pub seed: u64,
}

/// How much of a trial there was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The whole window, and verification to its end.
    Whole,
    /// Interrupted before, in or after the window.
    Cut,
}

/// What one trial gave.
#[derive(Debug)]
pub struct Driven {
    /// How much of it there was.
    pub extent: Extent,
    /// The numbers, of as much of the window as there was; absent if it was interrupted before. Only to be believed if there
    /// are no violations.
    pub measurements: Option<Measurements>,
    /// What was wrong, one sentence each.
    pub violations: Vec<String>,
    /// What another implementation called itself; absent for the one of this repository.
    pub peer: Option<PeerIdentity>,
    /// What the informer warned of.
    pub informer_warnings: Vec<Warning>,
    /// Checksum of the churn as carried out.
    pub trace_checksum: String,
}

impl Driven {
    /// A trial that was interrupted before its window.
    pub fn not_measured() -> Self {
        Self {
            extent: Extent::Cut,
            measurements: None,
            violations: Vec::new(),
            peer: None,
            informer_warnings: Vec::new(),
            trace_checksum: "none".to_owned(),
        }
    }

    /// Whether it may be believed.
    pub fn outcome(&self) -> Outcome {
        let violations = self.violations.clone();
        match self.extent {
            Extent::Cut => Outcome::Interrupted { violations },
            Extent::Whole if violations.is_empty() => Outcome::Verified,
            Extent::Whole => Outcome::Failed { violations },
        }
    }
}

/// Runs one trial. Must be called on a runtime with several workers, since a reflector waits for handlers.
///
/// An interrupt ends the window at once; what was measured until then is verified as always, but in ten seconds or not at all.
///
/// # Errors
/// If the server cannot be reached or the informer does not sync within a minute and a half.
pub async fn drive(settings: &DriveSettings, interrupt: &Interrupt) -> anyhow::Result<Driven> {
    let recorder = Recorder::new(settings.losses, settings.seed);
    let began = MonotonicTime::now();
    let driven = measure(settings, interrupt, &recorder, began).await;
    let informer_warnings = recorder.warnings().take(began);
    match driven {
        Ok(driven) => Ok(Driven {
            informer_warnings,
            ..driven
        }),
        Err(error) if informer_warnings.is_empty() => Err(error),
        Err(error) => {
            let told = informer_warnings.into_iter().map(|warning| warning.message);
            let told: Vec<_> = told.collect();
            Err(error.context(format!("the informer had warned: {}", told.join("; "))))
        }
    }
}

async fn measure(
    settings: &DriveSettings,
    interrupt: &Interrupt,
    recorder: &Recorder,
    began: MonotonicTime,
) -> anyhow::Result<Driven> {
    let control = ControlClient::new(&settings.base_url);
    let version_before = control.state().await?.revision;
    reset_resident_memory_peak()
        .unwrap_or_else(|error| tracing::warn!(%error, "the peak of the memory is the process'"));
    let informer = under_test::start(settings, recorder)?;
    let ready = tokio::select! {
        biased;
        () = interrupt.pressed() => return Ok(Driven::not_measured()),
        ready = sync_and_warm_up(settings, &control, &informer) => ready?,
    };
    let peer = informer.peer();
    let window = measure_window(settings, &control, &informer, recorder, interrupt).await?;
    let mut churned = None;
    if settings.churn.is_some() {
        churned = Some(control.stop_churn().await?);
    }
    informer.end_resyncs().await?;
    let commits = control.commits_since(version_before).await?;
    let last_commit = commits
        .last()
        .map_or(version_before, |commit| commit.resource_version);
    let mut settled = tokio::select! {
        biased;
        settled = settle(settings, informer, recorder, last_commit) => Some(settled?),
        () = overdue(interrupt) => None,
    };
    let end_state = control.state().await?;
    let inputs = Inputs {
        settings,
        known: ready.known,
        began,
        synced_at: ready.synced_at,
        window_began: window.began,
        window_ended: window.ended,
        converged_at: settled
            .as_ref()
            .map_or_else(MonotonicTime::now, |settled| settled.at),
        client_cpu: window.client_cpu,
        client_rss_peak_bytes: settled
            .as_ref()
            .map_or(window.client_rss_peak_bytes, |settled| {
                settled.client_rss_peak_bytes
            }),
        client_allocations: window.client_allocations.filter(|_| peer.is_none()),
        server_cpu: window.server_cpu,
        server_rss_peak_bytes: end_state.rss_peak_bytes,
        commits,
        undone: churned
            .as_ref()
            .map_or(0, |churned| churned.scheduled - churned.committed),
        log: settled
            .as_mut()
            .and_then(Settled::take_log)
            .unwrap_or_else(|| recorder.take()),
        samples: window.samples,
    };
    let checksum = churned.map_or_else(|| "none".to_owned(), |churned| churned.checksum);
    let (extent, violations) = match &settled {
        Some(settled) => (window.extent, verify(settled, &inputs, last_commit).await?),
        // The checks hold for what has come to rest only.
        None => (Extent::Cut, vec![NOT_SETTLED.to_owned()]),
    };
    conclude(&inputs, extent, violations, (peer, checksum))
}

/// Another implementation's log is gone where it did not settle, and with it the numbers.
fn conclude(
    inputs: &Inputs<'_>,
    extent: Extent,
    mut violations: Vec<String>,
    (peer, trace_checksum): (Option<PeerIdentity>, String),
) -> anyhow::Result<Driven> {
    let (measurements, accounting_violations) = analyse(inputs);
    if measurements.window_ns == 0 {
        bail!("nothing was measured: the window is empty");
    }
    let logged = peer.is_none() || !inputs.log.deliveries.is_empty();
    if !violations.iter().any(|violation| violation == NOT_SETTLED) {
        violations.extend(accounting_violations);
    }
    Ok(Driven {
        extent,
        measurements: logged.then_some(measurements),
        violations,
        peer,
        informer_warnings: Vec::new(),
        trace_checksum,
    })
}

struct Ready {
    synced_at: MonotonicTime,
    known: u64,
}

async fn sync_and_warm_up(
    settings: &DriveSettings,
    control: &ControlClient,
    informer: &UnderTest,
) -> anyhow::Result<Ready> {
    let synced = tokio::time::timeout(SYNC_LIMIT, informer.wait_until_synced()).await;
    synced.context("the informer did not sync in time")??;
    let synced_at = MonotonicTime::now();
    let known = informer.cached_objects();
    if let Some(churn) = &settings.churn {
        control.start_churn(churn).await?;
    }
    tracing::info!(objects = known, "warming up");
    tokio::time::sleep(settings.warm_up).await;
    Ok(Ready { synced_at, known })
}

struct Window {
    extent: Extent,
    began: MonotonicTime,
    ended: MonotonicTime,
    client_cpu: Duration,
    client_rss_peak_bytes: u64,
    client_allocations: Option<AllocationCount>,
    server_cpu: Duration,
    samples: Vec<TimelinePoint>,
}

async fn measure_window(
    settings: &DriveSettings,
    control: &ControlClient,
    informer: &UnderTest,
    recorder: &Recorder,
    interrupt: &Interrupt,
) -> anyhow::Result<Window> {
    let server_before = control.state().await?;
    tracing::info!("measuring");
    let began = MonotonicTime::now();
    let before = informer.observe(recorder).await?;
    let allocated_before = AllocationCount::now();
    let mut samples = Vec::new();
    let whole = sampler::sample(informer, recorder, began, settings.window, &mut samples);
    let extent = tokio::select! {
        biased;
        ended = whole => {
            ended?;
            Extent::Whole
        }
        () = interrupt.pressed() => Extent::Cut,
    };
    let after = informer.observe(recorder).await?;
    let client_allocations = AllocationCount::now()
        .zip(allocated_before)
        .map(|(now, before)| now.since(before));
    let ended = MonotonicTime::now();
    tracing::info!(?extent, "measured");
    let server_after = control.state().await?;
    let server_cpu = Duration::from_nanos(
        server_after
            .cpu_time_ns
            .saturating_sub(server_before.cpu_time_ns),
    );
    Ok(Window {
        extent,
        began,
        ended,
        client_cpu: after.cpu.saturating_sub(before.cpu),
        client_rss_peak_bytes: after.memory.peak_bytes,
        client_allocations,
        server_cpu,
        samples,
    })
}

/// What was there when nothing was pending any more.
struct Settled {
    converged: bool,
    at: MonotonicTime,
    client_rss_peak_bytes: u64,
    left: Left,
}

impl Settled {
    /// The log of another process.
    fn take_log(&mut self) -> Option<Log> {
        match &mut self.left {
            Left::Ours(_) => None,
            Left::Peer(left) => Some(std::mem::take(&mut left.0)),
        }
    }
}

async fn settle(
    settings: &DriveSettings,
    informer: UnderTest,
    recorder: &Recorder,
    last_commit: u64,
) -> anyhow::Result<Settled> {
    let converged = informer.wait_until_converged(last_commit, settings).await?;
    let at = MonotonicTime::now();
    let client_rss_peak_bytes = informer.observe(recorder).await?.memory.peak_bytes;
    let left = informer.stop().await?;
    Ok(Settled {
        converged,
        at,
        client_rss_peak_bytes,
        left,
    })
}

async fn overdue(interrupt: &Interrupt) {
    interrupt.pressed().await;
    tokio::time::sleep(INTERRUPTED_LIMIT).await;
}

async fn verify(
    settled: &Settled,
    inputs: &Inputs<'_>,
    last_commit: u64,
) -> anyhow::Result<Vec<String>> {
    let mut violations = Vec::new();
    if !settled.converged {
        violations.push(format!(
            "the informer had not converged to version {last_commit} in time"
        ));
    }
    let differences = verification::compare_with_server(inputs.settings, &settled.left).await?;
    let illegal = verification::check_stream(&inputs.log);
    violations.extend(differences.iter().chain(&illegal).map(ToString::to_string));
    let unexplained = accounting::calls_without_write(&inputs.commits, &inputs.log.deliveries);
    violations.extend(unexplained);
    Ok(violations)
}

#[cfg(test)]
mod tests;
