//! Outcomes as text, byte for byte what `benches/peers/client-go/replay/text.go` writes.

use std::fmt::Write as _;

use bench_core::{
    api::ResourceVersion,
    cache::{Delta, DeltaObject, DeltaType, ReplacedAll},
};

use super::object::TraceObject;

/// Appends the inside of a JSON string.
pub(super) fn push_escaped(text: &mut String, unescaped: &str) {
    for character in unescaped.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            '\0'..='\x1f' => {
                write!(text, "\\u{:04x}", u32::from(character)).expect("a string can grow");
            }
            _ => text.push(character),
        }
    }
}

/// Appends an object.
pub(super) fn push_object(text: &mut String, object: &TraceObject) {
    let spec = &object.spec;
    if spec.keyless {
        text.push_str("keyless=");
    } else {
        if !spec.namespace.is_empty() {
            push_escaped(text, &spec.namespace);
            text.push('/');
        }
        push_escaped(text, &spec.name);
        text.push('@');
        push_escaped(text, &spec.resource_version);
        text.push('/');
        push_escaped(text, &spec.uid);
        text.push('=');
    }
    write!(text, "{}", spec.value).expect("a string can grow");
}

/// Appends an object or a tombstone.
pub(super) fn push_delta_object(text: &mut String, object: &DeltaObject<TraceObject>) {
    match object {
        DeltaObject::Object(object) => push_object(text, object),
        DeltaObject::FinalStateUnknown(tombstone) => {
            text.push('†');
            push_escaped(text, tombstone.key.as_str());
            text.push('(');
            if let Some(object) = &tombstone.object {
                push_object(text, object);
            }
            text.push(')');
        }
    }
}

/// Appends a delta.
pub(super) fn push_delta(text: &mut String, delta: &Delta<TraceObject>) {
    text.push_str(match delta.delta_type {
        DeltaType::Added => "A ",
        DeltaType::Updated => "U ",
        DeltaType::Deleted => "D ",
        DeltaType::Replaced => "R ",
        DeltaType::Sync => "S ",
    });
    push_delta_object(text, &delta.object);
}

/// Appends a whole list.
pub(super) fn push_replaced_all(text: &mut String, replaced: &ReplacedAll<TraceObject>) {
    write!(text, "RA @{}", replaced.resource_version).expect("a string can grow");
    for object in &replaced.objects {
        text.push(' ');
        push_object(text, object);
    }
}

/// Appends a bookmark.
pub(super) fn push_bookmark(text: &mut String, resource_version: &ResourceVersion) {
    write!(text, "B @{resource_version}").expect("a string can grow");
}

/// Appends a field that is an array of strings; none if there are none.
pub(super) fn push_strings<T>(
    text: &mut String,
    name: &str,
    elements: impl IntoIterator<Item = T>,
    mut push: impl FnMut(&mut String, T),
) {
    let mut elements = elements.into_iter().peekable();
    if elements.peek().is_none() {
        return;
    }
    text.extend([",\"", name, "\":["]);
    for (place, element) in elements.enumerate() {
        text.push_str(if place == 0 { "\"" } else { ",\"" });
        push(text, element);
        text.push('"');
    }
    text.push(']');
}

/// Appends a field that is an array of strings that are escaped already.
pub(super) fn push_texts(text: &mut String, name: &str, elements: &[String]) {
    push_strings(text, name, elements, |text, element| text.push_str(element));
}

/// The texts of what upstream returns in a map's order.
pub(super) fn sorted_objects<'a>(
    objects: impl IntoIterator<Item = &'a std::sync::Arc<TraceObject>>,
) -> Vec<String> {
    let mut texts: Vec<_> = objects
        .into_iter()
        .map(|object| {
            let mut text = String::new();
            push_object(&mut text, object);
            text
        })
        .collect();
    texts.sort_unstable();
    texts
}
