//! Our side of a trace.

use std::{collections::HashMap, mem, sync::Arc};

use bench_core::{
    api::{KeyError, KubeObject as _, ObjectKey, ResourceVersion},
    cache::{
        AddOrigin, DeltaObject, Deltas, EventQueue as _, IndexError, IndexFunc, Indexer,
        LockWhileProcessing, NoObserver, NothingToPop, Notification, Popped, PoppedItem,
        QueueError, QueueHandle, Tombstone, process_popped,
    },
};

use super::{
    object::{ObjectSpec, TraceObject, indexers},
    queues::{Faults, Known, SharedQueue},
    text,
    trace::{Header, Operation, Preset, Process, SetupOption, Trace},
    work,
};

/// A queue, the store behind it and the handler, as [`Header`] sets them up.
#[derive(Debug)]
pub struct Replay {
    shared: SharedQueue,
    queue: QueueHandle<TraceObject, SharedQueue, NoObserver>,
    known: Arc<Known>,
    indexer: Arc<Indexer<TraceObject>>,
    preset: Preset,
    last_popped: Option<Deltas<TraceObject>>,
    // The fields of the last outcome that are left out while they stay the same.
    last_queue: String,
    last_store: String,
}

/// The outcomes of a whole trace, one a line.
pub fn replay(trace: &Trace) -> String {
    if trace.header.preset == Preset::WorkQueue {
        return work::replay(trace);
    }
    let mut replay = Replay::new(&trace.header);
    let mut outcomes = String::new();
    for operation in &trace.operations {
        replay.apply(operation, &mut outcomes);
        outcomes.push('\n');
    }
    outcomes
}

impl Replay {
    /// Sets up.
    pub fn new(header: &Header) -> Self {
        let indexers = if header.has(SetupOption::Indexes) {
            indexers()
        } else {
            HashMap::new()
        };
        let indexer = Arc::new(Indexer::new(indexers));
        let known = Arc::new(Known {
            indexer: Arc::clone(&indexer),
            faults: Faults::default().into(),
        });
        let shared = SharedQueue::new(header, &known);
        Self {
            queue: QueueHandle::new(shared.clone(), NoObserver),
            shared,
            known,
            indexer,
            preset: header.preset,
            last_popped: None,
            last_queue: String::new(),
            last_store: String::new(),
        }
    }

    /// Runs one operation and appends its outcome as a line without its end.
    pub fn apply(&mut self, operation: &Operation, out: &mut String) {
        out.push_str("{\"result\":\"");
        match operation {
            Operation::Pop { process, during } => self.pop(*process, during, out),
            Operation::Lookup {
                index,
                value,
                object,
            } => {
                out.push_str("ok\"");
                self.lookup(index, value, &object.object(), out);
            }
            _ => out.extend([self.write(operation), "\""]),
        }
        if self.queue.has_synced() {
            out.push_str(",\"synced\":true");
        }
        let shared = &self.shared;
        push_if_changed(out, &mut self.last_queue, "queue", |out| {
            shared.push_pending(out);
        });
        let (indexer, preset) = (&self.indexer, self.preset);
        push_if_changed(out, &mut self.last_store, "store", |out| {
            push_stored(out, indexer, preset);
        });
        out.push('}');
    }

