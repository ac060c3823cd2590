//! Objects as the server keeps them: serialised once, inside the watch frame that announced them.

use std::{ops::Range, sync::OnceLock};

use bench_core::api::{ObjectKey, Resource, Scope};
use bytes::Bytes;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::selectors::{FieldTable, Selectable};

/// The annotation that churn counts up, so that an update changes an object's content and not its version alone.
pub const MARKER_ANNOTATION: &str = "informer-bench/write";

const METADATA_FIELD: &[u8] = br#""metadata":"#;

/// What follows the object in a watch frame.
pub(crate) const FRAME_END: &[u8] = b"}\n";

/// The type of a watch event that carries an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// A new object.
    Added,
    /// A change.
    Modified,
    /// A removal: the last state, with the removal's version.
    Deleted,
}

impl EventKind {
    /// What comes before the object in a watch frame.
    pub(crate) fn frame_start(self) -> &'static [u8] {
        match self {
            Self::Added => br#"{"type":"ADDED","object":"#,
            Self::Modified => br#"{"type":"MODIFIED","object":"#,
            Self::Deleted => br#"{"type":"DELETED","object":"#,
        }
    }
}

/// The JSON of an object that is not stored yet, and where in it the parts are that the server writes.
#[derive(Debug, Clone)]
pub struct ObjectDraft {
    pub(crate) key: ObjectKey,
    pub(crate) layout: Layout,
    // Invariant: compact, and begins `{"kind":…,"apiVersion":…,"metadata":{`.
    pub(crate) json: Vec<u8>,
}

/// Byte ranges inside an object's JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Length of `{"kind":…,"apiVersion":…,`.
    pub(crate) type_length: usize,
    /// The digits of metadata.resourceVersion.
    pub(crate) version: Range<usize>,
    /// The value of the marker annotation.
    pub(crate) marker: Option<Range<usize>>,
}

/// An object at one version. Its bytes are shared by every list and watch that sends it.
#[derive(Debug)]
pub struct StoredObject {
    frame: Bytes,
    kind: EventKind,
    revision: u64,
    // Positions relative to the object's JSON.
    layout: Layout,
    // Parsed for the first selector that looks at it. Boxed, since most objects never are.
    selectable: OnceLock<Box<Selectable>>,
}

impl StoredObject {
    /// Stores a draft at `revision`.
    pub(crate) fn from_draft(draft: &ObjectDraft, kind: EventKind, revision: u64) -> Self {
        splice(
            &draft.json,
            &draft.layout,
            &Change {
                kind,
                revision,
                marker: None,
            },
        )
    }

    /// The same content at another version.
    pub(crate) fn at_revision(&self, kind: EventKind, revision: u64) -> Self {
        splice(
            self.json(),
            &self.layout,
            &Change {
                kind,
                revision,
                marker: None,
            },
        )
    }

    /// Changed content: the marker annotation names the version, and is added if the object has none.
    pub(crate) fn touched(&self, revision: u64, resource: &Resource) -> Self {
        let marker = revision.to_string();
        let change = Change {
            kind: EventKind::Modified,
            revision,
            marker: Some(&marker),
        };
        if self.layout.marker.is_some() {
            return splice(self.json(), &self.layout, &change);
        }
        let mut value = self.value();
        annotations(&mut value).insert(MARKER_ANNOTATION.to_owned(), Value::from("0"));
        let draft = ObjectDraft::write(resource, value);
        splice(&draft.json, &draft.layout, &change)
    }

    /// The watch event that made this version, ending in a newline.
    pub fn frame(&self) -> Bytes {
        self.frame.clone()
    }

    /// Appends the object in an event of some type.
    pub(crate) fn write_frame_as(&self, kind: EventKind, frame: &mut Vec<u8>) {
        if kind == self.kind {
            frame.extend_from_slice(&self.frame);
        } else {
            frame.extend_from_slice(kind.frame_start());
            frame.extend_from_slice(self.json());
            frame.extend_from_slice(FRAME_END);
        }
    }

    /// The type of that event.
    pub fn event_kind(&self) -> EventKind {
        self.kind
    }

    /// `metadata.resourceVersion`.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The whole object, beginning with kind and apiVersion.
    pub fn json(&self) -> &[u8] {
        &self.frame[self.json_range()]
    }

    /// The whole object, sharing the stored bytes.
    pub fn json_bytes(&self) -> Bytes {
        self.frame.slice(self.json_range())
    }

    /// The object without its opening brace, kind and apiVersion: what follows `{` in a list of a built-in kind.
    pub fn untyped_json_tail(&self) -> &[u8] {
        &self.json()[self.layout.type_length..]
    }

