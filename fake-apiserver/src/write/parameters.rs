//! The options of writes, from query strings and bodies (apimachinery's `meta/v1/validation`).

use serde_json::Value;

use crate::{
    failure::Failure,
    query::{self, boolean},
    write::{field_error::FieldError, managed::Force},
};

/// Longest name of a field manager.
const MANAGER_LENGTH: usize = 128;

/// Whether a write is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DryRun {
    /// Everything but the commit.
    All,
    No,
}

/// What happens to fields that a kind does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Ignore,
    Strict,
    Warn,
}

/// The verb whose options they are, as in the kind of the option object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptionsOf {
    Apply,
    Create,
    Patch,
    Update,
}

/// The options of a create, an update or a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: DryRun,
    pub(crate) manager: String,
    pub(crate) validation: FieldValidation,
    pub(crate) force: Force,
}

impl WriteOptions {
    /// Parses the text after `?`. `user_agent` names the manager if no other is given.
    ///
    /// # Errors
    /// 422 with kind `CreateOptions`, `UpdateOptions` or `PatchOptions`.
    pub(crate) fn try_parse(
        verb: OptionsOf,
        query_text: &str,
        user_agent: &str,
    ) -> Result<Self, Failure> {
        let mut dry_run = Vec::new();
        let mut manager = String::new();
        let mut validation = String::new();
        let mut force = None;
        for (name, value) in query::pairs(query_text)? {
            match name.as_str() {
                "dryRun" => dry_run.push(value),
                "fieldManager" => manager = value,
                "fieldValidation" => validation = value,
                "force" => force = Some(boolean(&value)),
                _ => {}
            }
        }
        let mut errors = Vec::new();
        match (verb, force) {
            (OptionsOf::Apply, _) if manager.is_empty() => errors.push(FieldError::required(
                "fieldManager",
                "is required for apply patch",
            )),
            (OptionsOf::Patch, Some(_)) => errors.push(FieldError::forbidden(
                "force",
                "may not be specified for non-apply patch",
            )),
            _ => {}
        }
        errors.extend(faults_of_manager(&manager));
        errors.extend(faults_of_dry_run(&dry_run));
        let validation = match validation.as_str() {
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            "" | "Warn" => FieldValidation::Warn,
            other => {
                let supported = ["", "Ignore", "Strict", "Warn"];
                errors.push(FieldError::not_supported(
                    "fieldValidation",
                    &other.into(),
                    &supported,
                ));
                FieldValidation::Warn
            }
        };
        let kind = match verb {
            OptionsOf::Apply | OptionsOf::Patch => "PatchOptions",
            OptionsOf::Create => "CreateOptions",
            OptionsOf::Update => "UpdateOptions",
        };
        Failure::if_invalid("meta.k8s.io", kind, "", &errors)?;
        if manager.is_empty() {
            manager = manager_of(user_agent);
        }
        Ok(Self {
            dry_run: to_dry_run(&dry_run),
            manager,
            validation,
            force: match force {
                Some(true) => Force::Yes,
                Some(false) | None => Force::No,
            },
        })
    }
}

pub(crate) fn to_dry_run(values: &[String]) -> DryRun {
    if values.is_empty() {
        DryRun::No
    } else {
        DryRun::All
    }
}

pub(crate) fn faults_of_dry_run(values: &[String]) -> Option<FieldError> {
    let is_bad = values.iter().any(|value| value != "All");
    is_bad.then(|| FieldError::not_supported("dryRun", &Value::from(values), &["All"]))
}

fn faults_of_manager(manager: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if manager.len() > MANAGER_LENGTH {
        errors.push(FieldError::too_long("fieldManager", MANAGER_LENGTH));
    }
    for (position, character) in manager.char_indices().filter(|(_, c)| c.is_control()) {
        let why = format!(
            "invalid character U+{:04X} (at position {position})",
            u32::from(character)
        );
        errors.push(FieldError::invalid("fieldManager", &manager.into(), &why));
    }
    errors
}

/// The product in a User-Agent.
fn manager_of(user_agent: &str) -> String {
    let product = user_agent.split('/').next().unwrap_or("");
    let printable: String = product.chars().filter(|c| !c.is_control()).collect();
    let mut end = printable.len().min(MANAGER_LENGTH);
    while !printable.is_char_boundary(end) {
        end -= 1;
    }
    match &printable[..end] {
        "" => "unknown".to_owned(),
        name => name.to_owned(),
    }
}
