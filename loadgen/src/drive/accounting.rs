//! Every write of the server is accounted for, to the unit. Pure.

use std::collections::{HashMap, HashSet};

use bench_core::{api::ObjectKey, measure::record::Accounting};
use fake_apiserver::control::{CommitRecord, WriteKind};

use super::recorder::{Call, Cause, Delivery};

/// What the handler knows of a key at the end.
#[derive(Debug, Clone, Copy, Default)]
struct Shown {
    /// Highest version that it was told of; the highest of all after a tombstone.
    newest: u64,
    /// Whether the object is there as far as it knows.
    present: bool,
}

/// Joins the server's writes with the handler's calls by version.
///
/// A write is delivered if the handler was called with its version, lost if that call was lost on purpose, and superseded if it
/// was not, but a later version of the key was shown or the key's disappearance was, or the key is gone on both sides, so that
/// it came and went while no watch was open. Else it is pending.
pub(super) fn account(commits: &[CommitRecord], deliveries: &[Delivery]) -> Accounting {
    let mut calls = HashMap::new();
    let mut known: HashMap<&ObjectKey, Shown> = HashMap::new();
    for delivery in deliveries {
        let shown = known.entry(&delivery.key).or_default();
        shown.present = matches!(delivery.call, Call::Add | Call::Update);
        shown.newest = shown.newest.max(if delivery.call == Call::DeleteUnknown {
            u64::MAX
        } else {
            delivery.version
        });
        if matches!(delivery.cause, Cause::Live | Cause::Relist)
            && delivery.call != Call::DeleteUnknown
        {
            calls.insert(delivery.version, delivery.lost);
        }
    }
    let last_kinds: HashMap<&str, WriteKind> = commits
        .iter()
        .map(|commit| (commit.key.as_str(), commit.kind))
        .collect();
    let mut accounting = Accounting::default();
    for commit in commits {
        accounting.sent += 1;
        let key = ObjectKey::try_parse(&commit.key).ok();
        let shown = key.and_then(|key| known.get(&key).copied());
        let shown = shown.unwrap_or_default();
        let gone = last_kinds.get(commit.key.as_str()) == Some(&WriteKind::Delete);
        let overtaken = shown.newest > commit.resource_version || (gone && !shown.present);
        let counter = match calls.get(&commit.resource_version) {
            Some(true) => &mut accounting.lost_on_purpose,
            Some(false) => &mut accounting.delivered,
            None if overtaken => &mut accounting.superseded,
            None => &mut accounting.pending,
        };
        *counter += 1;
    }
    accounting
}

/// Live calls with a version that no write of the server made: the handler was told of more than there was to tell.
pub(super) fn calls_without_write(
    commits: &[CommitRecord],
    deliveries: &[Delivery],
) -> Option<String> {
    let written: HashSet<u64> = commits
        .iter()
        .map(|commit| commit.resource_version)
        .collect();
    let mut unknown = deliveries
        .iter()
        .filter(|delivery| delivery.cause == Cause::Live && !written.contains(&delivery.version));
    let first = unknown.next()?;
    Some(format!(
        "the server made no write for {} of the handler's live calls, the first of {} at version {}",
        1 + unknown.count(),
        first.key,
        first.version
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::recorder::Fate;

    fn commit(resource_version: u64, key: &str) -> CommitRecord {
        CommitRecord {
            resource_version,
            kind: WriteKind::Update,
            key: key.to_owned(),
            scheduled_ns: 0,
            committed_ns: 0,
        }
    }

    fn delivery(key: &str, version: u64, call: Call, fate: Fate) -> Delivery {
        let key = ObjectKey::try_parse(key).expect("a key");
        let cause = if call == Call::DeleteUnknown {
            Cause::Relist
        } else {
            Cause::Live
        };
        Delivery {
            key,
            uid: "u".into(),
            call,
            cause,
            old_version: None,
            version,
            began_ns: 0,
            returned_ns: 0,
            lost: fate == Fate::Lost,
        }
    }

    #[test]
    fn every_write_is_delivered_lost_superseded_or_pending() {
        let commits = [
            commit(11, "t/a"),
            commit(12, "t/a"),
            commit(13, "t/b"),
            commit(14, "t/c"),
            commit(15, "t/d"),
        ];
        let deliveries = [
            delivery("t/a", 12, Call::Update, Fate::Handled),
            delivery("t/b", 13, Call::Update, Fate::Lost),
            delivery("t/c", 5, Call::DeleteUnknown, Fate::Handled),
        ];
        let accounting = account(&commits, &deliveries);
        let expected = Accounting {
            sent: 5,
            delivered: 1,
            superseded: 2,
            lost_on_purpose: 1,
            pending: 1,
        };
        assert_eq!(accounting, expected);
    }
    fn deleted(resource_version: u64, key: &str) -> CommitRecord {
        CommitRecord {
            kind: WriteKind::Delete,
            ..commit(resource_version, key)
        }
    }

    #[test]
    fn a_key_that_came_and_went_unseen_is_superseded_and_one_still_believed_in_is_not() {
        let commits = [commit(11, "t/a"), deleted(12, "t/a"), deleted(13, "t/b")];
        let unseen = account(&commits, &[delivery("t/b", 5, Call::Add, Fate::Handled)]);
        assert_eq!((unseen.superseded, unseen.pending), (2, 1));
        let again = [commit(11, "t/a"), deleted(12, "t/a"), commit(13, "t/a")];
        assert_eq!(account(&again, &[]).pending, 3, "it is there at the end");
    }

    #[test]
    fn a_call_that_no_write_explains_is_a_violation() {
        let calls = [
            delivery("t/a", 11, Call::Update, Fate::Handled),
            delivery("t/b", 12, Call::Update, Fate::Lost),
            delivery("t/c", 5, Call::DeleteUnknown, Fate::Handled),
        ];
        let writes = [commit(11, "t/a"), commit(12, "t/b")];
        assert_eq!(calls_without_write(&writes, &calls), None);
        assert_eq!(
            calls_without_write(&writes[..1], &calls).unwrap(),
            "the server made no write for 1 of the handler's live calls, the first of t/b at version 12"
        );
    }
}
