//! Repair of events that a handler lost, from the log, and the closed form that it is held against. Pure.

use std::collections::HashMap;

use bench_core::{
    api::ObjectKey,
    measure::{latency::LatencyRecorder, record::Repair},
};

use super::recorder::{Call, Cause, Delivery};

/// The part of a trial in which losses and repairs are looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct RepairSpan {
    /// Losses after this have not had the time to be repaired and are left out of the times.
    pub(super) losses_until_ns: u64,
    /// Repairs after this do not count: resyncs have been ended.
    pub(super) repairs_until_ns: u64,
}

/// Where a live event of a key that a drain has yet to deliver goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// To its key's pending Sync: a `DeltaFIFO` with the backlog in it, hence a plain informer's.
    WithItsKey,
    /// Behind all that is pending: every later queue, and a shared informer's listener.
    AtTheEnd,
}

/// What the closed form needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct RepairModel {
    /// Where a live event waits during a drain.
    pub(super) place: Place,
    /// Time between two resyncs, as it was, in seconds.
    pub(super) interval: f64,
    /// Time to deliver the whole cache, in seconds.
    pub(super) drain: f64,
    /// Later live events of the same key that are handled and not lost, a second.
    pub(super) live_rate_per_key: f64,
}

/// Counts losses and what repaired them; absent if nothing was lost.
///
/// Every loss is a sample of its own: it is repaired by the next call of the same key that the handler does not lose. A lost
/// delete can only be repaired by a new life of the key.
pub(super) fn repairs(
    deliveries: &[Delivery],
    span: RepairSpan,
    expected_mean_ns: Option<f64>,
) -> Option<Repair> {
    let mut open: HashMap<&ObjectKey, Vec<(u64, Call)>> = HashMap::new();
    let mut times = LatencyRecorder::new();
    let mut repair = Repair {
        lost_adds: 0,
        lost_updates: 0,
        lost_deletes: 0,
        repaired_by_resync: 0,
        repaired_by_live: 0,
        unrepaired: 0,
        unrepaired_deletes: 0,
        time_to_repair: bench_core::measure::record::LatencySeries::default(),
        expected_mean_ns,
    };
    for delivery in deliveries
        .iter()
        .take_while(|delivery| delivery.returned_ns <= span.repairs_until_ns)
    {
        if delivery.lost {
            let counter = match delivery.call {
                Call::Add => &mut repair.lost_adds,
                Call::Update => &mut repair.lost_updates,
                Call::Delete | Call::DeleteUnknown => &mut repair.lost_deletes,
            };
            *counter += 1;
            open.entry(&delivery.key)
                .or_default()
                .push((delivery.returned_ns, delivery.call));
            continue;
        }
        for (lost_at, call) in open.remove(&delivery.key).into_iter().flatten() {
            if matches!(call, Call::Delete | Call::DeleteUnknown) {
                continue;
            }
            if delivery.cause == Cause::Resync {
                repair.repaired_by_resync += 1;
            } else {
                repair.repaired_by_live += 1;
            }
            if lost_at <= span.losses_until_ns {
                times.record_between(lost_at, delivery.returned_ns);
            }
        }
    }
    for (_, call) in open.into_values().flatten() {
        let deleted = matches!(call, Call::Delete | Call::DeleteUnknown);
        *(if deleted {
            &mut repair.unrepaired_deletes
        } else {
            &mut repair.unrepaired
        }) += 1;
    }
    repair.time_to_repair = times.to_series();
    (repair.lost_adds + repair.lost_updates + repair.lost_deletes > 0).then_some(repair)
}

