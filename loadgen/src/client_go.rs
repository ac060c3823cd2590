//! client-go's own informers, as programs that this one builds from `benches/peers/client-go` and starts: one for each queue, of
//! the release that has it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail, ensure};
use bench_core::cache::QueueKind;

use crate::{
    plan::Plan,
    scenario::choice::{HandlerKind, Implementation},
};

/// What every trial's record says of how objects were decoded.
pub(crate) const DECODE_MODE: &str = "Pod";

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../benches/peers/client-go");

/// Where Go's own installer puts it, for a PATH that lacks it.
const INSTALLED: &str = "/usr/local/go/bin/go";

/// The line of releases that has a queue: its folder, and the release that is built.
fn line(queue: QueueKind) -> (&'static str, &'static str) {
    match queue {
        QueueKind::DeltaFifo => ("v0.27", "v0.27.16"),
        QueueKind::RealFifoPerEvent => ("v0.34", "v0.34.13"),
        QueueKind::RealFifo => ("v0.35", "v0.35.10"),
        QueueKind::AtomicFifo => ("v0.37", "v0.37.2"),
    }
}

/// What results call the release with this queue.
pub(crate) fn implementation(queue: QueueKind) -> String {
    format!("client-go {}", line(queue).1)
}

/// The built program with this queue's informers; beside this program.
///
/// # Errors
/// If this program's own path cannot be found.
pub(crate) fn program(queue: QueueKind) -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("this program's path cannot be found")?;
    let beside = own.parent().unwrap_or_else(|| Path::new("."));
    Ok(beside.join(format!("client-go/dynamics-{}", line(queue).0)))
}

/// Builds what a plan needs, before anything is measured. Nothing to do for one without client-go.
///
/// # Errors
/// If the scenario asks for what client-go's programs do not do, or they cannot be built, with Go's words.
pub(crate) fn prepare(plan: &Plan) -> anyhow::Result<()> {
    let theirs = plan
        .trials
        .iter()
        .filter(|trial| trial.variant.implementation == Implementation::ClientGo);
    let mut queues: Vec<QueueKind> = theirs.map(|trial| trial.variant.queue.0).collect();
    queues.dedup();
    if queues.is_empty() {
        return Ok(());
    }
    ensure!(
        plan.scenario.handler.kind != HandlerKind::WorkQueue,
        "--informer client-go: its handlers are probe and inline only, and the scenario's is a workqueue"
    );
    ensure!(
        plan.scenario.cluster.resource == "pods",
        "--informer client-go: its programs decode pods only, and the resource to watch is {}",
        plan.scenario.cluster.resource
    );
    queues.into_iter().try_for_each(build)
}

fn build(queue: QueueKind) -> anyhow::Result<()> {
    let folder = Path::new(SOURCES).join(line(queue).0);
    ensure!(
        folder.is_dir(),
        "--informer client-go is built from {}, which is not there",
        folder.display()
    );
    let out = program(queue)?;
    let go = |name: &str| {
        let mut command = Command::new(name);
        // No version control: the folder may be a copy.
        command.args(["build", "-buildvcs=false", "-o"]).arg(&out);
        command.arg("./dynamics").current_dir(&folder).output()
    };
    let built = go("go")
        .or_else(|_| go(INSTALLED))
        .context("--informer client-go needs Go, and there is none on the PATH")?;
    if !built.status.success() {
        bail!(
            "client-go's program cannot be built in {}: {}",
            folder.display(),
            String::from_utf8_lossy(&built.stderr).trim()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_releases_are_those_that_the_modules_require() {
        for queue in QueueKind::ALL {
            let (folder, release) = line(queue);
            let path = Path::new(SOURCES).join(folder).join("go.mod");
            let module = std::fs::read_to_string(&path).expect("the line has a module");
            let required = format!("k8s.io/client-go {release}\n");
            assert!(module.contains(&required), "{}", path.display());
        }
    }
}
