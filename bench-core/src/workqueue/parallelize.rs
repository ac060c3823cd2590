//! Independent pieces of work, a few at a time. Mirrors `ParallelizeUntil` of client-go's `util/workqueue`.

use std::{
    future::Future,
    num::NonZeroUsize,
    panic,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::task::JoinSet;

/// Calls `work` once for each piece below `pieces`, in up to `workers` tasks that each take `chunk` pieces at a time. Returns
/// when all are done; dropping the call is the cancellation: no further piece is begun, and one that waits is dropped.
///
/// # Panics
/// As a piece does; the others are then cancelled.
pub async fn parallelize<F, W>(workers: NonZeroUsize, pieces: usize, chunk: NonZeroUsize, work: W)
where
    F: Future<Output = ()> + Send,
    W: Fn(usize) -> F + Clone + Send + 'static,
{
    let chunks = pieces.div_ceil(chunk.get());
    let next_chunk = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for _ in 0..workers.get().min(chunks) {
        let next_chunk = Arc::clone(&next_chunk);
        let work = work.clone();
        tasks.spawn(async move {
            loop {
                let first = next_chunk.fetch_add(1, Ordering::Relaxed) * chunk.get();
                if first >= pieces {
                    return;
                }
                for piece in first..pieces.min(first + chunk.get()) {
                    work(piece).await;
                    // A piece that never waits would keep a worker from being cancelled.
                    tokio::task::yield_now().await;
                }
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended
            && error.is_panic()
        {
            panic::resume_unwind(error.into_panic());
        }
    }
}