/// The mean time to repair, in seconds; absent where the drain does not end before the next resync.
///
/// A cycle begins with a resync, which delivers the key at a place that is uniform in the drain. A live event that arrives
/// outside the drain is lost at once. One that arrives in the drain is lost, where it joins its key's Sync, at the key's place if
/// that lies ahead, else at the drain's end; where it does not, always at the drain's end. The repair
/// is the key's place in the next cycle, or an earlier live event. See METHODOLOGY.md.
pub(super) fn expected_mean_seconds(model: RepairModel) -> Option<f64> {
    const STEPS: u32 = 400;
    let RepairModel {
        place: goes,
        interval,
        drain,
        live_rate_per_key: rate,
    } = model;
    if !interval.is_finite() || interval <= 0.0 || drain >= interval {
        return None;
    }
    let step = |index: u32, length: f64| (f64::from(index) + 0.5) / f64::from(STEPS) * length;
    let mut sum = 0.0;
    for arrival in (0..STEPS).map(|index| step(index, interval)) {
        for place in (0..STEPS).map(|index| step(index, drain)) {
            let lost_at = if arrival >= drain {
                arrival
            } else if goes == Place::WithItsKey && place > arrival {
                place
            } else {
                drain
            };
            let wait = interval + place - lost_at;
            sum += if rate > 0.0 {
                -(-rate * wait).exp_m1() / rate
            } else {
                wait
            };
        }
    }
    Some(sum / f64::from(STEPS * STEPS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::recorder::Fate;

    fn delivery(key: &str, at: u64, call: Call, cause: Cause, fate: Fate) -> Delivery {
        let key = ObjectKey::new("t", key);
        Delivery {
            key,
            uid: "u".into(),
            call,
            cause,
            old_version: None,
            version: at,
            began_ns: at,
            returned_ns: at,
            lost: fate == Fate::Lost,
        }
    }

    const SPAN: RepairSpan = RepairSpan {
        losses_until_ns: 1_000,
        repairs_until_ns: 1_000,
    };

    #[test]
    fn each_loss_is_repaired_by_the_next_call_that_is_not_lost_and_a_lost_delete_by_none() {
        let log = [
            delivery("a", 10, Call::Update, Cause::Live, Fate::Lost),
            delivery("a", 20, Call::Update, Cause::Live, Fate::Lost),
            delivery("b", 30, Call::Add, Cause::Live, Fate::Lost),
            delivery("c", 40, Call::Delete, Cause::Live, Fate::Lost),
            delivery("a", 50, Call::Update, Cause::Resync, Fate::Handled),
            delivery("b", 60, Call::Update, Cause::Live, Fate::Handled),
            delivery("d", 70, Call::Update, Cause::Live, Fate::Lost),
            delivery("d", 2_000, Call::Update, Cause::Resync, Fate::Handled),
        ];
        let repair = repairs(&log, SPAN, None).unwrap();
        assert_eq!(
            (repair.lost_adds, repair.lost_updates, repair.lost_deletes),
            (1, 3, 1)
        );
        assert_eq!(
            (
                repair.repaired_by_resync,
                repair.repaired_by_live,
                repair.unrepaired
            ),
            (2, 1, 1)
        );
        assert_eq!(repair.unrepaired_deletes, 1);
        assert_eq!(
            (repair.time_to_repair.min_ns, repair.time_to_repair.max_ns),
            (Some(30), Some(40))
        );
        assert_eq!(repairs(&log[4..6], SPAN, None), None);
    }

    #[test]
    fn without_competition_the_mean_is_that_of_the_derivation() {
        for (interval, drain) in [(10.0, 0.0), (2.0, 1.2), (1.0, 0.3)] {
            let model = |place| RepairModel {
                place,
                interval,
                drain,
                live_rate_per_key: 0.0,
            };
            let plain = expected_mean_seconds(model(Place::WithItsKey)).unwrap();
            let shared = expected_mean_seconds(model(Place::AtTheEnd)).unwrap();
            let base = f64::midpoint(interval, drain);
            assert!(
                (plain - (base - drain * drain / (3.0 * interval))).abs() < 2e-3 * interval,
                "{plain}"
            );
            assert!(
                (shared - (base - drain * drain / (2.0 * interval))).abs() < 2e-3 * interval,
                "{shared}"
            );
        }
        let endless = RepairModel {
            place: Place::WithItsKey,
            interval: 1.0,
            drain: 1.2,
            live_rate_per_key: 0.0,
        };
        assert_eq!(expected_mean_seconds(endless), None);
    }

    #[test]
    fn later_events_of_the_same_key_shorten_the_mean() {
        let model = |rate| RepairModel {
            place: Place::WithItsKey,
            interval: 4.0,
            drain: 0.0,
            live_rate_per_key: rate,
        };
        // E[min(U(0,4), Exp(1))] = 1 - (1 - e^-4) / 4.
        let exact = 1.0 - (1.0 - (-4.0_f64).exp()) / 4.0;
        assert!((expected_mean_seconds(model(1.0)).unwrap() - exact).abs() < 1e-4);
    }
}
