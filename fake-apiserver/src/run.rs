//! From a configuration to a running server.

use std::{io, net::SocketAddr, sync::Arc};

use tokio::net::TcpListener;

use crate::{
    ApiServer,
    api_server::StartChurnError,
    config::{ObjectSource, ServerConfig},
    objects_file::{self, ObjectsFileError},
    profiles::Profile,
    serve,
    storage::{Storage, WriteError},
};

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
    /// The listener failed.
    #[error("the listener failed")]
    Serve(#[source] io::Error),
}

/// Loads objects, binds, calls `ready` with the bound address, and serves until `shutdown` completes or the control API asks
/// for it.
///
/// # Errors
/// [`RunError`]. Nothing was served if the objects or the address were at fault.
pub async fn run(
    config: ServerConfig,
    ready: impl FnOnce(SocketAddr),
    shutdown: impl Future<Output = ()>,
) -> Result<(), RunError> {
    let server = load(&config)?;
    let listener = TcpListener::bind(config.listen).await;
    let listener = listener.map_err(|source| RunError::Listen {
        address: config.listen,
        source,
    })?;
    let address = listener.local_addr().map_err(RunError::Serve)?;
    if let Some(churn) = &config.churn {
        server.start_churn(churn)?;
    }
    ready(address);
    let outcome = serve(listener, Arc::clone(&server), shutdown).await;
    // Joins the churn's thread within milliseconds; nothing else runs any more.
    server.stop_churn();
    outcome.map_err(RunError::Serve)
}

impl ApiServer {
    /// Makes a server as configured, without binding its address or starting its churn.
    ///
    /// # Errors
    /// [`RunError`] if the objects are at fault.
    pub fn try_from_config(config: &ServerConfig) -> Result<Arc<Self>, RunError> {
        load(config)
    }
}

fn load(config: &ServerConfig) -> Result<Arc<ApiServer>, RunError> {
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
                for draft in profile.population(*count, config.seed) {
                    storage.load(id, &draft).map_err(RunError::Collision)?;
                }
                makers.push(profile);
            }
        }
    }
    Ok(ApiServer::new(
        storage,
        makers,
        config.watch.clone(),
        config.seed,
    ))
}
