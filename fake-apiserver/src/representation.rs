//! How objects are written into an answer: as stored, as their metadata alone, or as rows of a table.

use bench_core::api::{ObjectKey, Resource};
use serde_json::{Value, json};

use crate::{
    accept::{Accepted, MetaVersion, Target},
    failure::Failure,
    query::Query,
    storage::{ItemForm, ResourceId, Storage},
    stored_object::StoredObject,
    tables::{CustomColumn, Printer},
};

/// The form of the objects in one answer.
#[derive(Debug, Clone)]
pub(crate) enum Representation {
    Metadata(MetaVersion),
    Stored,
    Table(Table),
}

/// A table without its rows.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    version: MetaVersion,
    printer: Printer,
    included: Included,
}

/// What a row holds beside its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Included {
    Metadata,
    Nothing,
    Object,
}

/// Whether an answer has one object, or many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    List,
    Object,
}

impl Representation {
    /// The form that was agreed on.
    ///
    /// # Errors
    /// 406 if a list was asked for as one object or the other way round, 400 for an `includeObject` that means nothing.
    pub(crate) fn try_new(
        accepted: Accepted,
        shape: Shape,
        query: &Query,
        (storage, id): (&Storage, ResourceId),
    ) -> Result<Self, Failure> {
        let Some(transform) = accepted.transform else {
            return Ok(Self::Stored);
        };
        let resource = storage.store(id).resource();
        match (transform.target, shape) {
            (Target::Table, _) => Ok(Self::Table(Table {
                version: transform.version,
                printer: printer(storage, resource),
                included: Included::try_parse(&query.include_object)?,
            })),
            (Target::PartialObjectMetadata, Shape::Object)
            | (Target::PartialObjectMetadataList, Shape::List) => {
                Ok(Self::Metadata(transform.version))
            }
            (Target::PartialObjectMetadata, Shape::List) => Err(Failure::no_such_form(format!(
                "you requested PartialObjectMetadata, but the requested object is a list ({})",
                go_type(resource, "List")
            ))),
            (Target::PartialObjectMetadataList, Shape::Object) => {
                Err(Failure::no_such_form(format!(
                    "you requested PartialObjectMetadataList, but the requested object is not a list ({})",
                    go_type(resource, "")
                )))
            }
        }
    }

    /// Appends an object as an answer of its own, or as the object of an event. `headers` go into a table.
    pub(crate) fn write_object(
        &self,
        object: &StoredObject,
        headers: Headers,
        now: i64,
        out: &mut Vec<u8>,
    ) {
        match self {
            Self::Stored => out.extend_from_slice(object.json()),
            Self::Metadata(version) => write_metadata(*version, object.metadata_json(), out),
            Self::Table(table) => {
                table.write_head(&ListMetadata::of_object(object.revision()), headers, out);
                table.write_row(object, now, out);
                out.extend_from_slice(b"]}");
            }
        }
    }

    /// Appends the object of a bookmark; `whole` is as it would be sent as stored.
    pub(crate) fn write_bookmark(
        &self,
        whole: &Value,
        headers: Headers,
        now: i64,
        out: &mut Vec<u8>,
    ) {
        let metadata = || whole["metadata"].to_string();
        match self {
            Self::Stored => out.extend_from_slice(whole.to_string().as_bytes()),
            Self::Metadata(version) => write_metadata(*version, metadata().as_bytes(), out),
            Self::Table(table) => {
                let version = whole["metadata"]["resourceVersion"].as_str().unwrap_or("");
                let list = ListMetadata {
                    resource_version: version.to_owned(),
                    ..ListMetadata::default()
                };
                table.write_head(&list, headers, out);
                table.write_cells(whole, now, out);
                out.extend_from_slice(br#","object":"#);
                write_metadata(table.version, metadata().as_bytes(), out);
                out.extend_from_slice(b"}]}");
            }
        }
    }

    /// Appends everything before the first item of a list.
    pub(crate) fn write_list_head(
        &self,
        resource: &Resource,
        metadata: &ListMetadata,
        out: &mut Vec<u8>,
    ) {
        let (kind, api_version) = match self {
            Self::Table(table) => return table.write_head(metadata, Headers::Included, out),
            Self::Stored => (format!("{}List", resource.kind), resource.api_version()),
            Self::Metadata(version) => (
                "PartialObjectMetadataList".to_owned(),
                version.api_version().to_owned(),
            ),
        };
        let head = format!(
            r#"{{"kind":"{kind}","apiVersion":"{api_version}","metadata":{},"items":["#,
            metadata.json()
        );
        out.extend_from_slice(head.as_bytes());
    }

    /// Appends one item of a list.
    pub(crate) fn write_item(
        &self,
        form: ItemForm,
        object: &StoredObject,
        now: i64,
        out: &mut Vec<u8>,
    ) {
        match (self, form) {
            (Self::Stored, ItemForm::Typed) => out.extend_from_slice(object.json()),
            (Self::Stored, ItemForm::Untyped) => {
                out.push(b'{');
                out.extend_from_slice(object.untyped_json_tail());
            }
            (Self::Metadata(version), _) => write_metadata(*version, object.metadata_json(), out),
            (Self::Table(table), _) => table.write_row(object, now, out),
        }
    }

    /// The length of an item, where it is known before it is written.
    pub(crate) fn item_length(&self, form: ItemForm, object: &StoredObject) -> Option<usize> {
        match (self, form) {
            (Self::Stored, ItemForm::Typed) => Some(object.json().len()),
            (Self::Stored, ItemForm::Untyped) => Some(object.untyped_json_tail().len() + 1),
            (Self::Metadata(_) | Self::Table(_), _) => None,
        }
    }
}

/// Whether a table says what its columns are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Headers {
    Included,
    /// After the first event of a watch.
    Omitted,
}

