//! A serialised object with gaps for what differs between objects.

use std::ops::Range;

use bench_core::api::{ObjectKey, Resource};
use serde_json::Value;

use crate::{
    object_name,
    stored_object::{Layout, ObjectDraft},
};

/// Gaps that a template's author writes into strings.
pub(super) mod gap {
    pub(in crate::profiles) const APP: &str = "@APP@";
    pub(in crate::profiles) const INTERNET_ADDRESS: &str = "@IP@";
    pub(in crate::profiles) const NAME: &str = "@NAME@";
    pub(in crate::profiles) const NAMESPACE: &str = "@NAMESPACE@";
    pub(in crate::profiles) const NODE: &str = "@NODE@";
    pub(in crate::profiles) const OWNER: &str = "@OWNER@";
    pub(in crate::profiles) const POD_TEMPLATE_HASH: &str = "@HASH@";
    pub(in crate::profiles) const UID: &str = "@UID@";
}

/// More than what fills most gaps.
const LENGTH_OF_A_GAP: usize = 16;

#[derive(Debug)]
pub(super) struct Template {
    type_length: usize,
    // About the length of an object, so that making one does not move it.
    length_hint: usize,
    pieces: Vec<Piece>,
}

#[derive(Debug)]
enum Piece {
    Gap(&'static str),
    Literal(Vec<u8>),
    Marker,
    Version,
}

impl Template {
    pub(super) fn new(resource: &Resource, object: Value) -> Self {
        let draft = ObjectDraft::write(resource, object);
        let mut marks: Vec<(Range<usize>, Piece)> =
            vec![(draft.layout.version.clone(), Piece::Version)];
        marks.extend(
            draft
                .layout
                .marker
                .clone()
                .map(|range| (range, Piece::Marker)),
        );
        let text = std::str::from_utf8(&draft.json).expect("JSON is UTF-8");
        for name in [
            gap::APP,
            gap::INTERNET_ADDRESS,
            gap::NAME,
            gap::NAMESPACE,
            gap::NODE,
            gap::OWNER,
            gap::POD_TEMPLATE_HASH,
            gap::UID,
        ] {
            let places = text.match_indices(name);
            marks.extend(places.map(|(at, _)| (at..at + name.len(), Piece::Gap(name))));
        }
        marks.sort_by_key(|(range, _)| range.start);
        let mut pieces = Vec::with_capacity(2 * marks.len() + 1);
        let mut copied = 0;
        for (range, piece) in marks {
            pieces.push(Piece::Literal(draft.json[copied..range.start].to_vec()));
            pieces.push(piece);
            copied = range.end;
        }
        pieces.push(Piece::Literal(draft.json[copied..].to_vec()));
        Self {
            type_length: draft.layout.type_length,
            length_hint: draft.json.len() + LENGTH_OF_A_GAP * pieces.len(),
            pieces,
        }
    }

    /// Fills the gaps. Everything but the key and the node follows from `uid`.
    pub(super) fn render(&self, key: &ObjectKey, uid: u128, node: &str) -> ObjectDraft {
        let uid_text = object_name::uid(uid);
        let [.., high, middle, low] = uid.to_be_bytes();
        let address = format!("10.{high}.{middle}.{low}");
        let (owner, app, hash) = owner_of(key.name());
        let mut json = Vec::with_capacity(self.length_hint);
        let mut layout = Layout {
            type_length: self.type_length,
            version: 0..0,
            marker: None,
        };
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => json.extend_from_slice(text),
                Piece::Version => {
                    layout.version = json.len()..json.len() + 1;
                    json.push(b'0');
                }
                Piece::Marker => {
                    layout.marker = Some(json.len()..json.len() + 1);
                    json.push(b'0');
                }
                Piece::Gap(name) => {
                    let text = match *name {
                        gap::APP => app,
                        gap::INTERNET_ADDRESS => &address,
                        gap::NAME => key.name(),
                        gap::NAMESPACE => key.namespace(),
                        gap::NODE => node,
                        gap::OWNER => owner,
                        gap::POD_TEMPLATE_HASH => hash,
                        _ => &uid_text,
                    };
                    json.extend_from_slice(text.as_bytes());
                }
            }
        }
        ObjectDraft {
            key: key.clone(),
            layout,
            json,
        }
    }
}

pub(super) fn node_name(index: usize) -> String {
    format!("node-{index:05}")
}

/// `ReplicaSet`, application and pod-template-hash of a pod's name, such as `web-7f9c5b6d4`, `web` and `7f9c5b6d4`.
fn owner_of(name: &str) -> (&str, &str, &str) {
    let owner = name.rsplit_once('-').map_or(name, |(owner, _)| owner);
    let (app, hash) = owner.rsplit_once('-').unwrap_or((owner, "0"));
    (owner, app, hash)
}
