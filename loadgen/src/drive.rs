//! Drives one informer against one server and measures it: start, sync, warm up, measure, stop, converge, verify.

mod accounting;
mod analysis;
mod informer_under_test;
mod recorder;
mod repair;
mod sampler;
mod verification;

use std::time::Duration;

use anyhow::{Context as _, bail};
use bench_core::{
    api::Resource,
    measure::{
        clock::{MonotonicTime, process_cpu_time},
        process::reset_resident_memory_peak,
        record::{Measurements, TimelinePoint},
    },
};
use fake_apiserver::control::ChurnRequest;

use crate::{
    control_client::ControlClient,
    handler_cost::HandlerCost,
    scenario::choice::{HandlerKind, InformerKind},
};

use analysis::{Inputs, analyse};
use informer_under_test::UnderTest;
pub use recorder::Losses;
use recorder::{Cause, Recorder};

/// What one trial does, all of it decided.
#[derive(Debug, Clone)]
pub struct DriveSettings {
    /// Address of the server, such as `http://127.0.0.1:8001`.
    pub base_url: String,
    /// What is watched and churned.
    pub resource: Resource,
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

/// What one trial gave.
#[derive(Debug)]
pub struct Driven {
    /// The numbers; only to be believed if there are no violations.
    pub measurements: Measurements,
    /// What was wrong, one sentence each.
    pub violations: Vec<String>,
    /// Checksum of the churn as carried out.
    pub trace_checksum: String,
}

/// Runs one trial. Must be called on a runtime with several workers, since a reflector waits for handlers.
///
/// # Errors
/// If the server cannot be reached or the informer does not sync within a minute and a half.
pub async fn drive(settings: &DriveSettings) -> anyhow::Result<Driven> {
    let control = ControlClient::new(&settings.base_url);
    let before = control.state().await?;
    let recorder = Recorder::new(settings.losses, settings.seed);
    let began = MonotonicTime::now();
    reset_resident_memory_peak()
        .unwrap_or_else(|error| tracing::warn!(%error, "the peak of the memory is the process'"));
    let informer = informer_under_test::start(settings, &recorder)?;
    let synced = tokio::time::timeout(SYNC_LIMIT, informer.wait_until_synced()).await;
    synced.context("the informer did not sync in time")?;
    let synced_at = MonotonicTime::now();
    let known = informer.cached_objects();
    if let Some(churn) = &settings.churn {
        control.start_churn(churn).await?;
    }
    tokio::time::sleep(settings.warm_up).await;

    let window = measure_window(settings, &control, &informer, &recorder).await?;
    let mut trace_checksum = String::from("none");
    if settings.churn.is_some() {
        trace_checksum = control.stop_churn().await?.checksum;
    }
    informer.end_resyncs();
    let commits = control.commits_since(before.revision).await?;
    let last_commit = commits
        .last()
        .map_or(before.revision, |commit| commit.resource_version);
    let converged = informer.wait_until_converged(last_commit, settings).await;
    let converged_at = MonotonicTime::now();
    let end_state = control.state().await?;

    let cache = informer.stop().await;
    let log = recorder.take();
    let mut violations = Vec::new();
    if !converged {
        violations.push(format!(
            "the informer had not converged to version {last_commit} in time"
        ));
    }
    let differences = verification::compare_with_server(settings, &cache).await?;
    let illegal = verification::check_stream(&log);
    violations.extend(differences.iter().chain(&illegal).map(ToString::to_string));
    let inputs = Inputs {
        settings,
        known,
        began,
        synced_at,
        window_began: window.began,
        window_ended: window.ended,
        converged_at,
        client_cpu: window.client_cpu,
        server_cpu: window.server_cpu,
        server_rss_peak_bytes: end_state.rss_peak_bytes,
        commits,
        log,
        samples: window.samples,
    };
    let (measurements, accounting_violations) = analyse(&inputs);
    violations.extend(accounting_violations);
    if measurements.window_ns == 0 {
        bail!("nothing was measured: the window is empty");
    }
    Ok(Driven {
        measurements,
        violations,
        trace_checksum,
    })
}

struct Window {
    began: MonotonicTime,
    ended: MonotonicTime,
    client_cpu: Duration,
    server_cpu: Duration,
    samples: Vec<TimelinePoint>,
}

async fn measure_window(
    settings: &DriveSettings,
    control: &ControlClient,
    informer: &UnderTest,
    recorder: &Recorder,
) -> anyhow::Result<Window> {
    let server_before = control.state().await?;
    let began = MonotonicTime::now();
    let cpu_before = process_cpu_time();
    let samples = sampler::sample(informer, recorder, began, settings.window).await;
    let client_cpu = process_cpu_time().saturating_sub(cpu_before);
    let ended = MonotonicTime::now();
    let server_after = control.state().await?;
    let server_cpu = Duration::from_nanos(
        server_after
            .cpu_time_ns
            .saturating_sub(server_before.cpu_time_ns),
    );
    Ok(Window {
        began,
        ended,
        client_cpu,
        server_cpu,
        samples,
    })
}

/// How long an informer may take for its first list: 150,000 pods take about ten seconds here.
const SYNC_LIMIT: Duration = Duration::from_secs(90);
