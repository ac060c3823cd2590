//! One handler's buffer and the task that calls it (`processorListener` upstream).

use std::{
    collections::VecDeque,
    future::Future,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::FutureExt as _;
use parking_lot::Mutex;
use tokio::{
    sync::{Notify, watch},
    time::sleep,
};

use super::{
    super::{
        AddOrigin, Notification, ResourceEventHandler, SingleFileTracker,
        controller::let_others_run,
    },
    ListenerPeriod,
};

/// Pause after a panic of the handler, as upstream's.
const PAUSE_AFTER_PANIC: Duration = Duration::from_secs(1);

/// What upstream's buffer holds at first. More than that is told at this number and at each of its doublings.
const BACKLOG: u64 = 1_024;

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// Names a registration within the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ListenerId(u64);

/// The sending side.
pub(super) struct Listener<T> {
    pub(super) period: ListenerPeriod,
    buffer: Arc<Buffer<T>>,
}

/// What a listener tells of its handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// It panicked; the notification is lost to it.
    Panicked,
    /// So many notifications wait for it.
    Backlog(u64),
}

struct Buffer<T> {
    // Without bound, as upstream's ring: a bound would block the informer. Unlike the ring it gives its memory back.
    notifications: Mutex<VecDeque<Notification<T>>>,
    filled: Notify,
    closed: AtomicBool,
    pending: Arc<Pending>,
    tracker: Arc<SingleFileTracker>,
    tell: Box<dyn Fn(Told) + Send + Sync>,
}

#[derive(Debug, Default)]
struct Pending {
    now: AtomicU64,
    most: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    WellSoFar,
    PanickedInFirstList,
}

/// A handler's place in an informer: asks whether it has synced and how much is waiting for it, and removes it.
#[derive(Debug, Clone)]
pub struct HandlerRegistration {
    id: ListenerId,
    upstream_synced: watch::Receiver<bool>,
    tracker: Arc<SingleFileTracker>,
    fate: watch::Receiver<Fate>,
    // The task has the sender.
    ended: watch::Receiver<()>,
    pending: Arc<Pending>,
}

/// A handler will never be synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SyncError {
    /// It panicked on an object of the first list; upstream would wait for ever.
    #[error("handler panicked on an object of the first list and will never be synced")]
    HandlerPanicked,
    /// It was removed, or the informer stopped.
    #[error("handler was removed before it had synced")]
    Removed,
}

impl<T: Send + Sync + 'static> Listener<T> {
    /// Makes the sending side, the task that calls the handler, and the registration.
    pub(super) fn new(
        handler: impl ResourceEventHandler<T>,
        period: ListenerPeriod,
        upstream_synced: watch::Receiver<bool>,
        tell: impl Fn(Told) + Send + Sync + 'static,
    ) -> (
        Self,
        impl Future<Output = ()> + Send + 'static,
        HandlerRegistration,
    ) {
        let pending = Arc::<Pending>::default();
        let tracker = Arc::new(SingleFileTracker::new());
        let buffer = Arc::new(Buffer {
            notifications: Mutex::new(VecDeque::new()),
            filled: Notify::new(),
            closed: AtomicBool::new(false),
            pending: Arc::clone(&pending),
            tracker: Arc::clone(&tracker),
            tell: Box::new(tell),
        });
        let fate = watch::Sender::new(Fate::WellSoFar);
        let (end, ended) = watch::channel(());
        let registration = HandlerRegistration {
            id: ListenerId(NEXT_ID.fetch_add(1, Ordering::Relaxed)),
            upstream_synced,
            tracker,
            fate: fate.subscribe(),
            ended,
            pending,
        };
        let calls = call_handler(handler, Arc::clone(&buffer), fate);
        let task = async move {
            calls.await;
            drop(end);
        };
        (Self { period, buffer }, task, registration)
    }

    /// Puts a notification at the end of the buffer. Never waits.
    pub(super) fn push(&self, notification: Notification<T>) {
        if is_initial(&notification) {
            self.buffer.tracker.start();
        }
        let pending = self.buffer.pending.now.fetch_add(1, Ordering::AcqRel) + 1;
        self.buffer.notifications.lock().push_back(notification);
        self.buffer.filled.notify_one();
        let most = self
            .buffer
            .pending
            .most
            .fetch_max(pending, Ordering::AcqRel);
        let doubling = pending >= BACKLOG && pending.is_multiple_of(BACKLOG);
        if pending > most && doubling && (pending / BACKLOG).is_power_of_two() {
            tracing::warn!(pending, "notifications wait for a handler");
            (self.buffer.tell)(Told::Backlog(pending));
        }
    }

    /// Ends the task after the call in progress; what is buffered is dropped.
    pub(super) fn close(&self) {
        self.buffer.closed.store(true, Ordering::Release);
        self.buffer.filled.notify_one();
    }
}

