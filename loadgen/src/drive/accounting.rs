//! Every write of the server is accounted for, to the unit. Pure.

use std::collections::HashMap;

use bench_core::{api::ObjectKey, measure::record::Accounting};
use fake_apiserver::control::CommitRecord;

use super::recorder::{Call, Cause, Delivery};

/// Joins the server's writes with the handler's calls by version.
///
/// A write is delivered if the handler was called with its version, lost if that call was lost on purpose, superseded if it
/// was not but a later version of the key was shown or the key's disappearance was, else pending.
pub(super) fn account(commits: &[CommitRecord], deliveries: &[Delivery]) -> Accounting {
    let mut calls = HashMap::new();
    let mut newest: HashMap<&ObjectKey, u64> = HashMap::new();
    for delivery in deliveries {
        let latest = newest.entry(&delivery.key).or_default();
        *latest = (*latest).max(if delivery.call == Call::DeleteUnknown {
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
    let mut accounting = Accounting::default();
    for commit in commits {
        accounting.sent += 1;
        let key = ObjectKey::try_parse(&commit.key).ok();
        let latest = key.and_then(|key| newest.get(&key).copied()).unwrap_or(0);
        let counter = match calls.get(&commit.resource_version) {
            Some(true) => &mut accounting.lost_on_purpose,
            Some(false) => &mut accounting.delivered,
            None if latest > commit.resource_version => &mut accounting.superseded,
            None => &mut accounting.pending,
        };
        *counter += 1;
    }
    accounting
}

#[cfg(test)]
mod tests {
    use fake_apiserver::control::WriteKind;

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
}
