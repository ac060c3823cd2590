//! What an informer made of a script, and when two such outcomes are the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::script::{Script, Streaming};

/// Everything that is compared but the requests, which the server knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "two answers of the peer, as it writes them"
)]
pub struct Outcome {
    /// The script's name.
    pub script: String,
    /// The end was not reached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Whether the informer has synced.
    pub synced: bool,
    /// The last version it knows.
    pub last_version: String,
    /// Keys and versions of the cache.
    pub store: BTreeMap<String, String>,
    /// Each handler's calls: `add! key@version` (in the initial list), `add key@version`, `update key@old > new`,
    /// `delete key@version`, `delete †key@version` (a tombstone).
    pub handlers: Vec<Vec<String>>,
    /// Whether each handler of a shared informer has synced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handlers_synced: Vec<bool>,
    /// What cycles of listing and watching failed with: `expired` or `other`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
}

/// Runs of calls whose order upstream leaves open, since it comes from a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Burst {
    /// A handler that came late is told of the cache, or a stream's initial events are told.
    Initial,
    /// A list no longer has these.
    Tombstones,
    /// A resync.
    Unchanged,
    /// A stream that took the place of a list: its additions and updates.
    Restreamed,
}

impl Outcome {
    /// Puts what upstream leaves open into one order: the runs of `Burst` by key, calls for one key in their own order.
    pub fn normalize(&mut self, script: &Script) {
        for (place, calls) in self.handlers.iter_mut().enumerate() {
            let late = script.informer.handlers.get(place);
            let late = late.is_some_and(|handler| handler.late);
            let streamed = script.streaming != Streaming::Off;
            let resyncs = script.informer.resync_ms > 0;
            let burst = |call: &String| match () {
                () if call.starts_with("add! ") && (late || streamed) => Some(Burst::Initial),
                () if call.starts_with("delete †") => Some(Burst::Tombstones),
                () if call.starts_with("delete ") || call.starts_with("add! ") => None,
                () if streamed => Some(Burst::Restreamed),
                () if resyncs && is_unchanged(call) => Some(Burst::Unchanged),
                () => None,
            };
            let same = |one: &String, other: &String| {
                let one = burst(one);
                one.is_some() && one == burst(other)
            };
            for run in calls.chunk_by_mut(same) {
                run.sort_by(|one, other| key(one).cmp(key(other)));
            }
        }
    }
}

/// Whether a call is an update to the same version.
fn is_unchanged(call: &str) -> bool {
    let versions = call.strip_prefix("update ");
    let versions = versions.and_then(|rest| rest.rsplit_once('@'));
    let versions = versions.and_then(|(_, versions)| versions.split_once(" > "));
    versions.is_some_and(|(old, new)| old == new)
}

/// A call's key.
fn key(call: &str) -> &str {
    let rest = call.split_once(' ').map_or(call, |(_, rest)| rest);
    rest.rsplit_once('@').map_or(rest, |(key, _)| key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::script::InformerSpec;

    fn normalized(streaming: Streaming, resync_ms: u64, calls: &[&str]) -> Vec<String> {
        let script = Script {
            name: String::new(),
            streaming,
            informer: InformerSpec {
                plain: true,
                resync_ms,
                ..InformerSpec::default()
            },
            final_version: String::new(),
            requests: None,
            list: Vec::new(),
            watch: Vec::new(),
            stream: Vec::new(),
        };
        let mut outcome = Outcome {
            handlers: vec![calls.iter().map(ToString::to_string).collect()],
            ..Outcome::default()
        };
        outcome.normalize(&script);
        outcome.handlers.remove(0)
    }

    #[test]
    fn a_list_keeps_its_order_but_for_what_it_no_longer_has() {
        let calls = ["add! a/b@1", "add! a/a@1", "update a/b@1 > 1"];
        assert_eq!(normalized(Streaming::Off, 0, &calls), calls);
        assert_eq!(
            normalized(
                Streaming::Off,
                0,
                &["delete †a/b@1", "delete †a/a@1", "delete a/0@1"]
            ),
            ["delete †a/a@1", "delete †a/b@1", "delete a/0@1"]
        );
    }

    #[test]
    fn a_resync_has_no_order_and_changes_have() {
        let calls = ["update a/b@1 > 1", "update a/a@1 > 1", "update a/0@1 > 2"];
        assert_eq!(
            normalized(Streaming::Off, 1, &calls),
            ["update a/a@1 > 1", "update a/b@1 > 1", "update a/0@1 > 2"]
        );
    }

    #[test]
    fn a_stream_has_no_order_but_that_of_each_key() {
        let calls = [
            "add! a/b@1",
            "add! a/a@1",
            "add a/d@3",
            "update a/c@9 > 2",
            "update a/c@2 > 1",
        ];
        assert_eq!(
            normalized(Streaming::On, 0, &calls),
            [
                "add! a/a@1",
                "add! a/b@1",
                "update a/c@9 > 2",
                "update a/c@2 > 1",
                "add a/d@3"
            ]
        );
    }
}
