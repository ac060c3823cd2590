//! client-go's `tools/cache`: the queue, the indexer, the reflector, the controller and the informers.
//!
//! Pure state first ([`DeltaFifo`], [`RealFifo`], [`AtomicFifo`], [`Indexer`], [`Backoff`], [`ReflectorState`]), then the drivers
//! around it. Nothing here reads a clock to time itself: an [`InformerObserver`] is called instead. (The queue's lock reads one to know
//! who has waited too long.)

mod any_queue;
mod atomic_fifo;
mod backoff;
mod batch;
mod controller;
mod delta;
mod delta_fifo;
mod event_queue;
mod handler;
mod handover_mutex;
mod indexer;
mod informer;
mod initial_population;
mod known_objects;
mod lazy;
mod lister;
mod mutation_detector;
mod observer;
mod process;
mod queue_handle;
mod real_fifo;
mod reflector;
mod shared_informer;
mod sync_tracker;
mod warning;

pub use any_queue::AnyQueue;
pub use atomic_fifo::{AtomicEntry, AtomicFifo, AtomicFifoSettings};
pub use backoff::{Backoff, BackoffReset, BackoffSettings};
pub use batch::DEFAULT_BATCH_SIZE;
pub use controller::Controller;
pub use delta::{Delta, DeltaObject, DeltaType, Deltas, Tombstone};
pub use delta_fifo::{
    DeltaFifo, DeltaFifoSettings, EmittedOnReplace, SharedTransformer, Transformer,
};
pub use event_queue::{
    AfterClose, EventQueue, LockWhileProcessing, Popped, PoppedItem, QueueError, QueueKind,
    ReplacedAll, ResyncOutcome,
};
pub use handler::{AddOrigin, InlineEventHandler, ResourceEventHandler};
pub use indexer::{IndexError, IndexFunc, Indexer, Indexers, NAMESPACE_INDEX, index_by_namespace};
pub use informer::{ControllerPlacement, Informer, InformerSettings, RunningInformer};
pub use known_objects::KnownObjects;
pub use lazy::Lazy;
pub use lister::{Lister, NamespaceLister};
pub use mutation_detector::MutationDetector;
pub use observer::{InformerObserver, NoObserver, Notification, QueueOperation, RelistCause};
pub use process::{
    ProcessError, TransactionError, process_deltas, process_deltas_in_batch, process_popped,
    process_replaced_all,
};
pub use queue_handle::{NothingToPop, QueueHandle, QueueLength};
pub use real_fifo::{PopUnit, RealFifo, RealFifoSettings};
pub use reflector::{
    AfterStream, AfterWatch, BackoffManagers, InitialVersions, ListRecovery, Observed, Reflector,
    ReflectorError, ReflectorSettings, ReflectorState, ResyncTimer, RetryWithDeadline,
    ShouldResync, StreamingList, WatchOutcome,
};
pub use shared_informer::{
    AddHandlerError, HandlerRegistration, ListenerPeriod, SharedInformer, SharedInformerSettings,
    SyncError, effective_period,
};
pub use sync_tracker::{AsyncTracker, SingleFileTracker};
pub use warning::InformerWarning;
