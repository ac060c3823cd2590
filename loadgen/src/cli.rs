//! The command line: parse, run, print, exit code.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use bench_core::{cache::QueueKind, measure::record::RunRecord};
use clap::{Args, Parser, Subcommand};
use reports::{criterion::render_criterion, page::render, read::read_records, summary::summarise};

use crate::{
    client_go,
    exit_code::{ExitCode, RatePolicy},
    handler_cost::HandlerCost,
    input,
    interrupt::Interrupt,
    plan::Plan,
    quantity::{Rate, ResyncPeriod, Share},
    results::ResultsDirectory,
    run::run,
    scenario::{
        NamedScenario, ScenarioError,
        choice::{Implementation, InformerKind, QueuePreset},
        shipped,
        written::{Axis, ObjectCount, WrittenDuration},
    },
    serve::{ServeFlags, serve},
    table,
    trial_process::serve_trial,
    warnings::rate_shortfall,
};

/// Measures what an informer's resync period costs and what it buys.
#[derive(Debug, Parser)]
#[command(name = "loadgen", version)]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Compares resync periods: runs the scenario resync-periods.
    Compare(RunFlags),
    /// Runs a scenario: resync-periods, resync-scale, resync-dedup, or a YAML file.
    Run {
        /// Name or file.
        scenario: String,
        #[command(flatten)]
        flags: RunFlags,
    },
    /// Draws the page of saved records again.
    Report {
        /// Directory of a run, or with --criterion of criterion's results.
        directory: PathBuf,
        /// Draws criterion's saved results instead.
        #[arg(long)]
        criterion: bool,
    },
    /// Runs every shipped scenario, small, and checks it; no numbers.
    Verify,
    /// One trial, for this program's own use.
    #[command(hide = true)]
    Trial,
    #[command(hide = true)]
    Serve(ServeFlags),
}

/// What people turn most; everything else is in the scenario.
#[derive(Debug, Clone, Args)]
struct RunFlags {
    /// Generations of the queue.
    #[arg(long, value_name = "NAME,…")]
    queue: Option<Axis<QueuePreset>>,
    /// Whose informer: informer-bench, client-go (built with Go, of the release that has the queue), or both.
    #[arg(long, value_name = "NAME,…")]
    informer: Option<Axis<Implementation>>,
    /// Plain informer, shared informer, or both.
    #[arg(long, value_name = "plain,shared")]
    informer_mode: Option<Axis<InformerKind>>,
    /// Resync periods, such as off,1s,30s,10m.
    #[arg(long, value_name = "PERIOD,…")]
    resync: Option<Axis<ResyncPeriod>>,
    /// Objects of the profile.
    #[arg(long, value_name = "N,…", conflicts_with = "objects")]
    count: Option<Axis<ObjectCount>>,
    /// Real objects: output of kubectl get -o json or yaml.
    #[arg(long, value_name = "FILE")]
    objects: Option<PathBuf>,
    /// Resource to watch and change, such as pods or deployments.apps.
    #[arg(long)]
    resource: Option<String>,
    /// Changes a second, such as 200/s.
    // A negative rate is to be called a wrong rate and not an unknown flag.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    churn: Option<Axis<Rate>>,
    /// Cost of one handler call: none, spin:200us or sleep:5ms.
    #[arg(long, value_name = "COST,…")]
    handler_cost: Option<Axis<HandlerCost>>,
    /// Share of live adds and updates that the handler loses, such as 1%.
    #[arg(long, value_name = "SHARE")]
    lose: Option<Share>,
    /// Runs of each variant.
    #[arg(long)]
    rounds: Option<std::num::NonZeroU32>,
    /// Measured time of a trial.
    #[arg(long, value_name = "DURATION")]
    window: Option<WrittenDuration>,
    /// Unmeasured time before it.
    #[arg(long, value_name = "DURATION")]
    warm_up: Option<WrittenDuration>,
    /// Seed of all randomness.
    #[arg(long)]
    seed: Option<u64>,
    /// Exits with 3 if the server could not change objects at the asked rate, instead of only warning.
    #[arg(long)]
    strict_rate: bool,
    #[command(flatten)]
    output: OutputFlags,
}

#[derive(Debug, Clone, Args)]
struct OutputFlags {
    /// Directory for the results.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Prints one JSON document instead of the table.
    #[arg(long)]
    json: bool,
}

