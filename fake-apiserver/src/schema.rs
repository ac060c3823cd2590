//! The types of Kubernetes' kinds: which fields they have, of which type, and how their lists and maps merge.
//!
//! Read once from `schema/kubernetes.txt`, which `schema/make.py` makes from the published `OpenAPI` document.

mod conform;

use std::{collections::HashMap, sync::LazyLock};

pub(crate) use conform::{Conformed, conform};

/// What a value can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FieldType {
    Any,
    Bool,
    Int,
    /// A number or a text.
    IntOrString,
    List(Box<Self>),
    /// Text to values.
    Map(Box<Self>),
    Number,
    /// A text or a number, with a unit.
    Quantity,
    String,
    /// A type with fields, by its place in the schema.
    Struct(usize),
}

/// Who owns the items of a list, or the fields of a map or a struct, when several managers write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// One manager owns the whole.
    Atomic,
    /// Items are told apart by these fields.
    Keyed(Vec<String>),
    /// Parts have owners of their own.
    Parts,
    /// Items are told apart by value.
    Set,
}

/// How a strategic merge patch treats a list or a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merging {
    /// Items with the same key are merged; without a key, values are united.
    Merged,
    Replaced,
}

/// One field of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) value: FieldType,
    pub(crate) ownership: Ownership,
    pub(crate) merging: Merging,
    pub(crate) merge_key: Option<String>,
    /// What an absent field stands for as part of a key.
    pub(crate) key_default: Option<String>,
}

/// A type with fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StructType {
    pub(crate) name: String,
    pub(crate) ownership: Ownership,
    fields: Vec<Field>,
    by_name: HashMap<String, usize>,
}

/// A set of types that refer to each other.
#[derive(Debug)]
pub(crate) struct Schema {
    types: Vec<StructType>,
    // By apiVersion and kind.
    kinds: HashMap<(String, String), usize>,
}

impl StructType {
    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.by_name.get(name).map(|index| &self.fields[*index])
    }
}

impl Schema {
    /// Kubernetes' own kinds.
    pub(crate) fn built_in() -> &'static Self {
        static BUILT_IN: LazyLock<Schema> =
            LazyLock::new(|| Schema::parse(include_str!("schema/kubernetes.txt")));
        &BUILT_IN
    }

    pub(crate) fn kind(&self, api_version: &str, kind: &str) -> Option<usize> {
        let key = (api_version.to_owned(), kind.to_owned());
        self.kinds.get(&key).copied()
    }

    /// The metadata that every kind has.
    pub(crate) fn object_meta(&self) -> usize {
        let is_metadata = |candidate: &StructType| candidate.name == "ObjectMeta";
        let place = self.types.iter().position(is_metadata);
        place.expect("every kind has metadata")
    }

    pub(crate) fn get(&self, index: usize) -> &StructType {
        &self.types[index]
    }

    /// The type of a field type, if it has fields.
    pub(crate) fn struct_of(&self, field_type: &FieldType) -> Option<&StructType> {
        match field_type {
            FieldType::Struct(index) => Some(&self.types[*index]),
            _ => None,
        }
    }

    /// Parses the format that the file describes in its first lines. The file is part of this program, so faults in it are not
    /// errors.
    fn parse(text: &str) -> Self {
        let lines = || text.lines().filter(|line| !line.starts_with('#'));
        let heads = || lines().filter(|line| !line.starts_with(' '));
        let places: HashMap<&str, usize> = heads()
            .enumerate()
            .map(|(place, line)| (line.split(' ').next().unwrap_or(""), place))
            .collect();
        let mut schema = Self {
            types: Vec::new(),
            kinds: HashMap::new(),
        };
        for line in lines() {
            match line.strip_prefix(' ') {
                None => schema.begin_type(line),
                Some(line) => {
                    let field = parse_field(line, &places);
                    let owner = schema.types.last_mut().expect("fields follow their type");
                    owner.by_name.insert(field.name.clone(), owner.fields.len());
                    owner.fields.push(field);
                }
            }
        }
        schema
    }

    fn begin_type(&mut self, line: &str) {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or("").to_owned();
        let mut ownership = Ownership::Parts;
        for word in words {
            if word == "atomic" {
                ownership = Ownership::Atomic;
            } else {
                let kind = name.rsplit('.').next().unwrap_or("").to_owned();
                self.kinds.insert((word.to_owned(), kind), self.types.len());
            }
        }
        self.types.push(StructType {
            name,
            ownership,
            fields: Vec::new(),
            by_name: HashMap::new(),
        });
    }
}

