//! Strategic merge patches: lists are merged by key as the kind's type says (apimachinery's `util/strategicpatch`).

mod order;

use serde_json::{Map, Value};

use crate::{
    schema::{Field, FieldType, Merging, Schema},
    write::strategic::order::arrange,
};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const ORDER_PREFIX: &str = "$setElementOrder/";
const DELETION_PREFIX: &str = "$deleteFromPrimitiveList/";

/// Why a patch cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StrategicError {
    /// A directive is not written as it must be.
    Format(String),
    /// An item of a list that is merged by key has none.
    NoMergeKey { item: String, key: String },
}

/// Applies a patch to an object of the type at `root`.
///
/// # Errors
/// [`StrategicError`]; the object may be changed in part then.
pub(crate) fn merge(
    schema: &Schema,
    root: usize,
    object: &mut Value,
    patch: &Value,
) -> Result<(), StrategicError> {
    let merger = Merger { schema };
    merger.value(&FieldType::Struct(root), object, patch)
}

struct Merger<'a> {
    schema: &'a Schema,
}

impl Merger<'_> {
    fn value(
        &self,
        field_type: &FieldType,
        target: &mut Value,
        patch: &Value,
    ) -> Result<(), StrategicError> {
        let Value::Object(patch) = patch else {
            *target = patch.clone();
            return Ok(());
        };
        match directive(patch)? {
            Some(Directive::Delete) => {
                *target = Value::Null;
                return Ok(());
            }
            Some(Directive::Replace) => {
                let kept = patch.iter().filter(|(name, _)| *name != DIRECTIVE);
                *target = kept
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
                return Ok(());
            }
            Some(Directive::Merge) | None => {}
        }
        if !target.is_object() {
            *target = Value::Object(Map::new());
        }
        let fields = target.as_object_mut().expect("made an object above");
        retain_keys(fields, patch)?;
        for (name, value) in patch {
            if let Some(list) = name.strip_prefix(DELETION_PREFIX) {
                delete_values(fields, list, value)?;
            }
        }
        for (name, value) in patch.iter().filter(|(name, _)| !name.starts_with('$')) {
            self.field((field_type, name), fields, (value, patch))?;
        }
        self.reorder_untouched(field_type, fields, patch)
    }

    fn field(
        &self,
        (owner, name): (&FieldType, &str),
        fields: &mut Map<String, Value>,
        (value, patch): (&Value, &Map<String, Value>),
    ) -> Result<(), StrategicError> {
        if value.is_null() {
            fields.shift_remove(name);
            return Ok(());
        }
        let field = self.field_of(owner, name);
        let any = FieldType::Any;
        let field_type = match (field, owner) {
            (Some(field), _) => &field.value,
            (None, FieldType::Map(inner)) => inner,
            _ => &any,
        };
        match value {
            Value::Object(_) => {
                let target = fields.entry(name).or_insert(Value::Null);
                self.value(field_type, target, value)?;
                if target.is_null() {
                    fields.shift_remove(name);
                }
            }
            Value::Array(items) => match field.filter(|field| field.merging == Merging::Merged) {
                Some(field) => {
                    let present = match fields.get(name) {
                        Some(Value::Array(present)) => present.clone(),
                        _ => Vec::new(),
                    };
                    let order = patch.get(&format!("{ORDER_PREFIX}{name}"));
                    let merged = self.list(field, (&present, items), order)?;
                    fields.insert(name.to_owned(), merged.into());
                }
                None => {
                    fields.insert(name.to_owned(), value.clone());
                }
            },
            _ => {
                fields.insert(name.to_owned(), value.clone());
            }
        }
        Ok(())
    }

    fn list(
        &self,
        field: &Field,
        (present, patch): (&[Value], &[Value]),
        order: Option<&Value>,
    ) -> Result<Vec<Value>, StrategicError> {
        let Some(key) = &field.merge_key else {
            let mut merged = present.to_vec();
            for item in patch {
                if !merged.contains(item) {
                    merged.push(item.clone());
                }
            }
            return Ok(arrange(merged, present, order, None));
        };
        let FieldType::List(item_type) = &field.value else {
            return Ok(patch.to_vec());
        };
        let mut replaces = false;
        for item in patch {
            let fields = item.as_object();
            let found = fields.map(directive).transpose()?.flatten();
            // An item of nothing but the directive concerns the whole list.
            replaces |= found == Some(Directive::Replace);
        }
        if replaces {
            let is_content = |item: &&Value| item.get(DIRECTIVE).is_none();
            return Ok(patch.iter().filter(is_content).cloned().collect());
        }
        let mut merged = present.to_vec();
        for item in patch {
            let Some(value) = item.get(key) else {
                return Err(StrategicError::NoMergeKey {
                    item: item.to_string(),
                    key: key.clone(),
                });
            };
            let place = merged
                .iter()
                .position(|other| other.get(key) == Some(value));
            let found = item.as_object().map(directive).transpose()?.flatten();
            match (place, found) {
                (place, Some(Directive::Delete)) => {
                    if place.is_some() {
                        merged.retain(|other| other.get(key) != Some(value));
                    }
                }
                (Some(place), _) => self.value(item_type, &mut merged[place], item)?,
                (None, _) => {
                    let mut added = Value::Null;
                    self.value(item_type, &mut added, item)?;
                    merged.push(added);
                }
            }
        }
        Ok(arrange(merged, present, order, Some(key)))
    }

    /// An order may be given for a list that the patch does not change otherwise.
    fn reorder_untouched(
        &self,
        owner: &FieldType,
        fields: &mut Map<String, Value>,
        patch: &Map<String, Value>,
    ) -> Result<(), StrategicError> {
        for (name, order) in patch {
            let Some(list) = name.strip_prefix(ORDER_PREFIX) else {
                continue;
            };
            if !order.is_array() {
                return Err(StrategicError::Format(format!(
                    "invalid patch format of {name}: the value is not a list"
                )));
            }
            if patch.contains_key(list) {
                continue;
            }
            let key = self
                .field_of(owner, list)
                .and_then(|field| field.merge_key.as_deref());
            if let Some(Value::Array(present)) = fields.get_mut(list) {
                let taken = std::mem::take(present);
                *present = arrange(taken.clone(), &taken, Some(order), key);
            }
        }
        Ok(())
    }

    fn field_of(&self, owner: &FieldType, name: &str) -> Option<&Field> {
        self.schema.struct_of(owner)?.field(name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directive {
    Delete,
    Merge,
    Replace,
}

fn directive(patch: &Map<String, Value>) -> Result<Option<Directive>, StrategicError> {
    match patch.get(DIRECTIVE) {
        None => Ok(None),
        Some(Value::String(text)) if text == "delete" => Ok(Some(Directive::Delete)),
        Some(Value::String(text)) if text == "merge" => Ok(Some(Directive::Merge)),
        Some(Value::String(text)) if text == "replace" => Ok(Some(Directive::Replace)),
        Some(other) => Err(StrategicError::Format(format!(
            "Unknown patch type: {other}"
        ))),
    }
}

/// Drops what `$retainKeys` does not list.
fn retain_keys(
    fields: &mut Map<String, Value>,
    patch: &Map<String, Value>,
) -> Result<(), StrategicError> {
    let Some(kept) = patch.get(RETAIN_KEYS) else {
        return Ok(());
    };
    let bad = || StrategicError::Format("invalid patch format of retainKeys".to_owned());
    let kept = kept.as_array().ok_or_else(bad)?;
    let is_kept = |name: &str| kept.iter().any(|kept| kept == name);
    let own = patch
        .iter()
        .filter(|(name, value)| !name.starts_with('$') && !value.is_null());
    if own.into_iter().any(|(name, _)| !is_kept(name)) {
        return Err(bad());
    }
    fields.retain(|name, _| is_kept(name));
    Ok(())
}

fn delete_values(
    fields: &mut Map<String, Value>,
    list: &str,
    values: &Value,
) -> Result<(), StrategicError> {
    let Value::Array(values) = values else {
        return Err(StrategicError::Format(format!(
            "invalid patch format of {DELETION_PREFIX}{list}: the value is not a list"
        )));
    };
    if let Some(Value::Array(present)) = fields.get_mut(list) {
        present.retain(|value| !values.contains(value));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