impl HandlerRegistration {
    pub(super) fn id(&self) -> ListenerId {
        self.id
    }

    /// Whether the first list has been delivered to this handler, every call returned.
    pub fn has_synced(&self) -> bool {
        if *self.upstream_synced.borrow() {
            self.tracker.upstream_has_synced();
        }
        self.tracker.has_synced()
    }

    /// Waits until [`HandlerRegistration::has_synced`]. Cancel safe.
    ///
    /// # Errors
    /// [`SyncError`] if that can never be.
    pub async fn wait_until_synced(&self) -> Result<(), SyncError> {
        let synced = async {
            let mut upstream_synced = self.upstream_synced.clone();
            let upstream = upstream_synced.wait_for(|synced| *synced).await;
            upstream.map_err(|_| SyncError::Removed)?;
            self.tracker.upstream_has_synced();
            self.tracker.wait_until_synced().await;
            Ok(())
        };
        let mut fate = self.fate.clone();
        tokio::select! {
            biased;
            synced = synced => synced,
            fate = fate.wait_for(|fate| *fate == Fate::PanickedInFirstList) => Err(match fate {
                Ok(_) => SyncError::HandlerPanicked,
                // The task that calls the handler has the sender.
                Err(_) => SyncError::Removed,
            }),
        }
    }

    /// Notifications that were sent and whose handler has not returned. There is no bound: see
    /// [`super::super::InformerWarning::HandlerBacklog`].
    pub fn pending(&self) -> u64 {
        self.pending.now.load(Ordering::Acquire)
    }

    /// The most that [`HandlerRegistration::pending`] ever was.
    pub fn most_pending(&self) -> u64 {
        self.pending.most.load(Ordering::Acquire)
    }

    /// Waits until the handler is called no more: until the task that calls it has ended.
    pub(super) async fn ended(&self) {
        let mut ended = self.ended.clone();
        // Nothing is ever sent, so this is the sender's end.
        let _ = ended.changed().await;
    }
}

async fn call_handler<T: Send + Sync + 'static>(
    mut handler: impl ResourceEventHandler<T>,
    buffer: Arc<Buffer<T>>,
    fate: watch::Sender<Fate>,
) {
    loop {
        let batch = std::mem::take(&mut *buffer.notifications.lock());
        if batch.is_empty() {
            if buffer.closed.load(Ordering::Acquire) {
                return;
            }
            buffer.filled.notified().await;
            continue;
        }
        // A handler may compute, and this worker may be the one that looks after sockets and timers: it hands that on only when it
        // wakes another.
        if batch.len() > 1 {
            let_others_run().await;
        }
        for notification in batch {
            if buffer.closed.load(Ordering::Acquire) {
                return;
            }
            let initial = is_initial(&notification);
            let call = async {
                match notification {
                    Notification::Added { object, origin } => handler.on_add(object, origin).await,
                    Notification::Updated { old, new } => handler.on_update(old, new).await,
                    Notification::Deleted { object } => handler.on_delete(object).await,
                }
            };
            let outcome = AssertUnwindSafe(call).catch_unwind().await;
            buffer.pending.now.fetch_sub(1, Ordering::AcqRel);
            if outcome.is_err() {
                tracing::error!("handler panicked; the notification is lost to it");
                (buffer.tell)(Told::Panicked);
                if initial {
                    fate.send_replace(Fate::PanickedInFirstList);
                }
                sleep(PAUSE_AFTER_PANIC).await;
            } else if initial {
                buffer.tracker.finished();
            }
        }
    }
}

fn is_initial<T>(notification: &Notification<T>) -> bool {
    matches!(
        notification,
        Notification::Added {
            origin: AddOrigin::InitialList,
            ..
        }
    )
}
