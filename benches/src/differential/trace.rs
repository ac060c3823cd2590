//! Traces: a header that sets a queue up, then operations, each a line of JSON that both sides read.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{object::ObjectSpec, work::WorkOperation};

/// The queue of which release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// `DeltaFIFO` of client-go 0.27.
    DeltaFifo,
    /// `RealFIFO` of 0.34: one event a pop.
    RealFifoPerEvent,
    /// `RealFIFO` of 0.35: batches.
    RealFifo,
    /// `RealFIFO` of 0.36 and later: atomic events.
    AtomicFifo,
    /// No queue of deltas, but the rate-limiting, delaying work queue.
    #[serde(rename = "workqueue")]
    WorkQueue,
}

/// What makes a trace's queue other than an informer's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetupOption {
    /// The items of a list are Sync deltas, as with `DeltaFIFO`'s bare constructor.
    EmitSync,
    /// The store has two indexes.
    Indexes,
    /// The rate limiter of a work queue; a controller's default without.
    LimiterBucket,
    /// As above.
    LimiterExponential,
    /// As above.
    LimiterFastSlow,
    /// As above.
    LimiterItemBased,
    /// As above.
    LimiterMaxOf,
    /// As above.
    LimiterMaxWait,
    /// The queue knows no store.
    NoKnownObjects,
    /// Objects are transformed: most get something added, one value is refused, and one loses its metadata.
    Transformer,
}

/// The first line of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// A name for people.
    pub trace: String,
    /// The queue.
    pub preset: Preset,
    /// How it differs from an informer's.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub options: BTreeSet<SetupOption>,
    /// The most deltas of one batch, where there are batches; upstream has 1000, too many for a short trace.
    pub batch: usize,
}

/// A header and what follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// How the queue is set up.
    pub header: Header,
    /// What is done to it.
    pub operations: Vec<Operation>,
}

/// What the process function does with what was popped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Process {
    /// Applies it to the store and calls the handler, as an informer does.
    #[default]
    Apply,
    /// Fails before it has done anything.
    Skip,
    /// Asks for it to be queued again (`ErrRequeue`, up to 0.32).
    Requeue,
}

/// One operation.
#[expect(
    missing_docs,
    reason = "the fields: `object` and `objects` are what is written, `rv` the version of a list or bookmark"
)]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Operation {
    /// A watch reports a new object.
    Add { object: ObjectSpec },
    /// A watch reports a change.
    Update { object: ObjectSpec },
    /// A watch reports a deletion.
    Delete { object: ObjectSpec },
    /// A deletion is written as a tombstone.
    Tombstone {
        key: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        object: Option<ObjectSpec>,
    },
    /// A list is received.
    Replace {
        objects: Vec<ObjectSpec>,
        rv: String,
    },
    /// The resync period has passed.
    Resync,
    /// A watch reports its progress.
    Bookmark { rv: String },
    /// The next item is popped, in a batch where the release's informers pop batches. `during` is done meanwhile if the
    /// queue is not locked.
    Pop {
        #[serde(default, skip_serializing_if = "is_default")]
        process: Process,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        during: Vec<Self>,
    },
    /// `AddIfNotPresent` of what was popped last.
    Restore,
    /// `AddIfNotPresent` of no deltas.
    RestoreNothing,
    /// The queue is closed.
    Close,
    /// From now on lookups of these keys by the queue fail, or find nothing.
    Faults {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        failing: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        missing: Vec<String>,
    },
    /// Somebody writes to the store past the queue.
    StoreAdd { object: ObjectSpec },
    /// As above.
    StoreDelete { object: ObjectSpec },
    /// As above.
    StoreReplace {
        objects: Vec<ObjectSpec>,
        rv: String,
    },
    /// An index by namespace gets added under this name.
    AddIndexers { index: String },
    /// All lookups of the store: by an indexed value, by what an object shares, by key.
    Lookup {
        index: String,
        value: String,
        object: ObjectSpec,
    },
    /// Something with a work queue.
    #[serde(untagged)]
    Work(WorkOperation),
}

impl Preset {
    /// All, oldest first.
    pub const ALL: [Self; 5] = [
        Self::DeltaFifo,
        Self::RealFifoPerEvent,
        Self::RealFifo,
        Self::AtomicFifo,
        Self::WorkQueue,
    ];

    /// The name in commands, traces and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::DeltaFifo => "delta-fifo",
            Self::RealFifoPerEvent => "real-fifo-per-event",
            Self::RealFifo => "real-fifo",
            Self::AtomicFifo => "atomic-fifo",
            Self::WorkQueue => "workqueue",
        }
    }

    /// The name of the Go program that has this queue.
    pub fn program(self) -> &'static str {
        match self {
            Self::DeltaFifo => "v0.27",
            Self::RealFifoPerEvent => "v0.34",
            Self::RealFifo => "v0.35",
            Self::AtomicFifo => "v0.37",
            Self::WorkQueue => "workqueue",
        }
    }
}

impl Header {
    /// Whether an option is set.
    pub fn has(&self, option: SetupOption) -> bool {
        self.options.contains(&option)
    }
}

impl Trace {
    /// The header and each operation as a line of JSON.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let line = |operation: &Operation| to_line(operation);
        std::iter::once(to_line(&self.header)).chain(self.operations.iter().map(line))
    }
}

fn to_line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings and numbers can be written")
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_default(process: &Process) -> bool {
    *process == Process::default()
}
