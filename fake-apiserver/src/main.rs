//! The command line of the fake API server.

use std::{
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    str::FromStr,
    time::Duration,
};

use bench_core::api::{Resource, Scope};
use clap::Parser;
use fake_apiserver::{
    BearerToken, TokenError,
    config::{ConnectionLimits, ObjectSource, Replay, ServerConfig, Transport},
    control::{Arrivals, ChurnMix, ChurnRequest, KeyChoice},
    fault::script::{FaultScript, ScriptError},
    profiles::ProfileKind,
    run,
    trace::replay::Pace,
};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
    task::JoinSet,
};

/// Exit code for input that cannot be used.
const BAD_INPUT: u8 = 2;
/// Exit code after a second signal.
const INTERRUPTED: i32 = 130;

/// Serves Kubernetes' LIST and WATCH over made-up or real objects, with a seeded churn.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Address to listen on; port 0 lets the system choose.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// How many objects to make up.
    #[arg(long, default_value_t = 0)]
    count: usize,
    /// What to make up: pod-6k, pod-11k, pod-50k, node, lease or configmap.
    #[arg(long, default_value = "pod-6k")]
    profile: ProfileKind,
    /// Real objects: JSON or YAML as kubectl writes them. May be given several times.
    #[arg(long, value_name = "FILE")]
    objects: Vec<PathBuf>,
    /// Writes per second, such as 20/s: one create and one delete for eight updates, at random instants.
    #[arg(long, value_name = "RATE")]
    churn: Option<Rate>,
    /// Resource to churn, by plural or plural.group; that of the profile if absent.
    #[arg(long, value_name = "RESOURCE", requires = "churn")]
    churn_resource: Option<String>,
    /// Decides everything that is random.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Encrypt with a certificate of this process's own, and speak HTTP/2.
    #[arg(long)]
    tls: bool,
    /// Write a kubeconfig that leads to this server: mode 0600, with certificate and token.
    #[arg(long, value_name = "FILE")]
    kubeconfig_out: Option<PathBuf>,
    /// Ask for the bearer token in this file; if there is none, it is made with a random one and mode 0600.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Connections at a time.
    #[arg(long, value_name = "N", default_value_t = ConnectionLimits::usual().connections, value_parser = at_least_one)]
    max_connections: usize,
    /// Write every event to this file: a trace.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Do again what a trace says: one of --record, or of kubectl get -w --output-watch-events -o json.
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// How many times as fast.
    #[arg(long, value_name = "FACTOR", default_value = "1", requires = "replay", value_parser = factor)]
    replay_speed: f64,
    /// Events per second of a trace that has no times, such as 20/s.
    #[arg(long, value_name = "RATE", default_value = "10/s", requires = "replay")]
    replay_rate: Rate,
    /// Faults on a script: YAML, as the documentation of `fake_apiserver::fault` shows.
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// One more resource: group/version/plural/Kind, and /Cluster if its objects have no namespace.
    #[arg(long, value_name = "RESOURCE")]
    resource: Vec<ResourceArgument>,
}

#[derive(Debug, Clone, Copy)]
struct Rate(f64);

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix("/s").unwrap_or(text);
        match number.parse::<f64>() {
            Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(Self(rate)),
            _ => Err("expected a number above 0 and /s, such as 20/s".to_owned()),
        }
    }
}

#[derive(Debug, Clone)]
struct ResourceArgument(Resource);

impl FromStr for ResourceArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            "expected group/version/plural/Kind, or group/version/plural/Kind/Cluster".to_owned()
        };
        let parts: Vec<&str> = text.split('/').collect();
        let (scope, parts) = match parts.as_slice() {
            [parts @ .., "Cluster"] if parts.len() == 4 => (Scope::Cluster, parts),
            [parts @ .., "Namespaced"] if parts.len() == 4 => (Scope::Namespaced, parts),
            parts => (Scope::Namespaced, parts),
        };
        match parts {
            [group, version, plural, kind]
                if !version.is_empty() && !plural.is_empty() && !kind.is_empty() =>
            {
                Ok(Self(Resource::named(group, version, plural, kind, scope)))
            }
            _ => Err(expected()),
        }
    }
}

