//! Values seen through their types: which fields a value has, and how two values differ (structured-merge-diff's `typed`).

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::{
    schema::{FieldType, Ownership, Schema},
    write::managed::field_set::FieldSet,
};

/// A place in an object, with what is known of its type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'a> {
    schema: &'a Schema,
    kind: NodeKind<'a>,
    ownership: &'a Ownership,
}

#[derive(Debug, Clone, Copy)]
enum NodeKind<'a> {
    /// A custom resource: only its metadata has a type.
    Custom,
    Struct(usize),
    Type(&'a FieldType),
}

/// How the parts of a value are owned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Fields,
    Items,
    /// As a whole.
    Leaf,
}

/// Whether a field is one of a type, or an entry of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Declared {
    Entry,
    Field,
}

const ANY: FieldType = FieldType::Any;
static PARTS: Ownership = Ownership::Parts;

impl<'a> Node<'a> {
    /// The root of a kind that the schema has, or of a custom one.
    pub(crate) fn root(schema: &'a Schema, api_version: &str, kind: &str) -> Self {
        let kind = schema.kind(api_version, kind);
        Self {
            schema,
            kind: kind.map_or(NodeKind::Custom, NodeKind::Struct),
            ownership: &PARTS,
        }
    }

    pub(crate) fn shape(&self, value: &Value) -> Shape {
        let is_atomic = *self.ownership == Ownership::Atomic;
        match (self.kind, value) {
            (NodeKind::Custom, Value::Object(_)) => Shape::Fields,
            (
                NodeKind::Struct(index) | NodeKind::Type(&FieldType::Struct(index)),
                Value::Object(_),
            ) => {
                let own = &self.schema.get(index).ownership;
                if is_atomic || *own == Ownership::Atomic {
                    Shape::Leaf
                } else {
                    Shape::Fields
                }
            }
            (NodeKind::Type(FieldType::Any | FieldType::Map(_)), Value::Object(_))
                if !is_atomic =>
            {
                Shape::Fields
            }
            (NodeKind::Type(FieldType::List(_)), Value::Array(_)) => match self.ownership {
                Ownership::Keyed(_) | Ownership::Set => Shape::Items,
                Ownership::Atomic | Ownership::Parts => Shape::Leaf,
            },
            _ => Shape::Leaf,
        }
    }

    /// A field of this place.
    pub(crate) fn field(&self, name: &str) -> (Self, Declared) {
        let (kind, ownership, declared) = match self.kind {
            NodeKind::Custom if name == "metadata" => (
                NodeKind::Struct(self.schema.object_meta()),
                &PARTS,
                Declared::Field,
            ),
            NodeKind::Struct(index) | NodeKind::Type(&FieldType::Struct(index)) => {
                match self.schema.get(index).field(name) {
                    Some(field) => (
                        NodeKind::Type(&field.value),
                        &field.ownership,
                        Declared::Field,
                    ),
                    None => (NodeKind::Type(&ANY), &PARTS, Declared::Entry),
                }
            }
            NodeKind::Type(FieldType::Map(inner)) => {
                (NodeKind::Type(inner), &PARTS, Declared::Entry)
            }
            NodeKind::Custom | NodeKind::Type(_) => (NodeKind::Type(&ANY), &PARTS, Declared::Entry),
        };
        let schema = self.schema;
        (
            Self {
                schema,
                kind,
                ownership,
            },
            declared,
        )
    }

    /// The items of this list.
    pub(crate) fn item(&self) -> Self {
        let kind = match self.kind {
            NodeKind::Type(FieldType::List(inner)) => NodeKind::Type(inner),
            _ => NodeKind::Type(&ANY),
        };
        Self {
            schema: self.schema,
            kind,
            ownership: &PARTS,
        }
    }

    /// The place that an element of a set leads to.
    pub(crate) fn child(&self, element: &str) -> (Self, Declared) {
        match element.strip_prefix("f:") {
            Some(name) => self.field(name),
            None => (self.item(), Declared::Entry),
        }
    }

    /// What tells an item of this list from the others.
    pub(crate) fn element_of(&self, item: &Value) -> String {
        let Ownership::Keyed(keys) = self.ownership else {
            return format!("v:{item}");
        };
        let mut sorted: Vec<&String> = keys.iter().collect();
        sorted.sort();
        let item_type = match self.kind {
            NodeKind::Type(FieldType::List(inner)) => self.schema.struct_of(inner),
            _ => None,
        };
        let keys = sorted.into_iter().filter_map(|key| {
            let default = || {
                let field = item_type?.field(key)?;
                Some(Value::from(field.key_default.clone()?))
            };
            let value = item.get(key).cloned().or_else(default)?;
            Some((key.clone(), value))
        });
        let keys: Map<String, Value> = keys.collect();
        format!("k:{}", Value::Object(keys))
    }

