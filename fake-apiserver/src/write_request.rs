//! What a write is made of: which object it concerns, and the content of a new one.

use bench_core::{
    api::{ObjectKey, Scope},
    measure::clock::MonotonicTime,
};
use rand::RngExt as _;
use serde_json::json;

use crate::{
    ApiServer,
    api_server::State,
    churn::Write,
    control::{CommitRecord, WriteKind, WriteRequest},
    object_name,
    profiles::CREATED_AT,
    storage::{ResourceId, WriteError},
    stored_object::{MARKER_ANNOTATION, ObjectDraft},
};

/// A write by request was not done.
#[derive(Debug, thiserror::Error)]
pub enum RequestedWriteError {
    /// The key cannot be one of this resource.
    #[error("key: {0:?} does not fit the scope of the resource")]
    Key(String),
    /// There is no object to write.
    #[error("{0} has no objects")]
    NoObjects(String),
    /// The server has no such resource.
    #[error("resource: {0:?} is not served here")]
    UnknownResource(String),
    /// Refused by the storage.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl ApiServer {
    /// Commits one write as the control API asks for it.
    ///
    /// # Errors
    /// [`RequestedWriteError`]; nothing has changed then.
    pub fn write(&self, request: &WriteRequest) -> Result<CommitRecord, RequestedWriteError> {
        let scheduled = MonotonicTime::now();
        let id = self
            .find_resource(&request.resource)
            .ok_or_else(|| RequestedWriteError::UnknownResource(request.resource.clone()))?;
        let write = self.read(|state| requested_write(state, id, request))?;
        Ok(self.commit(id, &write, scheduled)?)
    }

    /// The object that a create puts in place: of the resource's profile, or a copy of a sibling under another name.
    pub(crate) fn make_object(
        &self,
        id: ResourceId,
        key: &ObjectKey,
        uid: u128,
        sibling: Option<&ObjectKey>,
    ) -> ObjectDraft {
        if let Some(profile) = self.maker(id) {
            return profile.render(key, uid);
        }
        let (resource, sibling) = self.read(|state| {
            let store = state.storage.store(id);
            let sibling = sibling.and_then(|sibling| store.objects().get(sibling).cloned());
            (store.resource().clone(), sibling)
        });
        let mut object = sibling.map_or_else(|| json!({"metadata": {}}), |sibling| sibling.value());
        if let Some(annotations) = object["metadata"]["annotations"].as_object_mut() {
            annotations.shift_remove(MARKER_ANNOTATION);
        }
        let metadata = &mut object["metadata"];
        metadata["name"] = key.name().into();
        if !key.namespace().is_empty() {
            metadata["namespace"] = key.namespace().into();
        }
        metadata["uid"] = object_name::uid(uid).into();
        metadata["creationTimestamp"] = CREATED_AT.into();
        ObjectDraft::write(&resource, object)
    }
}

/// Fills in what a request leaves open.
fn requested_write(
    state: &mut State,
    id: ResourceId,
    request: &WriteRequest,
) -> Result<Write, RequestedWriteError> {
    let State {
        storage, random, ..
    } = state;
    let store = storage.store(id);
    let scope = store.resource().scope;
    let first = store.objects().keys().next().cloned();
    let key = match &request.key {
        None => None,
        Some(text) => {
            let key = ObjectKey::try_parse(text).ok();
            let fits = |key: &ObjectKey| key.namespace().is_empty() == (scope == Scope::Cluster);
            Some(
                key.filter(fits)
                    .ok_or_else(|| RequestedWriteError::Key(text.clone()))?,
            )
        }
    };
    let existing = || {
        key.clone()
            .or_else(|| first.clone())
            .ok_or_else(|| RequestedWriteError::NoObjects(request.resource.clone()))
    };
    Ok(match request.op {
        WriteKind::Update => Write::Update { key: existing()? },
        WriteKind::Delete => Write::Delete { key: existing()? },
        WriteKind::Create => Write::Create {
            key: key.unwrap_or_else(|| object_name::sibling_key(first.as_ref(), scope, random)),
            uid: random.random(),
            sibling: first,
        },
    })
}
