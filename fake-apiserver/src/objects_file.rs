//! Real objects from a file: what `kubectl get … -o json` or `-o yaml` writes, or manifests.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
};

use bench_core::api::{ObjectKey, Resource, Scope};
use serde_json::{Value, json};

use crate::{
    custom_kind, known_kinds, object_name, profiles::CREATED_AT, stored_object::ObjectDraft, write,
};

/// A file of objects cannot be used. Says where to look.
#[derive(Debug, thiserror::Error)]
pub enum ObjectsFileError {
    /// It cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is neither JSON nor YAML.
    #[error("{path} is not valid JSON")]
    Json {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
    /// It is neither JSON nor YAML.
    #[error("{path} is not valid YAML")]
    Yaml {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: Box<serde_saphyr::Error>,
    },
    /// It is well formed, but an object in it is not one.
    #[error("{path}: {problem}")]
    Item {
        /// The file.
        path: PathBuf,
        /// Which item, and what is wrong with which field.
        problem: ItemProblem,
    },
}

/// One item of a file that is not an object as Kubernetes has them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("item {index}{}: {fault}", .described.as_ref().map(|text| format!(" ({text})")).unwrap_or_default())]
pub struct ItemProblem {
    /// Counted from 0 through the whole file.
    pub index: usize,
    /// Kind and name, as far as they are known.
    pub described: Option<String>,
    /// What is wrong.
    pub fault: ItemFault,
}

/// What can be wrong with an item.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ItemFault {
    /// The same kind, namespace and name as an earlier item.
    #[error("same object as item {earlier}")]
    Duplicate {
        /// The earlier one.
        earlier: usize,
    },
    /// A field that every object has is absent or empty.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A name with a slash cannot be part of a path.
    #[error("{0} must not contain \"/\"")]
    Slash(&'static str),
    /// A field holds something else than it should.
    #[error("{field} is not {expected}")]
    Type {
        /// The field.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
    },
}

/// Reads all objects of a file: JSON or YAML, one object, a list of any kinds, or several YAML documents of these.
///
/// Absent uids, versions and creation times are filled in, and `default` for the namespace of namespaced kinds. The kinds of
/// `CustomResourceDefinition`s in the file are known for the rest of it.
///
/// # Errors
/// [`ObjectsFileError`]; either all objects are returned or none.
pub fn read(path: &Path) -> Result<Vec<(Resource, ObjectDraft)>, ObjectsFileError> {
    let text = fs::read_to_string(path).map_err(|source| ObjectsFileError::Read {
        path: path.to_owned(),
        source,
    })?;
    let documents: Vec<Value> = if text.trim_start().starts_with('{') {
        let document = serde_json::from_str(&text);
        vec![document.map_err(|source| ObjectsFileError::Json {
            path: path.to_owned(),
            source,
        })?]
    } else {
        parse_yaml(&text).map_err(|source| ObjectsFileError::Yaml {
            path: path.to_owned(),
            source: Box::new(source),
        })?
    };
    interpret(documents).map_err(|problem| ObjectsFileError::Item {
        path: path.to_owned(),
        problem,
    })
}

/// Interprets parsed documents; see [`read`].
///
/// # Errors
/// [`ItemProblem`] of the first item that is at fault.
pub fn interpret(documents: Vec<Value>) -> Result<Vec<(Resource, ObjectDraft)>, ItemProblem> {
    let mut reader = Reader {
        defined: definitions_in(&documents),
        ..Reader::default()
    };
    for document in documents.into_iter().filter(|document| !document.is_null()) {
        reader.document(document)?;
    }
    Ok(reader.drafts)
}

fn parse_yaml(text: &str) -> Result<Vec<Value>, serde_saphyr::Error> {
    // The parser's usual limits are for small configurations: a thousand pods exceed them. Those on depth and aliases stay.
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_documents: usize::MAX,
            max_events: usize::MAX,
            max_nodes: usize::MAX,
            max_total_scalar_bytes: usize::MAX,
        },
    };
    serde_saphyr::from_multiple_with_options(text, options)
}

#[derive(Default)]
struct Reader {
    drafts: Vec<(Resource, ObjectDraft)>,
    // Items in the order of `drafts`, so that a duplicate can name the earlier one.
    seen: HashMap<(Resource, ObjectKey), usize>,
    // The resources of the definitions in the file, which may stand after their objects.
    defined: Vec<Resource>,
    index: usize,
}

impl Reader {
    fn document(&mut self, document: Value) -> Result<(), ItemProblem> {
        let kind = document
            .get("kind")
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned();
        let api_version = document
            .get("apiVersion")
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned();
        let Some(item_kind) = kind
            .strip_suffix("List")
            .filter(|_| document.get("items").is_some())
        else {
            return self.item(document);
        };
        let items = match document {
            Value::Object(mut fields) => fields.shift_remove("items").unwrap_or(Value::Null),
            _ => Value::Null,
        };
        let items = match items {
            Value::Array(items) => items,
            Value::Null => Vec::new(),
            _ => {
                let fault = ItemFault::Type {
                    field: "items",
                    expected: "an array",
                };
                return Err(ItemProblem {
                    index: self.index,
                    described: Some(kind),
                    fault,
                });
            }
        };
        for mut item in items {
            // Items of a typed list carry neither.
            if let (Some(fields), false) = (item.as_object_mut(), item_kind.is_empty()) {
                fields.entry("kind").or_insert_with(|| item_kind.into());
                fields
                    .entry("apiVersion")
                    .or_insert_with(|| api_version.clone().into());
            }
            self.item(item)?;
        }
        Ok(())
    }

