//! The locked, waking driver around a queue's state: what a reflector writes to and a controller pops from.

use std::{
    fmt,
    marker::PhantomData,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use parking_lot::Condvar;
use tokio::sync::{Notify, watch};

use crate::api::ResourceVersion;

use super::{
    AfterClose, DeltaObject, EventQueue, InformerObserver, LockWhileProcessing, Popped, PoppedItem,
    QueueError, QueueKind, QueueOperation, ResyncOutcome,
    handover_mutex::{HandoverGuard, HandoverMutex},
};

/// What is pending.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueLength {
    /// Entries: keys, each with its deltas, in a [`super::DeltaFifo`]; events in the others, whose keys may repeat.
    pub keys: u64,
    /// Deltas; a whole list, a whole resync and a bookmark count as one each.
    pub deltas: u64,
    /// Deltas that were popped and are being processed; they are in neither of the others.
    pub in_process: u64,
    /// Of the entries of an [`super::AtomicFifo`], and of what is being processed, those that stand for a call for every
    /// object: whole lists and whole resyncs.
    pub whole: u64,
}

/// A queue shared by its producers and its one consumer. Every method takes the one lock, so a producer waits for a handler
/// that runs under it; whether it does, each pop decides ([`Popped::lock`]). A waiter
/// that has waited for a millisecond is handed the lock, as by Go's mutex, so neither reflector nor resync starve.
pub struct QueueHandle<T, Q, O> {
    shared: Arc<Shared<Q, O>>,
    object: PhantomData<fn(T)>,
}

struct Shared<Q, O> {
    kind: QueueKind,
    inner: HandoverMutex<Inner<Q>>,
    // For consumers on a thread of their own. Counts its waiters, so a notify without one costs no system call.
    filled: Condvar,
    // For consumers that are tasks; notified only where `waiting_tasks` is not 0.
    filled_for_tasks: Notify,
    // A copy of the length that can be read without the lock.
    keys: AtomicU64,
    deltas: AtomicU64,
    in_process: AtomicU64,
    whole: AtomicU64,
    // Known without the lock, which a handler may hold.
    closing: AtomicBool,
    // See `end_resyncs`.
    resyncs_ended: AtomicBool,
    // Set once, after the last item of the first list was processed.
    synced: watch::Sender<bool>,
    observer: O,
}

struct Inner<Q> {
    queue: Q,
    closed: bool,
    waiting_tasks: usize,
}

impl<T, Q: EventQueue<T>, O: InformerObserver<T>> QueueHandle<T, Q, O> {
    /// Shares `queue`.
    pub fn new(queue: Q, observer: O) -> Self {
        let kind = queue.kind();
        let inner = HandoverMutex::new(Inner {
            queue,
            closed: false,
            waiting_tasks: 0,
        });
        let shared = Shared {
            kind,
            inner,
            filled: Condvar::new(),
            filled_for_tasks: Notify::new(),
            keys: 0.into(),
            deltas: 0.into(),
            in_process: 0.into(),
            whole: 0.into(),
            closing: false.into(),
            resyncs_ended: false.into(),
            synced: watch::Sender::new(false),
            observer,
        };
        Self {
            shared: Arc::new(shared),
            object: PhantomData,
        }
    }

    /// Writes an addition.
    ///
    /// # Errors
    /// The queue's.
    pub fn add(&self, object: Arc<T>) -> Result<(), QueueError> {
        self.locked(QueueOperation::Write, |queue| queue.add(object))
    }

    /// Writes a change.
    ///
    /// # Errors
    /// The queue's.
    pub fn update(&self, object: Arc<T>) -> Result<(), QueueError> {
        self.locked(QueueOperation::Write, |queue| queue.update(object))
    }

    /// Writes a deletion.
    ///
    /// # Errors
    /// The queue's.
    pub fn delete(&self, object: DeltaObject<T>) -> Result<(), QueueError> {
        self.locked(QueueOperation::Write, |queue| queue.delete(object))
    }

