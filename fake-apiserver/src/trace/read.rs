//! Reading a trace.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, BufReader},
    path::{Path, PathBuf},
    time::Duration,
};

use bench_core::api::{ObjectKey, Resource};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    objects_file::{self, ItemProblem},
    stored_object::ObjectDraft,
};

/// A trace in memory.
#[derive(Debug, Default)]
pub struct Trace {
    /// What is there before the first event. Only a trace without times has it: the ADDED events that it begins with.
    pub initial: Vec<(Resource, ObjectDraft)>,
    /// What happens, oldest first.
    pub events: Vec<TraceEvent>,
    // Of `initial`.
    known: HashSet<(Resource, ObjectKey)>,
}

/// One event.
#[derive(Debug)]
pub struct TraceEvent {
    /// Since the beginning; `None` if the trace does not say.
    pub offset: Option<Duration>,
    /// Whether the object is there afterwards.
    pub kind: TraceEventKind,
    /// The object's resource.
    pub resource: Resource,
    /// The object.
    pub draft: ObjectDraft,
}

/// What happens to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceEventKind {
    /// It is created or changed: ADDED and MODIFIED.
    Put,
    /// It is removed: DELETED.
    Remove,
}

/// A trace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is no sequence of events.
    #[error("{}: event {index} is not valid", path.display())]
    Event {
        /// The file.
        path: PathBuf,
        /// Counted from 0.
        index: usize,
        /// Line, field and fault.
        source: serde_json::Error,
    },
    /// An event's object is none.
    #[error("{}: {problem}", path.display())]
    Object {
        /// The file.
        path: PathBuf,
        /// Which event's, and what is wrong with it.
        problem: ItemProblem,
    },
    /// An event is earlier than the one before it.
    #[error("{}: event {index}: offset_ns is below that of the event before", path.display())]
    Order {
        /// The file.
        path: PathBuf,
        /// Counted from 0.
        index: usize,
    },
}

#[derive(Deserialize)]
struct WrittenEvent {
    #[serde(default)]
    offset_ns: Option<u64>,
    #[serde(rename = "type")]
    kind: WrittenKind,
    object: Value,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum WrittenKind {
    Added,
    Bookmark,
    Deleted,
    Error,
    Modified,
}

impl Trace {
    /// Reads a trace. Bookmarks and errors in it are passed over.
    ///
    /// # Errors
    /// [`TraceError`] of the first event that is at fault.
    pub fn read(path: &Path) -> Result<Self, TraceError> {
        let file = File::open(path).map_err(|source| TraceError::Read {
            path: path.to_owned(),
            source,
        })?;
        let written = serde_json::Deserializer::from_reader(BufReader::new(file));
        let mut trace = Self::default();
        let mut last_offset = None;
        for (index, event) in written.into_iter::<WrittenEvent>().enumerate() {
            let event = event.map_err(|source| TraceError::Event {
                path: path.to_owned(),
                index,
                source,
            })?;
            if event.offset_ns < last_offset {
                return Err(TraceError::Order {
                    path: path.to_owned(),
                    index,
                });
            }
            last_offset = event.offset_ns;
            trace.add(event).map_err(|problem| TraceError::Object {
                path: path.to_owned(),
                problem: ItemProblem { index, ..problem },
            })?;
        }
        Ok(trace)
    }

    fn add(&mut self, event: WrittenEvent) -> Result<(), ItemProblem> {
        let kind = match event.kind {
            WrittenKind::Bookmark | WrittenKind::Error => return Ok(()),
            WrittenKind::Added | WrittenKind::Modified => TraceEventKind::Put,
            WrittenKind::Deleted => TraceEventKind::Remove,
        };
        let is_initial =
            event.kind == WrittenKind::Added && event.offset_ns.is_none() && self.events.is_empty();
        // One document is one object.
        for (resource, draft) in objects_file::interpret(vec![event.object])? {
            if is_initial && self.known.insert((resource.clone(), draft.key().clone())) {
                self.initial.push((resource, draft));
                continue;
            }
            self.events.push(TraceEvent {
                offset: event.offset_ns.map(Duration::from_nanos),
                kind,
                resource,
                draft,
            });
        }
        Ok(())
    }

    /// Every resource that the trace names.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        let initial = self.initial.iter().map(|(resource, _)| resource);
        initial.chain(self.events.iter().map(|event| &event.resource))
    }
}
