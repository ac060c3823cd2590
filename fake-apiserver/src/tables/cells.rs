//! What cells are made of.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::ages;

/// An object that is being printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printed<'a> {
    pub(super) object: &'a Value,
    /// Seconds since 1970.
    pub(super) now: i64,
}

impl<'a> Printed<'a> {
    /// The value at a JSON pointer, null if absent.
    pub(super) fn at(&self, pointer: &str) -> &'a Value {
        at(self.object, pointer)
    }

    pub(super) fn text(&self, pointer: &str) -> &'a str {
        text(self.object, pointer)
    }

    pub(super) fn number(&self, pointer: &str) -> i64 {
        number(self.object, pointer)
    }

    pub(super) fn list(&self, pointer: &str) -> &'a [Value] {
        list(self.object, pointer)
    }

    pub(super) fn name(&self) -> Value {
        self.text("/metadata/name").into()
    }

    pub(super) fn age(&self) -> Value {
        self.since("/metadata/creationTimestamp").into()
    }

    pub(super) fn since(&self, pointer: &str) -> String {
        ages::since(self.text(pointer), self.now)
    }

    /// Entries of a map, 0 if absent.
    pub(super) fn entries(&self, pointer: &str) -> usize {
        self.at(pointer).as_object().map_or(0, Map::len)
    }

    /// Whether a condition of this type is true.
    pub(super) fn has_condition(&self, condition_type: &str) -> bool {
        let mut conditions = self.list("/status/conditions").iter();
        conditions.any(|condition| {
            text(condition, "/type") == condition_type && text(condition, "/status") == "True"
        })
    }

    /// Names and images of the containers of a pod template.
    pub(super) fn containers(&self, pointer: &str) -> [Value; 2] {
        let containers = self.list(pointer).iter();
        let names = containers.clone().map(|container| text(container, "/name"));
        let images = containers.map(|container| text(container, "/image"));
        [
            names.collect::<Vec<_>>().join(",").into(),
            images.collect::<Vec<_>>().join(",").into(),
        ]
    }
}

pub(super) fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    at(value, pointer).as_str().unwrap_or("")
}

pub(super) fn number(value: &Value, pointer: &str) -> i64 {
    at(value, pointer).as_i64().unwrap_or(0)
}

pub(super) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    at(value, pointer).as_array().map_or(&[], Vec::as_slice)
}

/// The text, or something in its place if it is empty.
pub(super) fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

/// The first three of a list, and how many more there are.
pub(super) fn first_three(items: &[String]) -> String {
    match items.len() {
        0..4 => items.join(","),
        count => format!("{} + {} more...", items[..3].join(","), count - 3),
    }
}

/// `a=1,b=2`, sorted; `<none>` if empty.
pub(super) fn labels(map: &Value) -> String {
    or(&equalities(map).join(","), "<none>").to_owned()
}

/// A label selector as text: `a=1,b in (x,y)`; `<none>` if empty.
pub(super) fn selector(selector: &Value) -> String {
    let mut requirements: Vec<(String, String)> = equalities(at(selector, "/matchLabels"))
        .into_iter()
        .map(|equality| (equality.clone(), equality))
        .collect();
    for expression in list(selector, "/matchExpressions") {
        let key = text(expression, "/key");
        let values: BTreeSet<&str> = list(expression, "/values")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let values = values.into_iter().collect::<Vec<_>>().join(",");
        let requirement = match text(expression, "/operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        requirements.push((key.to_owned(), requirement));
    }
    requirements.sort();
    let texts: Vec<String> = requirements.into_iter().map(|(_, text)| text).collect();
    or(&texts.join(","), "<none>").to_owned()
}

fn equalities(map: &Value) -> Vec<String> {
    let Some(map) = map.as_object() else {
        return Vec::new();
    };
    let pairs = map.iter();
    let mut pairs: Vec<String> = pairs
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or("")))
        .collect();
    pairs.sort();
    pairs
}
