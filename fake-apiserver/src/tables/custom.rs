//! Custom resources: columns from `additionalPrinterColumns` of their definition.

use serde_json::{Value, json};

use super::{
    ages,
    cells::{Printed, list, or, text},
};

/// One column of a custom resource.
#[derive(Debug, Clone)]
pub(crate) struct CustomColumn {
    name: String,
    kind: String,
    format: String,
    description: String,
    priority: i64,
    /// Nothing if it is not one that we can read.
    path: Option<Vec<Step>>,
}

/// A step of a simple `JSONPath`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// `[?(@.field=="value")]`
    Where {
        field: String,
        value: String,
    },
    Field(String),
    Index(usize),
}

impl CustomColumn {
    /// The columns for a version in a `CustomResourceDefinition`.
    pub(crate) fn of_definition(definition: &Value, version: &str) -> Vec<Self> {
        let mut versions = list(definition, "/spec/versions").iter();
        let version = versions.find(|candidate| text(candidate, "/name") == version);
        let columns = version.map_or(&[][..], |version| {
            list(version, "/additionalPrinterColumns")
        });
        if columns.is_empty() {
            return Self::age_only();
        }
        let column = |column: &Value| {
            let path = text(column, "/jsonPath");
            let words = format!("Custom resource definition column (in JSONPath format): {path}");
            Self {
                name: text(column, "/name").to_owned(),
                kind: text(column, "/type").to_owned(),
                format: text(column, "/format").to_owned(),
                description: or(text(column, "/description"), &words).to_owned(),
                priority: column["priority"].as_i64().unwrap_or(0),
                path: parse(path),
            }
        };
        columns.iter().map(column).collect()
    }

    /// What a definition without columns gets.
    pub(crate) fn age_only() -> Vec<Self> {
        vec![Self {
            name: "Age".to_owned(),
            kind: "date".to_owned(),
            format: String::new(),
            description: "Time since the object was created.".to_owned(),
            priority: 0,
            path: parse(".metadata.creationTimestamp"),
        }]
    }

    pub(super) fn definition(&self) -> Value {
        json!({
            "name": self.name,
            "type": self.kind,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        })
    }

    /// Null for what is absent or of another type than the column.
    pub(super) fn cell(&self, printed: &Printed<'_>) -> Value {
        let Some(value) = self
            .path
            .as_ref()
            .and_then(|path| follow(printed.object, path))
        else {
            return Value::Null;
        };
        match (&*self.kind, value) {
            ("integer", Value::Number(number)) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "servers cut the fraction off"
                )]
                let whole = number
                    .as_i64()
                    .or_else(|| number.as_f64().map(|number| number as i64));
                whole.into()
            }
            ("number", Value::Number(_))
            | ("boolean", Value::Bool(_))
            | ("string", Value::String(_)) => value.clone(),
            ("string", Value::Null) => "<nil>".into(),
            ("string", other) => other.to_string().into(),
            ("date", Value::String(time)) => match ages::seconds(time) {
                Some(_) => ages::since(time, printed.now).into(),
                None => "<invalid>".into(),
            },
            _ => Value::Null,
        }
    }
}

fn follow<'a>(object: &'a Value, path: &[Step]) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, step| match step {
        Step::Field(name) => value.get(name),
        Step::Index(index) => value.get(index),
        Step::Where {
            field,
            value: wanted,
        } => value
            .as_array()?
            .iter()
            .find(|element| element.get(field).and_then(Value::as_str) == Some(wanted)),
    })
}

/// Reads `.a.b`, `['a']`, `[0]`, `[?(@.a=="b")]` and `\.` for a dot in a name. Other `JSONPath` is not understood.
fn parse(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (step, after) = if let Some(inner) = rest.strip_prefix('[') {
            let (inner, after) = inner.split_once(']')?;
            (bracket(inner)?, after)
        } else {
            field(rest.strip_prefix('.')?)?
        };
        steps.push(step);
        rest = after;
    }
    Some(steps)
}

fn field(text: &str) -> Option<(Step, &str)> {
    let mut name = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => name.push(characters.next()?.1),
            '.' | '[' => return (!name.is_empty()).then_some((Step::Field(name), &text[at..])),
            _ => name.push(character),
        }
    }
    (!name.is_empty()).then_some((Step::Field(name), ""))
}

fn bracket(inner: &str) -> Option<Step> {
    if let Some(condition) = inner.strip_prefix("?(@.") {
        let (field, value) = condition.strip_suffix(')')?.split_once("==")?;
        return Some(Step::Where {
            field: field.trim().to_owned(),
            value: unquoted(value.trim())?.to_owned(),
        });
    }
    match unquoted(inner) {
        Some(name) => Some(Step::Field(name.to_owned())),
        None => Some(Step::Index(inner.parse().ok()?)),
    }
}

fn unquoted(text: &str) -> Option<&str> {
    let quote = text
        .chars()
        .next()
        .filter(|quote| matches!(quote, '"' | '\''))?;
    text.strip_prefix(quote)?.strip_suffix(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_follow_their_paths_and_types() {
        let definition = json!({"spec": {"versions": [{"name": "v1", "additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status", "priority": 1},
            {"name": "First", "type": "string", "jsonPath": ".spec.hosts[0]"},
            {"name": "Role", "type": "string", "jsonPath": ".metadata.labels.example\\.com/role"},
            {"name": "Text as number", "type": "number", "jsonPath": ".spec.hosts[0]"},
            {"name": "Absent", "type": "string", "jsonPath": ".spec['none']"},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp", "description": "How old."},
        ]}]}});
        let columns = CustomColumn::of_definition(&definition, "v1");
        let object = json!({
            "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"example.com/role": "db"}},
            "spec": {"size": 3, "hosts": ["a", "b"]},
            "status": {"conditions": [{"type": "X", "status": "False"}, {"type": "Ready", "status": "True"}]},
        });
        let printed = Printed {
            object: &object,
            now: 1_767_225_660,
        };
        let cells: Vec<Value> = columns.iter().map(|column| column.cell(&printed)).collect();
        assert_eq!(
            Value::from(cells),
            json!([3, "True", "a", "db", null, null, "60s"])
        );
        assert_eq!(
            columns[1].definition(),
            json!({"name": "Ready", "type": "string", "format": "", "description": "Custom resource definition column (in JSONPath format): .status.conditions[?(@.type==\"Ready\")].status", "priority": 1})
        );
        assert_eq!(columns[6].description, "How old.");
        assert_eq!(
            CustomColumn::of_definition(&definition, "v2")[0].name,
            "Age"
        );
    }

    #[test]
    fn paths_that_are_not_simple_are_not_read() {
        for path in ["..a", "a", ".a[*]", ".a[", ".a[?(@.b>1)]"] {
            assert_eq!(parse(path), None, "{path}");
        }
    }
}
