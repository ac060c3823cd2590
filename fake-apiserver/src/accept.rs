//! What form of an answer a client accepts (apiserver's `pkg/endpoints/handlers/negotiation`).

use http::{
    HeaderMap,
    header::{ACCEPT, USER_AGENT},
};

use crate::failure::Failure;

const META_GROUP: &str = "meta.k8s.io";

/// What was agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) media_type: MediaType,
    /// Nothing for the object itself.
    pub(crate) transform: Option<Transform>,
    pub(crate) layout: Layout,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MediaType {
    Json,
    Yaml,
}

/// Another object to answer with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transform {
    pub(crate) target: Target,
    pub(crate) version: MetaVersion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    PartialObjectMetadata,
    PartialObjectMetadataList,
    Table,
}

/// Version of meta.k8s.io.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetaVersion {
    V1,
    V1Beta1,
}

/// Whether JSON is indented for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Compact,
    Pretty,
}

/// Whether one answer or a stream of events was to be negotiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Single,
    Stream,
}

impl MediaType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
        }
    }
}

impl MetaVersion {
    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

impl Accepted {
    /// The first clause of Accept, by quality, that can be met; JSON if there is no such header.
    ///
    /// # Errors
    /// 406.
    pub(crate) fn negotiate(headers: &HeaderMap, query: &str) -> Result<Self, Failure> {
        Self::find(headers, query, |_| true)
            .ok_or_else(|| Failure::not_acceptable(Delivery::Single))
    }

    /// The same for an error, which is not transformed; indented, if no clause can be met.
    pub(crate) fn negotiate_error(headers: &HeaderMap, query: &str) -> Self {
        let is_plain = |accepted: &Self| accepted.transform.is_none();
        Self::find(headers, query, is_plain).unwrap_or(Self {
            media_type: MediaType::Json,
            transform: None,
            layout: Layout::Pretty,
        })
    }

    fn find(headers: &HeaderMap, query: &str, fits: impl Fn(&Self) -> bool) -> Option<Self> {
        let accept = joined(headers);
        if accept.is_empty() {
            return Some(Self {
                media_type: MediaType::Json,
                transform: None,
                layout: layout(headers, query),
            });
        }
        let clauses = clauses(&accept);
        let mut accepted = clauses.iter().filter_map(Clause::accept).find(fits)?;
        if accepted.layout == Layout::Compact {
            accepted.layout = layout(headers, query);
        }
        Some(accepted)
    }
}

/// One media range of an Accept header.
#[derive(Debug)]
struct Clause<'a> {
    kind: &'a str,
    subtype: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    quality: f64,
}

impl<'a> Clause<'a> {
    fn parse(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let range = parts.next().unwrap_or("");
        let (kind, subtype) = range.split_once('/').unwrap_or((range, ""));
        let mut clause = Self {
            kind: kind.trim(),
            subtype: subtype.trim(),
            parameters: Vec::new(),
            quality: 1.0,
        };
        if range == "*" {
            (clause.kind, clause.subtype) = ("*", "*");
        }
        for parameter in parts {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name {
                "q" => clause.quality = value.parse().unwrap_or(1.0),
                _ => clause.parameters.push((name, value)),
            }
        }
        clause
    }

    fn parameter(&self, name: &str) -> &'a str {
        let mut parameters = self.parameters.iter();
        let found = parameters.find(|(candidate, _)| *candidate == name);
        found.map_or("", |(_, value)| *value)
    }

    fn asks_for_transform(&self) -> bool {
        let mut names = self.parameters.iter().map(|(name, _)| *name);
        names.any(|name| matches!(name, "as" | "g" | "v"))
    }

    fn accept(&self) -> Option<Accepted> {
        let media_type = match (self.kind, self.subtype) {
            ("application", "json" | "*") | ("*", "*") => MediaType::Json,
            ("application", "yaml") => MediaType::Yaml,
            _ => return None,
        };
        match (self.parameter("stream"), media_type) {
            ("", _) | ("watch", MediaType::Json) => {}
            _ => return None,
        }
        if !self.parameter("sv").is_empty() {
            return None;
        }
        let transform = if self.asks_for_transform() {
            Some(self.transform()?)
        } else {
            None
        };
        let layout = match self.parameter("pretty") {
            "1" => Layout::Pretty,
            _ => Layout::Compact,
        };
        Some(Accepted {
            media_type,
            transform,
            layout,
        })
    }

    fn transform(&self) -> Option<Transform> {
        let target = match self.parameter("as") {
            "PartialObjectMetadata" => Target::PartialObjectMetadata,
            "PartialObjectMetadataList" => Target::PartialObjectMetadataList,
            "Table" => Target::Table,
            _ => return None,
        };
        let version = match (self.parameter("g"), self.parameter("v")) {
            (META_GROUP, "v1") => MetaVersion::V1,
            (META_GROUP, "v1beta1") => MetaVersion::V1Beta1,
            _ => return None,
        };
        Some(Transform { target, version })
    }
}

