//! What is measured, under one face: this repository's informers, or another implementation's in a process of its own.

use std::{sync::Arc, time::Duration};

use bench_core::{
    api::Object,
    cache::{Indexer, QueueLength},
    measure::{
        clock::process_cpu_time,
        process::{ResidentMemory, resident_memory},
    },
};

use super::{
    DriveSettings,
    own_informer::{self, OwnInformer},
    peer::{Peer, PeerIdentity},
    peer_log::CachedVersions,
    recorder::{Log, Recorder},
};

pub(super) enum UnderTest {
    Ours(OwnInformer),
    Peer(Peer),
}

/// One look at a running informer. CPU and memory are those of the process that it runs in.
pub(super) struct Observed {
    pub(super) cpu: Duration,
    pub(super) memory: ResidentMemory,
    pub(super) queue: QueueLength,
    /// Notifications in the listener's buffer; a plain informer has none.
    pub(super) listener: Option<u64>,
    pub(super) live: u64,
    pub(super) sync: u64,
    pub(super) stale_keys: u64,
}

/// What a stopped informer leaves.
pub(super) enum Left {
    /// The cache in this process; the log is the recorder's.
    Ours(Arc<Indexer<Object>>),
    /// The log of another process, and the versions that its cache held.
    Peer(Box<(Log, CachedVersions)>),
}

/// How long what is pending may take: twice its cost, and ten seconds at least. `waiting` is what has left the queue. A whole
/// resync is one entry of the queue, and as many calls as there are objects.
pub(super) fn convergence_limit(
    settings: &DriveSettings,
    known: u64,
    queue: QueueLength,
    waiting: u64,
) -> Duration {
    let backlog = queue.deltas + queue.whole * known + waiting;
    let backlog = u32::try_from(backlog).unwrap_or(u32::MAX);
    Duration::from_secs(10).max(2 * settings.handler_cost.duration().saturating_mul(backlog))
}

pub(super) fn start(settings: &DriveSettings, recorder: &Recorder) -> anyhow::Result<UnderTest> {
    Ok(match &settings.peer {
        None => UnderTest::Ours(own_informer::start(settings, recorder)?),
        Some(program) => UnderTest::Peer(Peer::start(program, settings)?),
    })
}

impl UnderTest {
    pub(super) async fn wait_until_synced(&self) -> anyhow::Result<()> {
        match self {
            Self::Ours(informer) => informer.wait_until_synced().await,
            Self::Peer(peer) => peer.wait_until_synced().await?,
        }
        Ok(())
    }

    pub(super) fn cached_objects(&self) -> u64 {
        match self {
            Self::Ours(informer) => informer.cached_objects(),
            Self::Peer(peer) => peer.identity().map_or(0, |identity| identity.known),
        }
    }

    /// What another implementation calls itself; absent for this repository's.
    pub(super) fn peer(&self) -> Option<PeerIdentity> {
        match self {
            Self::Ours(_) => None,
            Self::Peer(peer) => peer.identity().cloned(),
        }
    }

    pub(super) async fn observe(&self, recorder: &Recorder) -> anyhow::Result<Observed> {
        let informer = match self {
            Self::Ours(informer) => informer,
            Self::Peer(peer) => return peer.observe().await,
        };
        let (live, sync, stale_keys) = recorder.counts();
        Ok(Observed {
            cpu: process_cpu_time(),
            memory: resident_memory()?,
            queue: informer.queue_length(),
            listener: informer.listener_pending(),
            live,
            sync,
            stale_keys,
        })
    }

    pub(super) async fn end_resyncs(&self) -> anyhow::Result<()> {
        match self {
            Self::Ours(informer) => informer.end_resyncs(),
            Self::Peer(peer) => peer.end_resyncs().await?,
        }
        Ok(())
    }

    /// Waits until the informer has seen `version` and nothing is pending anywhere; false if that took too long.
    pub(super) async fn wait_until_converged(
        &self,
        version: u64,
        settings: &DriveSettings,
    ) -> anyhow::Result<bool> {
        match self {
            Self::Ours(informer) => Ok(informer.wait_until_converged(version, settings).await),
            Self::Peer(peer) => peer.wait_until_converged(version, settings).await,
        }
    }

    /// Stops everything.
    pub(super) async fn stop(self) -> anyhow::Result<Left> {
        Ok(match self {
            Self::Ours(informer) => Left::Ours(informer.stop().await),
            Self::Peer(peer) => Left::Peer(Box::new(peer.stop().await?.into_log())),
        })
    }
}
