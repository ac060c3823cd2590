//! The queues of events as one list of records, searched anew for every operation.

use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preset {
    PerEvent,
    Batched(usize),
    Atomic(usize),
}

/// What became of an object in the transformer: refused, or its key afterwards, which may be none.
pub(crate) type Transformed = Result<Option<String>, ()>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) letter: char,
    pub(crate) key: Option<String>,
    pub(crate) tombstone: bool,
    pub(crate) version: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    One(Record),
    List(u64, Vec<(Option<String>, u64)>),
    Everything,
    Mark(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lookup {
    Works,
    Vanished,
    Fails,
}

/// What the consumer knows: version and what a lookup does.
pub(crate) type Known = BTreeMap<String, (u64, Lookup)>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) entries: Vec<Entry>,
    /// `initial ` or nothing.
    pub(crate) initial: &'static str,
    /// `single` or `batch`.
    pub(crate) how: &'static str,
    /// `hold` or `release`.
    pub(crate) lock: &'static str,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Resynced {
    pub(crate) known: u64,
    pub(crate) enqueued: u64,
    pub(crate) skipped: BTreeMap<char, u64>,
    pub(crate) missing: u64,
    pub(crate) markers: u64,
}

pub(crate) struct ModelEvents {
    preset: Preset,
    transform: Option<fn(&str, u64) -> Transformed>,
    pub(crate) log: Vec<Entry>,
    written: bool,
    to_come: i64,
    held: i64,
}

impl ModelEvents {
    pub(crate) fn new(preset: Preset, transform: Option<fn(&str, u64) -> Transformed>) -> Self {
        Self {
            preset,
            transform,
            log: Vec::new(),
            written: false,
            to_come: 0,
            held: 0,
        }
    }

    fn atomic(&self) -> bool {
        matches!(self.preset, Preset::Atomic(_))
    }

    fn transformed(&self, key: Option<&str>, version: u64) -> Transformed {
        match (self.transform, key) {
            (Some(transform), Some(key)) => transform(key, version),
            (Some(transform), None) => transform("", version),
            (None, key) => Ok(key.map(str::to_owned)),
        }
    }

