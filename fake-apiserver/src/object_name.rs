//! Names as controllers make them: a base and five random characters.

use bench_core::api::{ObjectKey, Scope};
use rand::{Rng, RngExt as _};

/// The characters of generated names: no vowels, and no digits that look like letters.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// `length` random characters.
pub(crate) fn suffix(length: usize, random: &mut impl Rng) -> String {
    (0..length)
        .map(|_| char::from(ALPHABET[random.random_range(0..ALPHABET.len())]))
        .collect()
}

/// A key beside an existing one: same namespace, same base name, another suffix. Without a sibling, a made-up one, in `default` if
/// the resource is namespaced.
pub(crate) fn sibling_key(
    sibling: Option<&ObjectKey>,
    scope: Scope,
    random: &mut impl Rng,
) -> ObjectKey {
    let suffix = suffix(5, random);
    let Some(sibling) = sibling else {
        let namespace = match scope {
            Scope::Cluster => "",
            Scope::Namespaced => "default",
        };
        return ObjectKey::new(namespace, &format!("object-{suffix}"));
    };
    let name = sibling.name();
    let base = match name.rsplit_once('-') {
        Some((base, end)) if end.len() == 5 && end.bytes().all(|byte| ALPHABET.contains(&byte)) => {
            base
        }
        _ => name,
    };
    ObjectKey::new(sibling.namespace(), &format!("{base}-{suffix}"))
}

/// A version 4 uid from random bits.
pub(crate) fn uid(bits: u128) -> String {
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng as _, rngs::ChaCha12Rng};

    use super::*;

    #[test]
    fn a_sibling_replaces_a_generated_suffix_and_keeps_any_other_name_whole() {
        let mut random = ChaCha12Rng::seed_from_u64(1);
        let key = sibling_key(
            Some(&ObjectKey::new("a", "web-7f9c5b6d4-x2x9p")),
            Scope::Namespaced,
            &mut random,
        );
        assert!(
            key.as_str().starts_with("a/web-7f9c5b6d4-") && key.name().len() == 19,
            "{key}"
        );
        let key = sibling_key(
            Some(&ObjectKey::new("a", "web-proxy")),
            Scope::Namespaced,
            &mut random,
        );
        assert!(key.as_str().starts_with("a/web-proxy-"), "{key}");
    }

    #[test]
    fn uids_are_of_version_4() {
        assert_eq!(uid(0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uid(u128::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}
