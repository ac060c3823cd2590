//! `metadata.managedFields`: who wrote which fields.

use serde_json::{Value, json};

use crate::write::{managed::field_set::FieldSet, metadata};

/// How a manager writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    Apply,
    Update,
}

/// One manager's fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) manager: String,
    pub(crate) operation: Operation,
    pub(crate) api_version: String,
    /// Empty for the object itself.
    pub(crate) subresource: String,
    /// As it is written, or null.
    pub(crate) time: Value,
    pub(crate) fields: FieldSet,
}

impl Entry {
    /// Whether both are of the same manager: an applier is the same at every version.
    pub(crate) fn is_same_manager(&self, other: &Self) -> bool {
        self.manager == other.manager
            && self.operation == other.operation
            && self.subresource == other.subresource
            && (self.operation == Operation::Apply || self.api_version == other.api_version)
    }

    fn from_value(value: &Value) -> Option<Self> {
        let text = |name: &str| {
            value
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned()
        };
        let operation = match text("operation").as_str() {
            "Apply" => Operation::Apply,
            "Update" => Operation::Update,
            _ => return None,
        };
        Some(Self {
            manager: text("manager"),
            operation,
            api_version: text("apiVersion"),
            subresource: text("subresource"),
            time: value.get("time").cloned().unwrap_or(Value::Null),
            fields: FieldSet::from_value(value.get("fieldsV1")?),
        })
    }

    fn to_value(&self) -> Value {
        let mut value = json!({
            "manager": self.manager,
            "operation": match self.operation {
                Operation::Apply => "Apply",
                Operation::Update => "Update",
            },
            "apiVersion": self.api_version,
        });
        if !self.time.is_null() {
            value["time"] = self.time.clone();
        }
        value["fieldsType"] = "FieldsV1".into();
        value["fieldsV1"] = self.fields.to_value();
        if !self.subresource.is_empty() {
            value["subresource"] = self.subresource.as_str().into();
        }
        value
    }
}

/// What an object's metadata says. What is not understood is left out.
pub(crate) fn read(object: &Value) -> Vec<Entry> {
    let entries = metadata::of(object)
        .get("managedFields")
        .and_then(Value::as_array);
    entries
        .into_iter()
        .flatten()
        .filter_map(Entry::from_value)
        .collect()
}

/// Whether a client asks for the record to be emptied: an empty list, or one of an empty entry.
pub(crate) fn is_reset(object: &Value) -> bool {
    match metadata::of(object)
        .get("managedFields")
        .and_then(Value::as_array)
    {
        Some(entries) => match entries.as_slice() {
            [] => true,
            [one] => one.as_object().is_some_and(serde_json::Map::is_empty),
            _ => false,
        },
        None => false,
    }
}

/// Writes the entries that own something, appliers first, each group by time.
pub(crate) fn write(object: &mut Value, mut entries: Vec<Entry>) {
    entries.retain(|entry| !entry.fields.is_empty());
    entries.sort_by(|a, b| {
        let key = |entry: &Entry| {
            (
                entry.operation,
                entry.time.as_str().unwrap_or("").to_owned(),
                entry.manager.clone(),
                entry.api_version.clone(),
                entry.subresource.clone(),
            )
        };
        key(a).cmp(&key(b))
    });
    let metadata = metadata::of_mut(object);
    if entries.is_empty() {
        metadata.shift_remove("managedFields");
    } else {
        let values: Vec<Value> = entries.iter().map(Entry::to_value).collect();
        metadata.insert("managedFields".to_owned(), values.into());
    }
}
