//! Churn: its schedule, and the thread that carries it out.

use std::{collections::HashSet, time::Duration};

use bench_core::api::{ObjectKey, Scope};
use fake_apiserver::{
    churn::{ChurnError, ChurnSchedule, Write},
    control::{Arrivals, ChurnMix, ChurnRequest, KeyChoice, WriteKind},
};

use crate::client::Client;

fn request(seed: u64) -> ChurnRequest {
    ChurnRequest {
        resource: "pods".to_owned(),
        rate_per_second: 100.0,
        mix: ChurnMix {
            create: 1.0,
            update: 2.0,
            delete: 1.0,
        },
        arrivals: Arrivals::Poisson,
        keys: KeyChoice::Uniform,
        seed,
        start_at_ns: None,
    }
}

fn population(count: usize) -> Vec<ObjectKey> {
    (0..count)
        .map(|index| ObjectKey::new("a", &format!("web-{index}")))
        .collect()
}

fn schedule(request: &ChurnRequest) -> ChurnSchedule {
    ChurnSchedule::try_new(request, Scope::Namespaced, population(100)).unwrap()
}

fn checksum_after(request: &ChurnRequest, writes: u64) -> u64 {
    let mut schedule = schedule(request);
    for _ in 0..writes {
        schedule.next_write();
    }
    schedule.checksum()
}

#[test]
fn the_seed_and_nothing_else_decides_the_sequence() {
    assert_eq!(
        checksum_after(&request(7), 1000),
        checksum_after(&request(7), 1000)
    );
    assert_ne!(
        checksum_after(&request(7), 1000),
        checksum_after(&request(8), 1000)
    );
    // Traces carry checksums, so a change here invalidates what was recorded.
    assert_eq!(
        format!("{:016x}", checksum_after(&request(7), 1000)),
        "7fd256d5f1885ed5"
    );
}

#[test]
fn writes_name_objects_that_exist_and_never_use_a_name_or_uid_twice() {
    let mut existing: HashSet<ObjectKey> = population(100).into_iter().collect();
    let mut ever = existing.clone();
    let mut uids = HashSet::new();
    let mut schedule = schedule(&request(3));
    for _ in 0..20_000 {
        match schedule.next_write().write {
            Write::Create { key, uid, sibling } => {
                assert!(sibling.is_none_or(|sibling| existing.contains(&sibling)));
                assert!(ever.insert(key.clone()) && uids.insert(uid));
                existing.insert(key);
            }
            Write::Update { key } => assert!(existing.contains(&key)),
            Write::Delete { key } => assert!(existing.remove(&key)),
        }
    }
}

#[test]
fn every_kind_of_arrival_keeps_the_rate() {
    for (arrivals, tolerance) in [
        (Arrivals::Constant, 0.0),
        (Arrivals::Bursty { size: 50 }, 0.0),
        (Arrivals::Poisson, 3.0),
    ] {
        let mut schedule = schedule(&ChurnRequest {
            arrivals,
            ..request(1)
        });
        let offsets: Vec<Duration> = (0..10_000).map(|_| schedule.next_write().offset).collect();
        assert!(offsets.is_sorted());
        let last = offsets[9999].as_secs_f64();
        assert!((last - 100.0).abs() <= tolerance, "{arrivals:?}: {last}");
    }
}

#[test]
fn bursts_are_due_at_one_instant() {
    let arrivals = Arrivals::Bursty { size: 3 };
    let mut schedule = schedule(&ChurnRequest {
        arrivals,
        ..request(1)
    });
    let offsets: Vec<u128> = (0..7)
        .map(|_| schedule.next_write().offset.as_millis())
        .collect();
    assert_eq!(offsets, [30, 30, 30, 60, 60, 60, 90]);
}

