//! Compact JSON, indented as it passes by, as Go's `MarshalIndent` does with two spaces.

/// Takes a document in pieces of any size.
#[derive(Debug, Default)]
pub(crate) struct Indenter {
    depth: usize,
    place: Place,
    /// An opening bracket has been written, but nothing of what is inside.
    is_just_open: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Outside,
    String,
    /// After a backslash.
    Escape,
}

impl Indenter {
    pub(crate) fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        for &byte in piece {
            self.place = match (self.place, byte) {
                (Place::String, b'\\') => Place::Escape,
                (Place::String, b'"') => Place::Outside,
                (Place::String | Place::Escape, _) => Place::String,
                (Place::Outside, _) => {
                    self.push_outside(byte, out);
                    continue;
                }
            };
            out.push(byte);
        }
    }

    fn push_outside(&mut self, byte: u8, out: &mut Vec<u8>) {
        let is_close = matches!(byte, b'}' | b']');
        if is_close {
            self.depth = self.depth.saturating_sub(1);
        }
        if byte.is_ascii_whitespace() {
            return;
        }
        // Empty objects and arrays stay on one line.
        if self.is_just_open != is_close {
            self.new_line(out);
        }
        self.is_just_open = false;
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                self.is_just_open = true;
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                self.new_line(out);
            }
            b':' => out.extend_from_slice(b": "),
            b'"' => {
                self.place = Place::String;
                out.push(byte);
            }
            _ => out.push(byte),
        }
    }

    fn new_line(&self, out: &mut Vec<u8>) {
        out.push(b'\n');
        out.resize(out.len() + 2 * self.depth, b' ');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn indented(compact: &[u8], piece: usize) -> String {
        let (mut indenter, mut out) = (Indenter::default(), Vec::new());
        for piece in compact.chunks(piece) {
            indenter.push(piece, &mut out);
        }
        String::from_utf8(out).unwrap()
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            r#"[a{}\[\]:, "\\]{0,6}"#.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec(("[a{,]{0,3}", inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_become_what_serde_indents(value in value(), piece in 1_usize..9) {
            let compact = serde_json::to_vec(&value).unwrap();
            prop_assert_eq!(indented(&compact, piece), serde_json::to_string_pretty(&value).unwrap());
        }
    }

    #[test]
    fn empty_objects_and_arrays_stay_on_one_line() {
        let value = json!({"a": {}, "b": [], "c": [{}]});
        assert_eq!(
            indented(value.to_string().as_bytes(), 1),
            "{\n  \"a\": {},\n  \"b\": [],\n  \"c\": [\n    {}\n  ]\n}"
        );
    }
}
