//! `RealFIFO` with known objects: a queue of events in the order of their arrival.
//!
//! Mirrors client-go's `tools/cache/the_real_fifo.go` of 0.33 to 0.35. The contract, in our words:
//!
//! - Every event is an entry of its own. Nothing is merged, and a deletion is queued whether or not anybody knows the object.
//! - A list first queues deletions: of objects that are pending and not listed, unless the last of their events is a deletion
//!   already, then of objects that only the consumer knows. Its items follow in the list's order.
//! - A resync adds a Sync event for each known key *that has nothing pending*, as a `DeltaFIFO` does, but it has to look at
//!   every pending event to know which those are.
//! - The first list counts as popped when as many events have been popped as were pending after it.
//! - A pop takes one event (0.33, 0.34) or the longest run of events of distinct objects from the front (0.35).

use std::{
    collections::{HashMap, HashSet, VecDeque},
    fmt,
    num::NonZeroUsize,
    sync::Arc,
};

use crate::api::{KeyError, KubeObject, ObjectKey, ResourceVersion};

use super::{
    Delta, DeltaObject, DeltaType, EventQueue, KnownObjects, LockWhileProcessing, Popped,
    PoppedItem, QueueError, QueueKind, ResyncOutcome, Transformer,
    batch::{DEFAULT_BATCH_SIZE, Member, batch_length},
    initial_population::InitialPopulation,
};

/// How much one pop takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PopUnit {
    /// One event: client-go 0.33 and 0.34.
    Event,
    /// A batch of at most so many events: client-go 0.35.
    Batch(NonZeroUsize),
}

/// How a [`RealFifo`] is set up.
pub struct RealFifoSettings<T> {
    /// The consumer's cache.
    pub known_objects: Arc<dyn KnownObjects<T>>,
    /// How much [`EventQueue::pop`] takes.
    pub unit: PopUnit,
    /// Applied to objects of events and of lists; not to tombstones and not to resynced objects, which went through it before.
    pub transformer: Option<Transformer<T>>,
}

/// The queue. See the module's contract.
pub struct RealFifo<T> {
    events: VecDeque<Event<T>>,
    initial: InitialPopulation,
    settings: RealFifoSettings<T>,
}

/// A delta and its key. Also what an [`super::AtomicFifo`] holds.
pub(super) struct Event<T> {
    // Absent if the transformer made an object that has none.
    pub(super) key: Option<ObjectKey>,
    pub(super) delta: Delta<T>,
}

impl<T: KubeObject> RealFifo<T> {
    /// Makes an empty queue.
    pub fn new(settings: RealFifoSettings<T>) -> Self {
        Self {
            events: VecDeque::new(),
            initial: InitialPopulation::default(),
            settings,
        }
    }

    /// Makes the queue of an informer of client-go 0.33 or 0.34, whose cache is `known_objects`.
    pub fn per_event(known_objects: Arc<dyn KnownObjects<T>>) -> Self {
        Self::new(RealFifoSettings {
            known_objects,
            unit: PopUnit::Event,
            transformer: None,
        })
    }

    /// Makes the queue of an informer of client-go 0.35, whose cache is `known_objects`.
    pub fn batched(known_objects: Arc<dyn KnownObjects<T>>) -> Self {
        Self::new(RealFifoSettings {
            known_objects,
            unit: PopUnit::Batch(DEFAULT_BATCH_SIZE),
            transformer: None,
        })
    }

    /// The pending events, oldest first.
    pub fn pending(&self) -> impl Iterator<Item = &Delta<T>> {
        self.events.iter().map(|event| &event.delta)
    }

    /// Takes one event whatever the unit is (`Pop` upstream, which 0.35 keeps).
    pub fn pop_event(&mut self) -> Option<Popped<T>> {
        let event = self.events.pop_front()?;
        let item = PoppedItem::Deltas(vec![event.delta]);
        Some(self.popped(item, 1))
    }

    /// Takes a batch of at most `most` events whatever the unit is (`PopBatch` upstream). A batch it is even with one event.
    pub fn pop_batch(&mut self, most: NonZeroUsize) -> Option<Popped<T>> {
        let front = self.events.iter().map(Event::member);
        let length = batch_length(front, most, self.initial.outstanding());
        if length == 0 {
            return None;
        }
        let deltas = self.events.drain(..length).map(|event| event.delta);
        let item = PoppedItem::Batch(deltas.collect());
        Some(self.popped(item, length))
    }

    fn popped(&mut self, item: PoppedItem<T>, events: usize) -> Popped<T> {
        // Asked before the count goes down, so the last event of the first list is still of the first list.
        let origin = self.initial.origin();
        self.initial.taken(events);
        Popped {
            item,
            origin,
            lock: LockWhileProcessing::Hold,
        }
    }

    fn write(&mut self, delta_type: DeltaType, object: DeltaObject<T>) -> Result<(), QueueError> {
        self.initial.written();
        let event = Event::written(delta_type, object, self.settings.transformer.as_ref())?;
        self.events.push_back(event);
        Ok(())
    }

    /// Each key that has events, in the order of the first, with the place of its last.
    fn last_events(&self) -> Result<LastEvents, KeyError> {
        let mut last_events = LastEvents::default();
        for (place, event) in self.events.iter().enumerate() {
            let key = event.key()?;
            if last_events.places.insert(key.clone(), place).is_none() {
                last_events.keys.push(key.clone());
            }
        }
        Ok(last_events)
    }

