//! `RealFIFO` with atomic events: a list and a resync are one entry each, and the queue knows nothing of the cache.
//!
//! Mirrors client-go's `tools/cache/the_real_fifo.go` from 0.36 on, with the gates that are on there (`AtomicFIFO`,
//! `UnlockWhileProcessingFIFO`, `InOrderInformersBatchProcess`). The contract, in our words:
//!
//! - Every watch event is an entry in the order of its arrival; so is every bookmark. Nothing is merged.
//! - A list is one entry. Which objects it deletes is found out when it is processed.
//! - A resync is one entry, whatever is pending, and two in a row are two. What it delivers is read from the cache when it is
//!   processed, so it can neither overtake nor undo an event.
//! - The queue is unlocked while an item is processed, unless twice a batch or more is still pending.
//! - The first list counts as worked off only after it was processed; an empty one, too.

use std::{collections::VecDeque, fmt, num::NonZeroUsize, sync::Arc};

use crate::api::{KubeObject, ResourceVersion};

use super::{
    Delta, DeltaObject, DeltaType, EventQueue, LockWhileProcessing, Popped, PoppedItem, QueueError,
    QueueKind, ReplacedAll, ResyncOutcome, Transformer,
    batch::{DEFAULT_BATCH_SIZE, Member, batch_length},
    initial_population::InitialPopulation,
    real_fifo::Event,
};

/// With so many full batches pending, the queue stays locked while an item is processed, so that it cannot grow without bound.
const BATCHES_TO_HOLD_THE_LOCK: usize = 2;

/// How an [`AtomicFifo`] is set up.
pub struct AtomicFifoSettings<T> {
    /// Events that one pop takes at most.
    pub batch_size: NonZeroUsize,
    /// Applied to objects of events and of lists; not to tombstones.
    pub transformer: Option<Transformer<T>>,
}

/// The queue. See the module's contract.
pub struct AtomicFifo<T> {
    entries: VecDeque<Entry<T>>,
    initial: InitialPopulation,
    // Entries of the last pop, until they were processed.
    in_process: usize,
    settings: AtomicFifoSettings<T>,
}

enum Entry<T> {
    Event(Event<T>),
    ReplacedAll(ReplacedAll<T>),
    SyncAll,
    Bookmark(ResourceVersion),
}