/// `metadata` of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ListMetadata {
    pub(crate) resource_version: String,
    pub(crate) continue_token: Option<String>,
    pub(crate) remaining: Option<usize>,
}

impl ListMetadata {
    fn of_object(revision: u64) -> Self {
        Self {
            resource_version: revision.to_string(),
            ..Self::default()
        }
    }

    fn json(&self) -> String {
        let mut metadata = json!({"resourceVersion": self.resource_version});
        if let Some(token) = &self.continue_token {
            metadata["continue"] = token.as_str().into();
        }
        if let Some(remaining) = self.remaining {
            metadata["remainingItemCount"] = remaining.into();
        }
        metadata.to_string()
    }
}

impl Table {
    fn write_head(&self, metadata: &ListMetadata, headers: Headers, out: &mut Vec<u8>) {
        let columns = match headers {
            Headers::Included => self.printer.column_definitions(),
            Headers::Omitted => Value::Null,
        };
        let head = format!(
            r#"{{"kind":"Table","apiVersion":"{}","metadata":{},"columnDefinitions":{columns},"rows":["#,
            self.version.api_version(),
            metadata.json()
        );
        out.extend_from_slice(head.as_bytes());
    }

    fn write_row(&self, object: &StoredObject, now: i64, out: &mut Vec<u8>) {
        self.write_cells(&object.value(), now, out);
        out.extend_from_slice(br#","object":"#);
        match self.included {
            Included::Metadata => write_metadata(self.version, object.metadata_json(), out),
            Included::Nothing => out.extend_from_slice(b"null"),
            Included::Object => out.extend_from_slice(object.json()),
        }
        out.push(b'}');
    }

    /// A row up to its object.
    fn write_cells(&self, object: &Value, now: i64, out: &mut Vec<u8>) {
        let row = self.printer.row(object, now);
        out.extend_from_slice(br#"{"cells":"#);
        out.extend_from_slice(Value::from(row.cells).to_string().as_bytes());
        if let Some(conditions) = row.conditions {
            out.extend_from_slice(br#","conditions":"#);
            out.extend_from_slice(conditions.to_string().as_bytes());
        }
    }
}

impl Included {
    fn try_parse(text: &str) -> Result<Self, Failure> {
        match text {
            "" | "Metadata" => Ok(Self::Metadata),
            "None" => Ok(Self::Nothing),
            "Object" => Ok(Self::Object),
            other => Err(Failure::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be 'Metadata', 'Object', 'None', or empty"
            ))),
        }
    }
}

fn write_metadata(version: MetaVersion, metadata: &[u8], out: &mut Vec<u8>) {
    let head = format!(
        r#"{{"kind":"PartialObjectMetadata","apiVersion":"{}","metadata":"#,
        version.api_version()
    );
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(metadata);
    out.push(b'}');
}

fn printer(storage: &Storage, resource: &Resource) -> Printer {
    Printer::built_in(resource).unwrap_or_else(|| {
        let definitions = storage.find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
        let name = ObjectKey::new("", &format!("{}.{}", resource.plural, resource.group));
        let definition = definitions.and_then(|id| storage.store(id).objects().get(&name));
        Printer::Custom(
            definition.map_or_else(CustomColumn::age_only, |definition| {
                CustomColumn::of_definition(&definition.value(), &resource.version)
            }),
        )
    })
}

/// The type that servers name in this error.
fn go_type(resource: &Resource, suffix: &str) -> String {
    if crate::known_kinds::is_built_in(&resource.group, &resource.kind) {
        let package = match resource.group.split('.').next() {
            Some("") | None => "core",
            Some(package) => package,
        };
        format!("*{package}.{}{suffix}", resource.kind)
    } else {
        format!("*unstructured.Unstructured{suffix}")
    }
}
