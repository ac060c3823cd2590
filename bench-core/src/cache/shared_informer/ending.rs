//! Ends that can be told from a handler, and one that waits for it.

use crate::api::KubeObject;

use super::{HandlerRegistration, InformerObserver, Phase, SharedInformer};

impl<T, O> SharedInformer<T, O>
where
    T: KubeObject,
    O: InformerObserver<T> + Clone,
{
    /// Removes a handler and waits until it is called no more (`ShutDownEventHandler` upstream, 0.37). What was buffered is
    /// dropped. Returns at once if the informer has not been started, and for unknown registrations.
    ///
    /// Never returns if it is awaited by that very handler.
    pub async fn shut_down_event_handler(&self, registration: &HandlerRegistration) {
        let removed = {
            let mut processor = self.processor.lock();
            let removed = processor.listeners.remove(&registration.id());
            removed.filter(|_| processor.phase != Phase::New)
        };
        if let Some(listener) = removed {
            listener.close();
            registration.ended().await;
        }
    }

    /// Begins to stop and does not wait, so a handler may call it: the reflector lists and watches no more, no handler is
    /// called again once its call in progress has returned, and none can be added. [`SharedInformer::stop`] waits for the
    /// rest.
    pub fn request_stop(&self) {
        self.tasks.lock().reflector.abort_all();
        self.queue.close();
        self.processor.lock().close();
    }
}