/// One entry of an [`AtomicFifo`], to look at.
#[derive(Debug, PartialEq, Eq)]
pub enum AtomicEntry<'a, T> {
    /// A watch event.
    Event(&'a Delta<T>),
    /// A whole list.
    ReplacedAll(&'a ReplacedAll<T>),
    /// A whole resync.
    SyncAll,
    /// A bookmark and its version.
    Bookmark(&'a ResourceVersion),
}

impl<T: KubeObject> AtomicFifo<T> {
    /// Makes an empty queue.
    pub fn new(settings: AtomicFifoSettings<T>) -> Self {
        Self {
            entries: VecDeque::new(),
            initial: InitialPopulation::default(),
            in_process: 0,
            settings,
        }
    }

    /// Makes the queue of an informer of client-go 0.36 or later.
    pub fn for_informer() -> Self {
        Self::new(AtomicFifoSettings {
            batch_size: DEFAULT_BATCH_SIZE,
            transformer: None,
        })
    }

    /// The pending entries, oldest first.
    pub fn pending(&self) -> impl Iterator<Item = AtomicEntry<'_, T>> {
        self.entries.iter().map(|entry| match entry {
            Entry::Event(event) => AtomicEntry::Event(&event.delta),
            Entry::ReplacedAll(replaced) => AtomicEntry::ReplacedAll(replaced),
            Entry::SyncAll => AtomicEntry::SyncAll,
            Entry::Bookmark(resource_version) => AtomicEntry::Bookmark(resource_version),
        })
    }

    /// Takes one entry (`Pop` upstream); informers take batches.
    pub fn pop_entry(&mut self) -> Option<Popped<T>> {
        self.take(1)
    }

    /// Takes the first `length` entries, which are one, or events.
    fn take(&mut self, length: usize) -> Option<Popped<T>> {
        debug_assert_eq!(self.in_process, 0, "the last pop has been processed");
        let origin = self.initial.origin();
        let item = if length > 1 {
            let events = self.entries.drain(..length);
            let deltas = events.map(|entry| match entry {
                Entry::Event(event) => event.delta,
                Entry::ReplacedAll(_) | Entry::SyncAll | Entry::Bookmark(_) => {
                    unreachable!("only events join a batch")
                }
            });
            PoppedItem::Batch(deltas.collect())
        } else {
            match self.entries.pop_front()? {
                Entry::Event(event) => PoppedItem::Deltas(vec![event.delta]),
                Entry::ReplacedAll(replaced) => PoppedItem::ReplacedAll(replaced),
                Entry::SyncAll => PoppedItem::SyncAll,
                Entry::Bookmark(resource_version) => PoppedItem::Bookmark(resource_version),
            }
        };
        self.in_process = length;
        let many = BATCHES_TO_HOLD_THE_LOCK.saturating_mul(self.settings.batch_size.get());
        let lock = if self.entries.len() < many {
            LockWhileProcessing::Release
        } else {
            LockWhileProcessing::Hold
        };
        Some(Popped { item, origin, lock })
    }

    fn write(&mut self, delta_type: DeltaType, object: DeltaObject<T>) -> Result<(), QueueError> {
        self.initial.written();
        let event = Event::written(delta_type, object, self.settings.transformer.as_ref())?;
        self.entries.push_back(Entry::Event(event));
        Ok(())
    }
}

impl<T: KubeObject> EventQueue<T> for AtomicFifo<T> {
    fn kind(&self) -> QueueKind {
        QueueKind::AtomicFifo
    }

    fn add(&mut self, object: Arc<T>) -> Result<(), QueueError> {
        self.write(DeltaType::Added, DeltaObject::Object(object))
    }

    fn update(&mut self, object: Arc<T>) -> Result<(), QueueError> {
        self.write(DeltaType::Updated, DeltaObject::Object(object))
    }

    fn delete(&mut self, object: DeltaObject<T>) -> Result<(), QueueError> {
        self.write(DeltaType::Deleted, object)
    }

    fn replace(
        &mut self,
        objects: Vec<Arc<T>>,
        resource_version: &ResourceVersion,
    ) -> Result<(), QueueError> {
        let objects = match &self.settings.transformer {
            None => objects,
            Some(transformer) => objects
                .into_iter()
                .map(transformer)
                .collect::<Result<_, _>>()
                .map_err(QueueError::Transform)?,
        };
        self.entries.push_back(Entry::ReplacedAll(ReplacedAll {
            resource_version: resource_version.clone(),
            objects,
        }));
        self.initial.listed(self.entries.len());
        Ok(())
    }

    fn resync(&mut self) -> Result<ResyncOutcome, QueueError> {
        self.entries.push_back(Entry::SyncAll);
        Ok(ResyncOutcome {
            markers: 1,
            ..ResyncOutcome::default()
        })
    }

    fn bookmark(&mut self, resource_version: &ResourceVersion) {
        self.entries
            .push_back(Entry::Bookmark(resource_version.clone()));
    }

    fn pop(&mut self) -> Option<Popped<T>> {
        let front = self.entries.iter().map(|entry| match entry {
            Entry::Event(event) => event.member(),
            Entry::ReplacedAll(_) | Entry::SyncAll | Entry::Bookmark(_) => Member::Alone,
        });
        let length = batch_length(front, self.settings.batch_size, self.initial.outstanding());
        self.take(length)
    }

    fn processed(&mut self) {
        // Whatever was taken counts, even if the first list was written only while it was processed.
        self.initial.taken(std::mem::take(&mut self.in_process));
    }

    fn has_synced(&self) -> bool {
        self.initial.has_synced()
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn delta_count(&self) -> usize {
        self.entries.len()
    }
}

impl<T> fmt::Debug for AtomicFifo<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AtomicFifo")
            .field("entries", &self.entries.len())
            .field("initial", &self.initial)
            .field("in_process", &self.in_process)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for AtomicFifoSettings<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AtomicFifoSettings")
            .field("batch_size", &self.batch_size)
            .field("transformer", &self.transformer.is_some())
            .finish()
    }
}