    // Runs an operation that pops nothing and gives the class of its result.
    fn write(&mut self, operation: &Operation) -> &'static str {
        if let Some(result) = write_to_queue(&self.queue, operation) {
            return result;
        }
        match operation {
            Operation::Restore => match &self.last_popped {
                Some(deltas) => class(self.shared.add_if_not_present(deltas.clone())),
                None => "nothing",
            },
            Operation::RestoreNothing => class(self.shared.add_if_not_present(Vec::new())),
            Operation::Faults { failing, missing } => {
                *self.known.faults.lock() = Faults {
                    failing: failing.clone(),
                    missing: missing.clone(),
                };
                "ok"
            }
            Operation::StoreAdd { object } => class(self.indexer.add(&object.object())),
            Operation::StoreDelete { object } => {
                class(self.indexer.delete(&DeltaObject::Object(object.object())))
            }
            Operation::StoreReplace { objects, rv } => {
                let version = ResourceVersion::from(&**rv);
                class(self.indexer.replace(&made(objects), &version))
            }
            Operation::AddIndexers { index } => {
                let by_namespace: IndexFunc<TraceObject> = Arc::new(|object: &TraceObject| {
                    object
                        .key()
                        .map(|key| vec![key.namespace().to_owned()])
                        .unwrap_or_default()
                });
                let added = HashMap::from([(index.clone(), by_namespace)]);
                let result = match self.preset {
                    Preset::DeltaFifo => self.indexer.add_indexers(added),
                    _ => self.indexer.add_indexers_at_any_time(added),
                };
                match result {
                    Ok(()) => "ok",
                    Err(IndexError::NotEmpty) => "not-empty",
                    Err(IndexError::Conflict(_)) => "conflict",
                    Err(IndexError::Unknown(_)) => "unknown",
                }
            }
            _ => unreachable!("pops and lookups are handled by the caller, the rest above"),
        }
    }

    fn pop(&mut self, process: Process, during: &[Operation], out: &mut String) {
        let mut last_popped = None;
        let popped = self.queue.try_pop(|popped| {
            last_popped = Some(popped.item.deltas().to_vec());
            self.push_popped(popped, during, out);
            if process == Process::Apply {
                text::push_texts(out, "calls", &calls(popped, &self.indexer));
            }
        });
        match popped {
            Ok(()) => {}
            Err(NothingToPop::Empty) => out.push_str("empty\""),
            Err(NothingToPop::Closed) => out.push_str("closed\""),
        }
        if let Some(deltas) = last_popped {
            if process == Process::Requeue {
                let requeued = self.shared.add_if_not_present(deltas.clone());
                requeued.expect("a popped key has a key");
            }
            self.last_popped = Some(deltas);
        }
    }

    // Appends what the process function was handed, and runs what the trace says happens meanwhile.
    fn push_popped(&self, popped: &Popped<TraceObject>, during: &[Operation], out: &mut String) {
        out.push_str("popped\"");
        match &popped.item {
            PoppedItem::Deltas(deltas) | PoppedItem::Batch(deltas) => {
                text::push_strings(out, "deltas", deltas, text::push_delta);
            }
            PoppedItem::ReplacedAll(replaced) => {
                text::push_strings(out, "deltas", [replaced], text::push_replaced_all);
            }
            PoppedItem::SyncAll => out.push_str(",\"deltas\":[\"SA\"]"),
            PoppedItem::Bookmark(version) => {
                text::push_strings(out, "deltas", [version], text::push_bookmark);
            }
        }
        if popped.origin == AddOrigin::InitialList {
            out.push_str(",\"initial\":true");
        }
        if self.shared.has_synced() {
            out.push_str(",\"synced_inside\":true");
        }
        if popped.lock == LockWhileProcessing::Release {
            out.push_str(",\"unlocked\":true");
            text::push_strings(out, "during", during, |out, operation| {
                let result = write_to_queue(&self.queue, operation);
                out.push_str(result.expect("only writes to the queue happen meanwhile"));
            });
        }
    }

    fn lookup(&self, index: &str, value: &str, object: &TraceObject, out: &mut String) {
        match self.indexer.by_index(index, value) {
            Ok(found) => text::push_texts(out, "by_index", &text::sorted_objects(&found)),
            Err(_) => out.push_str(",\"by_index\":\"unknown\""),
        }
        let push_key = |out: &mut String, key: ObjectKey| text::push_escaped(out, key.as_str());
        match self.indexer.index_keys(index, value) {
            Ok(keys) => text::push_strings(out, "index_keys", keys, push_key),
            Err(_) => out.push_str(",\"index_keys\":\"unknown\""),
        }
        match self.indexer.index(index, object) {
            Ok(found) => text::push_texts(out, "index", &text::sorted_objects(&found)),
            Err(_) => out.push_str(",\"index\":\"unknown\""),
        }
        let mut values = self.indexer.list_index_func_values(index);
        values.sort_unstable();
        text::push_strings(out, "values", &values, |out, value| {
            text::push_escaped(out, value);
        });
        let key = object.key().expect("lookups are of objects with a key");
        if let Some(found) = self.indexer.get_by_key(&key) {
            out.push_str(",\"get\":\"");
            text::push_object(out, &found);
            out.push('"');
        }
    }
}

