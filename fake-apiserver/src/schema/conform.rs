//! Whether a value is of a type: wrong types are errors, unknown fields are reported and dropped, nulls are dropped.

use serde_json::{Map, Value};

use crate::schema::{FieldType, Schema};

/// What was found in a value that is of its type otherwise.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Conformed {
    /// Paths of fields that the type does not have; they are gone from the value.
    pub(crate) unknown: Vec<String>,
}

/// Makes a value one of a type, as a decoder into structs does.
///
/// # Errors
/// The first wrong type, in the words of Go's `encoding/json`.
pub(crate) fn conform(
    schema: &Schema,
    root: usize,
    value: &mut Value,
) -> Result<Conformed, String> {
    let mut walk = Walk {
        schema,
        kind: &schema.get(root).name,
        conformed: Conformed::default(),
    };
    walk.value(&FieldType::Struct(root), value, "")?;
    Ok(walk.conformed)
}

struct Walk<'a> {
    schema: &'a Schema,
    kind: &'a str,
    conformed: Conformed,
}

impl Walk<'_> {
    fn value(
        &mut self,
        field_type: &FieldType,
        value: &mut Value,
        path: &str,
    ) -> Result<(), String> {
        let (fits, expected) = match (field_type, &*value) {
            (FieldType::Struct(index), Value::Object(_)) => {
                return self.fields(*index, value.as_object_mut().expect("matched"), path);
            }
            (FieldType::List(item), Value::Array(_)) => {
                let items = value.as_array_mut().into_iter().flatten().enumerate();
                for (index, value) in items {
                    self.value(item, value, &format!("{path}[{index}]"))?;
                }
                return Ok(());
            }
            (FieldType::Map(item), Value::Object(_)) => {
                for (name, value) in value.as_object_mut().into_iter().flatten() {
                    if value.is_null() {
                        *value = zero(item);
                    }
                    self.value(item, value, &format!("{path}.{name}"))?;
                }
                return Ok(());
            }
            (FieldType::Any, _) => return Ok(()),
            (FieldType::Struct(index), _) => (false, self.schema.get(*index).name.as_str()),
            (FieldType::List(_), _) => (false, "[]"),
            (FieldType::Map(_), _) => (false, "map[string]string"),
            (FieldType::Bool, value) => (value.is_boolean(), "bool"),
            (FieldType::Int, value) => (value.is_i64() || value.is_u64(), "int64"),
            (FieldType::Number, value) => (value.is_number(), "float64"),
            (FieldType::String, value) => (value.is_string(), "string"),
            (FieldType::IntOrString, value) => {
                (value.is_string() || value.is_i64(), "intstr.IntOrString")
            }
            (FieldType::Quantity, value) => {
                (value.is_string() || value.is_number(), "resource.Quantity")
            }
        };
        if fits {
            return Ok(());
        }
        Err(format!(
            "json: cannot unmarshal {} into Go struct field {}.{} of type {expected}",
            crate::write::json_type(value),
            self.kind,
            path.trim_start_matches('.')
        ))
    }

    fn fields(
        &mut self,
        index: usize,
        fields: &mut Map<String, Value>,
        path: &str,
    ) -> Result<(), String> {
        let schema = self.schema;
        let own = schema.get(index);
        fields.retain(|name, value| {
            let is_known = own.field(name).is_some();
            if !is_known {
                let path = format!("{path}.{name}");
                let path = path.trim_start_matches('.').to_owned();
                self.conformed.unknown.push(path);
            }
            is_known && !value.is_null()
        });
        for (name, value) in fields {
            let field = own.field(name).expect("others were dropped");
            self.value(&field.value, value, &format!("{path}.{name}"))?;
        }
        Ok(())
    }
}

/// What Go decodes a null in a map to.
fn zero(field_type: &FieldType) -> Value {
    match field_type {
        FieldType::Bool => false.into(),
        FieldType::Int | FieldType::Number | FieldType::IntOrString => 0.into(),
        FieldType::Quantity => "0".into(),
        FieldType::String => "".into(),
        FieldType::List(_) => Value::Array(Vec::new()),
        FieldType::Any => Value::Null,
        FieldType::Map(_) | FieldType::Struct(_) => Value::Object(Map::new()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(mut value: Value) -> Result<(Value, Vec<String>), String> {
        let schema = Schema::built_in();
        let found = conform(schema, schema.kind("v1", "Pod").unwrap(), &mut value)?;
        Ok((value, found.unknown))
    }

    #[test]
    fn unknown_fields_and_nulls_are_dropped_and_the_former_reported() {
        let (value, unknown) = pod(json!({
            "kind": "Pod",
            "metadata": {"name": "p", "labels": {"a": null, "b": "c"}, "colour": "red"},
            "spec": {"nodeName": null, "containers": [{"name": "c", "imagee": "i"}]},
        }))
        .unwrap();
        assert_eq!(
            value,
            json!({
                "kind": "Pod",
                "metadata": {"name": "p", "labels": {"a": "", "b": "c"}},
                "spec": {"containers": [{"name": "c"}]},
            })
        );
        assert_eq!(unknown, ["metadata.colour", "spec.containers[0].imagee"]);
    }

    #[test]
    fn a_wrong_type_is_named_with_its_path() {
        assert_eq!(
            pod(json!({"spec": {"containers": [{"name": 1}]}})).unwrap_err(),
            "json: cannot unmarshal number into Go struct field Pod.spec.containers[0].name of type string"
        );
        assert_eq!(
            pod(json!({"metadata": {"labels": ["a"]}})).unwrap_err(),
            "json: cannot unmarshal array into Go struct field Pod.metadata.labels of type map[string]string"
        );
        pod(json!({"spec": "web"})).unwrap_err();
        pod(json!({"spec": {"terminationGracePeriodSeconds": 1.5}})).unwrap_err();
    }

    #[test]
    fn ports_and_amounts_may_be_numbers_or_texts() {
        let container = json!({
            "name": "c",
            "readinessProbe": {"httpGet": {"port": "http"}},
            "livenessProbe": {"httpGet": {"port": 80}},
            "resources": {"limits": {"cpu": 1, "memory": "1Gi"}},
        });
        let (value, unknown) = pod(json!({"spec": {"containers": [container]}})).unwrap();
        assert_eq!(value["spec"]["containers"][0], container);
        assert!(unknown.is_empty());
    }
}
