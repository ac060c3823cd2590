//! The server's state, shared by requests and the churn thread.

mod committing;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bench_core::{
    api::{ObjectKey, Resource, Scope},
    measure::clock::process_cpu_time,
};
use parking_lot::Mutex;
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha12Rng};
use tokio::{sync::watch, time::Instant};

use self::committing::Commit;
use crate::{
    authentication::BearerToken,
    churn::ChurnError,
    churn_driver::RunningChurn,
    config::{WatchConfig, WindowConfig},
    control::{ChurnRequest, ChurnSummary, ResourceState, ServerState},
    fault::{FaultDriver, follow_timeline, script::FaultScript},
    known_kinds,
    metrics::Metrics,
    profiles::Profile,
    storage::{ResourceId, Storage, resource_name},
    watcher_registry::{WatcherId, WatcherRegistry},
    write::{StoppingPod, Timestamp, load_namespaces, register_loaded},
};

/// A fake API server. Serve it with [`router`](crate::router) or [`serve`](crate::serve).
#[derive(Debug)]
pub struct ApiServer {
    config: WatchConfig,
    started: Instant,
    state: Mutex<State>,
    started_at: jiff::Timestamp,
    revision: watch::Sender<u64>,
    // Counts the times that all watches were closed.
    closings: watch::Sender<u64>,
    shutdown: watch::Sender<ShutdownPhase>,
    // Counts the pods that began to stop.
    stops: watch::Sender<u64>,
    makers: Vec<Option<Profile>>,
    churn: Mutex<Option<RunningChurn>>,
    // The history that is kept when no fault script sets another.
    window: WindowConfig,
    faults: FaultDriver,
    metrics: Metrics,
    token: OnceLock<BearerToken>,
    list_requests: AtomicU64,
    watch_requests: AtomicU64,
}

/// Whether the server was asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShutdownPhase {
    Requested,
    Serving,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) storage: Storage,
    pub(crate) watchers: WatcherRegistry,
    // One sender per resource, by ResourceId: the number of the next event.
    heads: Vec<watch::Sender<u64>>,
    // Pods under deletion whose containers still run.
    pub(crate) stopping: Vec<StoppingPod>,
    commits: Vec<Commit>,
    pub(crate) random: ChaCha12Rng,
}

impl ApiServer {
    /// Serves a loaded storage. Resources that Kubernetes always has are added here, and so are the namespaces that it always has
    /// and those of the loaded objects, all at version 1. Others come with a `CustomResourceDefinition`.
    ///
    /// `makers` make the objects that a churn creates; a resource without one gets copies of its existing objects.
    pub fn new(
        mut storage: Storage,
        makers: Vec<Profile>,
        config: WatchConfig,
        seed: u64,
    ) -> Arc<Self> {
        for resource in known_kinds::always_served() {
            storage.register(&resource);
        }
        register_loaded(&mut storage);
        load_namespaces(&mut storage);
        storage.compact();
        let mut makers_by_resource: Vec<Option<Profile>> = storage.stores().map(|_| None).collect();
        for maker in makers {
            let resource = maker.kind().resource();
            let place = storage
                .stores()
                .position(|(_, store)| *store.resource() == resource);
            if let Some(place) = place {
                makers_by_resource[place] = Some(maker);
            }
        }
        let server = Self {
            started: Instant::now(),
            started_at: jiff::Timestamp::now(),
            revision: watch::Sender::new(storage.revision()),
            closings: watch::Sender::new(0),
            shutdown: watch::Sender::new(ShutdownPhase::Serving),
            stops: watch::Sender::new(0),
            makers: makers_by_resource,
            churn: Mutex::new(None),
            window: storage.window(),
            faults: FaultDriver::new(seed),
            metrics: Metrics::new(),
            token: OnceLock::new(),
            list_requests: AtomicU64::new(0),
            watch_requests: AtomicU64::new(0),
            state: Mutex::new(State {
                heads: storage.stores().map(|_| watch::Sender::new(0)).collect(),
                storage,
                watchers: WatcherRegistry::new(config.slow_watcher_budget),
                stopping: Vec::new(),
                commits: Vec::new(),
                random: ChaCha12Rng::seed_from_u64(seed),
            }),
            config,
        };
        Arc::new(server)
    }

