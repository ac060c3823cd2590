//! From the queue to the cache to the handler. Mirrors `processDeltas` and `processLoop` of client-go's
//! `tools/cache/controller.go`; upstream calls the user's reconciler a controller too, this is not that.

use std::{fmt, sync::Arc};

use crate::api::KubeObject;

use super::{
    DeltaType, EventQueue, Indexer, InformerObserver, Notification, Popped, QueueHandle,
    queue_handle::NothingToPop,
};

/// Pops a queue into a cache and tells what changed.
pub struct Controller<T, Q, O, N> {
    queue: QueueHandle<T, Q, O>,
    indexer: Arc<Indexer<T>>,
    notify: N,
}

/// Items that a controller's task processes before it lets other tasks run.
const ITEMS_PER_TURN: usize = 64;

impl<T, Q, O, N> Controller<T, Q, O, N>
where
    T: KubeObject,
    Q: EventQueue<T>,
    O: InformerObserver<T>,
    N: FnMut(&Popped<T>, &Indexer<T>),
{
    /// Makes a controller; `process` is called for each popped item while the queue is locked (or not: see
    /// [`Popped::lock`]). It writes the cache: see [`process_deltas`].
    pub fn new(queue: QueueHandle<T, Q, O>, indexer: Arc<Indexer<T>>, process: N) -> Self {
        Self {
            queue,
            indexer,
            notify: process,
        }
    }

    /// Processes on the calling thread until the queue is closed and empty.
    pub fn run_blocking(mut self) {
        while self
            .queue
            .pop_blocking(|popped| (self.notify)(popped, &self.indexer))
        {}
    }

    /// Processes in a task until the queue is closed and empty. Cancel safe between items.
    pub async fn run(mut self) {
        let mut turn = 0;
        loop {
            match self
                .queue
                .try_pop(|popped| (self.notify)(popped, &self.indexer))
            {
                Ok(()) => {}
                Err(NothingToPop::Empty) => self.queue.filled().await,
                Err(NothingToPop::Closed) => return,
            }
            turn += 1;
            if turn % ITEMS_PER_TURN == 0 {
                tokio::task::yield_now().await;
            }
        }
    }
}

/// Applies an item's deltas to the cache, oldest first, and reports each change after it was applied.
///
/// Whether an object is new or changed is decided by the cache and not by the delta's type. An object that cannot be keyed
/// ends the item's processing.
pub fn process_deltas<T: KubeObject>(
    popped: &Popped<T>,
    indexer: &Indexer<T>,
    mut notify: impl FnMut(DeltaType, Notification<T>),
) {
    for delta in &popped.deltas {
        let Ok(key) = delta.object.key() else {
            tracing::error!("delta without a key");
            return;
        };
        let notification = match (delta.delta_type, delta.object.last_known()) {
            (DeltaType::Deleted, _) => {
                indexer.remove(&key);
                Notification::Deleted {
                    object: delta.object.clone(),
                }
            }
            (_, Some(object)) => match indexer.put(&key, object) {
                Some(old) => Notification::Updated {
                    old,
                    new: Arc::clone(object),
                },
                None => Notification::Added {
                    object: Arc::clone(object),
                    origin: popped.origin,
                },
            },
            (_, None) => continue,
        };
        notify(delta.delta_type, notification);
    }
}

impl<T, Q, O, N> fmt::Debug for Controller<T, Q, O, N> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Controller")
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}