/// Does what the command line says. Errors are for a person and mean exit code 2.
///
/// # Errors
/// If it could not be done.
pub fn execute(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.verb {
        Verb::Compare(flags) => measure(shipped::PERIODS, &flags),
        Verb::Run { scenario, flags } => measure(&scenario, &flags),
        Verb::Report {
            directory,
            criterion: true,
        } => {
            let rendered = render_criterion(&directory, &directory.join("report"))?;
            table::print_line(&rendered.index.display().to_string());
            Ok(ExitCode::Passed)
        }
        Verb::Report {
            directory,
            criterion: false,
        } => report(
            &read_records(&directory)?,
            &directory,
            Form::Table,
            RatePolicy::Warn,
        ),
        Verb::Verify => verify(),
        Verb::Trial => serve_trial(),
        Verb::Serve(flags) => serve(flags),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Table,
}

fn measure(scenario: &str, flags: &RunFlags) -> anyhow::Result<ExitCode> {
    let mut named = NamedScenario::load(scenario)?;
    flags.apply(&mut named)?;
    let form = if flags.output.json {
        Form::Json
    } else {
        Form::Table
    };
    let rates = if flags.strict_rate {
        RatePolicy::Strict
    } else {
        RatePolicy::Warn
    };
    run_scenario(&named, flags.output.out.as_deref(), form, rates)
}

fn run_scenario(
    named: &NamedScenario,
    out: Option<&std::path::Path>,
    form: Form,
    rates: RatePolicy,
) -> anyhow::Result<ExitCode> {
    let plan = Plan::new(named);
    input::check(&plan.scenario.cluster)?;
    client_go::prepare(&plan)?;
    let results = ResultsDirectory::create(out, &named.name)?;
    results.write_scenario(named)?;
    let command = std::env::args()
        .skip(1)
        .fold("loadgen".to_owned(), |command, word| command + " " + &word);
    let interrupt = Interrupt::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut tasks = tokio::task::JoinSet::new();
    let records = runtime.block_on(async {
        interrupt.listen(&mut tasks);
        run(&plan, &results, &command, &interrupt).await
    });
    let records = records?;
    if records.is_empty() && interrupt.is_set() {
        return Ok(ExitCode::Interrupted);
    }
    let reported = report(&records, results.path(), form, rates)?;
    Ok(if interrupt.is_set() {
        ExitCode::Interrupted
    } else {
        reported
    })
}

fn report(
    records: &[RunRecord],
    directory: &std::path::Path,
    form: Form,
    rates: RatePolicy,
) -> anyhow::Result<ExitCode> {
    if records.is_empty() {
        bail!("nothing was measured: there is no record");
    }
    let rendered = render(records, directory)?;
    match form {
        Form::Json => table::print_line(
            &serde_json::to_string(records).context("records cannot be written as JSON")?,
        ),
        Form::Table => {
            table::print(&summarise(records));
            table::print_line(&rendered.index.display().to_string());
        }
    }
    let code = ExitCode::of(records, rates);
    if code == ExitCode::Inconclusive {
        explain_shortfall(records);
    }
    Ok(code)
}

/// Says why a strict run is inconclusive, and what to do.
fn explain_shortfall(records: &[RunRecord]) {
    for record in records {
        if let Some(shortfall) = rate_shortfall(record) {
            table::print_notice(&format!(
                "inconclusive, by --strict-rate: {} (round {}): {shortfall}; no number holds for the asked rate: lower --churn, or give the \
                 server more CPU",
                record.variant.label,
                record.round + 1
            ));
        }
    }
}

fn verify() -> anyhow::Result<ExitCode> {
    let mut worst = ExitCode::Passed;
    for name in shipped::NAMES {
        let mut named = NamedScenario::load(name)?;
        named.scenario = named.scenario.small();
        if name == shipped::PERIODS {
            named.scenario.queue = Axis::try_new(QueueKind::ALL.map(QueuePreset).to_vec())?;
        }
        table::print_line(&format!("verifying {name}"));
        worst = worst.max(run_scenario(&named, None, Form::Table, RatePolicy::Warn)?);
        if worst == ExitCode::Interrupted {
            break;
        }
    }
    Ok(worst)
}

impl RunFlags {
    fn apply(&self, named: &mut NamedScenario) -> Result<(), ScenarioError> {
        let scenario = &mut named.scenario;
        let varied = self.queue.is_some()
            || self.informer_mode.is_some()
            || self.resync.is_some()
            || self.count.is_some()
            || self.churn.is_some()
            || self.handler_cost.is_some();
        if varied {
            // Flags vary the lists; a scenario's explicit variants would hide them.
            scenario.variants.clear();
        }
        set(&mut scenario.queue, self.queue.as_ref());
        set(&mut scenario.implementation, self.informer.as_ref());
        set(&mut scenario.informer, self.informer_mode.as_ref());
        set(&mut scenario.resync, self.resync.as_ref());
        set(&mut scenario.churn.rate_per_second, self.churn.as_ref());
        set(&mut scenario.handler.cost, self.handler_cost.as_ref());
        set(&mut scenario.handler.lose, self.lose.as_ref());
        set(&mut scenario.rounds, self.rounds.as_ref());
        set(&mut scenario.window, self.window.as_ref());
        set(&mut scenario.warm_up, self.warm_up.as_ref());
        set(&mut scenario.seed, self.seed.as_ref());
        set(&mut scenario.cluster.resource, self.resource.as_ref());
        if self.count.is_some() {
            scenario.cluster.count.clone_from(&self.count);
        }
        if let Some(objects) = &self.objects {
            scenario.cluster.objects = Some(objects.clone());
            scenario.cluster.count = None;
            scenario.cluster.profile = None;
        }
        match scenario.fault() {
            None => Ok(()),
            Some((field, message)) => Err(ScenarioError::Flags { field, message }),
        }
    }
}

fn set<T: Clone>(field: &mut T, flag: Option<&T>) {
    if let Some(flag) = flag {
        field.clone_from(flag);
    }
}
