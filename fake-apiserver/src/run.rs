//! From a configuration to a running server.

use std::{
    io,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, mpsc},
    thread,
};

use tokio::net::TcpListener;

use crate::{
    ApiServer, BearerToken, Endpoint,
    api_server::StartChurnError,
    config::{ObjectSource, ServerConfig, Transport},
    kubeconfig::{Access, write_private},
    objects_file::{self, ObjectsFileError},
    profiles::Profile,
    serve_endpoint,
    storage::{ResourceId, Storage, WriteError},
    stored_object::ObjectDraft,
    tls::{TlsError, TlsIdentity},
    trace::{
        RecordError, Recording,
        read::{Trace, TraceError},
        replay::replay,
    },
};

/// Objects that are handed from one thread to the other at a time, and how many such batches may wait.
const BATCH: usize = 256;
const BATCHES_WAITING: usize = 8;

/// The server did not start, or stopped on an error. The message is for whoever wrote the configuration.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The address cannot be bound.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The churn cannot be started.
    #[error("cannot start the churn")]
    Churn(#[from] StartChurnError),
    /// Two sources hold the same object.
    #[error("objects of two sources collide: {0}")]
    Collision(WriteError),
    /// A file of objects is not usable.
    #[error(transparent)]
    ObjectsFile(#[from] ObjectsFileError),
    /// The kubeconfig cannot be written.
    #[error("cannot write {}", path.display())]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What happens cannot be recorded.
    #[error("cannot record")]
    Record(#[from] RecordError),
    /// There is no certificate.
    #[error("cannot offer TLS")]
    Tls(#[from] TlsError),
    /// The trace to be done is not usable.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The listener failed.
    #[error("the listener failed")]
    Serve(#[source] io::Error),
}

/// Loads objects, binds, calls `ready` with the bound address, and serves until `shutdown` completes or the control API asks
/// for it. The kubeconfig is written before `ready` is called.
///
/// # Errors
/// [`RunError`]. Nothing was served if the objects or the address were at fault.
pub async fn run(
    config: ServerConfig,
    ready: impl FnOnce(SocketAddr),
    shutdown: impl Future<Output = ()>,
) -> Result<(), RunError> {
    let mut trace = match &config.replay {
        Some(replay) => Some((Trace::read(&replay.path)?, replay.pace)),
        None => None,
    };
    let server = load(&config, trace.as_mut().map(|(trace, _)| trace))?;
    let endpoint = bind(&config).await?;
    let address = endpoint.listener.local_addr().map_err(RunError::Serve)?;
    if let Some(token) = &config.token {
        server.require_token(token.clone());
    }
    if let Some(path) = &config.kubeconfig_out {
        let access = Access {
            address,
            authority_pem: endpoint.tls.as_ref().map(TlsIdentity::authority_pem),
            token: config.token.as_ref().map(BearerToken::as_str),
        };
        let written = write_private(path, &access.kubeconfig());
        written.map_err(|source| RunError::Kubeconfig {
            path: path.clone(),
            source,
        })?;
    }
    let recording = config.record.as_ref();
    let recording = recording.map(|path| Recording::begin(&server, path));
    let recording = recording.transpose()?;
    if let Some(script) = &config.faults {
        server.set_faults(Some(script));
    }
    if let Some(churn) = &config.churn {
        server.start_churn(churn)?;
    }
    ready(address);
    let outcome = {
        let serving = serve_endpoint(endpoint, Arc::clone(&server), shutdown);
        let replaying = async {
            if let Some((trace, pace)) = trace {
                replay(&server, trace, pace).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            outcome = serving => outcome,
            () = replaying => unreachable!("waits for ever at its end"),
        }
    };
    // Joins the churn's thread within milliseconds; nothing else runs any more.
    server.stop_churn();
    if let Some(recording) = recording {
        recording.finish()?;
    }
    outcome.map_err(RunError::Serve)
}

async fn bind(config: &ServerConfig) -> Result<Endpoint, RunError> {
    let listener = TcpListener::bind(config.listen).await;
    let listener = listener.map_err(|source| RunError::Listen {
        address: config.listen,
        source,
    })?;
    let tls = match config.transport {
        Transport::Plain => None,
        Transport::Tls => Some(TlsIdentity::self_signed(config.listen.ip())?),
    };
    Ok(Endpoint {
        listener,
        tls,
        limits: config.limits,
    })
}

impl ApiServer {
    /// Makes a server as configured, without binding its address or starting its churn.
    ///
    /// # Errors
    /// [`RunError`] if the objects are at fault.
    pub fn try_from_config(config: &ServerConfig) -> Result<Arc<Self>, RunError> {
        load(config, None)
    }
}

/// `trace` gives its initial objects away.
fn load(config: &ServerConfig, trace: Option<&mut Trace>) -> Result<Arc<ApiServer>, RunError> {
    let mut storage = Storage::new(config.window);
    let mut makers = Vec::new();
    for resource in &config.resources {
        storage.register(resource);
    }
    for source in &config.objects {
        match source {
            ObjectSource::File(path) => {
                for (resource, draft) in objects_file::read(path)? {
                    let id = storage.register(&resource);
                    storage.load(id, &draft).map_err(RunError::Collision)?;
                }
            }
            ObjectSource::Profile { kind, count } => {
                let profile = Profile::new(*kind);
                let id = storage.register(&kind.resource());
                let population = profile.population(*count, config.seed);
                load_population(&mut storage, id, population)?;
                makers.push(profile);
            }
        }
    }
    if let Some(trace) = trace {
        for resource in trace.resources() {
            storage.register(resource);
        }
        for (resource, draft) in trace.initial.drain(..) {
            let id = storage.register(&resource);
            storage.load(id, &draft).map_err(RunError::Collision)?;
        }
    }
    Ok(ApiServer::new(
        storage,
        makers,
        config.watch.clone(),
        config.seed,
    ))
}

/// Objects are made by one thread while another puts them in place: the two are about equal work.
fn load_population(
    storage: &mut Storage,
    id: ResourceId,
    mut population: impl Iterator<Item = ObjectDraft> + Send,
) -> Result<(), RunError> {
    let (made, received) = mpsc::sync_channel::<Vec<ObjectDraft>>(BATCHES_WAITING);
    thread::scope(|scope| {
        scope.spawn(move || {
            loop {
                let batch: Vec<_> = population.by_ref().take(BATCH).collect();
                // Nobody receives any more after an error.
                if batch.is_empty() || made.send(batch).is_err() {
                    return;
                }
            }
        });
        for draft in received.into_iter().flatten() {
            storage.load(id, &draft).map_err(RunError::Collision)?;
        }
        Ok(())
    })
}
