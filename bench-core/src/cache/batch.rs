//! Where a batch of events ends: what the two queues of events share. Pure.

use std::{collections::HashSet, num::NonZeroUsize};

use crate::api::ObjectKey;

/// Events that a pop takes at most; upstream's, which it does not let anybody set.
pub const DEFAULT_BATCH_SIZE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// How an entry joins a batch.
#[derive(Debug)]
pub(super) enum Member<'a> {
    /// With other objects.
    Keyed(&'a ObjectKey),
    /// As the last: nobody knows whether it is one of the objects before it.
    WithoutKey,
    /// Not at all.
    Alone,
}

/// How many entries from the front make the next pop; 0 only if there is none.
///
/// A batch ends at `most` entries, where the first list ends (`initial` entries are left of it), before the second entry of
/// one object, behind an entry without a key, and before and behind one that joins none.
pub(super) fn batch_length<'a>(
    front: impl Iterator<Item = Member<'a>>,
    most: NonZeroUsize,
    initial: usize,
) -> usize {
    let most = match initial {
        0 => most.get(),
        initial => most.get().min(initial),
    };
    let mut keys = HashSet::with_capacity(most.min(front.size_hint().0));
    for (position, member) in front.take(most).enumerate() {
        match member {
            Member::Keyed(key) if keys.insert(key) => {}
            Member::Keyed(_) => return position,
            Member::WithoutKey => return position + 1,
            Member::Alone => return position.max(1),
        }
    }
    keys.len()
}
