//! Entries of `metadata.managedFields`, derived from the object as a server derives them.

use serde_json::{Map, Value, json};

/// Keys by which lists of objects are merged; lists without one of them are owned as a whole.
const LIST_KEYS: [&str; 5] = ["name", "type", "ip", "containerPort", "uid"];

/// One entry: `manager` owns the given part of the object.
pub(super) fn entry(manager: &str, api_version: &str, owned: &Value) -> Value {
    json!({
        "manager": manager,
        "operation": "Update",
        "apiVersion": api_version,
        "time": super::CREATED_AT,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields(owned),
    })
}

/// The same for an entry that came through the status subresource.
pub(super) fn status_entry(manager: &str, api_version: &str, owned: &Value) -> Value {
    let mut entry = entry(manager, api_version, owned);
    entry["subresource"] = Value::from("status");
    entry
}

fn fields(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (format!("f:{name}"), fields(member)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => list_fields(items).into(),
        _ => json!({}),
    }
}

fn list_fields(items: &[Value]) -> Map<String, Value> {
    let key_of = |item: &Value| LIST_KEYS.into_iter().find(|key| item.get(key).is_some());
    items
        .iter()
        .filter_map(|item| {
            let key = key_of(item)?;
            let mut owned = Map::new();
            owned.insert(".".to_owned(), json!({}));
            owned.extend(fields(item).as_object().cloned().unwrap_or_default());
            Some((format!("k:{}", json!({ key: item[key] })), owned.into()))
        })
        .collect()
}
