//! What an informer and its handler did, with times. The one place where the measured path is touched: a clock reading and an
//! append for each notification.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bench_core::{
    api::{KubeObject, Object, ObjectKey, ResourceVersion},
    cache::{
        AddOrigin, DeltaType, InformerObserver, InformerWarning, Notification, Popped, PoppedItem,
        QueueOperation, ResyncOutcome,
    },
    measure::clock::MonotonicTime,
};
use parking_lot::Mutex;
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha12Rng};

use super::informer_warnings::InformerWarnings;

/// Why a handler was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Cause {
    /// An item of the first list.
    Initial,
    /// An event of the watch.
    Live,
    /// A relist.
    Relist,
    /// An event that the watch had shown before: a watch was resumed from an older version.
    Replay,
    /// A resync.
    Resync,
}

/// What kind of call it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Call {
    /// `on_add`.
    Add,
    /// `on_update`.
    Update,
    /// `on_delete` with the object's last state.
    Delete,
    /// `on_delete` with a tombstone.
    DeleteUnknown,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The handler did its work.
    Handled,
    /// The handler lost it on purpose.
    Lost,
}

/// One call of the handler.
#[derive(Debug, Clone)]
pub(super) struct Delivery {
    /// Which object.
    pub(super) key: ObjectKey,
    /// Its uid.
    pub(super) uid: Box<str>,
    /// Which method.
    pub(super) call: Call,
    /// Why.
    pub(super) cause: Cause,
    /// Version before, of an update.
    pub(super) old_version: Option<u64>,
    /// Version now.
    pub(super) version: u64,
    /// Begin of the call.
    pub(super) began_ns: u64,
    /// Return of the handler.
    pub(super) returned_ns: u64,
    /// Whether the handler lost it on purpose.
    pub(super) lost: bool,
}

/// One resync of the queue.
#[derive(Debug, Clone)]
pub(super) struct RecordedResync {
    /// The timer fired.
    pub(super) began_ns: u64,
    /// The lock was given.
    pub(super) locked_ns: u64,
    /// The lock was given back.
    pub(super) released_ns: u64,
    /// What it did.
    pub(super) outcome: ResyncOutcome,
}

/// One run of a reconciler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reconcile {
    /// Which object, as the work queue names it.
    pub(super) key: String,
    /// The key was taken from the work queue.
    pub(super) began_ns: u64,
    /// The reconciler returned.
    pub(super) ended_ns: u64,
}

/// Shares of live calls that a handler loses without telling the informer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses {
    /// Of adds and updates.
    pub adds_and_updates: f64,
    /// Of deletes.
    pub deletes: f64,
}

/// Everything that was recorded.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Calls in order.
    pub(super) deliveries: Vec<Delivery>,
    /// (version, received) of watch events, in order.
    pub(super) received: Vec<(u64, u64)>,
    /// Resyncs in order.
    pub(super) resyncs: Vec<RecordedResync>,
    /// For each resync that was one entry of the queue, how many notifications it made when it was its turn.
    pub(super) sync_alls: Vec<u64>,
    /// Reconciles in the order of their ends; none without a work queue.
    pub(super) reconciles: Vec<Reconcile>,
}

/// Whether the item that is processed is a whole resync.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Turn {
    SyncAll,
    #[default]
    Other,
}

/// Records. Cheap to clone; it is the informer's observer, and its handler tells it of each call.
#[derive(Debug, Clone)]
pub(super) struct Recorder(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    resync: Mutex<(u64, u64, ResyncOutcome)>,
    received: Mutex<Vec<(u64, u64)>>,
    resyncs: Mutex<Vec<RecordedResync>>,
    /// As in the log, and whether the last one is being processed.
    sync_alls: Mutex<(Vec<u64>, Turn)>,
    reconciles: Mutex<Vec<Reconcile>>,
    warnings: InformerWarnings,
    /// Cause of the notification that is being delivered; a plain informer's handler runs right after.
    delivering: Mutex<Option<Cause>>,
    /// Relists and replays under way to a shared informer's handler, by the versions before and now: all else its notification
    /// tells. By both, since the event that a replay repeats may be under way, too.
    under_way: Mutex<HashMap<(Option<u64>, u64), Cause>>,
    live: AtomicU64,
    sync: AtomicU64,
    stale: AtomicU64,
}

