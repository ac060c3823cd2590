//! From a popped item to the cache and the handler. Mirrors `processDeltas`, `processDeltasInBatch` and
//! `processReplacedAllInfo` of client-go's `tools/cache/controller.go` (0.27, 0.35, 0.36).
//!
//! Whether an object is new or changed is decided by the cache and not by the delta's type. The delta type that goes with a
//! notification says how it came about: [`DeltaType::Replaced`] for an item of a list and [`DeltaType::Sync`] for a resync,
//! whether or not they were one entry of the queue.

use std::{collections::HashSet, sync::Arc};

use crate::api::{KeyError, KubeObject};

use super::{
    AddOrigin, Delta, DeltaObject, DeltaType, Indexer, Notification, Popped, PoppedItem,
    ReplacedAll, Tombstone,
};

/// An item was not, or not wholly, processed; there is no second try.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProcessError {
    /// An object has no key. Deltas before it were processed, those after it were not; of a list nothing was.
    #[error("couldn't create key for object")]
    Key(#[from] KeyError),
    /// Some objects of a batch have no key; the others were processed.
    #[error("not all items in the batch successfully processed: {0}")]
    Transaction(TransactionError),
}

/// What a transaction left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("failed to execute ({}/{total}) transactions failed due to: {errors:?}", errors.len())]
pub struct TransactionError {
    /// Places of the writes that were made.
    pub successful_indices: Vec<usize>,
    /// Writes that were asked for.
    pub total: usize,
    /// Why the others were not made.
    pub errors: Vec<KeyError>,
}

/// Applies a popped item to the cache and reports each change, by the rule of the item's kind:
///
/// - deltas: one after the other, each reported when it is in the cache, see [`process_deltas`];
/// - a batch: all in one step of the cache, then reported in order, see [`process_deltas_in_batch`];
/// - a whole list: the cache is replaced in one step, then deletions are reported, then the list's items in its order, see
///   [`process_replaced_all`];
/// - a whole resync: every cached object is reported as an update of itself, in no order, and nothing is written;
/// - a bookmark: only the cache's version changes.
///
/// # Errors
/// [`ProcessError`] if an object has no key.
pub fn process_popped<T: KubeObject>(
    popped: &Popped<T>,
    indexer: &Indexer<T>,
    mut notify: impl FnMut(DeltaType, Notification<T>),
) -> Result<(), ProcessError> {
    match &popped.item {
        PoppedItem::Deltas(deltas) => process_deltas(deltas, popped.origin, indexer, notify)?,
        PoppedItem::Batch(deltas) => {
            process_deltas_in_batch(deltas, popped.origin, indexer, notify)?;
        }
        PoppedItem::ReplacedAll(replaced) => {
            process_replaced_all(replaced, popped.origin, indexer, notify)?;
        }
        PoppedItem::SyncAll => {
            for object in indexer.list() {
                let old = Arc::clone(&object);
                notify(DeltaType::Sync, Notification::Updated { old, new: object });
            }
        }
        PoppedItem::Bookmark(resource_version) => indexer.bookmark(resource_version),
    }
    Ok(())
}

/// Applies deltas to the cache, oldest first, and reports each change after it was applied.
///
/// # Errors
/// [`KeyError`] at the first object that has no key; it and those after it are not processed.
pub fn process_deltas<T: KubeObject>(
    deltas: &[Delta<T>],
    origin: AddOrigin,
    indexer: &Indexer<T>,
    mut notify: impl FnMut(DeltaType, Notification<T>),
) -> Result<(), KeyError> {
    for delta in deltas {
        let key = delta.object.key()?;
        let notification = match (delta.delta_type, delta.object.last_known()) {
            (DeltaType::Deleted, _) => {
                indexer.remove_deleted(&key, &delta.object);
                Notification::Deleted {
                    object: delta.object.clone(),
                }
            }
            (_, Some(object)) => added_or_updated(indexer.put(&key, object), object, origin),
            (_, None) => continue,
        };
        notify(delta.delta_type, notification);
    }
    Ok(())
}

/// Applies deltas of distinct objects to the cache in one step and reports the changes afterwards, in the deltas' order; a
/// handler may thus find later changes of the batch in the cache.
///
/// # Errors
/// [`ProcessError::Transaction`] if there are objects without a key; the others are applied and reported.
pub fn process_deltas_in_batch<T: KubeObject>(
    deltas: &[Delta<T>],
    origin: AddOrigin,
    indexer: &Indexer<T>,
    mut notify: impl FnMut(DeltaType, Notification<T>),
) -> Result<(), ProcessError> {
    let mut successful_indices = Vec::with_capacity(deltas.len());
    let mut errors = Vec::new();
    let outcomes = indexer.transaction(deltas).into_iter().zip(deltas);
    for (place, (outcome, delta)) in outcomes.enumerate() {
        let old = match outcome {
            Ok(old) => old,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        successful_indices.push(place);
        let notification = match (delta.delta_type, delta.object.last_known()) {
            (DeltaType::Deleted, _) => Notification::Deleted {
                object: delta.object.clone(),
            },
            (_, Some(object)) => added_or_updated(old, object, origin),
            (_, None) => continue,
        };
        notify(delta.delta_type, notification);
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(ProcessError::Transaction(TransactionError {
        successful_indices,
        total: deltas.len(),
        errors,
    }))
}

/// Makes a list the cache's content in one step, then reports first what it deletes, as tombstones with the cached state and
/// in the order of the keys (upstream's is a map's), then its items in its order. An item is an addition if the cache did not
/// have its key before the list, so two items of one new key are two additions.
///
/// # Errors
/// [`KeyError`] if an object has no key; then nothing was done.
pub fn process_replaced_all<T: KubeObject>(
    replaced: &ReplacedAll<T>,
    origin: AddOrigin,
    indexer: &Indexer<T>,
    mut notify: impl FnMut(DeltaType, Notification<T>),
) -> Result<(), KeyError> {
    let keys = replaced.objects.iter().map(|object| object.key());
    let keys: Vec<_> = keys.collect::<Result<_, _>>()?;
    let listed: HashSet<_> = keys.iter().collect();
    let mut deleted: Vec<_> = indexer
        .list_keys()
        .into_iter()
        .filter(|key| !listed.contains(key))
        .map(|key| Tombstone {
            object: indexer.get_by_key(&key),
            key,
        })
        .collect();
    deleted.sort_unstable_by(|one, other| one.key.cmp(&other.key));
    let before: Vec<_> = keys.iter().map(|key| indexer.get_by_key(key)).collect();
    indexer.replace(&replaced.objects, &replaced.resource_version)?;
    for tombstone in deleted {
        let object = DeltaObject::FinalStateUnknown(Box::new(tombstone));
        notify(DeltaType::Deleted, Notification::Deleted { object });
    }
    for (object, old) in replaced.objects.iter().zip(before) {
        let notification = added_or_updated(old, object, origin);
        notify(DeltaType::Replaced, notification);
    }
    Ok(())
}

fn added_or_updated<T>(old: Option<Arc<T>>, object: &Arc<T>, origin: AddOrigin) -> Notification<T> {
    let new = Arc::clone(object);
    match old {
        Some(old) => Notification::Updated { old, new },
        None => Notification::Added {
            object: new,
            origin,
        },
    }
}