impl Arguments {
    fn into_config(self) -> Result<ServerConfig, InputError> {
        let mut config = ServerConfig::empty(self.listen, self.seed);
        config.transport = if self.tls {
            Transport::Tls
        } else {
            Transport::Plain
        };
        config.limits.connections = self.max_connections;
        config.kubeconfig_out = self.kubeconfig_out;
        config.record = self.record;
        let pace = Pace {
            speed: self.replay_speed,
            untimed_gap: Duration::from_secs_f64(1.0 / self.replay_rate.0),
        };
        config.replay = self.replay.map(|path| Replay { path, pace });
        config.token = self
            .token_file
            .as_deref()
            .map(BearerToken::from_file)
            .transpose()?;
        config.faults = self.faults.as_deref().map(read_script).transpose()?;
        config
            .objects
            .extend(self.objects.into_iter().map(ObjectSource::File));
        // A profile without objects still makes those that a churn creates.
        config.objects.push(ObjectSource::Profile {
            kind: self.profile,
            count: self.count,
        });
        config.resources = self
            .resource
            .into_iter()
            .map(|argument| argument.0)
            .collect();
        config.churn = self.churn.map(|Rate(rate_per_second)| ChurnRequest {
            resource: self
                .churn_resource
                .unwrap_or_else(|| self.profile.resource().plural),
            rate_per_second,
            mix: ChurnMix {
                create: 1.0,
                update: 8.0,
                delete: 1.0,
            },
            arrivals: Arrivals::Poisson,
            keys: KeyChoice::Uniform,
            seed: self.seed,
            start_at_ns: None,
        });
        Ok(config)
    }
}

/// A file that a flag names cannot be used.
#[derive(Debug, thiserror::Error)]
enum InputError {
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error(transparent)]
    Token(#[from] TokenError),
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number above 0".to_owned()),
        Ok(number) => Ok(number),
    }
}

fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor > 0.0 => Ok(factor),
        _ => Err("expected a number above 0".to_owned()),
    }
}

fn read_script(path: &Path) -> Result<FaultScript, InputError> {
    let text = fs::read_to_string(path).map_err(|source| InputError::Read {
        path: path.to_owned(),
        source,
    })?;
    Ok(FaultScript::parse(&path.display().to_string(), &text)?)
}

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(io::stderr)
        .init();
    let config = match Arguments::parse().into_config() {
        Ok(config) => config,
        Err(error) => {
            complain(&format!("error: {}", with_causes(&error)));
            return ExitCode::from(BAD_INPUT);
        }
    };
    if !config.listen.ip().is_loopback() {
        complain(&format!(
            "warning: {} is not a loopback address: whoever reaches it can read and steer this server",
            config.listen
        ));
    }
    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    let [Ok(interrupt), Ok(terminate)] = signals else {
        complain("error: cannot listen for signals");
        return ExitCode::FAILURE;
    };
    let (stop, stopped) = oneshot::channel();
    let mut tasks = JoinSet::new();
    tasks.spawn(watch_signals(interrupt, terminate, stop));
    let shutdown = async {
        // The sender is only dropped with the task, which ends with the process.
        stopped
            .await
            .expect("the signal task lives as long as the server");
    };
    let scheme = match config.transport {
        Transport::Plain => "http",
        Transport::Tls => "https",
    };
    let ready = |address| announce(scheme, address);
    match run(config, ready, shutdown).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("error: {}", with_causes(&error)));
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// The first signal stops the server, the second the process.
async fn watch_signals(mut interrupt: Signal, mut terminate: Signal, stop: oneshot::Sender<()>) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    if stop.send(()).is_err() {
        return;
    }
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    #[expect(clippy::exit, reason = "whoever signals twice does not want to wait")]
    std::process::exit(INTERRUPTED);
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[expect(
    clippy::print_stdout,
    reason = "the line that a parent process waits for"
)]
fn announce(scheme: &str, address: SocketAddr) {
    println!("listening on {scheme}://{address}");
}

#[expect(clippy::print_stderr, reason = "messages for a person")]
fn complain(message: &str) {
    eprintln!("{message}");
}
