//! The cache as a sorted map of numbers, and what a handler is told as text.

use std::collections::BTreeMap;

use super::events::{Entry, Record, Taken};

#[derive(Default)]
pub(crate) struct ModelCache {
    pub(crate) objects: BTreeMap<String, u64>,
    pub(crate) version: Option<u64>,
}

impl ModelCache {
    /// The calls, and how many of how many writes of a batch failed, or one of one otherwise.
    pub(crate) fn process(&mut self, taken: &Taken) -> (Vec<String>, Option<(usize, usize)>) {
        match taken.entries.as_slice() {
            [Entry::List(version, objects)] => self.process_list(*version, objects, taken.initial),
            [Entry::Everything] => {
                let each = self.objects.iter();
                (
                    each.map(|(key, version)| format!("S update {key} {version}>{version}"))
                        .collect(),
                    None,
                )
            }
            [Entry::Mark(version)] => {
                self.version = Some(*version);
                (Vec::new(), None)
            }
            entries => {
                let mut calls = Vec::new();
                let mut failed = 0;
                // Of the writes that were made only the last counts, and a tombstone has no version.
                let mut version = self.version;
                for entry in entries {
                    let Entry::One(record) = entry else {
                        panic!("{entry:?} in a batch");
                    };
                    match &record.key {
                        None => failed += 1,
                        Some(key) => {
                            calls.push(self.apply(key, record, taken.initial));
                            version = record
                                .version
                                .filter(|_| !record.tombstone)
                                .or(self.version);
                        }
                    }
                }
                self.version = version;
                (calls, (failed > 0).then_some((failed, entries.len())))
            }
        }
    }

    fn apply(&mut self, key: &str, record: &Record, initial: &str) -> String {
        let letter = record.letter;
        let mark = if record.tombstone { "†" } else { "" };
        if letter == 'D' {
            self.objects.remove(key);
            let version = record
                .version
                .map_or_else(|| "nil".to_owned(), |version| version.to_string());
            return format!("D delete {mark}{key} {version}");
        }
        let version = record.version.expect("an object");
        told(
            letter,
            key,
            self.objects.insert(key.to_owned(), version),
            version,
            initial,
        )
    }

    fn process_list(
        &mut self,
        list_version: u64,
        objects: &[(Option<String>, u64)],
        initial: &str,
    ) -> (Vec<String>, Option<(usize, usize)>) {
        if objects.iter().any(|(key, _)| key.is_none()) {
            return (Vec::new(), Some((1, 1)));
        }
        let before = std::mem::take(&mut self.objects);
        let mut calls = Vec::new();
        for (key, version) in &before {
            if !objects
                .iter()
                .any(|(listed, _)| listed.as_ref() == Some(key))
            {
                calls.push(format!("D delete †{key} {version}"));
            }
        }
        for (key, version) in objects {
            let key = key.clone().expect("checked");
            let old = before.get(&key).copied();
            calls.push(told('R', &key, old, *version, initial));
            self.objects.insert(key, *version);
        }
        self.version = Some(list_version);
        (calls, None)
    }
}

fn told(letter: char, key: &str, old: Option<u64>, version: u64, initial: &str) -> String {
    match old {
        Some(old) => format!("{letter} update {key} {old}>{version}"),
        None => format!("{letter} {initial}add {key} {version}"),
    }
}