#[derive(Debug)]
struct State {
    deliveries: Vec<Delivery>,
    losses: Losses,
    random: ChaCha12Rng,
    stale: HashMap<ObjectKey, u64>,
}

impl Recorder {
    /// Records nothing yet; losses are drawn from `seed`.
    pub(super) fn new(losses: Losses, seed: u64) -> Self {
        let random = ChaCha12Rng::seed_from_u64(seed ^ 0x0010_55e5);
        let state = State {
            deliveries: Vec::new(),
            losses,
            random,
            stale: HashMap::new(),
        };
        Self(Arc::new(Shared {
            state: Mutex::new(state),
            resync: Mutex::default(),
            received: Mutex::default(),
            resyncs: Mutex::default(),
            sync_alls: Mutex::default(),
            reconciles: Mutex::default(),
            warnings: InformerWarnings::default(),
            delivering: Mutex::new(None),
            under_way: Mutex::default(),
            live: AtomicU64::new(0),
            sync: AtomicU64::new(0),
            stale: AtomicU64::new(0),
        }))
    }

    /// The cause of a plain informer's call, by the delta that is being delivered.
    pub(super) fn cause_of_inline_call(&self) -> Cause {
        self.0.delivering.lock().unwrap_or(Cause::Live)
    }

    /// The cause of a shared informer's call, which comes some time after its delta.
    pub(super) fn cause_of_buffered_call(&self, notification: &Notification<Object>) -> Cause {
        let known = versions_of(notification)
            .and_then(|versions| self.0.under_way.lock().remove(&versions));
        known.unwrap_or_else(|| match notification {
            Notification::Added {
                origin: AddOrigin::InitialList,
                ..
            } => Cause::Initial,
            Notification::Updated { old, new }
                if old.resource_version() == new.resource_version() =>
            {
                Cause::Resync
            }
            _ => Cause::Live,
        })
    }

    /// Decides whether the handler loses this call. Only live calls are lost.
    pub(super) fn loses(&self, notification: &Notification<Object>, cause: Cause) -> Fate {
        if cause != Cause::Live {
            return Fate::Handled;
        }
        let mut state = self.0.state.lock();
        let share = match notification {
            Notification::Deleted { .. } => state.losses.deletes,
            Notification::Added { .. } | Notification::Updated { .. } => {
                state.losses.adds_and_updates
            }
        };
        let lost = share > 0.0 && state.random.random_bool(share.min(1.0));
        if lost { Fate::Lost } else { Fate::Handled }
    }

    /// Notes a call that has returned, or that the handler lost.
    pub(super) fn handled(
        &self,
        notification: &Notification<Object>,
        cause: Cause,
        began_ns: u64,
        fate: Fate,
    ) {
        let lost = fate == Fate::Lost;
        let (object, call, old_version) = match notification {
            Notification::Added { object, .. } => (Some(object), Call::Add, None),
            Notification::Updated { old, new } => {
                (Some(new), Call::Update, number(&old.resource_version()))
            }
            Notification::Deleted { object } if object.is_final_state_unknown() => {
                (object.last_known(), Call::DeleteUnknown, None)
            }
            Notification::Deleted { object } => (object.last_known(), Call::Delete, None),
        };
        let Some(object) = object else { return };
        let Ok(key) = object.key() else { return };
        let version = number(&object.resource_version()).unwrap_or(0);
        let uid = Box::from(object.uid());
        let returned_ns = MonotonicTime::now().nanoseconds;
        let counter = match cause {
            Cause::Live => Some(&self.0.live),
            Cause::Resync => Some(&self.0.sync),
            Cause::Initial | Cause::Relist | Cause::Replay => None,
        };
        if let Some(counter) = counter {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        let mut state = self.0.state.lock();
        if lost && !matches!(call, Call::Delete | Call::DeleteUnknown) {
            state.stale.insert(key.clone(), returned_ns);
        } else {
            state.stale.remove(&key);
        }
        self.0
            .stale
            .store(state.stale.len() as u64, Ordering::Relaxed);
        state.deliveries.push(Delivery {
            key,
            uid,
            call,
            cause,
            old_version,
            version,
            began_ns,
            returned_ns,
            lost,
        });
    }

    /// Notes a run of a reconciler that has just ended.
    pub(super) fn reconciled(&self, key: String, began_ns: u64) {
        let ended_ns = MonotonicTime::now().nanoseconds;
        self.0.reconciles.lock().push(Reconcile {
            key,
            began_ns,
            ended_ns,
        });
    }

    /// Live calls, sync calls and stale keys so far.
    pub(super) fn counts(&self) -> (u64, u64, u64) {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (load(&self.0.live), load(&self.0.sync), load(&self.0.stale))
    }

    /// What the informer warned of.
    pub(super) fn warnings(&self) -> &InformerWarnings {
        &self.0.warnings
    }

    /// Takes everything that was recorded.
    pub(super) fn take(&self) -> Log {
        Log {
            deliveries: std::mem::take(&mut self.0.state.lock().deliveries),
            received: std::mem::take(&mut *self.0.received.lock()),
            resyncs: std::mem::take(&mut *self.0.resyncs.lock()),
            sync_alls: std::mem::take(&mut self.0.sync_alls.lock().0),
            reconciles: std::mem::take(&mut *self.0.reconciles.lock()),
        }
    }
}

impl InformerObserver<Object> for Recorder {
    fn resync_began(&self) {
        self.0.resync.lock().0 = MonotonicTime::now().nanoseconds;
    }

