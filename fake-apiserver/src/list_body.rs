//! The bytes of a list, written as they are sent.

use std::{sync::Arc, vec};

use bench_core::api::Resource;
use bytes::Bytes;

use crate::{
    list::Page,
    representation::{ListMetadata, Representation},
    storage::ItemForm,
    stored_object::StoredObject,
};

pub(crate) const CHUNK_SIZE_BYTES: usize = 256 * 1024;
const END: &[u8] = b"]}\n";

/// How the items of a list are written.
#[derive(Debug)]
pub(crate) struct ListForm {
    pub(crate) item_form: ItemForm,
    pub(crate) representation: Representation,
    /// Seconds since 1970.
    pub(crate) now: i64,
}

/// The chunks of a list.
#[derive(Debug)]
pub(crate) struct ListWriter {
    form: ListForm,
    items: vec::IntoIter<Arc<StoredObject>>,
    // Taken by the first chunk; the chunk that ends the list empties `items`.
    head: Option<Vec<u8>>,
    length: Option<usize>,
}

impl ListWriter {
    pub(crate) fn new(resource: &Resource, form: ListForm, page: Page) -> Self {
        let metadata = ListMetadata {
            resource_version: page.revision.to_string(),
            continue_token: page.continue_token,
            remaining: page.remaining,
        };
        let mut head = Vec::new();
        form.representation
            .write_list_head(resource, &metadata, &mut head);
        let commas = page.items.len().saturating_sub(1);
        let items: Option<usize> = page
            .items
            .iter()
            .map(|object| form.representation.item_length(form.item_form, object))
            .sum();
        Self {
            length: items.map(|items| head.len() + items + commas + END.len()),
            form,
            items: page.items.into_iter(),
            head: Some(head),
        }
    }

    /// The length of all chunks together, where it is known before they are written.
    pub(crate) fn length(&self) -> Option<usize> {
        self.length
    }
}

impl Iterator for ListWriter {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let first = self.head.is_some();
        if !first && self.items.len() == 0 {
            return None;
        }
        let mut chunk = self.head.take().unwrap_or_default();
        let ListForm {
            item_form,
            representation,
            now,
        } = &self.form;
        let mut comma = !first;
        for object in self.items.by_ref() {
            if comma {
                chunk.push(b',');
            }
            comma = true;
            representation.write_item(*item_form, &object, *now, &mut chunk);
            if chunk.len() >= CHUNK_SIZE_BYTES {
                break;
            }
        }
        if self.items.len() == 0 {
            chunk.extend_from_slice(END);
        }
        Some(Bytes::from(chunk))
    }
}
