//! Carries deletes out, and what follows from a removal.

use bench_core::api::ObjectKey;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    ApiServer,
    failure::Failure,
    stored_object::ObjectDraft,
    write::{
        definitions,
        delete::{self, Deletion},
        delete_options::DeleteOptions,
        driver::{Place, Written, render},
        kubelets::{STOPPING, StoppingPod},
        metadata,
        namespaces::OF_THE_SYSTEM,
        parameters::DryRun,
        rules::ServedResource,
    },
};

impl ApiServer {
    /// Deletes an object, or marks it for deletion.
    ///
    /// # Errors
    /// As a server answers: 404, 403 for the system's namespaces, 409 for preconditions.
    pub(crate) fn delete_object(
        &self,
        place: &Place,
        key: &ObjectKey,
        options: &DeleteOptions,
    ) -> Result<Written, Failure> {
        let served = &place.served;
        let resource = &served.resource;
        if served.is("", "namespaces") && OF_THE_SYSTEM[..3].contains(&key.name()) {
            let why = "this namespace may not be deleted";
            return Err(Failure::forbidden(resource, key.name(), why));
        }
        // A precondition on the version holds for the first state; what this delete itself has written is not held against it.
        let mut options = options.clone();
        let is_dry = options.dry_run == DryRun::All;
        let code = if options.asked_not_to_orphan {
            202
        } else {
            200
        };
        loop {
            let Some((revision, current)) = self.present(place, key) else {
                let (group, plural) = (&resource.group, &resource.plural);
                return Err(Failure::object_not_found(group, plural, key.name()));
            };
            let now = self.calendar_time();
            match delete::delete(served, &current, &options, now)? {
                Deletion::Pending => return Ok(Written::new(code, render(served, &current))),
                Deletion::Mark(marked) if marked == current => {
                    return Ok(Written::new(code, render(served, &marked)));
                }
                Deletion::Mark(marked) => {
                    let expected = Some(revision);
                    let body =
                        self.put_unless_dry(place, marked.clone(), expected, options.dry_run)?;
                    if let Some(body) = body {
                        if !is_dry {
                            self.after_mark(place, key, &marked);
                        }
                        return Ok(Written::new(code, body));
                    }
                }
                Deletion::MarkAndRemove(marked) if is_dry => {
                    return Ok(Written::new(200, render(served, &marked)));
                }
                Deletion::MarkAndRemove(marked) => {
                    let draft = ObjectDraft::write(resource, marked);
                    // Another round removes it: its grace is 0 then.
                    if self.commit_object(place.id, &draft, Some(revision)).is_ok() {
                        options.resource_version = None;
                    }
                }
                Deletion::Remove if is_dry => {
                    return Ok(Written::new(200, answer_of_removal(served, &current)));
                }
                Deletion::Remove => {
                    if let Some(last) = self.remove(place, key, revision) {
                        return Ok(Written::new(200, answer_of_removal(served, &last)));
                    }
                }
            }
        }
    }

    /// Removes an object at a version, and whatever waited for that; `None` if it is at another version.
    pub(super) fn remove(&self, place: &Place, key: &ObjectKey, revision: u64) -> Option<Value> {
        let last = self.commit_removal(place.id, key, revision).ok()?;
        if !place.namespace.is_empty() {
            self.finish_namespace(&place.namespace);
        }
        if place.served.is_custom() {
            self.finish_definition_of(&place.served.resource);
        }
        Some(last.value())
    }

    /// What the server does of itself after an object was marked for deletion.
    fn after_mark(&self, place: &Place, key: &ObjectKey, marked: &Value) {
        let served = &place.served;
        if served.is("", "namespaces") {
            self.sweep_namespace(key.name());
        } else if served.is(definitions::GROUP, definitions::PLURAL) {
            self.sweep_definition(place, key);
        } else if served.is("", "pods") {
            let grace = metadata::integer(marked, "deletionGracePeriodSeconds").unwrap_or(0);
            if let Ok(seconds) = u64::try_from(grace)
                && seconds > 0
            {
                self.note_stopping(StoppingPod {
                    due: Instant::now() + STOPPING.min(std::time::Duration::from_secs(seconds)),
                    place: place.clone(),
                    key: key.clone(),
                    uid: metadata::text(marked, "uid").to_owned(),
                });
            }
        }
    }
}

fn answer_of_removal(served: &ServedResource, last: &Value) -> Bytes {
    if served.returns_deleted() {
        return render(served, last);
    }
    let resource = &served.resource;
    let mut details = json!({"name": metadata::text(last, "name")});
    if !resource.group.is_empty() {
        details["group"] = resource.group.as_str().into();
    }
    details["kind"] = resource.plural.as_str().into();
    details["uid"] = metadata::text(last, "uid").into();
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
    });
    status.to_string().into()
}