    /// Writes a whole list.
    ///
    /// # Errors
    /// The queue's.
    pub fn replace(
        &self,
        objects: Vec<Arc<T>>,
        resource_version: &ResourceVersion,
    ) -> Result<(), QueueError> {
        self.locked(QueueOperation::Replace, |queue| {
            queue.replace(objects, resource_version)?;
            if self.shared.kind == QueueKind::AtomicFifo {
                self.shared.whole.fetch_add(1, Ordering::AcqRel);
            }
            Ok(())
        })
    }

    /// Puts the known objects back into the queue, by the generation's rule. Sends no request.
    ///
    /// # Errors
    /// The queue's.
    pub fn resync(&self) -> Result<ResyncOutcome, QueueError> {
        if self.shared.resyncs_ended.load(Ordering::Acquire) {
            return Ok(ResyncOutcome::default());
        }
        self.shared.observer.resync_began();
        self.locked(QueueOperation::Resync, |queue| {
            let outcome = queue.resync()?;
            self.shared
                .whole
                .fetch_add(outcome.markers, Ordering::AcqRel);
            self.shared.observer.resync_ended(&outcome);
            Ok(outcome)
        })
    }

    /// Writes a bookmark; neither locks nor does anything where the generation has none.
    pub fn bookmark(&self, resource_version: &ResourceVersion) {
        if self.shared.kind.takes_bookmarks() {
            self.locked(QueueOperation::Write, |queue| {
                queue.bookmark(resource_version);
            });
        }
    }

    /// Whether the first list has been popped and, in an [`super::AtomicFifo`], processed. Waits for the lock, hence for a
    /// handler that runs under it.
    pub fn has_synced(&self) -> bool {
        self.shared.inner.lock().queue.has_synced()
    }

    /// What was pending after the last write or pop; takes no lock. All at 0 mean that nothing was left to do.
    pub fn length(&self) -> QueueLength {
        let load = |number: &AtomicU64| number.load(Ordering::Acquire);
        // What is popped is counted as in process before it is no more counted as pending; so in this order.
        let (keys, deltas) = (load(&self.shared.keys), load(&self.shared.deltas));
        let in_process = load(&self.shared.in_process);
        QueueLength {
            keys,
            deltas,
            in_process,
            whole: load(&self.shared.whole),
        }
    }

    /// Follows whether the first list has been popped and processed.
    pub fn synced(&self) -> watch::Receiver<bool> {
        self.shared.synced.subscribe()
    }

    /// Waits until the first list has been popped and processed. Cancel safe.
    pub async fn wait_until_synced(&self) {
        let mut synced = self.synced();
        // The sender lives as long as this handle.
        let _ = synced.wait_for(|synced| *synced).await;
    }

    /// Waits on the calling thread for an item and processes it; false if the queue is closed and empty.
    pub fn pop_blocking(&self, process: impl FnOnce(&Popped<T>)) -> bool {
        self.shared.observer.lock_requested(QueueOperation::Pop);
        let mut inner = self.shared.inner.lock();
        loop {
            if let Some(popped) = inner.queue.pop() {
                self.process(inner, &popped, process);
                return true;
            }
            if inner.closed {
                return false;
            }
            inner.wait(&self.shared.filled);
        }
    }

    /// Processes the next item if there is one. `Err` carries whether the queue is closed.
    ///
    /// # Errors
    /// [`NothingToPop`] if the queue is empty.
    pub fn try_pop(&self, process: impl FnOnce(&Popped<T>)) -> Result<(), NothingToPop> {
        self.shared.observer.lock_requested(QueueOperation::Pop);
        let mut inner = self.shared.inner.lock();
        match inner.queue.pop() {
            Some(popped) => {
                self.process(inner, &popped, process);
                Ok(())
            }
            None if inner.closed => Err(NothingToPop::Closed),
            None => Err(NothingToPop::Empty),
        }
    }

    /// Waits until the queue holds something or is closed. Cancel safe.
    pub async fn filled(&self) {
        loop {
            let notified = self.shared.filled_for_tasks.notified();
            tokio::pin!(notified);
            // Registered before the look, or a write in between would be missed.
            notified.as_mut().enable();
            {
                let mut inner = self.shared.inner.lock();
                if inner.closed || !inner.queue.is_empty() {
                    return;
                }
                inner.waiting_tasks += 1;
            }
            let waiting = Waiting(&self.shared.inner);
            notified.await;
            drop(waiting);
        }
    }