    /// The value of `metadata`.
    pub(crate) fn metadata_json(&self) -> &[u8] {
        let rest = &self.json()[self.layout.type_length + METADATA_FIELD.len()..];
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
        values.next();
        &rest[..values.byte_offset()]
    }

    /// What selectors look at; `table` is that of the object's resource.
    pub(crate) fn selectable(&self, table: &FieldTable) -> &Selectable {
        self.selectable
            .get_or_init(|| Box::new(Selectable::read(self.json(), table)))
    }

    /// Parses the object.
    pub(crate) fn value(&self) -> Value {
        serde_json::from_slice(self.json()).expect("stored objects are JSON")
    }

    fn json_range(&self) -> Range<usize> {
        self.kind.frame_start().len()..self.frame.len() - FRAME_END.len()
    }
}

impl ObjectDraft {
    /// Lays out an object whose metadata has a name, and a namespace if the resource is namespaced.
    ///
    /// kind, apiVersion and metadata come first, the rest keeps its order.
    pub(crate) fn write(resource: &Resource, mut object: Value) -> Self {
        let fields = object
            .as_object_mut()
            .expect("an object was checked to be one");
        fields.shift_remove("kind");
        fields.shift_remove("apiVersion");
        let metadata = fields.shift_remove("metadata");
        let metadata = match metadata {
            Some(Value::Object(metadata)) => metadata,
            _ => Map::new(),
        };
        let text = |name: &str| metadata.get(name).and_then(Value::as_str).unwrap_or("");
        let namespace = match resource.scope {
            Scope::Cluster => "",
            Scope::Namespaced => text("namespace"),
        };
        let key = ObjectKey::new(namespace, text("name"));
        let mut json = type_prefix(resource);
        let type_length = json.len();
        let mut layout = Layout {
            type_length,
            version: 0..0,
            marker: None,
        };
        json.extend_from_slice(METADATA_FIELD);
        write_metadata(&metadata, &mut json, &mut layout);
        for (name, value) in fields {
            json.push(b',');
            write_field(name, value, &mut json);
        }
        json.push(b'}');
        Self { key, layout, json }
    }

    /// The object's key.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }
}

/// `{"kind":…,"apiVersion":…,` of a resource's objects.
pub(crate) fn type_prefix(resource: &Resource) -> Vec<u8> {
    format!(
        r#"{{"kind":{},"apiVersion":{},"#,
        Value::from(resource.kind.as_str()),
        Value::from(resource.api_version())
    )
    .into_bytes()
}

/// The key of an object of this resource.
pub(crate) fn key_of(resource: &Resource, object: &Value) -> ObjectKey {
    let text = |name: &str| object["metadata"][name].as_str().unwrap_or("");
    match resource.scope {
        Scope::Cluster => ObjectKey::new("", text("name")),
        Scope::Namespaced => ObjectKey::new(text("namespace"), text("name")),
    }
}

/// The annotations of an object, made if absent.
pub(crate) fn annotations(object: &mut Value) -> &mut Map<String, Value> {
    let annotations = &mut object["metadata"]["annotations"];
    if !annotations.is_object() {
        *annotations = Value::Object(Map::new());
    }
    annotations.as_object_mut().expect("made an object above")
}

