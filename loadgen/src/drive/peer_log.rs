//! What another implementation's process reports, as the log of a trial. Pure.

use std::collections::{BTreeMap, HashSet};

use bench_core::{
    api::{ObjectKey, ResourceVersion},
    cache::{DeltaType, ResyncOutcome},
};
use serde::Deserialize;

use super::recorder::{Call, Cause, Delivery, Log, RecordedResync};

/// All of it.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Report {
    deliveries: Vec<ReportedDelivery>,
    received: Vec<(u64, u64)>,
    resyncs: Option<Vec<ReportedResync>>,
    /// Key, uid, version.
    cache: Option<Vec<(String, String, String)>>,
}

/// Key, uid, call, old version, version, began, returned, in the first list, lost on purpose.
type ReportedDelivery = (String, String, ReportedCall, u64, u64, u64, u64, bool, bool);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReportedCall {
    Add,
    Update,
    Delete,
    DeleteUnknown,
}

#[derive(Debug, Deserialize)]
struct ReportedResync {
    began_ns: u64,
    locked_ns: u64,
    released_ns: u64,
    known: u64,
    enqueued: u64,
    markers: u64,
    skipped_pending: BTreeMap<String, u64>,
}

/// Uid and version of each object of a cache.
pub(super) type CachedVersions = BTreeMap<ObjectKey, (Box<str>, ResourceVersion)>;

impl Report {
    /// The log, and what the cache held at the end.
    pub(super) fn into_log(self) -> (Log, CachedVersions) {
        let deliveries: Vec<_> = self.deliveries.into_iter().filter_map(delivery).collect();
        let resyncs: Vec<_> = self.resyncs.iter().flatten().map(recorded).collect();
        let markers = resyncs.iter().any(|resync| resync.outcome.markers > 0);
        let log = Log {
            sync_alls: if markers {
                whole_resyncs(&deliveries)
            } else {
                Vec::new()
            },
            deliveries,
            received: self.received,
            resyncs,
            reconciles: Vec::new(),
        };
        let cached = self.cache.into_iter().flatten();
        let cached = cached.filter_map(|(key, uid, version)| {
            let key = ObjectKey::try_parse(&key).ok()?;
            Some((key, (uid.into(), ResourceVersion::from(version.as_str()))))
        });
        (log, cached.collect())
    }
}

fn delivery(reported: ReportedDelivery) -> Option<Delivery> {
    let (key, uid, call, old, version, began_ns, returned_ns, initial, lost) = reported;
    let (call, cause) = match call {
        ReportedCall::Add if initial => (Call::Add, Cause::Initial),
        ReportedCall::Add => (Call::Add, Cause::Live),
        // A replay looks the same from outside, but needs a watch that broke.
        ReportedCall::Update if old == version => (Call::Update, Cause::Resync),
        ReportedCall::Update => (Call::Update, Cause::Live),
        ReportedCall::Delete => (Call::Delete, Cause::Live),
        ReportedCall::DeleteUnknown => (Call::DeleteUnknown, Cause::Relist),
    };
    Some(Delivery {
        key: ObjectKey::try_parse(&key).ok()?,
        uid: uid.into(),
        call,
        cause,
        old_version: (call == Call::Update).then_some(old),
        version,
        began_ns,
        returned_ns,
        lost,
    })
}

fn recorded(reported: &ReportedResync) -> RecordedResync {
    let types = [
        DeltaType::Added,
        DeltaType::Updated,
        DeltaType::Deleted,
        DeltaType::Replaced,
        DeltaType::Sync,
    ];
    let skipped_pending = types.into_iter().filter_map(|delta_type| {
        let count = reported.skipped_pending.get(delta_type.name())?;
        Some((delta_type, *count))
    });
    RecordedResync {
        began_ns: reported.began_ns,
        locked_ns: reported.locked_ns,
        released_ns: reported.released_ns,
        outcome: ResyncOutcome {
            known: reported.known,
            enqueued: reported.enqueued,
            skipped_pending: skipped_pending.collect(),
            missing: 0,
            markers: reported.markers,
        },
    }
}