    fn process(
        &self,
        mut inner: HandoverGuard<'_, Inner<Q>>,
        popped: &Popped<T>,
        process: impl FnOnce(&Popped<T>),
    ) {
        let observer = &self.shared.observer;
        observer.lock_acquired(QueueOperation::Pop);
        let in_process = popped.item.deltas().len().max(1) as u64;
        self.shared.in_process.store(in_process, Ordering::Release);
        self.publish_length(&inner.queue);
        observer.popped(popped);
        match popped.lock {
            LockWhileProcessing::Hold => process(popped),
            LockWhileProcessing::Release => {
                observer.lock_released(QueueOperation::Pop);
                inner.unlocked(|| {
                    process(popped);
                    observer.lock_requested(QueueOperation::Pop);
                });
                observer.lock_acquired(QueueOperation::Pop);
            }
        }
        inner.queue.processed();
        self.shared.in_process.store(0, Ordering::Release);
        if matches!(
            popped.item,
            PoppedItem::ReplacedAll(_) | PoppedItem::SyncAll
        ) {
            self.shared.whole.fetch_sub(1, Ordering::AcqRel);
        }
        self.publish_synced(&inner.queue);
        observer.lock_released(QueueOperation::Pop);
    }

    fn locked<R>(&self, operation: QueueOperation, write: impl FnOnce(&mut Q) -> R) -> R {
        let observer = &self.shared.observer;
        observer.lock_requested(operation);
        let mut inner = self.shared.inner.lock();
        observer.lock_acquired(operation);
        let result = write(&mut inner.queue);
        self.publish_length(&inner.queue);
        self.publish_synced(&inner.queue);
        let wake = !inner.queue.is_empty();
        let tasks = inner.waiting_tasks > 0;
        observer.lock_released(operation);
        drop(inner);
        if wake {
            self.shared.filled.notify_one();
            if tasks {
                self.shared.filled_for_tasks.notify_waiters();
            }
        }
        result
    }

    fn publish_synced(&self, queue: &Q) {
        if queue.has_synced() {
            self.shared
                .synced
                .send_if_modified(|synced| !std::mem::replace(synced, true));
        }
    }

    fn publish_length(&self, queue: &Q) {
        let store = |number: &AtomicU64, length: usize| {
            number.store(length as u64, Ordering::Release);
        };
        store(&self.shared.keys, queue.len());
        store(&self.shared.deltas, queue.delta_count());
    }
}

impl<T, Q, O> QueueHandle<T, Q, O> {
    /// Which generation the queue is.
    pub fn kind(&self) -> QueueKind {
        self.shared.kind
    }

    /// Whether the queue is closed, or about to be, and its generation's controller pops no more although there may be
    /// entries left.
    pub fn is_abandoned(&self) -> bool {
        self.shared.kind.after_close() == AfterClose::Abandon
            && self.shared.closing.load(Ordering::Acquire)
    }

    /// Makes every later resync do nothing, so that a measurement can let the queue run empty. Upstream has no such switch.
    pub fn end_resyncs(&self) {
        self.shared.resyncs_ended.store(true, Ordering::Release);
    }

    /// Closes the queue: whoever pops gets what is left and then nothing. Writes are still taken. Waits for a handler that
    /// runs under the lock.
    pub fn close(&self) {
        self.shared.closing.store(true, Ordering::Release);
        self.shared.inner.lock().closed = true;
        self.shared.filled.notify_all();
        self.shared.filled_for_tasks.notify_waiters();
    }
}

/// Why [`QueueHandle::try_pop`] had nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NothingToPop {
    /// Nothing is pending now.
    Empty,
    /// Nothing is pending and the queue is closed.
    Closed,
}

struct Waiting<'a, Q>(&'a HandoverMutex<Inner<Q>>);

impl<Q> Drop for Waiting<'_, Q> {
    fn drop(&mut self) {
        self.0.lock().waiting_tasks -= 1;
    }
}

impl<T, Q, O> Clone for QueueHandle<T, Q, O> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            object: PhantomData,
        }
    }
}

impl<T, Q, O> fmt::Debug for QueueHandle<T, Q, O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("QueueHandle")
            .finish_non_exhaustive()
    }
}