#[test]
fn zipf_prefers_the_first_objects() {
    let zipf = ChurnRequest {
        keys: KeyChoice::Zipf { exponent: 1.0 },
        mix: ChurnMix::updates_only(),
        ..request(1)
    };
    let mut schedule = schedule(&zipf);
    let keys = population(100);
    let mut counts = [0_u32; 100];
    for _ in 0..10_000 {
        let write = schedule.next_write().write;
        counts[keys.iter().position(|key| key == write.key()).unwrap()] += 1;
    }
    // 1 / H(100) = 0.1928, and a tenth of it for the tenth.
    assert!((1828..2028).contains(&counts[0]), "{}", counts[0]);
    assert!((150..240).contains(&counts[9]), "{}", counts[9]);
}

#[test]
fn an_empty_cluster_is_filled_before_it_is_changed() {
    let mut schedule = ChurnSchedule::try_new(&request(1), Scope::Cluster, Vec::new()).unwrap();
    let first = schedule.next_write().write;
    assert_eq!(
        (first.kind(), first.key().namespace()),
        (WriteKind::Create, "")
    );
}

#[test]
fn what_cannot_be_carried_out_is_refused_by_field() {
    let refuse = |request: ChurnRequest| {
        ChurnSchedule::try_new(&request, Scope::Namespaced, Vec::new()).unwrap_err()
    };
    let nothing = ChurnMix {
        create: 0.0,
        update: 0.0,
        delete: 0.0,
    };
    assert_eq!(
        refuse(ChurnRequest {
            mix: nothing,
            ..request(1)
        }),
        ChurnError::Mix
    );
    assert_eq!(
        refuse(ChurnRequest {
            rate_per_second: f64::NAN,
            ..request(1)
        }),
        ChurnError::Rate
    );
    assert_eq!(
        refuse(ChurnRequest {
            arrivals: Arrivals::Bursty { size: 0 },
            ..request(1)
        }),
        ChurnError::BurstSize
    );
    assert_eq!(
        refuse(ChurnRequest {
            keys: KeyChoice::Zipf { exponent: 0.0 },
            ..request(1)
        }),
        ChurnError::ZipfExponent
    );
}

#[tokio::test]
async fn the_thread_commits_the_schedule_in_order_and_never_before_it_is_due() {
    let client = Client::with_pods(&["a/web-0", "a/web-1", "a/web-2"]);
    let mut watch = client.watch("/api/v1/pods?watch=1&resourceVersion=4").await;
    let churn = ChurnRequest {
        rate_per_second: 2000.0,
        ..request(5)
    };
    client.server.start_churn(&churn).unwrap();
    assert!(client.server.start_churn(&churn).is_err(), "one at a time");
    let outer_limit = Duration::from_secs(20);
    for _ in 0..100 {
        tokio::time::timeout(outer_limit, watch.next_line())
            .await
            .unwrap()
            .unwrap();
    }
    let summary = client.server.stop_churn().unwrap();
    let commits = client.server.commits_since(4);
    assert_eq!(summary.committed, commits.len() as u64);
    assert_eq!(summary.revision, commits.last().unwrap().resource_version);
    let population = vec!["web-0", "web-1", "web-2"]
        .into_iter()
        .map(|name| ObjectKey::new("a", name))
        .collect();
    let mut schedule = ChurnSchedule::try_new(&churn, Scope::Namespaced, population).unwrap();
    let start = commits[0].scheduled_ns;
    let mut first_offset = None;
    for (commit, version) in commits.iter().zip(5..) {
        let planned = schedule.next_write();
        let first_offset = *first_offset.get_or_insert(planned.offset);
        assert_eq!(
            (commit.resource_version, commit.kind),
            (version, planned.write.kind())
        );
        assert_eq!(commit.key, planned.write.key().as_str());
        assert_eq!(
            u128::from(commit.scheduled_ns - start),
            planned.offset.as_nanos() - first_offset.as_nanos()
        );
        assert!(commit.committed_ns >= commit.scheduled_ns);
    }
    assert_eq!(summary.checksum, format!("{:016x}", schedule.checksum()));
    assert_eq!(client.server.stop_churn(), None);
}