    fn delete_queued_but_not_listed(
        &mut self,
        listed: &HashSet<ObjectKey>,
        last_events: &LastEvents,
    ) {
        let gone = last_events.keys.iter().filter(|key| !listed.contains(*key));
        for key in gone {
            let last = &self.events[last_events.places[key]].delta;
            if last.delta_type == DeltaType::Deleted {
                continue;
            }
            let last_known = last.object.last_known().cloned();
            self.events.push_back(Event::tombstone(key, last_known));
        }
    }

    fn delete_known_but_not_listed(
        &mut self,
        listed: &HashSet<ObjectKey>,
        last_events: &LastEvents,
    ) {
        for key in self.settings.known_objects.list_keys() {
            if listed.contains(&key) || last_events.places.contains_key(&key) {
                continue;
            }
            let found = self.settings.known_objects.get_by_key(&key);
            let last_known = found.unwrap_or_else(|error| {
                tracing::error!(%key, error, "lookup of a deleted object failed");
                None
            });
            self.events.push_back(Event::tombstone(&key, last_known));
        }
    }

    /// Each key that has events, with the type of the first.
    fn first_types(&self) -> Result<HashMap<ObjectKey, DeltaType>, KeyError> {
        let mut first_types = HashMap::new();
        for event in &self.events {
            let delta_type = event.delta.delta_type;
            first_types
                .entry(event.key()?.clone())
                .or_insert(delta_type);
        }
        Ok(first_types)
    }
}

#[derive(Default)]
struct LastEvents {
    keys: Vec<ObjectKey>,
    places: HashMap<ObjectKey, usize>,
}

impl<T: KubeObject> EventQueue<T> for RealFifo<T> {
    fn kind(&self) -> QueueKind {
        match self.settings.unit {
            PopUnit::Event => QueueKind::RealFifoPerEvent,
            PopUnit::Batch(_) => QueueKind::RealFifo,
        }
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
        _resource_version: &ResourceVersion,
    ) -> Result<(), QueueError> {
        let listed = objects
            .iter()
            .map(|object| object.key())
            .collect::<Result<HashSet<_>, _>>()?;
        let last_events = self.last_events()?;
        self.delete_queued_but_not_listed(&listed, &last_events);
        self.delete_known_but_not_listed(&listed, &last_events);
        for object in objects {
            let transformer = self.settings.transformer.as_ref();
            let object = DeltaObject::Object(object);
            let event = Event::written(DeltaType::Replaced, object, transformer)?;
            self.events.push_back(event);
        }
        self.initial.listed(self.events.len());
        Ok(())
    }

    fn resync(&mut self) -> Result<ResyncOutcome, QueueError> {
        let first_types = self.first_types()?;
        let mut outcome = ResyncOutcome::default();
        for key in self.settings.known_objects.list_keys() {
            outcome.known += 1;
            // By the key that the cache listed, as upstream, and not by the object's own.
            if let Some(first) = first_types.get(&key) {
                *outcome.skipped_pending.entry(*first).or_default() += 1;
                continue;
            }
            let object = match self.settings.known_objects.get_by_key(&key) {
                Ok(Some(object)) => object,
                Ok(None) => {
                    outcome.missing += 1;
                    tracing::info!(%key, "known object vanished before its resync");
                    continue;
                }
                Err(error) => {
                    outcome.missing += 1;
                    tracing::error!(%key, error, "lookup for resync failed");
                    continue;
                }
            };
            let object = DeltaObject::Object(object);
            self.events
                .push_back(Event::written(DeltaType::Sync, object, None)?);
            outcome.enqueued += 1;
        }
        Ok(outcome)
    }

    fn pop(&mut self) -> Option<Popped<T>> {
        match self.settings.unit {
            PopUnit::Event => self.pop_event(),
            PopUnit::Batch(most) => self.pop_batch(most),
        }
    }

    fn processed(&mut self) {}

    fn has_synced(&self) -> bool {
        self.initial.has_synced()
    }

    fn len(&self) -> usize {
        self.events.len()
    }

    fn delta_count(&self) -> usize {
        self.events.len()
    }
}

impl<T: KubeObject> Event<T> {
    /// Makes an event as a write does: the object must have a key, and is then transformed unless it is a tombstone.
    pub(super) fn written(
        delta_type: DeltaType,
        object: DeltaObject<T>,
        transformer: Option<&Transformer<T>>,
    ) -> Result<Self, QueueError> {
        let mut key = Some(object.key()?);
        let object = match (object, transformer) {
            (DeltaObject::Object(object), Some(transformer)) => {
                let object = transformer(object).map_err(QueueError::Transform)?;
                key = object.key().ok();
                DeltaObject::Object(object)
            }
            (object, _) => object,
        };
        let delta = Delta { delta_type, object };
        Ok(Self { key, delta })
    }

    fn tombstone(key: &ObjectKey, last_known: Option<Arc<T>>) -> Self {
        Self {
            key: Some(key.clone()),
            delta: Delta::tombstone(key.clone(), last_known),
        }
    }

    fn key(&self) -> Result<&ObjectKey, KeyError> {
        self.key.as_ref().ok_or(KeyError::NoName)
    }
}

impl<T> Event<T> {
    pub(super) fn member(&self) -> Member<'_> {
        self.key.as_ref().map_or(Member::WithoutKey, Member::Keyed)
    }
}

impl<T> fmt::Debug for RealFifo<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RealFifo")
            .field("events", &self.events.len())
            .field("initial", &self.initial)
            .field("unit", &self.settings.unit)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for RealFifoSettings<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RealFifoSettings")
            .field("unit", &self.unit)
            .field("transformer", &self.transformer.is_some())
            .finish_non_exhaustive()
    }
}