    /// A server without objects, with the settings of a real one: for tests and examples.
    pub fn empty(seed: u64) -> Arc<Self> {
        let storage = Storage::new(WindowConfig::kube_apiserver());
        Self::new(storage, Vec::new(), WatchConfig::kube_apiserver(), seed)
    }

    /// Starts a churn on a thread of its own.
    ///
    /// # Errors
    /// [`StartChurnError`]; nothing runs then.
    pub fn start_churn(self: &Arc<Self>, request: &ChurnRequest) -> Result<(), StartChurnError> {
        let mut churn = self.churn.lock();
        if churn.as_ref().is_some_and(RunningChurn::is_running) {
            return Err(StartChurnError::AlreadyRunning);
        }
        *churn = Some(RunningChurn::start(Arc::clone(self), request)?);
        Ok(())
    }

    /// Stops the churn, waits for a write under way (milliseconds), and says what was done. `None` if there was none.
    pub fn stop_churn(&self) -> Option<ChurnSummary> {
        let churn = self.churn.lock().take()?;
        let progress = churn.stop();
        Some(ChurnSummary {
            scheduled: progress.scheduled,
            committed: progress.committed,
            checksum: format!("{:016x}", progress.checksum),
            revision: self.state.lock().storage.revision(),
        })
    }

    /// Ends all open watches cleanly.
    pub fn close_watches(&self) {
        self.closings.send_modify(|count| *count += 1);
    }

    /// Forgets the history: older versions are expired from now on. Open watches that lag behind end.
    pub fn compact(&self) {
        self.state.lock().storage.compact();
    }

    /// Lets in, from now on, only requests that bear this token; public paths stay public. The first token stays.
    pub fn require_token(&self, token: BearerToken) {
        // A second token is ignored, as documented.
        let _ = self.token.set(token);
    }

    pub(crate) fn required_token(&self) -> Option<&BearerToken> {
        self.token.get()
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Puts a fault script in force from now on, in place of the one before, or ends all faults. Its timeline needs
    /// [`follow_fault_timeline`](Self::follow_fault_timeline), which [`serve`](crate::serve) calls.
    pub fn set_faults(&self, script: Option<&FaultScript>) {
        let history = script.and_then(|script| script.limits.history_events);
        let window = history.map_or(self.window, |events| {
            WindowConfig::fixed(usize::try_from(events).unwrap_or(usize::MAX))
        });
        self.state.lock().storage.set_window(window);
        self.faults.replace(script, self.now());
    }

    /// Carries out the timeline of whatever fault script is in force, and never ends. Cancel safe.
    pub async fn follow_fault_timeline(self: Arc<Self>) {
        match follow_timeline(self).await {}
    }

    /// Lets the version counter fall, as when a cluster is restored from a copy: every object keeps content and uid and gets a
    /// low version, the history and the commit records are empty, and every open watch ends.
    pub fn reset_versions(&self) {
        let mut state = self.state.lock();
        state.storage.renumber();
        state.commits.clear();
        self.revision.send_replace(state.storage.revision());
        // Inside the lock, so that no watch goes on from an old version.
        self.close_watches();
    }

    /// Asks whoever serves to stop.
    pub fn request_shutdown(&self) {
        self.shutdown.send_replace(ShutdownPhase::Requested);
        self.close_watches();
    }

    /// The counters.
    pub fn state(&self) -> ServerState {
        let memory = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let state = self.state.lock();
        let resources = state.storage.stores().map(|(_, store)| {
            let objects = store.objects().len() as u64;
            let mean = store.total_size_bytes() as f64 / objects.max(1) as f64;
            (
                resource_name(store.resource()),
                ResourceState {
                    objects,
                    object_size_bytes_mean: mean,
                },
            )
        });
        ServerState {
            revision: state.storage.revision(),
            resources: resources.collect::<BTreeMap<_, _>>(),
            watchers: state.watchers.len() as u64,
            terminated_watchers: state.watchers.terminated(),
            list_requests: self.list_requests.load(Ordering::Relaxed),
            watch_requests: self.watch_requests.load(Ordering::Relaxed),
            cpu_time_ns: u64::try_from(process_cpu_time().as_nanos()).unwrap_or(u64::MAX),
            rss_bytes: memory_field(&memory, "VmRSS:"),
            rss_peak_bytes: memory_field(&memory, "VmHWM:"),
        }
    }

    /// Looks a resource up by its plural, or by `plural.group`.
    pub fn find_resource(&self, name: &str) -> Option<ResourceId> {
        self.state.lock().storage.find_by_name(name)
    }

    /// Reads the state; the lock is held meanwhile.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&mut State) -> T) -> T {
        read(&mut self.state.lock())
    }

