//! From body chunks to events: one JSON object a line, chunks cut anywhere.

use std::{borrow::Cow, sync::Arc};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::api::{DecodeError, KubeObject, ListPage, ResourceVersion, Status, WatchEvent};

/// The longest line that is accepted: larger than any object that a server stores, in its most escaped form.
const LINE_LIMIT_BYTES: usize = 64 * 1024 * 1024;

const TABLE_VERSIONS: [&str; 2] = ["meta.k8s.io/v1", "meta.k8s.io/v1beta1"];

/// A body was not a sequence of events.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// A line without end.
    #[error("an event is longer than {LINE_LIMIT_BYTES} bytes")]
    TooLong,
    /// An event of a type that does not exist.
    #[error("unknown event type {0:?}")]
    UnknownType(String),
    /// A line is not an event.
    #[error("an event cannot be decoded")]
    Json(#[from] serde_json::Error),
    /// The object of an event cannot be decoded.
    #[error("the object of an event cannot be decoded")]
    Object(#[from] DecodeError),
}

/// Splits a stream of chunks into lines. Pure.
#[derive(Debug, Default)]
pub struct FrameSplitter {
    buffer: Vec<u8>,
    // Invariant: `buffer[..start]` has been handed out, `buffer[start..searched]` holds no line end.
    start: usize,
    searched: usize,
}

impl FrameSplitter {
    /// Appends a chunk.
    ///
    /// # Errors
    /// [`FrameError::TooLong`] if a line exceeds the limit.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), FrameError> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(chunk);
        let within_limit = self.buffer.len() <= LINE_LIMIT_BYTES || chunk.contains(&b'\n');
        within_limit.then_some(()).ok_or(FrameError::TooLong)
    }

    /// The next complete line that is not blank.
    pub fn next_line(&mut self) -> Option<&[u8]> {
        loop {
            let end = self.searched
                + self.buffer[self.searched..]
                    .iter()
                    .position(|&byte| byte == b'\n')
                    .unwrap_or_else(|| self.buffer.len() - self.searched);
            if end == self.buffer.len() {
                self.searched = end;
                return None;
            }
            let line = self.start..end;
            self.start = end + 1;
            self.searched = self.start;
            if !self.buffer[line.clone()].trim_ascii().is_empty() {
                return Some(&self.buffer[line]);
            }
        }
    }

    /// What is left when the stream has ended: a line that was not terminated, if it is not blank.
    pub fn rest(&mut self) -> Option<&[u8]> {
        let rest = self.start..self.buffer.len();
        self.start = self.buffer.len();
        self.searched = self.start;
        Some(self.buffer[rest].trim_ascii()).filter(|rest| !rest.is_empty())
    }
}

/// Decodes one line of a watch.
///
/// # Errors
/// [`FrameError`] if it is not an event.
pub fn decode_event<T: KubeObject>(line: &[u8]) -> Result<WatchEvent<T>, FrameError> {
    let frame: Frame<'_> = serde_json::from_slice(line)?;
    let json = frame.object.get().as_bytes();
    let object = || Ok::<_, FrameError>(Arc::new(T::decode(json)?));
    Ok(match &*frame.event_type {
        "ADDED" => WatchEvent::Added(object()?),
        "MODIFIED" => WatchEvent::Modified(object()?),
        "DELETED" => WatchEvent::Deleted(object()?),
        "BOOKMARK" => {
            let bookmark: Bookmark<'_> = serde_json::from_slice(json)?;
            let annotations = bookmark.metadata.annotations.unwrap_or_default();
            WatchEvent::Bookmark {
                kind: Box::from(&*bookmark.kind),
                resource_version: ResourceVersion::from(&*bookmark.metadata.resource_version),
                initial_events_end: annotations.initial_events_end.map(str::to_owned),
            }
        }
        "ERROR" => WatchEvent::Error(Box::new(serde_json::from_slice::<Status>(json)?)),
        other => return Err(FrameError::UnknownType(other.to_owned())),
    })
}

