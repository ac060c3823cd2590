//! What a LIST means: from its parameters to the objects of one page.

use std::{
    ops::Bound::{Excluded, Unbounded},
    sync::Arc,
};

use crate::{
    continue_token::{ContinueToken, TokenVersion},
    failure::{Failure, InvalidOption},
    query::{Query, RequestedVersion},
    selectors::Selectors,
    storage::{ResourceId, Storage},
    stored_object::StoredObject,
    watch_cache::Objects,
};

/// A valid LIST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRequest {
    version: ListVersion,
    limit: Option<usize>,
    after: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListVersion {
    Exact { version: u64, origin: ExactOrigin },
    Latest,
    NotOlderThan(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExactOrigin {
    ContinueToken,
    Request,
}

/// One page.
#[derive(Debug)]
pub struct Page {
    /// The list's version.
    pub revision: u64,
    /// The objects, in the byte order of their keys.
    pub items: Vec<Arc<StoredObject>>,
    /// Token for the next page; absent on the last.
    pub continue_token: Option<String>,
    /// Objects after this page, if there are some.
    pub remaining: Option<usize>,
}

impl ListRequest {
    /// Interprets parameters.
    ///
    /// # Errors
    /// 400 and 422, as servers answer.
    pub fn try_new(query: &Query) -> Result<Self, Failure> {
        let problems = invalid_options(query);
        if !problems.is_empty() {
            return Err(Failure::invalid_options(&problems));
        }
        let limit = usize::try_from(query.limit).ok().filter(|limit| *limit > 0);
        let version = RequestedVersion::try_parse(&query.resource_version);
        let version = version.map_err(|problem| Failure::list_version(&problem))?;
        if !query.continue_token.is_empty() {
            if matches!(version, RequestedVersion::At(_)) {
                return Err(Failure::bad_request(
                    "specifying resource version is not allowed when using continue",
                ));
            }
            let token = ContinueToken::decode(&query.continue_token)?;
            let version = match token.version {
                TokenVersion::At(version) => ListVersion::Exact {
                    version,
                    origin: ExactOrigin::ContinueToken,
                },
                TokenVersion::Latest => ListVersion::Latest,
            };
            return Ok(Self {
                version,
                limit,
                after: Some(token.after),
            });
        }
        let (version, limit) = match (version, query.resource_version_match.as_str()) {
            (RequestedVersion::MostRecent, _) => (ListVersion::Latest, limit),
            // "Any" comes from a cache that does not page.
            (RequestedVersion::Any, _) => (ListVersion::Latest, None),
            (RequestedVersion::At(version), "NotOlderThan") => {
                (ListVersion::NotOlderThan(version), limit)
            }
            (RequestedVersion::At(version), "") if limit.is_none() => {
                (ListVersion::NotOlderThan(version), None)
            }
            (RequestedVersion::At(version), _) => (
                ListVersion::Exact {
                    version,
                    origin: ExactOrigin::Request,
                },
                limit,
            ),
        };
        Ok(Self {
            version,
            limit,
            after: None,
        })
    }

    /// The version that the server must have reached before it can answer.
    pub fn needs_revision(&self) -> u64 {
        match self.version {
            ListVersion::Exact { version, .. } | ListVersion::NotOlderThan(version) => version,
            ListVersion::Latest => 0,
        }
    }

    /// Takes the objects to list out of the storage: cheap, whatever their number.
    ///
    /// # Errors
    /// 410 if the version has left the window, 504 if it is still to come.
    pub fn snapshot(&self, storage: &Storage, id: ResourceId) -> Result<Snapshot, Failure> {
        let current = storage.revision();
        if self.needs_revision() > current {
            return Err(Failure::version_from_the_future(
                self.needs_revision(),
                current,
            ));
        }
        let store = storage.store(id);
        match self.version {
            ListVersion::Latest | ListVersion::NotOlderThan(_) => Ok(Snapshot {
                revision: current,
                objects: store.objects().clone(),
            }),
            ListVersion::Exact { version, origin } => {
                let objects = store.cache().rewind(store.objects(), version);
                let objects = objects.map_err(|_too_old| match origin {
                    ExactOrigin::Request => Failure::exact_list_expired(),
                    ExactOrigin::ContinueToken => {
                        let after = self.after.clone().unwrap_or_default();
                        let token = ContinueToken {
                            version: TokenVersion::Latest,
                            after,
                        };
                        Failure::continue_expired(token.encode())
                    }
                })?;
                Ok(Snapshot {
                    revision: version,
                    objects,
                })
            }
        }
    }

    /// Cuts the page out of a snapshot. An empty `namespace` means all.
    ///
    /// Selectors are applied before the limit. With them the number of remaining objects is not counted, and the last page may
    /// turn out to be empty, as on real servers.
    pub fn page(&self, snapshot: &Snapshot, namespace: &str, selectors: &Selectors) -> Page {
        let after = self.after.as_ref().map(|after| full_key(namespace, after));
        let mut objects = range(&snapshot.objects, namespace, after.as_deref());
        let selected = objects
            .by_ref()
            .filter(|(key, object)| selectors.matches(key, object));
        let items: Vec<_> = match self.limit {
            Some(limit) => selected.take(limit).collect(),
            None => selected.collect(),
        };
        let (has_more, remaining) = if selectors.is_everything() {
            let remaining = objects.count();
            (remaining > 0, (remaining > 0).then_some(remaining))
        } else {
            (objects.next().is_some(), None)
        };
        let last = items.last().filter(|_| has_more);
        let continue_token = last.map(|(key, _)| {
            let version = TokenVersion::At(snapshot.revision);
            let after = if namespace.is_empty() {
                key.as_str()
            } else {
                key.name()
            };
            ContinueToken {
                version,
                after: after.to_owned(),
            }
            .encode()
        });
        Page {
            revision: snapshot.revision,
            items: items
                .into_iter()
                .map(|(_, object)| Arc::clone(object))
                .collect(),
            continue_token,
            remaining,
        }
    }
}

/// All objects of a resource at one version.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The version.
    pub revision: u64,
    /// The objects.
    pub objects: Objects,
}

/// Objects of one namespace, or of all if it is empty, in order.
pub(crate) fn range<'a>(
    objects: &'a Objects,
    namespace: &str,
    after: Option<&str>,
) -> impl Iterator<Item = (&'a bench_core::api::ObjectKey, &'a Arc<StoredObject>)> {
    let prefix = if namespace.is_empty() {
        String::new()
    } else {
        format!("{namespace}/")
    };
    let start = match after {
        Some(after) => Excluded(after),
        None => std::ops::Bound::Included(prefix.as_str()),
    };
    let cluster_wide = namespace.is_empty();
    objects
        .range::<_, str>((start, Unbounded))
        .take_while(move |(key, _)| cluster_wide || key.as_str().starts_with(&prefix))
}

fn full_key(namespace: &str, relative: &str) -> String {
    if namespace.is_empty() {
        relative.to_owned()
    } else {
        format!("{namespace}/{relative}")
    }
}

fn invalid_options(query: &Query) -> Vec<InvalidOption> {
    let version_match = &*query.resource_version_match;
    let field = "resourceVersionMatch";
    let mut problems = Vec::new();
    let mut forbid = |field, why| problems.push(InvalidOption::forbidden(field, why));
    if !version_match.is_empty() {
        if query.resource_version.is_empty() {
            forbid(
                field,
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            );
        }
        if !query.continue_token.is_empty() {
            forbid(
                field,
                "resourceVersionMatch is forbidden when continue is provided",
            );
        }
        if version_match == "Exact" && query.resource_version == "0" {
            forbid(
                field,
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            );
        }
        let supported = r#""Exact", "NotOlderThan", """#;
        problems.extend(query.match_other_than(&["Exact", "NotOlderThan"], supported));
    }
    if query.send_initial_events.is_some() {
        let why = "sendInitialEvents is forbidden for list";
        problems.push(InvalidOption::forbidden("sendInitialEvents", why));
    }
    problems
}
