//! The bytes of a list, written as they are sent.

use std::{fmt::Write as _, sync::Arc, vec};

use axum::body::Body;
use bench_core::api::Resource;
use bytes::Bytes;
use futures_util::stream;

use crate::{list::Page, storage::ItemForm, stored_object::StoredObject};

const CHUNK_SIZE_BYTES: usize = 256 * 1024;
const END: &[u8] = b"]}\n";

/// The body of a list and its exact length.
pub(crate) fn list_body(resource: &Resource, form: ItemForm, page: Page) -> (Body, usize) {
    let head = head(resource, &page).into_bytes();
    let commas = page.items.len().saturating_sub(1);
    let items: usize = page
        .items
        .iter()
        .map(|object| item_length(form, object))
        .sum();
    let length = head.len() + items + commas + END.len();
    let mut writer = ListWriter {
        form,
        items: page.items.into_iter(),
        head: Some(head),
    };
    let body = if length <= CHUNK_SIZE_BYTES {
        Body::from(writer.next().expect("a list has at least its head"))
    } else {
        Body::from_stream(stream::iter(writer.map(Ok::<_, std::convert::Infallible>)))
    };
    (body, length)
}

fn head(resource: &Resource, page: &Page) -> String {
    let mut head = format!(
        r#"{{"kind":"{}List","apiVersion":"{}","metadata":{{"resourceVersion":"{}""#,
        resource.kind,
        resource.api_version(),
        page.revision
    );
    if let Some(token) = &page.continue_token {
        write!(head, r#","continue":"{token}""#).expect("writing to a String cannot fail");
    }
    if let Some(remaining) = page.remaining {
        write!(head, r#","remainingItemCount":{remaining}"#)
            .expect("writing to a String cannot fail");
    }
    head.push_str(r#"},"items":["#);
    head
}

fn item_length(form: ItemForm, object: &StoredObject) -> usize {
    match form {
        ItemForm::Typed => object.json().len(),
        ItemForm::Untyped => object.untyped_json_tail().len() + 1,
    }
}

struct ListWriter {
    form: ItemForm,
    items: vec::IntoIter<Arc<StoredObject>>,
    // Taken by the first chunk; the chunk that ends the list empties `items`.
    head: Option<Vec<u8>>,
}

impl Iterator for ListWriter {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let first = self.head.is_some();
        if !first && self.items.len() == 0 {
            return None;
        }
        let mut chunk = self.head.take().unwrap_or_default();
        let mut comma = !first;
        for object in self.items.by_ref() {
            if comma {
                chunk.push(b',');
            }
            comma = true;
            match self.form {
                ItemForm::Typed => chunk.extend_from_slice(object.json()),
                ItemForm::Untyped => {
                    chunk.push(b'{');
                    chunk.extend_from_slice(object.untyped_json_tail());
                }
            }
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
