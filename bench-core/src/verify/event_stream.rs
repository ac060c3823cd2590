//! Is the order of one handler's notifications legal?

use std::{
    collections::{HashMap, hash_map::Entry},
    fmt::Display,
    hash::Hash,
};

use crate::{api::ResourceVersion, cache::AddOrigin};

use super::{Violation, violation::CappedViolations};

/// One notification as a handler was given it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notification<K> {
    /// `on_add`.
    Added {
        /// The key.
        key: K,
        /// Uid of the object.
        uid: Box<str>,
        /// Version of the object.
        version: ResourceVersion,
        /// Whether of the first list.
        origin: AddOrigin,
    },
    /// `on_update`; a resync's has two equal versions.
    Updated {
        /// The key.
        key: K,
        /// Uid of the new object.
        uid: Box<str>,
        /// Version of the old object.
        old_version: ResourceVersion,
        /// Version of the new object.
        version: ResourceVersion,
    },
    /// `on_delete` with the last state as the server told it.
    Deleted {
        /// The key.
        key: K,
        /// Version of the deletion.
        version: ResourceVersion,
    },
    /// `on_delete` with a tombstone, whose state may be an old one.
    DeletedFinalStateUnknown {
        /// The key.
        key: K,
        /// Version of the state in the tombstone.
        version: ResourceVersion,
    },
}

/// Notifications by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventCounts {
    /// Adds of the first list.
    pub added_initially: u64,
    /// Other adds.
    pub added_live: u64,
    /// Updates to another version.
    pub updated: u64,
    /// Updates to the same version: resyncs, and relists that found nothing new.
    pub repeated: u64,
    /// Deletions with the last state.
    pub deleted: u64,
    /// Deletions with a tombstone.
    pub deleted_final_state_unknown: u64,
}

/// Checks the notifications of one handler, fed in the order of delivery.
///
/// A key is added only while absent, and updated and deleted only while present. An update replaces the version that was last
/// seen, so a notification that got lost shows at the next one of its key. The version of one object (key and uid) does not
/// go down, also not past its deletion, except in the first notification of its key after [`Self::relisted`]. Versions that
/// are no numbers have no order and are only compared for equality. An update may change the uid: a deletion and a creation
/// can be merged on the way.
///
/// Memory grows with the keys ever seen.
#[derive(Debug, Clone)]
pub struct EventStreamChecker<K> {
    seen: HashMap<K, Seen>,
    relists: u64,
    counts: EventCounts,
    violations: CappedViolations,
}

#[derive(Debug, Clone)]
struct Seen {
    presence: Presence,
    uid: Box<str>,
    version: ResourceVersion,
    // `relists` at that time.
    relist: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Present,
    Deleted,
}

impl<K: Hash + Eq + Display> EventStreamChecker<K> {
    /// A handler that has seen nothing.
    pub fn new() -> Self {
        Self {
            seen: HashMap::new(),
            relists: 0,
            counts: EventCounts::default(),
            violations: CappedViolations::default(),
        }
    }

    /// Marks that what follows may come from a relist, which can show an older state than a watch did.
    pub fn relisted(&mut self) {
        self.relists += 1;
    }

    /// Takes the next notification. After a violation the checker goes on from what the handler now has.
    pub fn notify(&mut self, notification: Notification<K>) {
        self.count(&notification);
        match notification {
            Notification::Added {
                key, uid, version, ..
            } => self.shown(key, uid, version, None),
            Notification::Updated {
                key,
                uid,
                old_version,
                version,
            } => self.shown(key, uid, version, Some(old_version)),
            Notification::Deleted { key, version } => {
                self.gone(key, version, FinalState::Known);
            }
            Notification::DeletedFinalStateUnknown { key, version } => {
                self.gone(key, version, FinalState::Unknown);
            }
        }
    }

