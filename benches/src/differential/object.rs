//! The objects of the traces.

use std::sync::Arc;

use bench_core::{
    api::{DecodeError, KeyError, KubeObject, ObjectKey, ResourceVersion},
    cache::{IndexFunc, Indexers, index_by_namespace},
};
use serde::{Deserialize, Serialize};

/// An object as a trace writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectSpec {
    /// Empty for none.
    #[serde(rename = "ns", default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// May be empty, which upstream takes for a name.
    #[serde(default)]
    pub name: String,
    /// Its version.
    #[serde(rename = "rv", default)]
    pub resource_version: String,
    /// Its identity, which no queue looks at.
    #[serde(default)]
    pub uid: String,
    /// Its content.
    pub value: i64,
    /// Whether it has no metadata, so that it has no key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keyless: bool,
}

/// An object in a queue.
#[derive(Debug, PartialEq, Eq)]
pub struct TraceObject {
    pub(super) spec: ObjectSpec,
    key: Option<ObjectKey>,
}

/// What the transformer adds to a value.
const TRANSFORMED_BY: i64 = 1000;
/// A value that the transformer refuses.
pub(super) const REFUSED_VALUE: i64 = 13;
/// A value of an object that the transformer robs of its metadata.
pub(super) const SPOILED_VALUE: i64 = 11;
/// The name of the index that yields several values.
pub(super) const BITS_INDEX: &str = "bits";

impl ObjectSpec {
    /// The key as text.
    pub fn key(&self) -> String {
        if self.namespace.is_empty() {
            self.name.clone()
        } else {
            format!("{}/{}", self.namespace, self.name)
        }
    }

    /// The object itself.
    pub fn object(&self) -> Arc<TraceObject> {
        Arc::new(TraceObject::new(self.clone()))
    }
}

impl TraceObject {
    fn new(spec: ObjectSpec) -> Self {
        let key = (!spec.keyless).then(|| ObjectKey::new(&spec.namespace, &spec.name));
        Self { spec, key }
    }
}

impl KubeObject for TraceObject {
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self::new(serde_json::from_slice(json)?))
    }

    fn key(&self) -> Result<ObjectKey, KeyError> {
        self.key.clone().ok_or(KeyError::NoName)
    }

    fn resource_version(&self) -> ResourceVersion {
        ResourceVersion::from(&*self.spec.resource_version)
    }

    fn uid(&self) -> &str {
        &self.spec.uid
    }

    fn kind(&self) -> &'static str {
        ""
    }
}

/// Deterministic, and never fails for what it has transformed before, since releases differ in how often they call it.
///
/// # Errors
/// For an object with [`REFUSED_VALUE`].
pub(super) fn transform(object: Arc<TraceObject>) -> Result<Arc<TraceObject>, String> {
    if object.spec.keyless {
        return Ok(object);
    }
    let mut spec = object.spec.clone();
    match spec.value {
        REFUSED_VALUE => return Err("transformer refused".to_owned()),
        SPOILED_VALUE => spec.keyless = true,
        _ => spec.value += TRANSFORMED_BY,
    }
    Ok(Arc::new(TraceObject::new(spec)))
}

/// The indexes of a trace that asks for them; [`BITS_INDEX`] yields no value, one or several, one of them twice.
pub(super) fn indexers() -> Indexers<TraceObject> {
    let bits: IndexFunc<TraceObject> = Arc::new(|object: &TraceObject| {
        let value = object.spec.value;
        let mut values: Vec<_> = (0..3)
            .filter(|bit| value >> bit & 1 == 1)
            .map(|bit| format!("bit{bit}"))
            .collect();
        if value >> 3 & 1 == 1 {
            values.extend(values.first().cloned());
        }
        values
    });
    let mut indexers = index_by_namespace();
    indexers.insert(BITS_INDEX.to_owned(), bits);
    indexers
}
