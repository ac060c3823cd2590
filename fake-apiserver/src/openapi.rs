//! `OpenAPI` documents, as far as kubectl looks into them: `explain`, and the validation of what it is about to send.

mod components;
mod operations;

use bench_core::api::Resource;
use http::{HeaderMap, header::ACCEPT};
use serde_json::{Map, Value, json};

use crate::ApiServer;

/// What was found at a path under `/openapi`.
#[derive(Debug)]
pub(crate) enum Found {
    /// A document, and whether it can be kept for good, since its hash was asked for.
    Document { json: String, keep: Keep },
    /// Only protobuf was asked for.
    NotAcceptable,
    /// The hash was of another state of the document.
    Redirect(String),
}

/// How long a document may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    ForGood,
    No,
}

/// `/openapi/v2`, `/openapi/v3` and what is under it.
pub(crate) fn find(
    server: &ApiServer,
    path: &str,
    query: &str,
    headers: &HeaderMap,
) -> Option<Found> {
    let path = path.strip_prefix("/openapi/")?;
    let resources = server.read(|state| {
        let stores = state.storage.stores();
        stores
            .map(|(_, store)| store.resource().clone())
            .collect::<Vec<_>>()
    });
    if path == "v2" {
        if !accepts_json(headers) {
            return Some(Found::NotAcceptable);
        }
        let json = version_2(&resources).to_string();
        return Some(Found::Document {
            json,
            keep: Keep::No,
        });
    }
    if path == "v3" {
        let json = roots(&resources).to_string();
        return Some(Found::Document {
            json,
            keep: Keep::No,
        });
    }
    let root = path.strip_prefix("v3/")?;
    let members: Vec<Resource> = resources
        .into_iter()
        .filter(|resource| root_of(resource) == root)
        .collect();
    if members.is_empty() {
        return None;
    }
    let json = version_3(&members).to_string();
    let asked = query.split('&').find_map(|pair| pair.strip_prefix("hash="));
    match asked {
        None => Some(Found::Document {
            json,
            keep: Keep::No,
        }),
        Some(hash) if hash == hash_of(&json) => Some(Found::Document {
            json,
            keep: Keep::ForGood,
        }),
        Some(_) => Some(Found::Redirect(location(root, &json))),
    }
}

/// Whether something beside protobuf is accepted.
fn accepts_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(ACCEPT).iter().peekable();
    values.peek().is_none()
        || values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(|clause| clause.split(';').next().unwrap_or("").trim())
            .any(|range| matches!(range, "*/*" | "application/*" | "application/json"))
}

/// `api/v1`, or `apis/group/version`.
fn root_of(resource: &Resource) -> String {
    if resource.group.is_empty() {
        format!("api/{}", resource.version)
    } else {
        format!("apis/{}/{}", resource.group, resource.version)
    }
}

fn roots(resources: &[Resource]) -> Value {
    let mut paths = Map::new();
    for resource in resources {
        let root = root_of(resource);
        if paths.contains_key(&root) {
            continue;
        }
        let members = resources.iter().filter(|member| root_of(member) == root);
        let document = version_3(&members.cloned().collect::<Vec<_>>()).to_string();
        let url = location(&root, &document);
        paths.insert(root, json!({"serverRelativeURL": url}));
    }
    json!({"paths": paths})
}

fn location(root: &str, document: &str) -> String {
    format!("/openapi/v3/{root}?hash={}", hash_of(document))
}

/// FNV-1a: it only has to change when the document does.
pub(crate) fn hash_of(document: &str) -> String {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let hash = document.bytes().fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    });
    format!("{hash:016X}")
}

fn version_3(resources: &[Resource]) -> Value {
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": operations::paths(resources, operations::Format::Version3),
        "components": {"schemas": components::schemas(resources, "#/components/schemas/")},
    })
}

fn version_2(resources: &[Resource]) -> Value {
    json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": operations::paths(resources, operations::Format::Version2),
        "definitions": components::schemas(resources, "#/definitions/"),
    })
}