    pub(crate) fn config(&self) -> &WatchConfig {
        &self.config
    }

    /// Time since the server's start.
    pub(crate) fn now(&self) -> Duration {
        Instant::now().saturating_duration_since(self.started)
    }

    /// The instant of a time since the server's start.
    pub(crate) fn instant_of(&self, time: Duration) -> Instant {
        self.started + time
    }

    pub(crate) fn faults(&self) -> &FaultDriver {
        &self.faults
    }

    /// How many events a watch of a resource may lag behind.
    pub(crate) fn watch_buffer(&self, resource: &Resource) -> u64 {
        let set_by_script = self.faults.watch_buffer();
        set_by_script.unwrap_or_else(|| self.config.buffer.events(resource))
    }

    /// Completes when the server was asked to stop, however long ago.
    pub(crate) async fn stop_requested(requests: &mut watch::Receiver<ShutdownPhase>) {
        // An error would mean that the server is gone.
        let _ = requests
            .wait_for(|phase| *phase == ShutdownPhase::Requested)
            .await;
    }

    pub(crate) fn head_of(&self, id: ResourceId) -> watch::Receiver<u64> {
        self.state.lock().heads[id.index()].subscribe()
    }

    pub(crate) fn revisions(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    pub(crate) fn closings(&self) -> watch::Receiver<u64> {
        self.closings.subscribe()
    }

    pub(crate) fn shutdown_requests(&self) -> watch::Receiver<ShutdownPhase> {
        self.shutdown.subscribe()
    }

    pub(crate) fn stopping_pods(&self) -> watch::Receiver<u64> {
        self.stops.subscribe()
    }

    /// Notes a pod that is to be removed when its containers have stopped.
    pub(crate) fn note_stopping(&self, pod: StoppingPod) {
        self.state.lock().stopping.push(pod);
        self.stops.send_modify(|count| *count += 1);
    }

    pub(crate) fn count_list(&self) {
        self.list_requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_watch(&self) {
        self.watch_requests.fetch_add(1, Ordering::Relaxed);
    }

    /// What makes new objects of a resource, if it came from a profile.
    pub(crate) fn maker(&self, id: ResourceId) -> Option<&Profile> {
        self.makers.get(id.index())?.as_ref()
    }

    /// The time of the calendar, which goes on from the server's start as the runtime's clock does.
    pub(crate) fn calendar_time(&self) -> Timestamp {
        let seconds = self.started_at.as_second();
        let since = i64::try_from(self.now().as_secs()).unwrap_or(i64::MAX);
        Timestamp::from_unix_seconds(seconds.saturating_add(since))
    }

    pub(crate) fn close_watcher(&self, id: WatcherId) {
        self.state.lock().watchers.close(id);
    }

    /// A watch's deadline if it asks for none.
    pub(crate) fn random_timeout(&self) -> Duration {
        self.config
            .default_timeout
            .mul_f64(self.state.lock().random.random_range(1.0..2.0))
    }

    /// Scope and keys of a resource, in list order.
    pub(crate) fn population(&self, id: ResourceId) -> (Scope, Vec<ObjectKey>) {
        let state = self.state.lock();
        let store = state.storage.store(id);
        (
            store.resource().scope,
            store.objects().keys().cloned().collect(),
        )
    }
}

/// A churn was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartChurnError {
    /// One runs.
    #[error("a churn is running; stop it first")]
    AlreadyRunning,
    /// The request is not one that can be carried out.
    #[error(transparent)]
    Invalid(#[from] ChurnError),
    /// The system gives no thread.
    #[error("cannot start the churn's thread")]
    Thread(#[from] std::io::Error),
}

impl State {
    /// Gives each resource that is new its sender.
    pub(crate) fn complete_heads(&mut self) {
        while self.heads.len() < self.storage.len() {
            self.heads.push(watch::Sender::new(0));
        }
    }
}

fn memory_field(status: &str, name: &str) -> u64 {
    let field = status.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = field.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}
