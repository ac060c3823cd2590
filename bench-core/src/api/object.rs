//! Objects as an informer keeps them: raw with parsed metadata, or a typed kind of `k8s_openapi`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize;

use super::{KeyError, ObjectKey, ResourceVersion};

/// What an informer needs of an object.
pub trait KubeObject: Sized + Send + Sync + 'static {
    /// Parses one object from the bytes of a list item or a watch event, and keeps no reference to them.
    ///
    /// # Errors
    /// [`DecodeError`] if the bytes are not such an object.
    fn decode(json: &[u8]) -> Result<Self, DecodeError>;

    /// The object's key.
    ///
    /// # Errors
    /// [`KeyError::NoName`] if it has no name.
    fn key(&self) -> Result<ObjectKey, KeyError>;

    /// `metadata.resourceVersion`; unset if absent.
    fn resource_version(&self) -> ResourceVersion;

    /// `metadata.uid`; empty if absent.
    fn uid(&self) -> &str;

    /// `kind`, where the object carries it; empty in typed lists.
    fn kind(&self) -> &str;
}

/// An object could not be decoded.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The bytes are not JSON of the expected shape.
    #[error("object cannot be decoded")]
    Json(#[from] serde_json::Error),
    /// The answer is a `Table`, which holds rows for a person and no objects.
    #[error("a Table of {api_version} holds no objects")]
    Table {
        /// The Table's `apiVersion`.
        api_version: String,
    },
}

/// An object as received: parsed metadata and a copy of its JSON bytes, exactly as long as they are, so that a small object
/// never pins the buffer it arrived in.
#[derive(Debug, Clone)]
pub struct Object {
    key: Option<ObjectKey>,
    resource_version: ResourceVersion,
    uid: Box<str>,
    kind: Box<str>,
    json: Box<[u8]>,
}

impl Object {
    /// The bytes as received.
    pub fn json(&self) -> &[u8] {
        &self.json
    }
}

impl KubeObject for Object {
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        let partial: PartialObject<'_> = serde_json::from_slice(json)?;
        let metadata = partial.metadata;
        let key = (!metadata.name.is_empty())
            .then(|| ObjectKey::new(&metadata.namespace, &metadata.name));
        Ok(Self {
            key,
            resource_version: ResourceVersion::from(&*metadata.resource_version),
            uid: Box::from(&*metadata.uid),
            kind: Box::from(&*partial.kind),
            json: Box::from(json),
        })
    }

    fn key(&self) -> Result<ObjectKey, KeyError> {
        self.key.clone().ok_or(KeyError::NoName)
    }

    fn resource_version(&self) -> ResourceVersion {
        self.resource_version.clone()
    }

    fn uid(&self) -> &str {
        &self.uid
    }

    fn kind(&self) -> &str {
        &self.kind
    }
}

impl<K> KubeObject for K
where
    K: k8s_openapi::Metadata<Ty = ObjectMeta> + serde::de::DeserializeOwned + Send + Sync + 'static,
{
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        Ok(serde_json::from_slice(json)?)
    }

    fn key(&self) -> Result<ObjectKey, KeyError> {
        let metadata = self.metadata();
        let name = metadata
            .name
            .as_deref()
            .filter(|name| !name.is_empty())
            .ok_or(KeyError::NoName)?;
        Ok(ObjectKey::new(
            metadata.namespace.as_deref().unwrap_or(""),
            name,
        ))
    }

    fn resource_version(&self) -> ResourceVersion {
        ResourceVersion::from(self.metadata().resource_version.as_deref().unwrap_or(""))
    }

    fn uid(&self) -> &str {
        self.metadata().uid.as_deref().unwrap_or("")
    }

    fn kind(&self) -> &str {
        K::KIND
    }
}

#[derive(Deserialize)]
struct PartialObject<'a> {
    #[serde(borrow, default)]
    kind: std::borrow::Cow<'a, str>,
    #[serde(borrow, default)]
    metadata: PartialMetadata<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PartialMetadata<'a> {
    #[serde(borrow)]
    namespace: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    name: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    uid: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    resource_version: std::borrow::Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;

    use super::*;

    const POD: &str = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p\u0061","namespace":"t","uid":"u1","resourceVersion":"5"},"spec":{"containers":[]}}"#;

    #[test]
    fn raw_and_typed_objects_agree_on_identity() {
        let raw = Object::decode(POD.as_bytes()).unwrap();
        let typed = Pod::decode(POD.as_bytes()).unwrap();
        assert_eq!(raw.key().unwrap(), ObjectKey::new("t", "pa"));
        assert_eq!(raw.key(), KubeObject::key(&typed));
        assert_eq!(raw.resource_version(), KubeObject::resource_version(&typed));
        assert_eq!((raw.uid(), raw.kind()), (typed.uid(), typed.kind()));
        assert_eq!(raw.json(), POD.as_bytes());
    }

    #[test]
    fn an_object_without_a_name_has_no_key() {
        assert_eq!(Object::decode(b"{}").unwrap().key(), Err(KeyError::NoName));
        assert!(Object::decode(b"{\"metadata\":").is_err());
    }
}