    fn item(&mut self, mut item: Value) -> Result<(), ItemProblem> {
        let index = self.index;
        self.index += 1;
        let described = describe(&item);
        let problem = |fault| ItemProblem {
            index,
            described: described.clone(),
            fault,
        };
        let mut resource = resource_of(&item).map_err(problem)?;
        let is_same_kind = |other: &&Resource| {
            (&other.kind, other.api_version()) == (&resource.kind, resource.api_version())
        };
        if let Some(defined) = self.defined.iter().find(is_same_kind) {
            resource = defined.clone();
        }
        if is_definition(&item) {
            write::complete_definition(&mut item);
        }
        complete(&resource, &mut item, index).map_err(problem)?;
        let draft = ObjectDraft::write(&resource, item);
        if let Some(&earlier) = self.seen.get(&(resource.clone(), draft.key().clone())) {
            return Err(problem(ItemFault::Duplicate { earlier }));
        }
        self.seen
            .insert((resource.clone(), draft.key().clone()), index);
        self.drafts.push((resource, draft));
        Ok(())
    }
}

fn is_definition(item: &Value) -> bool {
    item.get("kind")
        .is_some_and(|kind| kind == "CustomResourceDefinition")
        && item
            .get("apiVersion")
            .is_some_and(|version| version == "apiextensions.k8s.io/v1")
}

fn definitions_in(documents: &[Value]) -> Vec<Resource> {
    let items = documents.iter().flat_map(|document| {
        match document.get("items").and_then(Value::as_array) {
            Some(items) => items.as_slice(),
            None => std::slice::from_ref(document),
        }
    });
    let definitions = items.filter(|item| is_definition(item));
    let defined = definitions.filter_map(custom_kind::defined_by);
    defined.map(|(resource, _)| resource).collect()
}

/// Kind, namespace and name, as far as they can be found.
fn describe(item: &Value) -> Option<String> {
    let kind = item.get("kind").and_then(Value::as_str)?;
    let metadata = |name: &str| {
        item.get("metadata")
            .and_then(|metadata| metadata.get(name))
            .and_then(Value::as_str)
    };
    Some(match (metadata("namespace"), metadata("name")) {
        (None, None) => kind.to_owned(),
        (None, Some(name)) => format!("{kind} {name}"),
        (Some(namespace), name) => format!("{kind} {namespace}/{}", name.unwrap_or("?")),
    })
}

fn resource_of(item: &Value) -> Result<Resource, ItemFault> {
    if !item.is_object() {
        return Err(ItemFault::Type {
            field: "the item",
            expected: "an object",
        });
    }
    let kind = required_text(item, "kind", "kind")?;
    let api_version = required_text(item, "apiVersion", "apiVersion")?;
    let metadata = item.get("metadata").ok_or(ItemFault::Missing("metadata"))?;
    if !metadata.is_object() {
        return Err(ItemFault::Type {
            field: "metadata",
            expected: "an object",
        });
    }
    let name = required_text(metadata, "name", "metadata.name")?;
    if name.contains('/') {
        return Err(ItemFault::Slash("metadata.name"));
    }
    let scope = match metadata.get("namespace") {
        None | Some(Value::Null) => Scope::Cluster,
        Some(Value::String(namespace)) if namespace.is_empty() => Scope::Cluster,
        Some(Value::String(namespace)) if namespace.contains('/') => {
            return Err(ItemFault::Slash("metadata.namespace"));
        }
        Some(Value::String(_)) => Scope::Namespaced,
        Some(_) => {
            return Err(ItemFault::Type {
                field: "metadata.namespace",
                expected: "a string",
            });
        }
    };
    Ok(known_kinds::resource_of(api_version, kind, scope))
}

fn required_text<'a>(
    object: &'a Value,
    name: &str,
    field: &'static str,
) -> Result<&'a str, ItemFault> {
    match object.get(name) {
        None | Some(Value::Null) => Err(ItemFault::Missing(field)),
        Some(Value::String(text)) if text.is_empty() => Err(ItemFault::Missing(field)),
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(ItemFault::Type {
            field,
            expected: "a string",
        }),
    }
}

/// Fills in what a server would have.
fn complete(resource: &Resource, item: &mut Value, index: usize) -> Result<(), ItemFault> {
    let metadata = item["metadata"]
        .as_object_mut()
        .expect("checked to be an object");
    for (name, field) in [
        ("uid", "metadata.uid"),
        ("creationTimestamp", "metadata.creationTimestamp"),
    ] {
        match metadata.get(name) {
            None | Some(Value::Null | Value::String(_)) => {}
            Some(_) => {
                return Err(ItemFault::Type {
                    field,
                    expected: "a string",
                });
            }
        }
    }
    let is_blank = |value: Option<&Value>| value.and_then(Value::as_str).is_none_or(str::is_empty);
    match resource.scope {
        Scope::Cluster => {
            metadata.shift_remove("namespace");
        }
        Scope::Namespaced if is_blank(metadata.get("namespace")) => {
            metadata.insert("namespace".to_owned(), json!("default"));
        }
        Scope::Namespaced => {}
    }
    if is_blank(metadata.get("uid")) {
        // Apart from random uids by its first half.
        metadata.insert("uid".to_owned(), object_name::uid(index as u128 + 1).into());
    }
    if is_blank(metadata.get("creationTimestamp")) {
        metadata.insert("creationTimestamp".to_owned(), CREATED_AT.into());
    }
    Ok(())
}
