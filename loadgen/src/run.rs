//! The trials of a plan, one after another, each in a process of its own against a server process of its own.

use anyhow::Context as _;
use bench_core::{
    api::Resource,
    measure::{
        environment::{capture, utc_now},
        record::{Environment, Outcome, RunRecord, SCHEMA_VERSION, Variant},
    },
};
use fake_apiserver::control::{Arrivals, ChurnMix, ChurnRequest, KeyChoice};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::task::JoinSet;

use crate::{
    client_go,
    control_client::ControlClient,
    discovery::{self, full_name},
    drive::{DriveSettings, Driven, Losses, drive},
    interrupt::Interrupt,
    plan::{Plan, PlannedTrial},
    results::ResultsDirectory,
    scenario::{self, choice::Implementation},
    server_process::{Content, Placement, ServerProcess},
    table,
    trial_process::{TrialRequest, run_in_child},
    warnings::warnings,
};

/// Runs every trial and writes its record. A trial that fails is a record with the failure in it. After an interrupt the trial that
/// ran is recorded as interrupted, with what it had measured, and no other is begun.
///
/// # Errors
/// If a record cannot be written.
pub async fn run(
    plan: &Plan,
    results: &ResultsDirectory,
    command: &str,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<RunRecord>> {
    let environment =
        capture("").context("the machine cannot be described, so nothing is recorded")?;
    let progress = progress(plan);
    let mut notice = JoinSet::new();
    notice.spawn(tell_of_interrupt(interrupt.clone(), progress.clone()));
    let mut records = Vec::new();
    for trial in &plan.trials {
        if interrupt.is_set() {
            break;
        }
        progress.set_message(format!("round {} {}", trial.round + 1, trial.variant.label));
        let request = TrialRequest {
            name: plan.summary.name.clone(),
            scenario: plan.scenario.clone(),
            order: trial.order,
            command: command.to_owned(),
            environment: environment.clone(),
        };
        let record = run_in_child(&request, interrupt)
            .await
            .unwrap_or_else(|error| {
                let mut record = blank_record(plan, trial, command, &environment);
                record.outcome = Outcome::Error {
                    message: format!("{error:#}"),
                };
                record
            });
        results.write(&record)?;
        tracing::info!(order = record.order, "recorded");
        records.push(record);
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(records)
}

async fn tell_of_interrupt(interrupt: Interrupt, progress: ProgressBar) {
    interrupt.pressed().await;
    progress.suspend(|| {
        table::print_notice("interrupted: measuring ends here, and the report is written; Ctrl-C again ends at once");
    });
}

/// Runs one trial in this process and completes its record, whatever happens.
pub(crate) async fn run_one(
    plan: &Plan,
    trial: &PlannedTrial,
    placement: &Placement,
    interrupt: &Interrupt,
    record: &mut RunRecord,
) {
    match run_trial(plan, trial, placement, interrupt, record).await {
        Ok(driven) => conclude(record, driven),
        Err(error) => {
            record.outcome = Outcome::Error {
                message: format!("{error:#}"),
            }
        }
    }
}

async fn run_trial(
    plan: &Plan,
    trial: &PlannedTrial,
    placement: &Placement,
    interrupt: &Interrupt,
    record: &mut RunRecord,
) -> anyhow::Result<Driven> {
    let profile = plan.scenario.cluster.profile.as_deref().unwrap_or("pod-6k");
    let content = match &plan.objects {
        Some(file) => Content::File(file),
        None => Content::Profile {
            name: profile,
            count: trial.variant.count.unwrap_or(0),
        },
    };
    let mut server = tokio::select! {
        biased;
        () = interrupt.pressed() => return Ok(Driven::not_measured()),
        started = ServerProcess::start(content, plan.scenario.seed, placement) => started?,
    };
    let control = ControlClient::new(server.base_url());
    let resource = discovery::find(&control, &plan.scenario.cluster.resource).await?;
    let settings = settings(plan, trial, server.base_url(), resource)?;
    if let Some(resource) = control
        .state()
        .await?
        .resources
        .get(&full_name(&settings.resource))
    {
        record.variant.object_count = resource.objects;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bytes of an object"
        )]
        let mean = resource.object_size_bytes_mean.round() as u64;
        record.variant.object_size_bytes_mean = mean;
    }
    let driven = tokio::select! {
        biased;
        ended = server.ended() => Err(ended),
        driven = drive(&settings, interrupt) => driven,
    };
    let driven = match driven {
        Err(error) => Err(server.cause_of(error).await),
        driven => driven,
    };
    server.stop().await;
    driven
}