    pub(crate) fn write(
        &mut self,
        letter: char,
        key: Option<&str>,
        version: u64,
    ) -> Result<(), &'static str> {
        self.written = true;
        if key.is_none() {
            return Err("key");
        }
        let key = self.transformed(key, version).map_err(|()| "transform")?;
        let (tombstone, version) = (false, Some(version));
        self.log.push(Entry::One(Record {
            letter,
            key,
            tombstone,
            version,
        }));
        Ok(())
    }

    pub(crate) fn bury(&mut self, key: &str, version: Option<u64>) {
        self.written = true;
        self.push_grave(key, version);
    }

    fn push_grave(&mut self, key: &str, version: Option<u64>) {
        self.log.push(Entry::One(Record {
            letter: 'D',
            key: Some(key.to_owned()),
            tombstone: true,
            version,
        }));
    }

    fn records(&self) -> Vec<Record> {
        let one = |entry: &Entry| match entry {
            Entry::One(record) => Some(record.clone()),
            _ => None,
        };
        self.log.iter().filter_map(one).collect()
    }

    pub(crate) fn replace(
        &mut self,
        list: &[(Option<&str>, u64)],
        version: u64,
        known: &Known,
    ) -> Result<(), &'static str> {
        if self.atomic() {
            let mut objects = Vec::new();
            for (key, version) in list {
                let key = self.transformed(*key, *version).map_err(|()| "transform")?;
                objects.push((key, *version));
            }
            self.log.push(Entry::List(version, objects));
        } else {
            let records = self.records();
            let broken = |key: &Option<String>| key.is_none();
            if list.iter().any(|(key, _)| key.is_none())
                || records.iter().any(|record| broken(&record.key))
            {
                return Err("key");
            }
            let listed = |key: &str| list.iter().any(|(listed, _)| *listed == Some(key));
            let mut seen: Vec<String> = Vec::new();
            for record in &records {
                let key = record.key.clone().expect("none is broken");
                if seen.contains(&key) {
                    continue;
                }
                seen.push(key.clone());
                let mut mine = records
                    .iter()
                    .filter(|other| other.key.as_deref() == Some(&key));
                let newest = mine.next_back().expect("this one at least");
                if !listed(&key) && newest.letter != 'D' {
                    self.push_grave(&key, newest.version);
                }
            }
            for (key, (version, lookup)) in known {
                if !listed(key) && !seen.contains(key) {
                    let found = (*lookup == Lookup::Works).then_some(*version);
                    self.push_grave(key, found);
                }
            }
            for (key, version) in list {
                let key = self.transformed(*key, *version).map_err(|()| "transform")?;
                self.log.push(Entry::One(Record {
                    letter: 'R',
                    key,
                    tombstone: false,
                    version: Some(*version),
                }));
            }
        }
        if !self.written {
            self.written = true;
            self.to_come = i64::try_from(self.log.len()).expect("few");
        }
        Ok(())
    }

    pub(crate) fn resync(&mut self, known: &Known) -> Result<Resynced, &'static str> {
        let mut resynced = Resynced::default();
        if self.atomic() {
            self.log.push(Entry::Everything);
            resynced.markers = 1;
            return Ok(resynced);
        }
        let records = self.records();
        if records.iter().any(|record| record.key.is_none()) {
            return Err("key");
        }
        for (key, (version, lookup)) in known {
            resynced.known += 1;
            let first = records
                .iter()
                .find(|record| record.key.as_ref() == Some(key));
            match (first, lookup) {
                (Some(first), _) => *resynced.skipped.entry(first.letter).or_default() += 1,
                (None, Lookup::Works) => {
                    resynced.enqueued += 1;
                    self.log.push(Entry::One(Record {
                        letter: 'S',
                        key: Some(key.clone()),
                        tombstone: false,
                        version: Some(*version),
                    }));
                }
                (None, _) => resynced.missing += 1,
            }
        }
        Ok(resynced)
    }

    pub(crate) fn bookmark(&mut self, version: u64) {
        if self.atomic() {
            self.log.push(Entry::Mark(version));
        }
    }

    fn how_many(&self, most: usize) -> usize {
        let mut count = 0;
        while count < most.min(self.log.len()) {
            if self.to_come > 0 && i64::try_from(count).expect("few") == self.to_come {
                return count;
            }
            let Entry::One(record) = &self.log[count] else {
                return if count == 0 { 1 } else { count };
            };
            let before = &self.log[..count];
            if record.key.is_none() {
                return count + 1;
            }
            let again =
                |entry: &Entry| matches!(entry, Entry::One(other) if other.key == record.key);
            if before.iter().any(again) {
                return count;
            }
            count += 1;
        }
        count
    }

    pub(crate) fn pop(&mut self) -> Option<Taken> {
        if self.log.is_empty() {
            return None;
        }
        let initial = if self.has_synced() { "" } else { "initial " };
        let (count, how) = match self.preset {
            Preset::PerEvent => (1, "single"),
            Preset::Atomic(most) if self.how_many(most) == 1 => (1, "single"),
            Preset::Batched(most) | Preset::Atomic(most) => (self.how_many(most), "batch"),
        };
        let entries: Vec<_> = self.log.drain(..count).collect();
        let taken = i64::try_from(count).expect("few");
        let lock = match self.preset {
            Preset::Atomic(most) => {
                self.held = taken;
                if self.log.len() < 2 * most {
                    "release"
                } else {
                    "hold"
                }
            }
            _ => {
                self.to_come = (self.to_come - taken).max(0);
                "hold"
            }
        };
        Some(Taken {
            entries,
            initial,
            how,
            lock,
        })
    }

    pub(crate) fn processed(&mut self) {
        if self.to_come > 0 {
            self.to_come -= self.held;
        }
        assert!(self.to_come >= 0, "more was held than the first list has");
        self.held = 0;
    }

    pub(crate) fn has_synced(&self) -> bool {
        self.written && self.to_come == 0
    }
}
