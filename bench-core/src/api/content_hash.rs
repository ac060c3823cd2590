//! A hash of an object's bytes that is the same in a list and in a watch.

/// 64-bit FNV-1a of an object's content; see [`content_hash`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(pub u64);

/// Hashes the JSON bytes of one object, leaving out a leading `"kind":…,"apiVersion":…,` pair.
///
/// Items of a typed list carry no kind and apiVersion, the same object in a watch event does; everything after that is the
/// same bytes. Only that exact leading pair (either order) is skipped, so any other difference in the bytes shows.
pub fn content_hash(json: &[u8]) -> ContentHash {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let body = json
        .strip_prefix(b"{")
        .map_or(json, |rest| skip_string_field(skip_string_field(rest)));
    ContentHash(body.iter().fold(OFFSET, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    }))
}

fn skip_string_field(json: &[u8]) -> &[u8] {
    let value = json
        .strip_prefix(br#""kind":""#)
        .or_else(|| json.strip_prefix(br#""apiVersion":""#));
    value
        .and_then(|value| {
            let end = value.iter().position(|&byte| byte == b'"')?;
            value[end + 1..].strip_prefix(b",")
        })
        .unwrap_or(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_ignores_leading_kind_and_api_version_and_nothing_else() {
        let item = content_hash(br#"{"metadata":{"name":"a"}}"#);
        assert_eq!(
            content_hash(br#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}"#),
            item
        );
        assert_eq!(
            content_hash(br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}"#),
            item
        );
        assert_ne!(content_hash(br#"{"metadata":{"name":"b"}}"#), item);
        assert_ne!(
            content_hash(br#"{"metadata":{"name":"a"},"kind":"Pod"}"#),
            item
        );
    }
}
