//! `DeleteOptions`, from a body or a query string.

use serde_json::Value;

use crate::{
    failure::Failure,
    query,
    write::{
        field_error::FieldError,
        parameters::{DryRun, faults_of_dry_run, to_dry_run},
    },
};

/// What becomes of dependents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    Background,
    Foreground,
    Orphan,
}

/// How to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeleteOptions {
    pub(crate) dry_run: DryRun,
    pub(crate) grace_period_seconds: Option<i64>,
    pub(crate) propagation: Option<Propagation>,
    /// Whether the deprecated `orphanDependents: false` was given: a deletion that is not finished is then answered with 202.
    pub(crate) asked_not_to_orphan: bool,
    /// Precondition.
    pub(crate) uid: Option<String>,
    /// Precondition.
    pub(crate) resource_version: Option<String>,
}

/// As sent.
#[derive(Default)]
struct Sent {
    dry_run: Vec<String>,
    grace_period_seconds: Option<i64>,
    propagation: Option<String>,
    orphan_dependents: Option<bool>,
    uid: Option<String>,
    resource_version: Option<String>,
}

impl DeleteOptions {
    /// A DELETE as kubectl sends it.
    pub(crate) fn plain() -> Self {
        Self {
            dry_run: DryRun::No,
            grace_period_seconds: None,
            propagation: Some(Propagation::Background),
            asked_not_to_orphan: false,
            uid: None,
            resource_version: None,
        }
    }

    /// From a body, or from the query if there is none: the query is not looked at beside a body, as upstream.
    ///
    /// # Errors
    /// 400 for what is no `DeleteOptions`, 422 for values that it cannot have.
    pub(crate) fn try_parse(body: Option<&Value>, query_text: &str) -> Result<Self, Failure> {
        match body {
            Some(body) => Sent::from_body(body)?,
            None => Sent::from_query(query_text)?,
        }
        .check()
    }
}

impl Sent {
    fn from_body(body: &Value) -> Result<Self, Failure> {
        let kind = body.get("kind").and_then(Value::as_str).unwrap_or("");
        if !body.is_object() || !matches!(kind, "" | "DeleteOptions") {
            return Err(Failure::bad_request(
                "decoded object cannot be converted to DeleteOptions",
            ));
        }
        let field = |pointer: &str| body.pointer(pointer).filter(|value| !value.is_null());
        let text = |pointer: &str| match field(pointer) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(wrong_type(pointer, "string")),
        };
        let grace_period_seconds = match field("/gracePeriodSeconds") {
            None => None,
            Some(value) => {
                let seconds = value.as_i64();
                Some(seconds.ok_or_else(|| wrong_type("/gracePeriodSeconds", "int64"))?)
            }
        };
        let orphan_dependents = match field("/orphanDependents") {
            None => None,
            Some(value) => {
                let orphan = value.as_bool();
                Some(orphan.ok_or_else(|| wrong_type("/orphanDependents", "bool"))?)
            }
        };
        let dry_run = field("/dryRun").and_then(Value::as_array);
        let dry_run = dry_run.into_iter().flatten().filter_map(Value::as_str);
        Ok(Self {
            dry_run: dry_run.map(str::to_owned).collect(),
            grace_period_seconds,
            propagation: text("/propagationPolicy")?,
            orphan_dependents,
            uid: text("/preconditions/uid")?,
            resource_version: text("/preconditions/resourceVersion")?,
        })
    }

    fn from_query(text: &str) -> Result<Self, Failure> {
        let mut sent = Self::default();
        for (name, value) in query::pairs(text)? {
            match name.as_str() {
                "dryRun" => sent.dry_run.push(value),
                "gracePeriodSeconds" => sent.grace_period_seconds = Some(query::integer(&value)?),
                "orphanDependents" => sent.orphan_dependents = Some(query::boolean(&value)),
                "propagationPolicy" => sent.propagation = Some(value),
                _ => {}
            }
        }
        Ok(sent)
    }

    fn check(self) -> Result<DeleteOptions, Failure> {
        let mut errors = Vec::new();
        if let (Some(propagation), Some(_)) = (&self.propagation, self.orphan_dependents) {
            errors.push(FieldError::invalid(
                "propagationPolicy",
                &propagation.as_str().into(),
                "orphanDependents and deletionPropagation cannot be both set",
            ));
        }
        let propagation = match (self.propagation.as_deref(), self.orphan_dependents) {
            (Some("Background"), _) | (None, Some(false)) => Some(Propagation::Background),
            (Some("Foreground"), _) => Some(Propagation::Foreground),
            (Some("Orphan"), _) | (None, Some(true)) => Some(Propagation::Orphan),
            (None, None) => None,
            (Some(other), _) => {
                let supported = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(FieldError::not_supported(
                    "propagationPolicy",
                    &other.into(),
                    &supported,
                ));
                None
            }
        };
        errors.extend(faults_of_dry_run(&self.dry_run));
        Failure::if_invalid("meta.k8s.io", "DeleteOptions", "", &errors)?;
        Ok(DeleteOptions {
            dry_run: to_dry_run(&self.dry_run),
            grace_period_seconds: self.grace_period_seconds,
            propagation,
            asked_not_to_orphan: self.orphan_dependents == Some(false),
            uid: self.uid,
            resource_version: self.resource_version,
        })
    }
}

fn wrong_type(pointer: &str, expected: &str) -> Failure {
    let field = pointer.trim_start_matches('/').replace('/', ".");
    Failure::bad_request(format!(
        "json: cannot unmarshal into Go struct field DeleteOptions.{field} of type {expected}"
    ))
}
