//! Which objects a LIST or WATCH asks for: label and field selectors.
//!
//! An object is parsed for them once, when the first selector looks at it, and keeps the result.

mod field_selector;
mod field_table;
mod label_names;
mod label_selector;
mod label_tokens;
mod selectable;

use bench_core::api::{ObjectKey, Resource};

use self::{field_selector::FieldSelector, label_selector::LabelSelector};
pub(crate) use self::{field_table::FieldTable, selectable::Selectable};
use crate::{failure::Failure, query::Query, stored_object::StoredObject};

/// The selectors of one request; without any, every object matches.
#[derive(Debug, Clone, Default)]
pub struct Selectors {
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Selectors {
    /// Parses the selectors of a request for a resource.
    ///
    /// # Errors
    /// 400, for text that is no selector and for fields that the resource does not offer.
    pub fn try_parse(query: &Query, resource: &Resource) -> Result<Self, Failure> {
        let labels = LabelSelector::try_parse(&query.label_selector)
            .map_err(|error| Failure::bad_request(error.to_string()))?;
        let fields = FieldSelector::try_parse(&query.field_selector, resource)
            .map_err(|error| Failure::bad_request(error.to_string()))?;
        Ok(Self { labels, fields })
    }

    /// Narrows to the object of one name.
    ///
    /// # Errors
    /// 400, if the field selector asks for something else.
    pub(crate) fn and_name(mut self, name: &str) -> Result<Self, Failure> {
        if self.fields.is_empty() {
            self.fields = self.fields.of_name(name);
        } else if self.fields.exact_name() != Some(name) {
            return Err(Failure::bad_request(
                "fieldSelector metadata.name doesn't match requested name",
            ));
        }
        Ok(self)
    }

    /// Whether every object matches.
    pub fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether an object matches.
    pub fn matches(&self, key: &ObjectKey, object: &StoredObject) -> bool {
        if !self.fields.matches_key(key) {
            return false;
        }
        let needs_content = !self.labels.is_empty() || self.fields.needs_content();
        if !needs_content {
            return true;
        }
        let selectable = object.selectable(self.fields.table());
        self.labels.matches(selectable) && self.fields.matches_content(selectable)
    }
}
