//! What a request is counted under.

use http::{HeaderMap, Method, header::CONTENT_TYPE};

use crate::request_info::{RequestInfo, Verb};

/// The labels of requests, in the order of [`RequestLabels::values`].
pub(super) const LABELS: [&str; 8] = [
    "verb",
    "dry_run",
    "group",
    "version",
    "resource",
    "subresource",
    "scope",
    "component",
];

/// Subresources that are conversations.
const CONNECT_SUBRESOURCES: [&str; 5] = ["log", "exec", "portforward", "attach", "proxy"];

/// The component that answers for resources.
const COMPONENT: &str = "apiserver";

/// Label values of one request: `MonitorRequest` and its helpers in apiserver's `pkg/endpoints/metrics/metrics.go`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RequestLabels {
    verb: &'static str,
    dry_run: &'static str,
    group: String,
    version: String,
    resource: String,
    subresource: String,
    scope: &'static str,
    component: &'static str,
}

impl RequestLabels {
    pub(super) fn new(
        method: &Method,
        headers: &HeaderMap,
        info: &RequestInfo,
        query: &str,
    ) -> Self {
        let scope = scope_of(info);
        Self {
            verb: verb_of(method, headers, info, scope),
            dry_run: dry_run_of(query),
            group: info.group.clone(),
            version: info.version.clone(),
            resource: info.resource.clone(),
            subresource: info.subresource.clone(),
            scope,
            component: if info.is_resource_request() {
                COMPONENT
            } else {
                ""
            },
        }
    }

    /// Forgets what the path names: a path that nothing is at could name anything, and each would be kept for ever.
    pub(super) fn forget_names(&mut self) {
        for name in [
            &mut self.group,
            &mut self.version,
            &mut self.resource,
            &mut self.subresource,
        ] {
            name.clear();
        }
    }

    pub(super) fn values(&self) -> [&str; 8] {
        [
            self.verb,
            self.dry_run,
            &self.group,
            &self.version,
            &self.resource,
            &self.subresource,
            self.scope,
            self.component,
        ]
    }

    /// Of metrics that do not tell dry runs apart.
    pub(super) fn values_without_dry_run(&self) -> [&str; 7] {
        let [
            verb,
            _,
            group,
            version,
            resource,
            subresource,
            scope,
            component,
        ] = self.values();
        [
            verb,
            group,
            version,
            resource,
            subresource,
            scope,
            component,
        ]
    }

    /// Group, version and resource.
    pub(super) fn resource_values(&self) -> [&str; 3] {
        [&self.group, &self.version, &self.resource]
    }

    /// Whether the size of the answer is of interest.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.verb, "GET" | "LIST")
    }
}

fn scope_of(info: &RequestInfo) -> &'static str {
    if !info.is_resource_request() {
        ""
    } else if !info.name.is_empty() || info.verb == Some(Verb::Create) {
        "resource"
    } else if !info.namespace.is_empty() {
        "namespace"
    } else {
        "cluster"
    }
}

fn verb_of(method: &Method, headers: &HeaderMap, info: &RequestInfo, scope: &str) -> &'static str {
    if CONNECT_SUBRESOURCES.contains(&info.subresource.as_str()) {
        return "CONNECT";
    }
    match *method {
        Method::GET | Method::HEAD if info.verb == Some(Verb::Watch) => "WATCH",
        Method::GET | Method::HEAD if matches!(scope, "namespace" | "cluster") => "LIST",
        Method::GET | Method::HEAD => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::PATCH => {
            let content_type = headers.get(CONTENT_TYPE);
            if content_type.is_some_and(|value| value == "application/apply-patch+yaml") {
                "APPLY"
            } else {
                "PATCH"
            }
        }
        _ => "OTHER",
    }
}

fn dry_run_of(query: &str) -> &'static str {
    let mut values = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "dryRun");
    match values.next() {
        None => "",
        Some((_, value)) if value == "All" && values.all(|(_, value)| value == "All") => "All",
        Some(_) => "invalid",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_named_as_upstream_names_them() {
        let table = "
            GET /api/v1/pods = LIST,,,v1,pods,,cluster,apiserver
            GET /api/v1/namespaces/a/pods?watch=1 = WATCH,,,v1,pods,,namespace,apiserver
            GET /api/v1/namespaces/a/pods/x = GET,,,v1,pods,,resource,apiserver
            GET /api/v1/namespaces/a/pods/x/log = CONNECT,,,v1,pods,log,resource,apiserver
            POST /apis/apps/v1/namespaces/a/deployments?dryRun=All = POST,All,apps,v1,deployments,,resource,apiserver
            PUT /api/v1/nodes/n/status?dryRun=Some = PUT,invalid,,v1,nodes,status,resource,apiserver
            PATCH /api/v1/nodes/n = PATCH,,,v1,nodes,,resource,apiserver
            DELETE /api/v1/namespaces/a/pods = DELETE,,,v1,pods,,namespace,apiserver
            OPTIONS /version = OTHER,,,,,,,
            GET /version = GET,,,,,,,
        ";
        for row in table.trim().lines() {
            let (request, expected) = row.trim().split_once(" = ").unwrap();
            let (method, target) = request.split_once(' ').unwrap();
            let (path, query) = target.split_once('?').unwrap_or((target, ""));
            let method = method.parse().unwrap();
            let info = RequestInfo::new(&method, path, query);
            let labels = RequestLabels::new(&method, &HeaderMap::new(), &info, query);
            assert_eq!(labels.values().join(","), expected, "{row}");
        }
    }
}