    fn lock_acquired(&self, operation: QueueOperation) {
        if operation == QueueOperation::Resync {
            self.0.resync.lock().1 = MonotonicTime::now().nanoseconds;
        }
    }

    fn resync_ended(&self, outcome: &ResyncOutcome) {
        self.0.resync.lock().2 = outcome.clone();
    }

    fn lock_released(&self, operation: QueueOperation) {
        if operation == QueueOperation::Resync {
            let released_ns = MonotonicTime::now().nanoseconds;
            let (began_ns, locked_ns, outcome) = std::mem::take(&mut *self.0.resync.lock());
            self.0.resyncs.lock().push(RecordedResync {
                began_ns,
                locked_ns,
                released_ns,
                outcome,
            });
        }
    }

    fn event_received(&self, _key: &ObjectKey, resource_version: &ResourceVersion) {
        if let Some(version) = number(resource_version) {
            self.0
                .received
                .lock()
                .push((version, MonotonicTime::now().nanoseconds));
        }
    }

    fn popped(&self, popped: &Popped<Object>) {
        let mut sync_alls = self.0.sync_alls.lock();
        sync_alls.1 = if matches!(popped.item, PoppedItem::SyncAll) {
            sync_alls.0.push(0);
            Turn::SyncAll
        } else {
            Turn::Other
        };
    }

    fn delivering(&self, delta_type: DeltaType, notification: &Notification<Object>) {
        if delta_type == DeltaType::Sync {
            let mut sync_alls = self.0.sync_alls.lock();
            if let (notifications, Turn::SyncAll) = &mut *sync_alls
                && let Some(count) = notifications.last_mut()
            {
                *count += 1;
            }
        }
        let cause = cause(delta_type, notification);
        *self.0.delivering.lock() = Some(cause);
        if let (Cause::Relist | Cause::Replay, Some(versions)) = (cause, versions_of(notification))
        {
            self.0.under_way.lock().insert(versions, cause);
        }
    }

    fn handler_panicked(&self) {
        self.0.warnings.handler_panicked();
    }

    fn warned(&self, warning: &InformerWarning) {
        self.0.warnings.warned(warning);
    }
}

fn cause(delta_type: DeltaType, notification: &Notification<Object>) -> Cause {
    match (delta_type, notification) {
        (DeltaType::Sync, _) => Cause::Resync,
        (
            _,
            Notification::Added {
                origin: AddOrigin::InitialList,
                ..
            },
        ) => Cause::Initial,
        (DeltaType::Replaced, _) => Cause::Relist,
        (_, Notification::Deleted { object }) if object.is_final_state_unknown() => Cause::Relist,
        (_, Notification::Updated { old, new })
            if old.resource_version() == new.resource_version() =>
        {
            Cause::Replay
        }
        _ => Cause::Live,
    }
}

fn versions_of(notification: &Notification<Object>) -> Option<(Option<u64>, u64)> {
    let (old, object) = match notification {
        Notification::Added { object, .. } => (None, Some(object)),
        Notification::Updated { old, new } => (number(&old.resource_version()), Some(new)),
        Notification::Deleted { object } => (None, object.last_known()),
    };
    Some((old, number(&object?.resource_version())?))
}

fn number(version: &ResourceVersion) -> Option<u64> {
    version.number()
}

#[cfg(test)]
mod tests;