/// Checks that some media range of Accept is one that paths are answered in. Compares the text before the parameters, as
/// go-restful does, the router of a kube-apiserver: `application/*` is none.
///
/// # Errors
/// 406.
pub(crate) fn check_representable(headers: &HeaderMap, delivery: Delivery) -> Result<(), Failure> {
    let accept = joined(headers);
    let mut ranges = accept
        .split(',')
        .map(|clause| clause.split(';').next().unwrap_or("").trim());
    let is_known = |range: &str| matches!(range, "*/*" | "application/json" | "application/yaml");
    if accept.is_empty() || ranges.any(is_known) {
        Ok(())
    } else {
        Err(Failure::not_representable(delivery))
    }
}

/// Whether JSON with these parameters is preferred to plain JSON, and accepted at all.
pub(crate) fn prefers_json_with(headers: &HeaderMap, parameters: &[(&str, &str)]) -> bool {
    let accept = joined(headers);
    let clauses = clauses(&accept);
    let json = clauses
        .iter()
        .filter(|clause| (clause.kind, clause.subtype) == ("application", "json"));
    let mut known = json.filter_map(|clause| {
        let is_plain = !clause.asks_for_transform();
        let is_match = parameters
            .iter()
            .all(|(name, value)| clause.parameter(name) == *value);
        (is_plain || is_match).then_some(is_match)
    });
    known.next() == Some(true)
}

/// The clauses in order of preference: by quality, wildcards last.
fn clauses(accept: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = accept.split(',').map(Clause::parse).collect();
    clauses.sort_by(|left, right| {
        let wildcards = |clause: &Clause<'_>| (clause.kind == "*", clause.subtype == "*");
        right
            .quality
            .total_cmp(&left.quality)
            .then(wildcards(left).cmp(&wildcards(right)))
    });
    clauses
}

/// All Accept headers as one.
fn joined(headers: &HeaderMap) -> String {
    let values = headers.get_all(ACCEPT).iter();
    let texts: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    texts.join(",")
}

/// Whether the client is a person, by its own word or by its program.
fn layout(headers: &HeaderMap, query: &str) -> Layout {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let asked = pairs.find(|(name, value)| *name == "pretty" && !value.is_empty());
    let agent = headers
        .get(USER_AGENT)
        .and_then(|agent| agent.to_str().ok())
        .unwrap_or("");
    let is_person = match asked {
        Some((_, value)) => matches!(value, "1" | "t" | "T" | "true" | "TRUE" | "True"),
        None => ["curl", "Wget", "Mozilla/5.0"]
            .iter()
            .any(|program| agent.starts_with(program)),
    };
    if is_person {
        Layout::Pretty
    } else {
        Layout::Compact
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negotiate(accept: &str) -> Option<(MediaType, Option<Target>)> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        let accepted = Accepted::negotiate(&headers, "").ok()?;
        Some((
            accepted.media_type,
            accepted.transform.map(|transform| transform.target),
        ))
    }

    #[test]
    fn the_first_clause_that_can_be_met_wins() {
        use MediaType::{Json, Yaml};
        for (accept, expected) in [
            ("application/json", Some((Json, None))),
            ("*/*", Some((Json, None))),
            ("application/*", Some((Json, None))),
            ("application/yaml", Some((Yaml, None))),
            (
                "application/yaml;q=0.5, application/json;q=0.9",
                Some((Json, None)),
            ),
            ("*/*, application/yaml", Some((Yaml, None))),
            ("text/html", None),
            ("application/vnd.kubernetes.protobuf", None),
            (
                "application/vnd.kubernetes.protobuf,application/json",
                Some((Json, None)),
            ),
            (
                "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
                Some((Json, Some(Target::Table))),
            ),
            (
                "application/json; g=meta.k8s.io; v=v1beta1; as=PartialObjectMetadataList",
                Some((Json, Some(Target::PartialObjectMetadataList))),
            ),
            (
                "application/yaml;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
                Some((Yaml, Some(Target::PartialObjectMetadata))),
            ),
            ("application/json;as=Table;v=v2;g=meta.k8s.io", None),
            (
                "application/json;as=Chart;v=v1;g=meta.k8s.io,application/json",
                Some((Json, None)),
            ),
            (
                "application/json;drop=metadata.managedFields",
                Some((Json, None)),
            ),
            ("application/json;stream=watch", Some((Json, None))),
            ("application/yaml;stream=watch", None),
            (
                "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,application/json",
                Some((Json, None)),
            ),
        ] {
            assert_eq!(negotiate(accept), expected, "{accept}");
        }
    }

    #[test]
    fn people_get_indented_json_unless_they_say_otherwise() {
        for (agent, query, expected) in [
            ("curl/8", "", Layout::Pretty),
            ("curl/8", "pretty=false", Layout::Compact),
            ("kubectl", "limit=1&pretty=true", Layout::Pretty),
            ("kubectl", "pretty=", Layout::Compact),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(USER_AGENT, agent.parse().unwrap());
            let accepted = Accepted::negotiate(&headers, query).unwrap();
            assert_eq!(accepted.layout, expected, "{agent} {query}");
        }
    }
}
