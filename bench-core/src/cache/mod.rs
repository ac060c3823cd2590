//! client-go's `tools/cache`: the queue, the indexer, the reflector, the controller and the informers.
//!
//! Pure state first ([`DeltaFifo`], [`Indexer`], [`Backoff`], [`ReflectorState`]), then the drivers around it. Nothing here
//! reads a clock to time itself: an [`InformerObserver`] is called instead. (The queue's lock reads one to know who has waited too long.)

mod backoff;
mod controller;
mod delta;
mod delta_fifo;
mod event_queue;
mod handler;
mod handover_mutex;
mod indexer;
mod informer;
mod known_objects;
mod lister;
mod observer;
mod queue_handle;
mod reflector;
mod shared_informer;

pub use backoff::{Backoff, BackoffReset, BackoffSettings};
pub use controller::{Controller, process_deltas};
pub use delta::{Delta, DeltaObject, DeltaType, Deltas, Tombstone};
pub use delta_fifo::{DeltaFifo, DeltaFifoSettings, EmittedOnReplace, Transformer};
pub use event_queue::{
    EventQueue, LockWhileProcessing, Popped, QueueError, QueueKind, ResyncOutcome,
};
pub use handler::{AddOrigin, InlineEventHandler, ResourceEventHandler};
pub use indexer::{IndexError, IndexFunc, Indexer, Indexers, NAMESPACE_INDEX, index_by_namespace};
pub use informer::{ControllerPlacement, Informer, InformerSettings, RunningInformer};
pub use known_objects::KnownObjects;
pub use lister::{Lister, NamespaceLister};
pub use observer::{InformerObserver, NoObserver, Notification, QueueOperation, RelistCause};
pub use queue_handle::{NothingToPop, QueueHandle, QueueLength};
pub use reflector::{
    AfterWatch, ListRecovery, Reflector, ReflectorSettings, ReflectorState, ResyncTimer,
    RetryWithDeadline, ShouldResync, WatchOutcome,
};
pub use shared_informer::{
    AddHandlerError, HandlerRegistration, ListenerPeriod, SharedInformer, SharedInformerSettings,
    SyncError, effective_period,
};