fn write_metadata(metadata: &Map<String, Value>, json: &mut Vec<u8>, layout: &mut Layout) {
    json.push(b'{');
    for (name, value) in metadata
        .iter()
        .filter(|(name, _)| *name != "resourceVersion")
    {
        match (name.as_str(), value) {
            ("annotations", Value::Object(annotations)) => {
                json.extend_from_slice(br#""annotations":"#);
                write_annotations(annotations, json, layout);
            }
            _ => write_field(name, value, json),
        }
        json.push(b',');
        if name == "uid" {
            write_version(json, layout);
            json.push(b',');
        }
    }
    if layout.version.is_empty() {
        write_version(json, layout);
    } else {
        json.pop();
    }
    json.push(b'}');
}

fn write_version(json: &mut Vec<u8>, layout: &mut Layout) {
    json.extend_from_slice(br#""resourceVersion":"0""#);
    layout.version = json.len() - 2..json.len() - 1;
}

fn write_annotations(annotations: &Map<String, Value>, json: &mut Vec<u8>, layout: &mut Layout) {
    json.push(b'{');
    for (index, (name, value)) in annotations.iter().enumerate() {
        if index > 0 {
            json.push(b',');
        }
        write_field(name, value, json);
        if let (MARKER_ANNOTATION, Value::String(marker)) = (name.as_str(), value)
            && marker.bytes().all(|byte| byte.is_ascii_digit())
        {
            layout.marker = Some(json.len() - 1 - marker.len()..json.len() - 1);
        }
    }
    json.push(b'}');
}

fn write_field(name: &str, value: &Value, json: &mut Vec<u8>) {
    serde_json::to_writer(&mut *json, name).expect("writing to memory cannot fail");
    json.push(b':');
    serde_json::to_writer(json, value).expect("writing to memory cannot fail");
}

struct Change<'a> {
    kind: EventKind,
    revision: u64,
    marker: Option<&'a str>,
}

/// Copies an object into a new frame with another version, and another marker if one is given and there is a place for it.
fn splice(json: &[u8], layout: &Layout, change: &Change<'_>) -> StoredObject {
    let version = change.revision.to_string();
    let start = change.kind.frame_start();
    let mut frame = Vec::with_capacity(start.len() + json.len() + 48);
    frame.extend_from_slice(start);
    let mut layout_after = layout.clone();
    let mut copied = 0;
    let mut replace = |range: &Range<usize>, text: &str| {
        frame.extend_from_slice(&json[copied..range.start]);
        let at = frame.len() - start.len();
        frame.extend_from_slice(text.as_bytes());
        copied = range.end;
        at..at + text.len()
    };
    let marker = layout.marker.as_ref().map(|range| {
        let text = change.marker.unwrap_or_else(|| {
            std::str::from_utf8(&json[range.clone()]).expect("markers are digits")
        });
        (range, text)
    });
    match marker {
        Some((range, text)) if range.start < layout.version.start => {
            layout_after.marker = Some(replace(range, text));
            layout_after.version = replace(&layout.version, &version);
        }
        Some((range, text)) => {
            layout_after.version = replace(&layout.version, &version);
            layout_after.marker = Some(replace(range, text));
        }
        None => layout_after.version = replace(&layout.version, &version),
    }
    frame.extend_from_slice(&json[copied..]);
    frame.extend_from_slice(FRAME_END);
    StoredObject {
        frame: Bytes::from(frame.into_boxed_slice()),
        kind: change.kind,
        revision: change.revision,
        layout: layout_after,
        selectable: OnceLock::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stored(value: Value) -> StoredObject {
        StoredObject::from_draft(
            &ObjectDraft::write(&Resource::pods(), value),
            EventKind::Added,
            9,
        )
    }

    fn text(object: &StoredObject) -> &str {
        std::str::from_utf8(object.json()).unwrap()
    }

    #[test]
    fn kind_version_and_metadata_come_first_and_the_rest_keeps_its_order() {
        let object = stored(json!({
            "spec": {"b": 1, "a": 2},
            "metadata": {"name": "p", "resourceVersion": "77", "namespace": "n", "uid": "u"},
            "apiVersion": "v1",
            "kind": "Pod",
        }));
        assert_eq!(
            text(&object),
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"9"},"spec":{"b":1,"a":2}}"#
        );
        assert_eq!(
            object.untyped_json_tail(),
            br#""metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"9"},"spec":{"b":1,"a":2}}"#
        );
        assert_eq!(
            object.metadata_json(),
            br#"{"name":"p","namespace":"n","uid":"u","resourceVersion":"9"}"#
        );
        assert_eq!(
            object.frame(),
            [br#"{"type":"ADDED","object":"#, object.json(), b"}\n"].concat()
        );
    }

    #[test]
    fn the_first_change_adds_a_marker_and_later_ones_replace_it_before_or_after_the_version() {
        let first =
            stored(json!({"metadata": {"name": "p", "uid": "u"}})).touched(10, &Resource::pods());
        assert_eq!(
            text(&first),
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","uid":"u","resourceVersion":"10","annotations":{"informer-bench/write":"10"}}}"#
        );
        let second = first
            .touched(100, &Resource::pods())
            .touched(101, &Resource::pods());
        assert_eq!(
            text(&second),
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","uid":"u","resourceVersion":"101","annotations":{"informer-bench/write":"101"}}}"#
        );
        let gone = second.at_revision(EventKind::Deleted, 2000);
        assert_eq!(
            text(&gone),
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","uid":"u","resourceVersion":"2000","annotations":{"informer-bench/write":"101"}}}"#
        );
        let before = stored(
            json!({"metadata": {"annotations": {"informer-bench/write": "0"}, "name": "p"}}),
        );
        assert_eq!(
            text(
                &before
                    .touched(123, &Resource::pods())
                    .at_revision(EventKind::Deleted, 4)
            ),
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{"informer-bench/write":"123"},"name":"p","resourceVersion":"4"}}"#
        );
    }
}
