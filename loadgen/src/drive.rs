//! Drives one informer against one server and measures it: start, sync, warm up, measure, stop, converge, verify.

mod accounting;
mod analysis;
mod informer_under_test;
mod informer_warnings;
mod recorder;
mod repair;
mod sampler;
mod verification;

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, bail};
use bench_core::{
    api::{Object, Resource},
    cache::{Indexer, QueueKind},
    measure::{
        allocations::AllocationCount,
        clock::{MonotonicTime, process_cpu_time},
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
use informer_under_test::UnderTest;
pub use recorder::Losses;
use recorder::{Cause, Recorder};

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
    let informer = informer_under_test::start(settings, recorder)?;
    let ready = tokio::select! {
        biased;
        () = interrupt.pressed() => return Ok(Driven::not_measured()),
        ready = sync_and_warm_up(settings, &control, &informer) => ready?,
    };
    let window = measure_window(settings, &control, &informer, recorder, interrupt).await?;
    let mut churned = None;
    if settings.churn.is_some() {
        churned = Some(control.stop_churn().await?);
    }
    informer.end_resyncs();
    let commits = control.commits_since(version_before).await?;
    let last_commit = commits
        .last()
        .map_or(version_before, |commit| commit.resource_version);
    let settled = tokio::select! {
        biased;
        settled = settle(settings, informer, last_commit) => Some(settled),
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
        client_allocations: window.client_allocations,
        server_cpu: window.server_cpu,
        server_rss_peak_bytes: end_state.rss_peak_bytes,
        commits,
        undone: churned
            .as_ref()
            .map_or(0, |churned| churned.scheduled - churned.committed),
        log: recorder.take(),
        samples: window.samples,
    };
    let (measurements, accounting_violations) = analyse(&inputs);
    if measurements.window_ns == 0 {
        bail!("nothing was measured: the window is empty");
    }
    let (extent, violations) = match settled {
        Some(settled) => {
            let others = verify(&settled, &inputs, last_commit).await?;
            (window.extent, [others, accounting_violations].concat())
        }
        // The checks hold for what has come to rest only.
        None => (Extent::Cut, vec![NOT_SETTLED.to_owned()]),
    };
    Ok(Driven {
        extent,
        measurements: Some(measurements),
        violations,
        informer_warnings: Vec::new(),
        trace_checksum: churned.map_or_else(|| "none".to_owned(), |churned| churned.checksum),
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
    synced.context("the informer did not sync in time")?;
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
    let cpu_before = process_cpu_time();
    let allocated_before = AllocationCount::now();
    let mut samples = Vec::new();
    let whole = sampler::sample(informer, recorder, began, settings.window, &mut samples);
    let extent = tokio::select! {
        biased;
        () = whole => Extent::Whole,
        () = interrupt.pressed() => Extent::Cut,
    };
    let client_cpu = process_cpu_time().saturating_sub(cpu_before);
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
        client_cpu,
        client_allocations,
        server_cpu,
        samples,
    })
}

/// What was there when nothing was pending any more.
struct Settled {
    converged: bool,
    at: MonotonicTime,
    cache: Arc<Indexer<Object>>,
}

async fn settle(settings: &DriveSettings, informer: UnderTest, last_commit: u64) -> Settled {
    let converged = informer.wait_until_converged(last_commit, settings).await;
    let at = MonotonicTime::now();
    let cache = informer.stop().await;
    Settled {
        converged,
        at,
        cache,
    }
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
    let differences = verification::compare_with_server(inputs.settings, &settled.cache).await?;
    let illegal = verification::check_stream(&inputs.log);
    violations.extend(differences.iter().chain(&illegal).map(ToString::to_string));
    let unexplained = accounting::calls_without_write(&inputs.commits, &inputs.log.deliveries);
    violations.extend(unexplained);
    Ok(violations)
}

#[cfg(test)]
mod tests;
