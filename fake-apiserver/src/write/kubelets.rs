//! The kubelets' part in a deletion: a pod that was marked with a grace period stops, and is removed for good.

use std::time::Duration;

use bench_core::api::ObjectKey;
use tokio::time::{Instant, sleep_until};

use crate::{
    ApiServer,
    write::{delete_options::DeleteOptions, driver::Place},
};

/// How long the containers of every pod take to stop; a shorter grace period is obeyed.
pub(crate) const STOPPING: Duration = Duration::from_secs(1);

/// A pod that is to be removed.
#[derive(Debug)]
pub(crate) struct StoppingPod {
    pub(crate) due: Instant,
    pub(crate) place: Place,
    pub(crate) key: ObjectKey,
    pub(crate) uid: String,
}

impl ApiServer {
    /// Removes pods whose containers have stopped. Never ends; while nobody drives it, pods stay marked, as without kubelets.
    pub(crate) async fn stop_pods(&self) {
        let mut arrivals = self.stopping_pods();
        loop {
            let next = self.read(|state| state.stopping.iter().map(|pod| pod.due).min());
            let Some(due) = next else {
                if arrivals.changed().await.is_err() {
                    return;
                }
                continue;
            };
            tokio::select! {
                biased;
                _ = arrivals.changed() => {}
                () = sleep_until(due) => self.remove_stopped(due),
            }
        }
    }

    fn remove_stopped(&self, now: Instant) {
        let stopped = self.read(|state| {
            let (stopped, stopping) = std::mem::take(&mut state.stopping)
                .into_iter()
                .partition(|pod| pod.due <= now);
            state.stopping = stopping;
            let stopped: Vec<StoppingPod> = stopped;
            stopped
        });
        for pod in stopped {
            let mut options = DeleteOptions::plain();
            options.grace_period_seconds = Some(0);
            options.uid = Some(pod.uid);
            // One that others have removed, or made anew, is none of ours.
            let _gone = self.delete_object(&pod.place, &pod.key, &options);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::time::timeout;

    use super::*;
    use crate::write::{
        parameters::{OptionsOf, WriteOptions},
        rules::ServedResource,
    };

    #[tokio::test(start_paused = true)]
    async fn a_marked_pod_is_removed_when_its_containers_have_stopped_and_not_before() {
        let server = ApiServer::empty(1);
        let id = server.find_resource("pods").unwrap();
        let place = Place {
            id,
            served: server.read(|state| ServedResource::of(state.storage.store(id))),
            namespace: "default".to_owned(),
        };
        let options = WriteOptions::try_parse(OptionsOf::Create, "", "test").unwrap();
        let pod = json!({
            "metadata": {"name": "p"},
            "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
        });
        server.create_object(&place, pod, &options).unwrap();
        let key = ObjectKey::new("default", "p");
        server
            .delete_object(&place, &key, &DeleteOptions::plain())
            .unwrap();
        let instant = Duration::from_millis(1);
        let mut kubelets = std::pin::pin!(server.stop_pods());
        timeout(STOPPING.saturating_sub(instant), &mut kubelets)
            .await
            .unwrap_err();
        assert!(server.present(&place, &key).is_some());
        timeout(instant * 2, &mut kubelets).await.unwrap_err();
        assert!(server.present(&place, &key).is_none());
    }
}
