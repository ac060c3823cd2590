//! Each trial in a process of its own: this binary, started again as `loadgen trial`. One trial then leaves nothing behind for the
//! next, above all no memory that the allocator keeps: after three trials of 150,000 pods the fourth would start with 4 GB.

use std::{io, process::Stdio, thread};

use anyhow::{Context as _, bail};
use bench_core::measure::record::{Environment, RunRecord};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::Command,
};

use crate::{
    exit_code::ExitCode,
    interrupt::Interrupt,
    plan::Plan,
    run::run_one,
    scenario::{NamedScenario, Scenario},
    server_process::Placement,
    table,
};

/// What the child needs to lay out the same plan and run one trial of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TrialRequest {
    pub(crate) name: String,
    pub(crate) scenario: Scenario,
    pub(crate) order: u32,
    pub(crate) command: String,
    pub(crate) environment: Environment,
}

/// The line that tells the child of a Ctrl-C. The end of its stdin tells it that nobody wants the record any more.
const INTERRUPT: &str = "interrupt\n";

/// Runs the trial in a child and returns its record.
///
/// # Errors
/// If the child cannot be started or ends without a record.
pub(crate) async fn run_in_child(
    request: &TrialRequest,
    interrupt: &Interrupt,
) -> anyhow::Result<RunRecord> {
    let program = std::env::current_exe().context("this program's path cannot be found")?;
    let mut command = Command::new(program);
    command
        .arg("trial")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    // A signal to the terminal is for us to handle, and to pass on.
    command.process_group(0);
    let mut child = command.spawn().context("the trial cannot be started")?;
    let mut stdin = child.stdin.take().expect("it is piped");
    let mut stdout = child.stdout.take().expect("it is piped");
    let line = serde_json::to_string(request)? + "\n";
    let mut record = String::new();
    let read = async {
        stdin.write_all(line.as_bytes()).await?;
        let told = async {
            interrupt.pressed().await;
            // A child that is gone needs no telling; its record tells.
            let _ = stdin.write_all(INTERRUPT.as_bytes()).await;
            std::future::pending::<io::Result<usize>>().await
        };
        tokio::select! {
            biased;
            read = stdout.read_to_string(&mut record) => read,
            never = told => never,
        }
    };
    let read = read.await;
    let status = child
        .wait()
        .await
        .context("the trial cannot be waited for")?;
    if let (Ok(_), true) = (&read, status.success()) {
        serde_json::from_str(&record).context("the trial's record cannot be read")
    } else {
        bail!("the trial's process ended without a record ({status})")
    }
}
/// The child's side: reads the request, runs, prints the record.
///
/// # Errors
/// If the request cannot be read or the machine gives no threads.
pub(crate) fn serve_trial() -> anyhow::Result<ExitCode> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let request: TrialRequest = serde_json::from_str(&line)
        .context("`trial` is for this program's own use, and its stdin holds no trial")?;
    let interrupt = Interrupt::default();
    thread::spawn({
        let interrupt = interrupt.clone();
        move || follow_parent(&interrupt)
    });
    let named = NamedScenario {
        name: request.name,
        scenario: request.scenario,
    };
    let plan = Plan::new(&named);
    let trial = plan
        .trials
        .iter()
        .find(|trial| trial.order == request.order)
        .context("the scenario has no such trial")?;
    let placement = Placement::of_this_machine();
    let mut environment = request.environment;
    // Before the runtime, whose threads inherit it.
    environment.placement = placement.pin_client();
    // The reflector and the resync wait on the queue's lock while a handler runs, each on a worker of its own.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(6)
        .enable_all()
        .build()?;
    let mut record = crate::run::blank_record(&plan, trial, &request.command, &environment);
    runtime.block_on(run_one(&plan, trial, &placement, &interrupt, &mut record));
    // What an interrupted handler still works off must not hold up the report.
    runtime.shutdown_background();
    table::print_line(&serde_json::to_string(&record)?);
    Ok(ExitCode::Passed)
}

#[expect(
    clippy::exit,
    reason = "nobody is left to hand a result to, and a trial takes long"
)]
fn follow_parent(interrupt: &Interrupt) {
    let mut line = String::new();
    while matches!(io::stdin().read_line(&mut line), Ok(1..)) {
        if line == INTERRUPT {
            interrupt.press();
        }
        line.clear();
    }
    std::process::exit(ExitCode::Interrupted.number().into());
}