/// Decodes a whole list body; each object's bytes are copied once.
///
/// # Errors
/// [`DecodeError`] if it is not a list. A Table of `meta.k8s.io` is none: it would pass for an empty one, and everything
/// would be deleted.
pub fn decode_list<T: KubeObject>(body: &[u8]) -> Result<ListPage<T>, DecodeError> {
    let list: List<'_> = serde_json::from_slice(body)?;
    if list.kind == "Table" && TABLE_VERSIONS.contains(&&*list.api_version) {
        return Err(DecodeError::Table {
            api_version: list.api_version.into_owned(),
        });
    }
    let items = list.items.unwrap_or_default();
    let items = items
        .into_iter()
        .map(|item| Ok(Arc::new(T::decode(item.get().as_bytes())?)));
    Ok(ListPage {
        resource_version: ResourceVersion::from(&*list.metadata.resource_version),
        continue_token: list.metadata.continue_token.into_owned(),
        items: items.collect::<Result<_, DecodeError>>()?,
    })
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(rename = "type", borrow)]
    event_type: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Bookmark<'a> {
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    metadata: BookmarkMetadata<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BookmarkMetadata<'a> {
    #[serde(borrow, default)]
    resource_version: Cow<'a, str>,
    #[serde(borrow, default)]
    annotations: Option<BookmarkAnnotations<'a>>,
}

#[derive(Default, Deserialize)]
struct BookmarkAnnotations<'a> {
    #[serde(rename = "k8s.io/initial-events-end", borrow, default)]
    initial_events_end: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    api_version: Cow<'a, str>,
    #[serde(borrow, default)]
    metadata: ListMetadata<'a>,
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ListMetadata<'a> {
    #[serde(borrow)]
    resource_version: Cow<'a, str>,
    #[serde(rename = "continue", borrow)]
    continue_token: Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Object;

    #[test]
    fn lines_come_out_whole_wherever_the_chunks_are_cut() {
        let text = b"{\"a\":1}\n\n{\"b\":2}\n{\"c\"";
        for cut in 0..text.len() {
            let mut splitter = FrameSplitter::default();
            let mut lines = Vec::new();
            for chunk in [&text[..cut], &text[cut..]] {
                splitter.push(chunk).unwrap();
                while let Some(line) = splitter.next_line() {
                    lines.push(line.to_vec());
                }
            }
            assert_eq!(lines, [b"{\"a\":1}", b"{\"b\":2}"], "cut at {cut}");
            assert_eq!(splitter.rest(), Some(&b"{\"c\""[..]));
            assert_eq!(splitter.rest(), None);
        }
    }

    #[test]
    fn every_type_of_event_is_decoded_and_an_unknown_one_is_named() {
        let bookmark = br#"{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null}}}"#;
        let WatchEvent::Bookmark {
            kind,
            resource_version,
            initial_events_end,
        } = decode_event::<Object>(bookmark).unwrap()
        else {
            panic!("not a bookmark");
        };
        assert_eq!(
            (&*kind, resource_version, initial_events_end.as_deref()),
            ("Pod", ResourceVersion::from(9), Some("true"))
        );
        let error = br#"{"type":"ERROR","object":{"kind":"Status","reason":"Expired","code":410}}"#;
        assert!(
            matches!(decode_event::<Object>(error), Ok(WatchEvent::Error(status)) if status.code == 410)
        );
        let unknown = decode_event::<Object>(br#"{"type":"MOVED","object":{}}"#).unwrap_err();
        assert_eq!(unknown.to_string(), "unknown event type \"MOVED\"");
    }

    /// `TestIsUnsupportedTableObject`.
    #[test]
    fn a_table_is_no_list_unless_it_is_another_groups() {
        for (kind, api_version, accepted) in [
            ("Table", "meta.k8s.io/v1beta1", false),
            ("Table", "meta.k8s.io/v1", false),
            ("PodList", "v1", true),
            ("Table", "furniture.example/v1", true),
        ] {
            let body = format!(
                r#"{{"kind":"{kind}","apiVersion":"{api_version}","metadata":{{"resourceVersion":"7"}},"rows":[]}}"#
            );
            let decoded = decode_list::<Object>(body.as_bytes());
            assert_eq!(decoded.is_ok(), accepted, "{kind} {api_version}");
        }
    }

    #[test]
    fn a_list_with_null_items_is_empty() {
        let page =
            decode_list::<Object>(br#"{"metadata":{"resourceVersion":"7"},"items":null}"#).unwrap();
        assert_eq!(
            (page.resource_version, page.items.len()),
            (ResourceVersion::from(7), 0)
        );
    }
}
