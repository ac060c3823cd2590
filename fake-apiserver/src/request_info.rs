//! What a request is about, read off its method, path and query alone: for faults and metrics, which stand in front of the routes.
//!
//! The rules are those of `RequestInfoFactory` in apiserver's `pkg/endpoints/request/requestinfo.go`.

use http::Method;

/// What is done to resources, in the words of roles and audit logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// POST.
    Create,
    /// DELETE of one object.
    Delete,
    /// DELETE of a collection.
    DeleteCollection,
    /// GET or HEAD of one object, and of whatever is no resource.
    Get,
    /// GET of a collection.
    List,
    /// PATCH.
    Patch,
    /// PUT.
    Update,
    /// GET of a collection with `watch`.
    Watch,
}

/// A request in Kubernetes' terms. Fields that do not apply are empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestInfo {
    /// What is done; `None` for a method that Kubernetes does not use.
    pub verb: Option<Verb>,
    /// Path as sent.
    pub path: String,
    /// API group; empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Plural of the resource; empty if the path names none.
    pub resource: String,
    /// Such as `status`.
    pub subresource: String,
    /// Namespace.
    pub namespace: String,
    /// Name of the object, of the path or of a field selector for one name.
    pub name: String,
    /// Whether the request goes on with an earlier list.
    pub continuation: Continuation,
}

/// Whether a request has a `continue` token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuation {
    /// It has none.
    First,
    /// It has one.
    Next,
}

impl RequestInfo {
    /// Reads a request line.
    pub fn new(method: &Method, path: &str, query: &str) -> Self {
        let mut info = Self {
            verb: verb_of(method),
            path: path.to_owned(),
            group: String::new(),
            version: String::new(),
            resource: String::new(),
            subresource: String::new(),
            namespace: String::new(),
            name: String::new(),
            continuation: Continuation::First,
        };
        let is_watch_path = info.read_path(path);
        if info.resource.is_empty() {
            return info;
        }
        // A name from a selector leaves the request one of a collection.
        let is_collection = info.name.is_empty();
        info.read_query(query);
        if is_watch_path {
            info.verb = Some(Verb::Watch);
        } else if is_collection {
            info.verb = match info.verb {
                Some(Verb::Get) if asks_for_watch(query) => Some(Verb::Watch),
                Some(Verb::Get) => Some(Verb::List),
                Some(Verb::Delete) => Some(Verb::DeleteCollection),
                other => other,
            };
        }
        info
    }

    /// Whether the path is one of a resource.
    pub fn is_resource_request(&self) -> bool {
        !self.resource.is_empty()
    }

    /// `pods`, or `leases.coordination.k8s.io`.
    pub fn resource_name(&self) -> String {
        if self.group.is_empty() {
            self.resource.clone()
        } else {
            format!("{}.{}", self.resource, self.group)
        }
    }

    /// Fills in what the path says. True for the old form with `watch/` in the path.
    fn read_path(&mut self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let (group, version, rest) = match parts.as_slice() {
            ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
            ["apis", group, version, rest @ ..] if !rest.is_empty() => (*group, *version, rest),
            _ => return false,
        };
        let (is_watch, rest) = match rest {
            ["watch", rest @ ..] if !rest.is_empty() => (true, rest),
            rest => (false, rest),
        };
        let (namespace, rest) = match rest {
            // The name of a namespace counts as its namespace too.
            ["namespaces", namespace] | ["namespaces", namespace, "status" | "finalize", ..] => {
                (*namespace, rest)
            }
            ["namespaces", namespace, rest @ ..] => (*namespace, rest),
            rest => ("", rest),
        };
        let part = |index: usize| (*rest.get(index).unwrap_or(&"")).to_owned();
        group.clone_into(&mut self.group);
        version.clone_into(&mut self.version);
        namespace.clone_into(&mut self.namespace);
        self.resource = part(0);
        self.name = part(1);
        self.subresource = part(2);
        is_watch
    }

    fn read_query(&mut self, query: &str) {
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "continue" if !value.is_empty() => self.continuation = Continuation::Next,
                "fieldSelector" if self.name.is_empty() => {
                    if let Some(name) = exact_name(&value) {
                        name.clone_into(&mut self.name);
                    }
                }
                _ => {}
            }
        }
    }
}

fn verb_of(method: &Method) -> Option<Verb> {
    match *method {
        Method::GET | Method::HEAD => Some(Verb::Get),
        Method::POST => Some(Verb::Create),
        Method::PUT => Some(Verb::Update),
        Method::PATCH => Some(Verb::Patch),
        Method::DELETE => Some(Verb::Delete),
        _ => None,
    }
}

fn asks_for_watch(query: &str) -> bool {
    let value = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "watch");
    value.is_some_and(|(_, value)| value != "0" && !value.eq_ignore_ascii_case("false"))
}

/// The name in a selector that asks for one.
fn exact_name(selector: &str) -> Option<&str> {
    selector.split(',').find_map(|term| {
        let value = term.strip_prefix("metadata.name=")?;
        Some(value.strip_prefix('=').unwrap_or(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `verb group/version resource namespace name subresource`, a dash for what is empty.
    fn read(method: &Method, target: &str) -> String {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let info = RequestInfo::new(method, path, query);
        let verb = info
            .verb
            .map_or_else(|| "-".to_owned(), |verb| format!("{verb:?}"));
        let dash = |text: &str| if text.is_empty() { "-" } else { text }.to_owned();
        [
            verb,
            format!("{}/{}", dash(&info.group), dash(&info.version)),
            dash(&info.resource),
            dash(&info.namespace),
            dash(&info.name),
            dash(&info.subresource),
        ]
        .join(" ")
    }

    #[test]
    fn paths_are_read_as_upstream_reads_them() {
        let table = "
            GET /api/v1/pods = List -/v1 pods - - -
            GET /api/v1/pods?watch=1 = Watch -/v1 pods - - -
            GET /api/v1/pods?watch=False = List -/v1 pods - - -
            GET /api/v1/namespaces/a/pods?watch = Watch -/v1 pods a - -
            HEAD /api/v1/namespaces/a/pods/x = Get -/v1 pods a x -
            GET /api/v1/namespaces/a/pods/x?watch=1 = Get -/v1 pods a x -
            PUT /api/v1/namespaces/a/pods/x/status = Update -/v1 pods a x status
            GET /api/v1/namespaces = List -/v1 namespaces - - -
            GET /api/v1/namespaces/a = Get -/v1 namespaces a a -
            PUT /api/v1/namespaces/a/finalize = Update -/v1 namespaces a a finalize
            POST /apis/apps/v1/namespaces/a/deployments = Create apps/v1 deployments a - -
            DELETE /apis/apps/v1/namespaces/a/deployments = DeleteCollection apps/v1 deployments a - -
            DELETE /api/v1/nodes/n = Delete -/v1 nodes - n -
            GET /api/v1/watch/namespaces/a/pods/x = Watch -/v1 pods a x -
            GET /api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dx&watch=true = Watch -/v1 pods a x -
            GET /api/v1/pods?fieldSelector=metadata.name%3D%3Dpods = List -/v1 pods - pods -
            GET /api/v1 = Get -/- - - - -
            GET /apis/apps/v1 = Get -/- - - - -
            GET /version = Get -/- - - - -
            OPTIONS /api/v1/pods = - -/v1 pods - - -
        ";
        for row in table.trim().lines() {
            let (request, expected) = row.split_once(" = ").unwrap();
            let (method, target) = request.trim().split_once(' ').unwrap();
            let method = method.parse().unwrap();
            assert_eq!(read(&method, target), expected, "{row}");
        }
    }
}
