//! What is done to a pod through paths of its own: binding it to a node, evicting it (kubernetes' `registry/core/pod/storage`).
//! Disruption budgets are not looked at: an eviction is a delete.

use axum::body::Body;
use bench_core::api::{ObjectKey, Resource, Scope};
use http::request::Parts;
use serde_json::{Value, json};

use crate::{
    ApiServer,
    failure::Failure,
    write::{
        body,
        decode::decode,
        delete_options::DeleteOptions,
        driver::{Place, Written},
        field_error::FieldError,
        metadata,
        parameters::{DryRun, OptionsOf, WriteOptions},
        rules::ServedResource,
    },
};

/// What a POST to a part of a pod does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Bind,
    Evict,
}

impl Action {
    /// The action of a path's last segment.
    pub(super) fn of(served: &ServedResource, segment: &str) -> Option<Self> {
        match segment {
            "binding" if served.is("", "pods") => Some(Self::Bind),
            "eviction" if served.is("", "pods") => Some(Self::Evict),
            _ => None,
        }
    }
}

/// Does it.
///
/// # Errors
/// As a server answers: 404, 409 for a pod that is bound, 422.
pub(super) async fn perform(
    server: &ApiServer,
    request: &Parts,
    (place, key, action): (&Place, &ObjectKey, Action),
    body: Body,
) -> Result<Written, Failure> {
    let encoding = body::encoding(&request.headers)?;
    let bytes = body::read(body).await?;
    let query = request.uri.query().unwrap_or("");
    let options = WriteOptions::try_parse(OptionsOf::Create, query, "")?;
    let (group, kind) = match action {
        Action::Bind => ("", "Binding"),
        Action::Evict => ("policy", "Eviction"),
    };
    let kind_sent = ServedResource {
        resource: Resource::named(group, "v1", "", kind, Scope::Namespaced),
        custom: None,
    };
    let decoded = decode(&kind_sent, &bytes, encoding, options.validation)?;
    match action {
        Action::Bind => server.bind(place, key, &decoded.object, options.dry_run)?,
        Action::Evict => {
            let sent = decoded.object.get("deleteOptions");
            let mut options_of_delete = DeleteOptions::try_parse(sent, "")?;
            if options.dry_run == DryRun::All {
                options_of_delete.dry_run = DryRun::All;
            }
            server.delete_object(place, key, &options_of_delete)?;
        }
    }
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201,
    });
    let mut written = Written::new(201, status.to_string());
    written.warnings = decoded.warnings;
    Ok(written)
}

impl ApiServer {
    fn bind(
        &self,
        place: &Place,
        key: &ObjectKey,
        binding: &Value,
        dry_run: DryRun,
    ) -> Result<(), Failure> {
        let name = key.name();
        let node = binding
            .pointer("/target/name")
            .and_then(Value::as_str)
            .unwrap_or("");
        if node.is_empty() {
            let error = FieldError::required("target.name", "");
            return Err(Failure::invalid("", "Binding", name, &[error]));
        }
        let mut subresource = place.served.resource.clone();
        subresource.plural.push_str("/binding");
        let conflict = |why: &str| Failure::conflict(&subresource, name, why);
        loop {
            let Some((revision, mut pod)) = self.present(place, key) else {
                return Err(Failure::object_not_found("", "pods", name));
            };
            if metadata::is_terminating(&pod) {
                let why = format!("pod {name} is being deleted, cannot be assigned to a host");
                return Err(conflict(&why));
            }
            let bound = pod
                .pointer("/spec/nodeName")
                .and_then(Value::as_str)
                .unwrap_or("");
            if !bound.is_empty() {
                let why = format!("pod {name} is already assigned to node {bound:?}");
                return Err(conflict(&why));
            }
            pod["spec"]["nodeName"] = node.into();
            let annotations = metadata::of(binding)
                .get("annotations")
                .and_then(Value::as_object);
            for (name, value) in annotations.into_iter().flatten() {
                pod["metadata"]["annotations"][name] = value.clone();
            }
            let now = self.calendar_time().value();
            let scheduled = json!({
                "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now,
            });
            let conditions = &mut pod["status"]["conditions"];
            if !conditions.is_array() {
                *conditions = json!([]);
            }
            let conditions = conditions.as_array_mut().expect("made an array above");
            conditions.retain(|other| other["type"] != "PodScheduled");
            conditions.push(scheduled);
            metadata::arrange(&mut pod);
            if dry_run == DryRun::All || self.commit_value(place, pod, revision).is_ok() {
                return Ok(());
            }
        }
    }
}
