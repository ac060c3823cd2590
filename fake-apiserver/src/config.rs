//! What a server is made from, as plain data.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use bench_core::api::Resource;

use crate::{
    BearerToken, control::ChurnRequest, fault::script::FaultScript, profiles::ProfileKind,
    trace::replay::Pace,
};

/// Everything that [`run`](crate::run) needs to know.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Address to bind; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// What exists at the start.
    pub objects: Vec<ObjectSource>,
    /// Resources served beside those that are always there and those in the objects.
    pub resources: Vec<Resource>,
    /// Decides all that is random: object names and contents, random timeouts.
    pub seed: u64,
    /// How much history is kept.
    pub window: WindowConfig,
    /// Deadlines, bookmarks and the cut-off of watches.
    pub watch: WatchConfig,
    /// A churn that runs from the start.
    pub churn: Option<ChurnRequest>,
    /// Whether connections are encrypted.
    pub transport: Transport,
    /// What connections may cost.
    pub limits: ConnectionLimits,
    /// What every request must bear.
    pub token: Option<BearerToken>,
    /// Where to write a kubeconfig that leads to this server, readable by its owner alone.
    pub kubeconfig_out: Option<PathBuf>,
    /// Where to write what happens.
    pub record: Option<PathBuf>,
    /// What is to happen.
    pub replay: Option<Replay>,
    /// Faults that strike from the start.
    pub faults: Option<FaultScript>,
}

impl ServerConfig {
    /// No objects, no churn, and the settings of a real API server.
    pub fn empty(listen: SocketAddr, seed: u64) -> Self {
        Self {
            listen,
            objects: Vec::new(),
            resources: Vec::new(),
            seed,
            window: WindowConfig::kube_apiserver(),
            watch: WatchConfig::kube_apiserver(),
            churn: None,
            transport: Transport::Plain,
            limits: ConnectionLimits::usual(),
            token: None,
            kubeconfig_out: None,
            record: None,
            replay: None,
            faults: None,
        }
    }
}

/// Whether connections are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// HTTP/1.1 in the clear.
    Plain,
    /// TLS with a certificate of the server's own, HTTP/2 and HTTP/1.1.
    Tls,
}

/// A trace to be done from when the server listens.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// Its file.
    pub path: PathBuf,
    /// How fast.
    pub pace: Pace,
}

/// What connections may cost. Values are those of a kube-apiserver where it has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at a time; more wait in the system's queue.
    pub connections: usize,
    /// Bytes of a request's head, and of unsent answers that are buffered in HTTP/1.1.
    pub header_bytes: usize,
    /// How long a TLS handshake, the head of a request or the wait for a next one may take.
    pub header_time: Duration,
    /// Bytes of a request's body.
    pub body_bytes: usize,
}

impl ConnectionLimits {
    /// 10,000 connections, heads as large as hyper takes them by itself (408 KiB) within 32 s (`ReadHeaderTimeout` in apiserver's
    /// `pkg/server/secure_serving.go`), bodies of 3 MiB (`MaxRequestBodyBytes` in its `pkg/server/config.go`).
    pub fn usual() -> Self {
        Self {
            connections: 10_000,
            header_bytes: 408 * 1024,
            header_time: Duration::from_secs(32),
            body_bytes: 3 * 1024 * 1024,
        }
    }
}

/// Where objects come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObjectSource {
    /// A JSON or YAML file of real objects.
    File(PathBuf),
    /// Made up.
    Profile {
        /// Content and size.
        kind: ProfileKind,
        /// How many.
        count: usize,
    },
}

/// Size of the event window of each resource.
///
/// The window doubles when it is full and its oldest event is younger than `keep`, and halves when three quarters of it are
/// older.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowConfig {
    /// Smallest and first capacity, in events; at least 1.
    pub capacity_min: usize,
    /// Largest capacity, in events.
    pub capacity_max: usize,
    /// Age up to which events are worth keeping.
    pub keep: Duration,
}

impl WindowConfig {
    /// What a kube-apiserver has.
    pub fn kube_apiserver() -> Self {
        Self {
            capacity_min: 100,
            capacity_max: 102_400,
            keep: Duration::from_secs(75),
        }
    }

    /// A window that never changes its size.
    pub fn fixed(capacity: usize) -> Self {
        Self {
            capacity_min: capacity,
            capacity_max: capacity,
            keep: Duration::from_secs(75),
        }
    }
}

/// Behaviour of LIST and WATCH over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchConfig {
    /// Between bookmarks of one watch.
    pub bookmark_interval: Duration,
    /// A last bookmark comes this long before a watch's deadline.
    pub bookmark_before_deadline: Duration,
    /// Deadline of a watch that asks for none: random between this and twice as much.
    pub default_timeout: Duration,
    /// How long a request for a version from the future waits.
    pub future_version_wait: Duration,
    /// How many live events a watch may lag behind.
    pub buffer: WatchBuffer,
    /// How long a watch may exceed its buffer before it is ended.
    pub slow_watcher_budget: Duration,
}

impl WatchConfig {
    /// What a kube-apiserver has.
    pub fn kube_apiserver() -> Self {
        Self {
            bookmark_interval: Duration::from_mins(1),
            bookmark_before_deadline: Duration::from_secs(2),
            default_timeout: Duration::from_mins(30),
            future_version_wait: Duration::from_secs(3),
            buffer: WatchBuffer::KubeApiserver,
            slow_watcher_budget: Duration::from_millis(100),
        }
    }
}

/// Size of a watch's buffer, in events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchBuffer {
    /// The same for every resource.
    Fixed(u64),
    /// 1000 for pods, 100 for others.
    KubeApiserver,
}

impl WatchBuffer {
    /// The size for one resource.
    pub fn events(self, resource: &Resource) -> u64 {
        match self {
            Self::Fixed(events) => events,
            Self::KubeApiserver if resource.group.is_empty() && resource.plural == "pods" => 1000,
            Self::KubeApiserver => 100,
        }
    }
}