// Runs what a reflector could write; nothing if the operation is another.
fn write_to_queue(
    queue: &QueueHandle<TraceObject, SharedQueue, NoObserver>,
    operation: &Operation,
) -> Option<&'static str> {
    Some(match operation {
        Operation::Add { object } => class(queue.add(object.object())),
        Operation::Update { object } => class(queue.update(object.object())),
        Operation::Delete { object } => class(queue.delete(DeltaObject::Object(object.object()))),
        Operation::Tombstone { key, object } => {
            class(
                queue.delete(DeltaObject::FinalStateUnknown(Box::new(Tombstone {
                    // Not parsed: upstream takes any text for a key.
                    key: ObjectKey::new("", key),
                    object: object.as_ref().map(ObjectSpec::object),
                }))),
            )
        }
        Operation::Replace { objects, rv } => {
            class(queue.replace(made(objects), &ResourceVersion::from(&**rv)))
        }
        Operation::Resync => class(queue.resync()),
        Operation::Bookmark { rv } => {
            queue.bookmark(&ResourceVersion::from(&**rv));
            "ok"
        }
        Operation::Close => {
            queue.close();
            "ok"
        }
        _ => return None,
    })
}

// Applies what was popped to the store; the calls of the handler as text.
fn calls(popped: &Popped<TraceObject>, indexer: &Indexer<TraceObject>) -> Vec<String> {
    let mut calls = Vec::new();
    let processed = process_popped(popped, indexer, |_, notification| {
        let mut call = String::new();
        match &notification {
            Notification::Added { object, origin } => {
                let initial = *origin == AddOrigin::InitialList;
                call.push_str(if initial { "add! " } else { "add " });
                text::push_object(&mut call, object);
            }
            Notification::Updated { old, new } => {
                call.push_str("update ");
                text::push_object(&mut call, old);
                call.push_str(" > ");
                text::push_object(&mut call, new);
            }
            Notification::Deleted { object } => {
                call.push_str("delete ");
                text::push_delta_object(&mut call, object);
            }
        }
        calls.push(call);
    });
    // An error is dropped, as a controller does.
    drop(processed);
    // Upstream reads these from a map: deletions that a list made, and everything that a resync touches.
    match popped.item {
        PoppedItem::ReplacedAll(_) => {
            let is_deletion = |call: &&String| call.starts_with("delete ");
            let deletions = calls.iter().take_while(is_deletion).count();
            calls[..deletions].sort_unstable();
        }
        PoppedItem::SyncAll => calls.sort_unstable(),
        PoppedItem::Deltas(_) | PoppedItem::Batch(_) | PoppedItem::Bookmark(_) => {}
    }
    calls
}

fn made(specs: &[ObjectSpec]) -> Vec<Arc<TraceObject>> {
    specs.iter().map(ObjectSpec::object).collect()
}

// An error without its wording.
fn class<T>(result: Result<T, impl Into<QueueError>>) -> &'static str {
    match result.map_err(Into::into) {
        Ok(_) => "ok",
        Err(QueueError::Key(KeyError::ZeroLengthDeltas)) => "zero-length",
        Err(QueueError::Key(_)) => "key",
        Err(QueueError::Transform(_)) => "transform",
    }
}

fn push_stored(out: &mut String, indexer: &Indexer<TraceObject>, preset: Preset) {
    let mut keys = indexer.list_keys();
    keys.sort_unstable();
    text::push_strings(out, "store", keys, |out, key| {
        let object = indexer.get_by_key(&key).expect("it was listed");
        text::push_object(out, &object);
    });
    let version = indexer.resource_version();
    // Earlier releases do not tell it.
    if preset == Preset::AtomicFifo && !version.is_unset() {
        out.extend([",\"store_rv\":\"", &version.to_string(), "\""]);
    }
}

// Appends a field where it differs from the last outcome's.
fn push_if_changed(
    out: &mut String,
    last: &mut String,
    name: &str,
    push: impl FnOnce(&mut String),
) {
    let start = out.len();
    push(out);
    if out[start..] == **last {
        out.truncate(start);
        return;
    }
    let field = out[start..].to_owned();
    if field.is_empty() {
        out.extend([",\"", name, "\":[]"]);
    }
    drop(mem::replace(last, field));
}