/// How many notifications each whole resync made. It names every key once, and nothing comes between its notifications; so one
/// ends where something else is handled, or where a key is named again.
fn whole_resyncs(deliveries: &[Delivery]) -> Vec<u64> {
    let mut counts = Vec::new();
    let mut named: HashSet<&ObjectKey> = HashSet::new();
    for delivery in deliveries {
        let ends = delivery.cause != Cause::Resync || named.contains(&delivery.key);
        if ends && !named.is_empty() {
            counts.push(named.len() as u64);
            named.clear();
        }
        if delivery.cause == Cause::Resync {
            named.insert(&delivery.key);
        }
    }
    if !named.is_empty() {
        counts.push(named.len() as u64);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{
        "deliveries": [
            ["t/a","u1","add",0,5,10,11,true,false], ["t/b","u2","add",0,6,11,12,true,false],
            ["t/a","u1","update",5,5,20,21,false,false], ["t/b","u2","update",6,6,21,22,false,false],
            ["t/b","u2","update",6,6,30,31,false,false], ["t/a","u1","update",5,5,31,32,false,false],
            ["t/a","u1","update",5,7,40,41,false,true],
            ["t/a","u1","update",7,7,50,51,false,false], ["t/b","u2","delete",0,8,60,61,false,false]
        ],
        "received": [[7,39],[8,59]],
        "resyncs": [
            {"began_ns":19,"locked_ns":19,"released_ns":20,"known":0,"enqueued":0,"markers":1,"skipped_pending":{}},
            {"began_ns":29,"locked_ns":29,"released_ns":30,"known":3,"enqueued":1,"markers":0,"skipped_pending":{"Sync":2}}
        ],
        "cache": [["t/a","u1","7"]]
    }"#;

    #[test]
    fn a_report_is_a_log_with_the_cause_of_each_call() {
        let (log, cached) = serde_json::from_str::<Report>(REPORT).unwrap().into_log();
        let causes: Vec<_> = log.deliveries.iter().map(|one| one.cause).collect();
        let resync = Cause::Resync;
        let expected = [
            Cause::Initial,
            Cause::Initial,
            resync,
            resync,
            resync,
            resync,
            Cause::Live,
            resync,
            Cause::Live,
        ];
        assert_eq!(causes, expected);
        let update = &log.deliveries[6];
        assert_eq!(
            (update.old_version, update.version, update.lost),
            (Some(5), 7, true)
        );
        assert_eq!(log.deliveries[8].old_version, None);
        assert_eq!(log.received, [(7, 39), (8, 59)]);
        let outcome = &log.resyncs[1].outcome;
        assert_eq!((outcome.known, outcome.enqueued), (3, 1));
        assert_eq!(
            outcome.skipped_pending,
            BTreeMap::from([(DeltaType::Sync, 2)])
        );
        let key = ObjectKey::new("t", "a");
        assert_eq!(
            cached,
            BTreeMap::from([(key, ("u1".into(), ResourceVersion::from(7)))])
        );
    }

    #[test]
    fn a_whole_resync_ends_where_a_key_comes_again_or_something_else_does() {
        let (log, _) = serde_json::from_str::<Report>(REPORT).unwrap().into_log();
        assert_eq!(log.sync_alls, [2, 2, 1]);
    }

    #[test]
    fn a_queue_that_resyncs_key_by_key_has_no_whole_resyncs() {
        let report = REPORT.replace("\"markers\":1", "\"markers\":0");
        let (log, _) = serde_json::from_str::<Report>(&report).unwrap().into_log();
        assert_eq!(log.sync_alls, [0; 0]);
    }

    #[test]
    fn an_informer_that_did_nothing_reports_that() {
        let nothing = r#"{"deliveries":[],"received":[],"resyncs":null,"cache":null}"#;
        let (log, cached) = serde_json::from_str::<Report>(nothing).unwrap().into_log();
        assert_eq!(
            (log.deliveries.len(), log.resyncs.len(), cached.len()),
            (0, 0, 0)
        );
    }
}
