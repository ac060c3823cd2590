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
    super::{AddOrigin, Notification, ResourceEventHandler},
    ListenerPeriod,
};

/// Pause after a panic of the handler, as upstream's.
const PAUSE_AFTER_PANIC: Duration = Duration::from_secs(1);

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// Names a registration within the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ListenerId(u64);

/// The sending side.
pub(super) struct Listener<T> {
    pub(super) period: ListenerPeriod,
    buffer: Arc<Buffer<T>>,
    progress: watch::Sender<Progress>,
}

struct Buffer<T> {
    // Without bound, as upstream's ring: a bound would block the informer. `pending` is its gauge.
    notifications: Mutex<VecDeque<Notification<T>>>,
    filled: Notify,
    closed: AtomicBool,
    pending: Arc<AtomicU64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Progress {
    // Additions of the first list that were put into the buffer and whose handler has not returned.
    initial_outstanding: u64,
    panicked_in_initial: bool,
}

/// A handler's place in an informer: asks whether it has synced and how much is waiting for it, and removes it.
#[derive(Debug, Clone)]
pub struct HandlerRegistration {
    id: ListenerId,
    upstream_synced: watch::Receiver<bool>,
    progress: watch::Receiver<Progress>,
    pending: Arc<AtomicU64>,
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
        panicked: impl Fn() + Send + 'static,
    ) -> (
        Self,
        impl Future<Output = ()> + Send + 'static,
        HandlerRegistration,
    ) {
        let pending = Arc::new(AtomicU64::new(0));
        let buffer = Arc::new(Buffer {
            notifications: Mutex::new(VecDeque::new()),
            filled: Notify::new(),
            closed: AtomicBool::new(false),
            pending: Arc::clone(&pending),
        });
        let progress = watch::Sender::new(Progress::default());
        let id = ListenerId(NEXT_ID.fetch_add(1, Ordering::Relaxed));
        let registration = HandlerRegistration {
            id,
            upstream_synced,
            progress: progress.subscribe(),
            pending,
        };
        let task = call_handler(handler, Arc::clone(&buffer), progress.clone(), panicked);
        (
            Self {
                period,
                buffer,
                progress,
            },
            task,
            registration,
        )
    }

    /// Puts a notification at the end of the buffer. Never waits.
    pub(super) fn push(&self, notification: Notification<T>) {
        if is_initial(&notification) {
            self.progress
                .send_modify(|progress| progress.initial_outstanding += 1);
        }
        self.buffer.pending.fetch_add(1, Ordering::AcqRel);
        self.buffer.notifications.lock().push_back(notification);
        self.buffer.filled.notify_one();
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
        let progress = *self.progress.borrow();
        *self.upstream_synced.borrow() && progress.initial_outstanding == 0
    }

    /// Waits until [`HandlerRegistration::has_synced`]. Cancel safe.
    ///
    /// # Errors
    /// [`SyncError`] if that can never be.
    pub async fn wait_until_synced(&self) -> Result<(), SyncError> {
        let mut upstream_synced = self.upstream_synced.clone();
        upstream_synced
            .wait_for(|synced| *synced)
            .await
            .map_err(|_| SyncError::Removed)?;
        let mut progress = self.progress.clone();
        let ended =
            |progress: &Progress| progress.initial_outstanding == 0 || progress.panicked_in_initial;
        let last = *progress
            .wait_for(ended)
            .await
            .map_err(|_| SyncError::Removed)?;
        if last.initial_outstanding == 0 {
            Ok(())
        } else {
            Err(SyncError::HandlerPanicked)
        }
    }

    /// Notifications that were sent and whose handler has not returned.
    pub fn pending(&self) -> u64 {
        self.pending.load(Ordering::Acquire)
    }
}

async fn call_handler<T: Send + Sync + 'static>(
    mut handler: impl ResourceEventHandler<T>,
    buffer: Arc<Buffer<T>>,
    progress: watch::Sender<Progress>,
    panicked: impl Fn() + Send,
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
            buffer.pending.fetch_sub(1, Ordering::AcqRel);
            if outcome.is_err() {
                tracing::error!("handler panicked; the notification is lost to it");
                panicked();
                if initial {
                    progress.send_modify(|progress| progress.panicked_in_initial = true);
                }
                sleep(PAUSE_AFTER_PANIC).await;
            } else if initial {
                progress.send_modify(|progress| progress.initial_outstanding -= 1);
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
