//! What becomes of the events of a watch.

use std::collections::VecDeque;

use bytes::Bytes;
use rand::{RngExt as _, rngs::ChaCha12Rng};
use serde_json::Value;

use super::super::script::{BookmarkFault, EventChoice, EventType, Reorder};

/// The annotation of the bookmark that ends a streaming list.
const END_MARK: &str = "k8s.io/initial-events-end";

/// One change to the events of a stream.
#[derive(Debug)]
pub(super) enum EventEdit {
    Bookmarks(BookmarkFault),
    Drop(Chooser),
    Duplicate(Chooser),
    NoEndMark,
    Reorder {
        chooser: Chooser,
        distance: u64,
        // Those held back, and how many events are still to pass them.
        held: VecDeque<(Bytes, u64)>,
    },
}

/// Picks events of one stream.
#[derive(Debug)]
pub(super) struct Chooser {
    choice: EventChoice,
    random: ChaCha12Rng,
    // Events of the chosen types so far.
    count: u64,
}

/// What a line of a watch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Bookmark,
    Event(EventType),
    Other,
}

impl EventEdit {
    pub(super) fn dropping(choice: &EventChoice, random: ChaCha12Rng) -> Self {
        Self::Drop(Chooser::new(choice, random))
    }

    pub(super) fn duplicating(choice: &EventChoice, random: ChaCha12Rng) -> Self {
        Self::Duplicate(Chooser::new(choice, random))
    }

    pub(super) fn reordering(reorder: &Reorder, random: ChaCha12Rng) -> Self {
        Self::Reorder {
            chooser: Chooser::new(&reorder.events, random),
            distance: reorder.distance.max(1),
            held: VecDeque::new(),
        }
    }

    pub(super) fn bookmarks(fault: BookmarkFault) -> Self {
        Self::Bookmarks(fault)
    }

    pub(super) fn no_end_mark() -> Self {
        Self::NoEndMark
    }

    /// What is sent in place of a line.
    pub(super) fn apply(&mut self, line: Bytes) -> Vec<Bytes> {
        match kind_of(&line) {
            Line::Bookmark => self.apply_to_bookmark(line),
            Line::Event(event) => self.apply_to_event(line, event),
            Line::Other => vec![line],
        }
    }

    fn apply_to_bookmark(&self, line: Bytes) -> Vec<Bytes> {
        match self {
            Self::Bookmarks(BookmarkFault::Missing) if !is_end_mark(&line) => Vec::new(),
            Self::Bookmarks(BookmarkFault::WrongVersion { offset }) => {
                vec![shifted(&line, *offset)]
            }
            Self::NoEndMark if is_end_mark(&line) => Vec::new(),
            _ => vec![line],
        }
    }

    fn apply_to_event(&mut self, line: Bytes, event: EventType) -> Vec<Bytes> {
        match self {
            Self::Drop(chooser) => {
                if chooser.picks(event) {
                    Vec::new()
                } else {
                    vec![line]
                }
            }
            Self::Duplicate(chooser) => {
                if chooser.picks(event) {
                    vec![line.clone(), line]
                } else {
                    vec![line]
                }
            }
            Self::Reorder {
                chooser,
                distance,
                held,
            } => {
                if chooser.picks(event) {
                    held.push_back((line, *distance));
                    return Vec::new();
                }
                for (_, to_pass) in held.iter_mut() {
                    *to_pass -= 1;
                }
                let mut lines = vec![line];
                while let Some((late, _)) = held.pop_front_if(|(_, to_pass)| *to_pass == 0) {
                    lines.push(late);
                }
                lines
            }
            Self::Bookmarks(_) | Self::NoEndMark => vec![line],
        }
    }

    /// Lets go of what was held back.
    pub(super) fn take_held(&mut self) -> Vec<Bytes> {
        match self {
            Self::Reorder { held, .. } => held.drain(..).map(|(line, _)| line).collect(),
            _ => Vec::new(),
        }
    }
}

impl Chooser {
    fn new(choice: &EventChoice, random: ChaCha12Rng) -> Self {
        Self {
            choice: choice.clone(),
            random,
            count: 0,
        }
    }

    fn picks(&mut self, event: EventType) -> bool {
        let choice = &self.choice;
        if !choice.types.is_empty() && !choice.types.contains(&event) {
            return false;
        }
        self.count += 1;
        choice.nth.is_none_or(|nth| self.count == nth)
            && choice
                .every
                .is_none_or(|every| self.count.is_multiple_of(every))
            && choice
                .probability
                .is_none_or(|share| self.random.random_bool(share))
    }
}

/// Whether a line is an event of an object.
pub(super) fn carries_object(line: &[u8]) -> bool {
    matches!(kind_of(line), Line::Event(_))
}

fn kind_of(line: &[u8]) -> Line {
    let kind = line.strip_prefix(br#"{"type":""#).unwrap_or_default();
    match kind.split(|byte| *byte == b'"').next() {
        Some(b"ADDED") => Line::Event(EventType::Added),
        Some(b"MODIFIED") => Line::Event(EventType::Modified),
        Some(b"DELETED") => Line::Event(EventType::Deleted),
        Some(b"BOOKMARK") => Line::Bookmark,
        _ => Line::Other,
    }
}

fn is_end_mark(bookmark: &[u8]) -> bool {
    bookmark
        .windows(END_MARK.len())
        .any(|window| window == END_MARK.as_bytes())
}

/// A bookmark with another version, in a Table's row as well.
fn shifted(bookmark: &[u8], offset: i64) -> Bytes {
    let mut event: Value = serde_json::from_slice(bookmark).expect("the server writes JSON");
    for pointer in [
        "/object/metadata/resourceVersion",
        "/object/rows/0/object/metadata/resourceVersion",
    ] {
        let Some(version) = event.pointer_mut(pointer) else {
            continue;
        };
        let right: i64 = version
            .as_str()
            .and_then(|text| text.parse().ok())
            .expect("bookmarks carry a version");
        *version = right.saturating_add(offset).max(1).to_string().into();
    }
    Bytes::from(format!("{event}\n"))
}