fn settings(
    plan: &Plan,
    trial: &PlannedTrial,
    base_url: &str,
    resource: Resource,
) -> anyhow::Result<DriveSettings> {
    let scenario = &plan.scenario;
    let variant = &trial.variant;
    let churn = (variant.churn_per_second > 0.0).then(|| ChurnRequest {
        resource: full_name(&resource),
        rate_per_second: variant.churn_per_second,
        mix: ChurnMix {
            create: scenario.churn.mix.create,
            update: scenario.churn.mix.update,
            delete: scenario.churn.mix.delete,
        },
        arrivals: match scenario.churn.arrivals {
            scenario::Arrivals::Constant => Arrivals::Constant,
            scenario::Arrivals::Poisson => Arrivals::Poisson,
            scenario::Arrivals::Bursty(size) => Arrivals::Bursty { size: size.get() },
        },
        keys: match scenario.churn.keys {
            scenario::KeyChoice::Uniform => KeyChoice::Uniform,
            scenario::KeyChoice::Zipf(exponent) => KeyChoice::Zipf { exponent },
        },
        seed: trial.seed,
        start_at_ns: None,
    });
    let handler = &scenario.handler;
    let peer = match variant.implementation {
        Implementation::ClientGo => Some(client_go::program(variant.queue.0)?),
        Implementation::InformerBench => None,
    };
    Ok(DriveSettings {
        base_url: base_url.to_owned(),
        resource,
        queue: variant.queue.0,
        peer,
        informer: variant.informer,
        handler: handler.kind,
        workers: handler.workers.get() as usize,
        handler_cost: variant.cost,
        losses: Losses {
            adds_and_updates: handler.lose.value(),
            deletes: handler.lose_deletes.value(),
        },
        resync_period: variant.resync.period(),
        churn,
        warm_up: variant.warm_up,
        window: variant.window,
        seed: trial.seed,
    })
}

pub(crate) fn blank_record(
    plan: &Plan,
    trial: &PlannedTrial,
    command: &str,
    environment: &Environment,
) -> RunRecord {
    let scenario = &plan.scenario;
    let variant = &trial.variant;
    let nanoseconds =
        |duration: std::time::Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let source = plan.objects.as_ref().map_or_else(
        || scenario.cluster.profile.clone().unwrap_or_default(),
        |file| {
            file.file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        },
    );
    RunRecord {
        schema_version: SCHEMA_VERSION,
        scenario: plan.summary.clone(),
        variant: Variant {
            label: variant.label.clone(),
            queue: variant.queue.to_string(),
            informer: variant.informer.to_string(),
            resync_period_ns: variant.resync.period().map(nanoseconds),
            object_count: variant.count.unwrap_or(0),
            object_source: source,
            resource: scenario.cluster.resource.clone(),
            object_size_bytes_mean: 0,
            handler: scenario.handler.kind.to_string(),
            handler_cost_kind: variant.cost.kind().to_owned(),
            handler_cost_ns: nanoseconds(variant.cost.duration()),
            churn_per_second: variant.churn_per_second,
            loss_share: scenario.handler.lose.value(),
        },
        round: trial.round,
        order: trial.order,
        implementation: match variant.implementation {
            Implementation::ClientGo => client_go::implementation(variant.queue.0),
            Implementation::InformerBench => {
                concat!("informer-bench ", env!("CARGO_PKG_VERSION")).to_owned()
            }
        },
        decode_mode: match variant.implementation {
            Implementation::ClientGo => client_go::DECODE_MODE.to_owned(),
            Implementation::InformerBench => "raw".to_owned(),
        },
        environment: environment.clone(),
        seed: trial.seed,
        trace_checksum: String::new(),
        started_at: utc_now(),
        command: command.to_owned(),
        outcome: Outcome::Interrupted {
            violations: Vec::new(),
        },
        warnings: Vec::new(),
        measurements: None,
    }
}

fn conclude(record: &mut RunRecord, driven: Driven) {
    record.outcome = driven.outcome();
    record.trace_checksum = driven.trace_checksum;
    if let Some(peer) = driven.peer {
        record.implementation = format!("client-go {}, {}", peer.release, peer.go);
    }
    record.warnings = driven.informer_warnings;
    if matches!(record.outcome, Outcome::Failed { .. }) {
        return;
    }
    if let Some(measurements) = driven.measurements {
        record
            .warnings
            .extend(warnings(&record.variant, &measurements));
        record.measurements = Some(measurements);
    }
}

fn progress(plan: &Plan) -> ProgressBar {
    let bar = ProgressBar::new(plan.trials.len() as u64);
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg:32} {elapsed}, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(std::time::Duration::from_millis(500));
    bar
}