fn parse_field(line: &str, places: &HashMap<&str, usize>) -> Field {
    let mut words = line.split(' ');
    let name = words.next().unwrap_or("").trim_end_matches('!').to_owned();
    let value = parse_type(words.next().unwrap_or(""), places);
    let mut field = Field {
        name,
        // Lists without a rule belong to one manager, maps to many.
        ownership: match value {
            FieldType::List(_) => Ownership::Atomic,
            _ => Ownership::Parts,
        },
        value,
        merging: Merging::Replaced,
        merge_key: None,
        key_default: None,
    };
    for word in words {
        match word.split_once('=').unwrap_or((word, "")) {
            ("atomic", _) => field.ownership = Ownership::Atomic,
            ("set", _) => field.ownership = Ownership::Set,
            ("keys", keys) => {
                field.ownership = Ownership::Keyed(keys.split(',').map(str::to_owned).collect());
            }
            ("merge", key) => {
                field.merging = Merging::Merged;
                field.merge_key = (!key.is_empty()).then(|| key.to_owned());
            }
            ("default", value) => field.key_default = Some(value.to_owned()),
            _ => {}
        }
    }
    field
}

fn parse_type(text: &str, places: &HashMap<&str, usize>) -> FieldType {
    let inner = |text: &str| Box::new(parse_type(&text[1..text.len() - 1], places));
    match text {
        "any" => FieldType::Any,
        "bool" => FieldType::Bool,
        "int" => FieldType::Int,
        "int-or-string" => FieldType::IntOrString,
        "number" => FieldType::Number,
        "quantity" => FieldType::Quantity,
        "string" => FieldType::String,
        list if list.starts_with('[') => FieldType::List(inner(list)),
        map if map.starts_with('{') => FieldType::Map(inner(map)),
        name => FieldType::Struct(*places.get(name).expect("types are listed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_tells_fields_types_and_merge_rules() {
        let schema = Schema::built_in();
        let pod = schema.get(schema.kind("v1", "Pod").unwrap());
        let spec = schema.struct_of(&pod.field("spec").unwrap().value).unwrap();
        let containers = spec.field("containers").unwrap();
        assert_eq!(containers.merging, Merging::Merged);
        assert_eq!(containers.merge_key.as_deref(), Some("name"));
        assert_eq!(
            containers.ownership,
            Ownership::Keyed(vec!["name".to_owned()])
        );
        let FieldType::List(container) = &containers.value else {
            panic!("{containers:?}");
        };
        let container = schema.struct_of(container).unwrap();
        let ports = container.field("ports").unwrap();
        let keys = ["containerPort", "protocol"].map(str::to_owned).to_vec();
        assert_eq!(ports.ownership, Ownership::Keyed(keys));
        assert_eq!(ports.merge_key.as_deref(), Some("containerPort"));
        let command = container.field("command").unwrap();
        assert_eq!(command.ownership, Ownership::Atomic);
        assert_eq!(spec.field("no-such-field"), None);
    }

    #[test]
    fn every_kind_that_is_always_served_is_in_it_and_has_metadata() {
        let schema = Schema::built_in();
        for (api_version, kind) in [
            ("v1", "ConfigMap"),
            ("v1", "Event"),
            ("v1", "Namespace"),
            ("v1", "Node"),
            ("v1", "Pod"),
            ("v1", "Secret"),
            ("v1", "Service"),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
            ("apps/v1", "Deployment"),
            ("apps/v1", "ReplicaSet"),
            ("batch/v1", "Job"),
            ("coordination.k8s.io/v1", "Lease"),
            ("discovery.k8s.io/v1", "EndpointSlice"),
            ("events.k8s.io/v1", "Event"),
        ] {
            let place = schema.kind(api_version, kind).expect(kind);
            let metadata = schema.get(place).field("metadata").expect(kind);
            assert_eq!(metadata.value, FieldType::Struct(schema.object_meta()));
        }
        assert_eq!(schema.kind("example.com/v1", "Pod"), None);
    }
}