    /// Keys that the handler has now.
    pub fn present(&self) -> impl Iterator<Item = (&K, &ResourceVersion)> {
        let present = self
            .seen
            .iter()
            .filter(|(_, seen)| seen.presence == Presence::Present);
        present.map(|(key, seen)| (key, &seen.version))
    }

    /// What was notified.
    pub fn counts(&self) -> EventCounts {
        self.counts
    }

    /// What was wrong so far, in order: the first ones, then [`Violation::More`].
    pub fn violations(&self) -> Vec<Violation> {
        self.violations.to_vec()
    }

    // An add has no old version.
    fn shown(
        &mut self,
        key: K,
        uid: Box<str>,
        version: ResourceVersion,
        old_version: Option<ResourceVersion>,
    ) {
        let name = key.to_string();
        let before = self.seen.get(&key);
        let present = before.filter(|seen| seen.presence == Presence::Present);
        match (old_version, present) {
            (None, Some(seen)) => self.violations.push(Violation::AddedWhilePresent {
                key: name.clone(),
                version: version.clone(),
                last_seen: seen.version.clone(),
            }),
            (Some(_), None) => self.violations.push(Violation::UpdatedWhileAbsent {
                key: name.clone(),
                version: version.clone(),
            }),
            (Some(old_version), Some(seen)) if old_version != seen.version => {
                self.violations.push(Violation::WrongOldVersion {
                    key: name.clone(),
                    old_version,
                    last_seen: seen.version.clone(),
                });
            }
            (None, None) | (Some(_), Some(_)) => {}
        }
        if let Some(seen) = before
            && seen.uid == uid
            && seen.relist == self.relists
            && is_lower(&version, &seen.version)
        {
            self.violations.push(Violation::WentBack {
                key: name,
                uid: uid.to_string(),
                last_seen: seen.version.clone(),
                version: version.clone(),
            });
        }
        self.seen.insert(
            key,
            Seen {
                presence: Presence::Present,
                uid,
                version,
                relist: self.relists,
            },
        );
    }

    fn gone(&mut self, key: K, version: ResourceVersion, final_state: FinalState) {
        let name = key.to_string();
        let mut entry = match self.seen.entry(key) {
            Entry::Occupied(entry) if entry.get().presence == Presence::Present => entry,
            _ => {
                self.violations
                    .push(Violation::DeletedWhileAbsent { key: name, version });
                return;
            }
        };
        let seen = entry.get_mut();
        seen.presence = Presence::Deleted;
        // A tombstone comes of a relist and its state may be older than what the handler saw.
        if final_state == FinalState::Unknown {
            return;
        }
        if seen.relist == self.relists && is_lower(&version, &seen.version) {
            self.violations.push(Violation::WentBack {
                key: name,
                uid: seen.uid.to_string(),
                last_seen: seen.version.clone(),
                version: version.clone(),
            });
        }
        seen.version = version;
        seen.relist = self.relists;
    }

    fn count(&mut self, notification: &Notification<K>) {
        let counts = &mut self.counts;
        let count = match notification {
            Notification::Added {
                origin: AddOrigin::InitialList,
                ..
            } => &mut counts.added_initially,
            Notification::Added { .. } => &mut counts.added_live,
            Notification::Updated {
                old_version,
                version,
                ..
            } if old_version == version => &mut counts.repeated,
            Notification::Updated { .. } => &mut counts.updated,
            Notification::Deleted { .. } => &mut counts.deleted,
            Notification::DeletedFinalStateUnknown { .. } => {
                &mut counts.deleted_final_state_unknown
            }
        };
        *count += 1;
    }
}

impl<K: Hash + Eq + Display> Default for EventStreamChecker<K> {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FinalState {
    Known,
    Unknown,
}

fn is_lower(version: &ResourceVersion, than: &ResourceVersion) -> bool {
    match (version.number(), than.number()) {
        (Some(version), Some(than)) => version < than,
        _ => false,
    }
}