    /// The parts of a value: element, place and value of each.
    pub(crate) fn parts<'v>(&self, value: &'v Value) -> Vec<(String, Self, &'v Value)> {
        match (self.shape(value), value) {
            (Shape::Fields, Value::Object(fields)) => {
                let fields = fields.iter();
                fields
                    .map(|(name, value)| (format!("f:{name}"), self.field(name).0, value))
                    .collect()
            }
            (Shape::Items, Value::Array(items)) => {
                let items = items.iter();
                items
                    .map(|item| (self.element_of(item), self.item(), item))
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The fields of a value: leaves, items of lists, and entries of maps.
pub(crate) fn fields_of(root: Node<'_>, value: &Value) -> FieldSet {
    let mut set = FieldSet::default();
    collect(root, value, &mut Vec::new(), &mut set);
    set
}

fn collect(node: Node<'_>, value: &Value, path: &mut Vec<String>, set: &mut FieldSet) {
    let shape = node.shape(value);
    if shape == Shape::Leaf {
        set.insert(path);
        return;
    }
    for (element, child, value) in node.parts(value) {
        let is_declared = node.child(&element).1 == Declared::Field;
        path.push(element);
        collect(child, value, path, set);
        let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        if !is_declared || is_empty {
            set.insert(path);
        }
        path.pop();
    }
}

/// How one value differs from another.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) added: FieldSet,
    pub(crate) modified: FieldSet,
    pub(crate) removed: FieldSet,
}

impl Comparison {
    pub(crate) fn of(root: Node<'_>, old: &Value, new: &Value) -> Self {
        let mut comparison = Self::default();
        comparison.compare(root, Some(old), Some(new), &mut Vec::new());
        comparison
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.modified.is_empty() && self.removed.is_empty()
    }

    fn compare(
        &mut self,
        node: Node<'_>,
        old: Option<&Value>,
        new: Option<&Value>,
        path: &mut Vec<String>,
    ) {
        // A null is there, and is nothing: it fits either shape.
        let shape_of = |value: &&Value| (!value.is_null()).then(|| node.shape(value));
        let before = old.as_ref().and_then(shape_of);
        let after = new.as_ref().and_then(shape_of);
        if let (Some(before), Some(after)) = (before, after)
            && before != after
        {
            self.compare(node, old, None, path);
            self.compare(node, None, new, path);
            return;
        }
        let is_empty = |value: Option<&Value>| match value {
            Some(Value::Object(fields)) => fields.is_empty(),
            Some(Value::Array(items)) => items.is_empty(),
            _ => true,
        };
        let is_leaf = before.or(after) == Some(Shape::Leaf) || (is_empty(old) && is_empty(new));
        if !is_leaf {
            let parts = (parts_of(node, old), parts_of(node, new));
            self.compare_parts(node, (&parts.0, &parts.1), path);
        }
        match (old, new) {
            (None, Some(_)) => self.added.insert(path),
            (Some(_), None) => self.removed.insert(path),
            (Some(old), Some(new)) if is_leaf && old != new => self.modified.insert(path),
            _ => {}
        }
    }

    fn compare_parts(
        &mut self,
        node: Node<'_>,
        (old, new): (&[Part<'_>], &[Part<'_>]),
        path: &mut Vec<String>,
    ) {
        let before: HashMap<&str, &Value> = old
            .iter()
            .map(|(element, value)| (&**element, *value))
            .collect();
        let after: HashMap<&str, &Value> = new
            .iter()
            .map(|(element, value)| (&**element, *value))
            .collect();
        let only_old = old
            .iter()
            .filter(|(element, _)| !after.contains_key(&**element));
        for (element, _) in new.iter().chain(only_old) {
            path.push(element.clone());
            let (old, new) = (before.get(&**element), after.get(&**element));
            self.compare(node.child(element).0, old.copied(), new.copied(), path);
            path.pop();
        }
    }
}

/// An element and what is there.
type Part<'v> = (String, &'v Value);

fn parts_of<'v>(node: Node<'_>, value: Option<&'v Value>) -> Vec<Part<'v>> {
    let parts = value.map(|value| node.parts(value)).unwrap_or_default();
    let parts = parts.into_iter();
    parts.map(|(element, _, value)| (element, value)).collect()
}
