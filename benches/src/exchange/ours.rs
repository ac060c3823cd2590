//! Our informer at a scripted server.

use std::{collections::BTreeMap, io, time::Duration};

use bench_core::{
    api::{KubeObject as _, Object},
    cache::{
        ControllerPlacement, HandlerRegistration, Indexer, Indexers, Informer, InformerSettings,
        RunningInformer, SharedInformer, SharedInformerSettings,
    },
    list_watch::ListerWatcher,
};
use tokio::time::{sleep, timeout};

use super::{
    line::Line,
    outcome::Outcome,
    recorder::{Arrived, EventRecorder, Failures},
    script::{HandlerSpec, Script},
    server::ScriptedServer,
};

/// A script takes no longer than this; one that does has gone wrong.
const SCRIPT_LIMIT: Duration = Duration::from_mins(1);

/// How long the last version may take to be known after the end object.
const SETTLE_LIMIT: Duration = Duration::from_secs(2);

const QUIET: Duration = Duration::from_millis(300);
const POLL_EVERY: Duration = Duration::from_millis(20);

enum Subject {
    Plain(RunningInformer<Object, Failures>, EventRecorder),
    Shared(Box<SharedInformer<Object, Failures>>, Vec<Handler>),
}

struct Handler {
    recorder: EventRecorder,
    spec: HandlerSpec,
    registration: Option<HandlerRegistration>,
}

/// Runs one script to its end, as the given line of client-go. Must be called in a tokio runtime.
///
/// # Errors
/// If the informer cannot be started.
pub async fn run(
    line: Line,
    server: &ScriptedServer,
    list_watch: impl ListerWatcher<Object>,
) -> io::Result<Outcome> {
    let script = server.script();
    let failures = Failures::default();
    let mut subject = start(line, script, list_watch, &failures)?;
    let ended = timeout(SCRIPT_LIMIT, subject.wait(server)).await.is_ok();
    let known = async {
        while subject.last_version() != script.final_version {
            sleep(POLL_EVERY).await;
        }
    };
    // If it is never known, that shows in the outcome.
    let _ = timeout(SETTLE_LIMIT, known).await;
    sleep(QUIET).await;
    let mut outcome = subject.outcome();
    outcome.script.clone_from(&script.name);
    outcome.timed_out = !ended;
    outcome.failures = failures.texts();
    outcome.normalize(script);
    subject.stop().await;
    Ok(outcome)
}

fn start(
    line: Line,
    script: &Script,
    list_watch: impl ListerWatcher<Object>,
    failures: &Failures,
) -> io::Result<Subject> {
    let spec = &script.informer;
    let reflector = line.reflector(script.streaming, spec.page_size);
    let resync_period = Duration::from_millis(spec.resync_ms);
    if spec.plain {
        let settings = InformerSettings {
            queue: line.queue(),
            resync_period: Some(resync_period),
            placement: ControllerPlacement::Task,
            reflector,
        };
        let recorder = EventRecorder::new();
        let handler = recorder.clone();
        let observer = failures.clone();
        let running = Informer::start(list_watch, settings, handler, Indexers::new(), observer)?;
        return Ok(Subject::Plain(running, recorder));
    }
    let settings = SharedInformerSettings {
        queue: line.queue(),
        default_resync_period: resync_period,
        reflector,
    };
    let shared = SharedInformer::new(settings, Indexers::new(), failures.clone());
    let mut handlers: Vec<Handler> = spec.handlers.iter().copied().map(Handler::new).collect();
    for handler in handlers.iter_mut().filter(|handler| !handler.spec.late) {
        handler.add_to(&shared)?;
    }
    shared.start(list_watch);
    Ok(Subject::Shared(Box::new(shared), handlers))
}

impl Handler {
    fn new(spec: HandlerSpec) -> Self {
        Self {
            recorder: EventRecorder::new(),
            spec,
            registration: None,
        }
    }

    fn add_to(&mut self, shared: &SharedInformer<Object, Failures>) -> io::Result<()> {
        let period = Duration::from_millis(self.spec.resync_ms);
        let handler = self.recorder.clone();
        let added = shared.add_event_handler_with_resync_period(handler, period);
        self.registration = Some(added.map_err(io::Error::other)?);
        Ok(())
    }
}

impl Subject {
    /// Waits until the script is over, and adds late handlers meanwhile.
    async fn wait(&mut self, server: &ScriptedServer) {
        if server.script().requests.is_some() {
            while !server.has_answered_enough() {
                sleep(POLL_EVERY).await;
            }
            return;
        }
        if let Self::Shared(shared, handlers) = self
            && handlers.iter().any(|handler| handler.spec.late)
        {
            let mut arrived = handlers[0].recorder.arrived();
            // The recorder has the sender, so there is an end to wait for.
            let _ = arrived.wait_for(|arrived| *arrived >= Arrived::Cue).await;
            for handler in handlers.iter_mut().filter(|handler| handler.spec.late) {
                handler
                    .add_to(shared)
                    .expect("the informer has not been stopped");
            }
        }
        for recorder in self.recorders() {
            let _ = recorder
                .arrived()
                .wait_for(|arrived| *arrived == Arrived::End)
                .await;
        }
    }

    fn recorders(&self) -> Vec<&EventRecorder> {
        match self {
            Self::Plain(_, recorder) => vec![recorder],
            Self::Shared(_, handlers) => handlers.iter().map(|handler| &handler.recorder).collect(),
        }
    }

    fn last_version(&self) -> String {
        let version = match self {
            Self::Plain(running, _) => running.last_sync_resource_version(),
            Self::Shared(shared, _) => shared.last_sync_resource_version(),
        };
        version.to_string()
    }

    fn outcome(&self) -> Outcome {
        let (synced, indexer) = match self {
            Self::Plain(running, _) => (running.has_synced(), running.indexer()),
            Self::Shared(shared, _) => (shared.has_synced(), shared.indexer()),
        };
        let handlers_synced = match self {
            Self::Plain(..) => Vec::new(),
            Self::Shared(_, handlers) => {
                let registrations = handlers.iter().map(|handler| handler.registration.as_ref());
                registrations
                    .map(|it| it.is_some_and(HandlerRegistration::has_synced))
                    .collect()
            }
        };
        Outcome {
            synced,
            last_version: self.last_version(),
            store: versions(indexer),
            handlers: self.recorders().iter().map(|it| it.calls()).collect(),
            handlers_synced,
            ..Outcome::default()
        }
    }

    async fn stop(self) {
        match self {
            Self::Plain(running, _) => drop(running.stop().await),
            Self::Shared(shared, _) => shared.stop().await,
        }
    }
}

fn versions(indexer: &Indexer<Object>) -> BTreeMap<String, String> {
    let objects = indexer.list().into_iter();
    objects
        .map(|object| {
            let key = object.key().expect("it is cached by its key");
            (key.to_string(), object.resource_version().to_string())
        })
        .collect()
}
