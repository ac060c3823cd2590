//! What selectors look at in an object: its labels, and the fields that its resource offers.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::field_table::FieldTable;

const LABELS: [&str; 2] = ["metadata", "labels"];

/// Labels and fields of one object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selectable {
    // Invariant: sorted by key.
    labels: Box<[(Box<str>, Box<str>)]>,
    // One for each field of the resource's table.
    fields: Box<[Box<str>]>,
}

impl Selectable {
    /// Reads an object's JSON without building the parts that are not asked for.
    pub(crate) fn read(json: &[u8], table: &FieldTable) -> Self {
        let paths: Vec<&'static [&'static str]> = table.paths().collect();
        let mut found = Found {
            labels: Vec::new(),
            values: vec![None; paths.len()],
        };
        let live = Live {
            paths: (1_u32 << paths.len()) - 1,
            labels: true,
        };
        let node = Node {
            paths: &paths,
            live,
            depth: 0,
            found: &mut found,
        };
        node.deserialize(&mut serde_json::Deserializer::from_slice(json))
            .expect("stored objects are JSON");
        found.labels.sort_unstable();
        Self {
            labels: found.labels.into_boxed_slice(),
            fields: table.values(found.values).into_boxed_slice(),
        }
    }

    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        let labels = &self.labels;
        let index = labels.binary_search_by(|(label, _)| (**label).cmp(key));
        index.ok().map(|index| &*labels[index].1)
    }

    /// The field at a place of the resource's table.
    pub(crate) fn field(&self, index: usize) -> &str {
        &self.fields[index]
    }
}

struct Found {
    labels: Vec<(Box<str>, Box<str>)>,
    values: Vec<Option<Box<str>>>,
}

/// Which paths lead through a value.
#[derive(Debug, Clone, Copy)]
struct Live {
    // One bit for each path.
    paths: u32,
    labels: bool,
}

impl Live {
    fn step(self, paths: &[&[&str]], depth: usize, key: &str) -> Self {
        let leads = |index: usize| {
            self.paths & (1 << index) != 0 && paths[index].get(depth).is_some_and(|at| *at == key)
        };
        let bits = (0..paths.len()).filter(|index| leads(*index));
        Self {
            paths: bits.fold(0, |bits, index| bits | 1 << index),
            labels: self.labels && LABELS.get(depth).is_some_and(|at| *at == key),
        }
    }

    fn is_none(self) -> bool {
        self.paths == 0 && !self.labels
    }
}

/// One value of the document, below `depth` steps of the live paths.
struct Node<'a> {
    paths: &'a [&'static [&'static str]],
    live: Live,
    depth: usize,
    found: &'a mut Found,
}

impl Node<'_> {
    fn child(&mut self, live: Live) -> Node<'_> {
        Node {
            paths: self.paths,
            live,
            depth: self.depth + 1,
            found: self.found,
        }
    }

    fn keep(&mut self, text: &str) {
        for (index, path) in self.paths.iter().enumerate() {
            if self.live.paths & (1 << index) != 0 && path.len() == self.depth {
                self.found.values[index] = Some(text.into());
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.live.is_none() {
            deserializer.deserialize_ignored_any(IgnoredAny)?;
            return Ok(());
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        if self.live.labels && self.depth == LABELS.len() {
            while let Some(key) = map.next_key::<Box<str>>()? {
                let value = map.next_value::<serde_json::Value>()?;
                if let Some(value) = value.as_str() {
                    self.found.labels.push((key, value.into()));
                }
            }
            return Ok(());
        }
        loop {
            let step = Step {
                paths: self.paths,
                live: self.live,
                depth: self.depth,
            };
            let Some(live) = map.next_key_seed(step)? else {
                return Ok(());
            };
            map.next_value_seed(self.child(live))?;
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        for index in 0_usize.. {
            let live = self.live.step(self.paths, self.depth, index_name(index));
            if seq.next_element_seed(self.child(live))?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<(), E> {
        self.keep(text);
        Ok(())
    }

    fn visit_bool<E: Error>(mut self, value: bool) -> Result<(), E> {
        self.keep(if value { "true" } else { "false" });
        Ok(())
    }

    fn visit_u64<E: Error>(mut self, value: u64) -> Result<(), E> {
        self.keep(&value.to_string());
        Ok(())
    }

    fn visit_i64<E: Error>(mut self, value: i64) -> Result<(), E> {
        self.keep(&value.to_string());
        Ok(())
    }

    fn visit_f64<E: Error>(mut self, value: f64) -> Result<(), E> {
        self.keep(&value.to_string());
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Reads a key and says which paths go on below it.
struct Step<'a> {
    paths: &'a [&'static [&'static str]],
    live: Live,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Step<'_> {
    type Value = Live;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Live, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Step<'_> {
    type Value = Live;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Live, E> {
        Ok(self.live.step(self.paths, self.depth, key))
    }
}

/// How a path names an element of an array: only the first may be named.
fn index_name(index: usize) -> &'static str {
    if index == 0 { "0" } else { "" }
}
