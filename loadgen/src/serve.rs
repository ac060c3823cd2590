//! The server's side of this program: `loadgen serve`, which trials start and nobody else needs.

use std::{io, net::SocketAddr, path::PathBuf, thread};

use anyhow::Context as _;
use bench_core::measure::environment::pin_to_core;
use clap::Args;
use fake_apiserver::{
    config::{ObjectSource, ServerConfig},
    profiles::ProfileKind,
};
use tokio::sync::oneshot;

use crate::{exit_code::ExitCode, table};

#[derive(Debug, Args)]
pub(crate) struct ServeFlags {
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    #[arg(long, default_value = "pod-6k")]
    profile: ProfileKind,
    #[arg(long, default_value_t = 0)]
    count: usize,
    #[arg(long)]
    objects: Option<PathBuf>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long)]
    core: Option<usize>,
    /// Ends when stdin does: the parent holds the other end, and so takes the server with it however it dies.
    #[arg(long)]
    until_stdin_ends: bool,
}

/// Serves until its parent has gone.
///
/// # Errors
/// If the objects cannot be had or the address not be bound.
pub(crate) fn serve(flags: ServeFlags) -> anyhow::Result<ExitCode> {
    if let Some(core) = flags.core {
        pin_to_core(core).with_context(|| format!("the server cannot be kept on core {core}"))?;
    }
    let mut config = ServerConfig::empty(flags.listen, flags.seed);
    config.objects = match flags.objects {
        Some(file) => vec![ObjectSource::File(file)],
        None => vec![ObjectSource::Profile {
            kind: flags.profile,
            count: flags.count,
        }],
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let ready = |address| table::print_line(&format!("listening on http://{address}"));
    let shutdown = async {
        if flags.until_stdin_ends {
            stdin_ended().await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    runtime.block_on(fake_apiserver::run(config, ready, shutdown))?;
    Ok(ExitCode::Passed)
}

async fn stdin_ended() {
    let (open, ended) = oneshot::channel::<()>();
    // A thread of its own, since a runtime that ends waits for its blocking reads.
    thread::spawn(move || {
        if let Err(error) = io::copy(&mut io::stdin(), &mut io::sink()) {
            tracing::error!(%error, "stdin cannot be read, so it counts as ended");
        }
        drop(open);
    });
    // It never sends, so this fails, when the thread ends.
    let _ = ended.await;
}
