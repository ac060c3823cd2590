//! The loop that pops a queue. Mirrors `processLoop` of client-go's `tools/cache/controller.go`; upstream calls the user's
//! reconciler a controller too, this is not that.

use std::{fmt, future::poll_fn, sync::Arc, task::Poll};

use crate::api::KubeObject;

use super::{
    EventQueue, Indexer, InformerObserver, Popped, ProcessError, QueueHandle,
    queue_handle::NothingToPop,
};

/// Pops a queue into a cache and tells what changed.
pub struct Controller<T, Q, O, N> {
    queue: QueueHandle<T, Q, O>,
    indexer: Arc<Indexer<T>>,
    process: N,
}

/// Items that a controller's task processes before it lets other tasks run.
const ITEMS_PER_TURN: usize = 64;

impl<T, Q, O, N> Controller<T, Q, O, N>
where
    T: KubeObject,
    Q: EventQueue<T>,
    O: InformerObserver<T>,
    N: FnMut(&Popped<T>, &Indexer<T>) -> Result<(), ProcessError>,
{
    /// Makes a controller; `process` is called for each popped item while the queue is locked (or not: see
    /// [`Popped::lock`]). It writes the cache: see [`super::process_popped`]. An error is logged, and there is no second try.
    pub fn new(queue: QueueHandle<T, Q, O>, indexer: Arc<Indexer<T>>, process: N) -> Self {
        Self {
            queue,
            indexer,
            process,
        }
    }

    /// Processes on the calling thread until the queue is closed and, by its generation's rule, empty.
    pub fn run_blocking(mut self) {
        let queue = self.queue.clone();
        while !queue.is_abandoned() && queue.pop_blocking(|popped| self.process(popped)) {}
    }

    /// Processes in a task until the queue is closed and, by its generation's rule, empty. Cancel safe between items.
    pub async fn run(mut self) {
        let queue = self.queue.clone();
        let mut turn = 0;
        while !queue.is_abandoned() {
            match queue.try_pop(|popped| self.process(popped)) {
                Ok(()) => {}
                Err(NothingToPop::Empty) => queue.filled().await,
                Err(NothingToPop::Closed) => return,
            }
            turn += 1;
            if turn % ITEMS_PER_TURN == 0 {
                let_others_run().await;
            }
        }
    }

    fn process(&mut self, popped: &Popped<T>) {
        if let Err(error) = (self.process)(popped, &self.indexer) {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "an item was not processed"
            );
        }
    }
}

/// Lets other tasks run, and wakes another worker, which may take this one over at once. Tokio's `yield_now` puts it aside until
/// this worker has nothing else to do; if that is a handler that computes, its backlog would stay in the queue, where upstream has
/// it in the listener.
pub(super) async fn let_others_run() {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl<T, Q, O, N> fmt::Debug for Controller<T, Q, O, N> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Controller")
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}
