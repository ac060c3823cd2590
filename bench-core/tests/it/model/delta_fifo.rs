//! `DeltaFIFO` as one list of (key, deltas as text), rescanned for every operation.

/// What the model's consumer knows, as (key, value).
pub(crate) type Known = Vec<(char, u64)>;

#[derive(Default)]
pub(crate) struct ModelFifo {
    pub(crate) queue: Vec<(char, Vec<String>)>,
    populated: bool,
    initial: i64,
}

impl ModelFifo {
    pub(crate) fn push(&mut self, key: char, delta: String) {
        if !self.queue.iter().any(|(queued, _)| *queued == key) {
            self.queue.push((key, Vec::new()));
        }
        let deltas = &mut self
            .queue
            .iter_mut()
            .find(|(queued, _)| *queued == key)
            .expect("just pushed")
            .1;
        let both_deletions =
            delta.starts_with('D') && deltas.last().is_some_and(|last| last.starts_with('D'));
        if !both_deletions {
            deltas.push(delta);
        } else if deltas.last().is_some_and(|last| last.contains('†')) {
            *deltas.last_mut().expect("not empty") = delta;
        }
    }

    pub(crate) fn write(&mut self, letter: char, key: char, value: u64) {
        self.populated = true;
        self.push(key, format!("{letter} {key}:{value}"));
    }

    pub(crate) fn delete(&mut self, known: &Known, key: char, value: u64) {
        self.populated = true;
        let pending = self.queue.iter().any(|(queued, _)| *queued == key);
        let is_known = known.iter().any(|(known, _)| *known == key);
        if pending || is_known {
            self.push(key, format!("D {key}:{value}"));
        }
    }

    pub(crate) fn replace(&mut self, known: &Known, list: &[(char, u64)]) {
        for (key, value) in list {
            self.push(*key, format!("R {key}:{value}"));
        }
        let listed = |key: char| list.iter().any(|(listed, _)| *listed == key);
        let mut deletions = 0;
        for place in 0..self.queue.len() {
            let key = self.queue[place].0;
            let newest = self.queue[place].1.last().expect("not empty").clone();
            if !listed(key) {
                let value = newest.rsplit(':').next().expect("has a value").to_owned();
                self.push(key, format!("D †{key}:{value}"));
                deletions += 1;
            }
        }
        let mut known_sorted = known.clone();
        known_sorted.sort_unstable();
        for (key, value) in known_sorted {
            if !listed(key) && !self.queue.iter().any(|(queued, _)| *queued == key) {
                self.push(key, format!("D †{key}:{value}"));
                deletions += 1;
            }
        }
        if !self.populated {
            self.populated = true;
            let mut distinct: Vec<_> = list.iter().map(|(key, _)| *key).collect();
            distinct.sort_unstable();
            distinct.dedup();
            self.initial = i64::try_from(distinct.len()).expect("few") + deletions;
        }
    }

    /// Returns (enqueued, skipped).
    pub(crate) fn resync(&mut self, known: &Known) -> (u64, u64) {
        let mut known_sorted = known.clone();
        known_sorted.sort_unstable();
        let mut counts = (0, 0);
        for (key, value) in known_sorted {
            if self.queue.iter().any(|(queued, _)| *queued == key) {
                counts.1 += 1;
            } else {
                self.push(key, format!("S {key}:{value}"));
                counts.0 += 1;
            }
        }
        counts
    }

    /// The key, its deltas, and whether it belongs to the first list.
    pub(crate) fn pop(&mut self) -> Option<(char, Vec<String>, bool)> {
        if self.queue.is_empty() {
            return None;
        }
        let initial = !self.has_synced();
        self.initial = (self.initial - 1).max(0);
        let (key, deltas) = self.queue.remove(0);
        Some((key, deltas, initial))
    }

    pub(crate) fn has_synced(&self) -> bool {
        self.populated && self.initial == 0
    }
}
