//! From the log of a trial to its numbers. Pure.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use bench_core::{
    cache::QueueKind,
    measure::{
        allocations::AllocationCount,
        clock::MonotonicTime,
        latency::LatencyRecorder,
        record::{
            Accounting, Cost, Generator, LatencySeries, Measurements, Notifications, ResyncSummary,
            ResyncTick, Timeline, TimelinePoint,
        },
    },
    verify::{Convergence, SyncBalance, check_accounting, check_resync, check_sync},
};
use fake_apiserver::control::{CommitRecord, WriteKind};

use crate::scenario::choice::InformerKind;

use super::{
    DriveSettings,
    accounting::account,
    recorder::{Cause, Delivery, Log, Reconcile},
    repair::{Place, RepairModel, RepairSpan, expected_mean_seconds, repairs},
    sampler::{STEP, nanoseconds},
};

/// What a trial left behind.
#[derive(Debug)]
pub(super) struct Inputs<'a> {
    /// What was asked.
    pub(super) settings: &'a DriveSettings,
    /// Objects in the cache when the informer had synced.
    pub(super) known: u64,
    /// Start of the informer.
    pub(super) began: MonotonicTime,
    /// End of the first list.
    pub(super) synced_at: MonotonicTime,
    /// Start of the window.
    pub(super) window_began: MonotonicTime,
    /// End of the window.
    pub(super) window_ended: MonotonicTime,
    /// When nothing was pending any more.
    pub(super) converged_at: MonotonicTime,
    /// CPU time of the client in the window.
    pub(super) client_cpu: Duration,
    /// Highest resident memory of the client.
    pub(super) client_rss_peak_bytes: u64,
    /// Allocations of the client in the window; absent if they were not counted.
    pub(super) client_allocations: Option<AllocationCount>,
    /// CPU time of the server in the window.
    pub(super) server_cpu: Duration,
    /// Memory of the server.
    pub(super) server_rss_peak_bytes: u64,
    /// The server's writes.
    pub(super) commits: Vec<CommitRecord>,
    /// Writes that were due when the churn was stopped, and were not done.
    pub(super) undone: u64,
    /// What was recorded.
    pub(super) log: Log,
    /// What was sampled.
    pub(super) samples: Vec<TimelinePoint>,
}

/// Computes the numbers, and what does not add up.
pub(super) fn analyse(inputs: &Inputs<'_>) -> (Measurements, Vec<String>) {
    let ticks = resync_ticks(inputs);
    let accounting = account(&inputs.commits, &inputs.log.deliveries);
    let violations = violations(inputs, &ticks, &accounting);
    let resync = summarise_resyncs(inputs, &ticks);
    let repair = repair_of(inputs, &resync, &ticks);
    let points = timeline(inputs);
    let peak = |of: fn(&TimelinePoint) -> u64| points.iter().map(of).max().unwrap_or(0);
    let cost = Cost {
        client_cpu_ns: nanoseconds(inputs.client_cpu),
        server_cpu_ns: nanoseconds(inputs.server_cpu),
        client_rss_peak_bytes: inputs.client_rss_peak_bytes,
        server_rss_peak_bytes: inputs.server_rss_peak_bytes,
        client_allocations: inputs.client_allocations.map(|count| count.allocations),
        client_allocated_bytes: inputs.client_allocations.map(|count| count.allocated_bytes),
        queue_keys_peak: peak(|point| point.queue_keys),
        queue_deltas_peak: peak(|point| point.queue_deltas),
        listener_peak: points.iter().filter_map(|point| point.listener).max(),
    };
    let measurements = Measurements {
        time_to_sync_ns: nanoseconds(inputs.synced_at.since(inputs.began)),
        window_ns: nanoseconds(inputs.window_ended.since(inputs.window_began)),
        time_to_converge_ns: nanoseconds(inputs.converged_at.since(inputs.window_ended)),
        generator: generator(inputs),
        latency: latencies(inputs, &ticks),
        notifications: notifications(inputs, &resync, accounting.superseded),
        resync,
        accounting,
        repair,
        cost,
        timeline: Timeline {
            step_ns: nanoseconds(STEP),
            points,
        },
    };
    (measurements, violations)
}

impl Inputs<'_> {
    fn in_window(&self, at_ns: u64) -> bool {
        (self.window_began.nanoseconds..self.window_ended.nanoseconds).contains(&at_ns)
    }
}

/// Every resync of the trial with its drain: Sync deltas leave the queue in the order of their resyncs.
fn resync_ticks(inputs: &Inputs<'_>) -> Vec<(u64, ResyncTick)> {
    let returns: Vec<u64> = syncs(inputs).map(|delivery| delivery.returned_ns).collect();
    let mut enqueued_before = 0;
    let mut sync_alls = inputs.log.sync_alls.iter();
    let tick = |resync: &super::recorder::RecordedResync| {
        // A resync that is one entry of the queue knows only when it is its turn how many it delivers.
        let later: u64 = (0..resync.outcome.markers)
            .filter_map(|_| sync_alls.next())
            .sum();
        let (known, enqueued) = (
            resync.outcome.known + later,
            resync.outcome.enqueued + later,
        );
        enqueued_before += enqueued;
        let last = usize::try_from(enqueued_before)
            .ok()
            .and_then(|count| count.checked_sub(1));
        let drained = last
            .and_then(|last| returns.get(last))
            .filter(|_| enqueued > 0);
        let skipped = resync.outcome.skipped_pending.iter();
        let tick = ResyncTick {
            at_ns: resync
                .began_ns
                .saturating_sub(inputs.window_began.nanoseconds),
            known,
            enqueued,
            skipped_pending: skipped
                .map(|(delta_type, count)| (delta_type.name().to_owned(), *count))
                .collect(),
            missing: resync.outcome.missing,
            lock_wait_ns: resync.locked_ns.saturating_sub(resync.began_ns),
            lock_hold_ns: resync.released_ns.saturating_sub(resync.locked_ns),
            drain_ns: drained.map(|drained| drained.saturating_sub(resync.began_ns)),
        };
        (resync.began_ns, tick)
    };
    inputs.log.resyncs.iter().map(tick).collect()
}

fn syncs<'a>(inputs: &'a Inputs<'_>) -> impl Iterator<Item = &'a Delivery> {
    inputs
        .log
        .deliveries
        .iter()
        .filter(|delivery| delivery.cause == Cause::Resync)
}

/// What does not add up, one sentence each.
fn violations(
    inputs: &Inputs<'_>,
    ticks: &[(u64, ResyncTick)],
    accounting: &Accounting,
) -> Vec<String> {
    let sync = SyncBalance {
        enqueued: ticks.iter().map(|(_, tick)| tick.enqueued).sum(),
        delivered: syncs(inputs).count() as u64,
        pending: 0,
    };
    let mut violations = check_accounting(accounting, Convergence::Converged);
    violations.extend(check_sync(&sync, Convergence::Converged));
    violations.extend(ticks.iter().flat_map(|(_, tick)| check_resync(tick)));
    let mut sentences: Vec<_> = violations.iter().map(ToString::to_string).collect();
    let relisted = inputs
        .log
        .deliveries
        .iter()
        .any(|delivery| delivery.cause == Cause::Relist);
    if accounting.superseded > 0 && !relisted {
        // This queue hands over every event of an unbroken watch.
        sentences.push(format!(
            "{} writes were never shown, though the watch was never broken",
            accounting.superseded
        ));
    }
    sentences
}

fn summarise_resyncs(inputs: &Inputs<'_>, ticks: &[(u64, ResyncTick)]) -> ResyncSummary {
    let in_window: Vec<_> = ticks
        .iter()
        .filter(|(at, _)| inputs.in_window(*at))
        .collect();
    let intervals = in_window.len().saturating_sub(1) as u64;
    let first_and_last = in_window
        .first()
        .zip(in_window.last())
        .filter(|_| intervals > 0);
    let window = inputs.window_ended.since(inputs.window_began);
    let expected = inputs
        .settings
        .resync_period
        .map_or(0.0, |period| window.as_secs_f64() / period.as_secs_f64());
    ResyncSummary {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a window holds few periods"
        )]
        expected: expected as u64,
        fired: in_window.len() as u64,
        effective_period_ns: first_and_last.map(|(first, last)| (last.0 - first.0) / intervals),
        ticks: in_window
            .into_iter()
            .map(|(_, tick)| tick.clone())
            .collect(),
    }
}

fn generator(inputs: &Inputs<'_>) -> Generator {
    let mut lateness = LatencyRecorder::new();
    let mut committed_by_kind: BTreeMap<String, u64> = BTreeMap::new();
    let (mut scheduled, mut committed) = (0, 0);
    let mut last_scheduled_ns = inputs.window_began.nanoseconds;
    for commit in &inputs.commits {
        last_scheduled_ns = last_scheduled_ns.max(commit.scheduled_ns);
        if inputs.in_window(commit.committed_ns) {
            committed += 1;
            let kind = match commit.kind {
                WriteKind::Create => "create",
                WriteKind::Update => "update",
                WriteKind::Delete => "delete",
            };
            *committed_by_kind.entry(kind.to_owned()).or_default() += 1;
        }
        scheduled += u64::from(inputs.in_window(commit.scheduled_ns));
        // A server that is far behind commits in the window what was due before it, and that is late, too.
        if inputs.in_window(commit.scheduled_ns) || inputs.in_window(commit.committed_ns) {
            lateness.record_between(commit.scheduled_ns, commit.committed_ns);
        }
    }
    let rate = inputs
        .settings
        .churn
        .as_ref()
        .map_or(0.0, |churn| churn.rate_per_second);
    // Those due after the last that was done and before the window's end; more may have come due until the churn stopped.
    let behind_ns = inputs
        .window_ended
        .nanoseconds
        .saturating_sub(last_scheduled_ns);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded by a count"
    )]
    let undone = (rate * behind_ns as f64 / 1e9)
        .round()
        .min(inputs.undone as f64) as u64;
    Generator {
        scheduled: scheduled + undone,
        committed,
        committed_by_kind,
        lateness: lateness.to_series(),
    }
}

/// Events are taken by when they were *scheduled*: one that was due in the window counts with its whole delay, however late it
/// came.
fn latencies(inputs: &Inputs<'_>, ticks: &[(u64, ResyncTick)]) -> BTreeMap<String, LatencySeries> {
    // The first time counts, so from the end: what is received again is a replay.
    let received: HashMap<u64, u64> = inputs.log.received.iter().rev().copied().collect();
    let live = inputs
        .log
        .deliveries
        .iter()
        .filter(|delivery| delivery.cause == Cause::Live);
    let handled: HashMap<u64, &Delivery> =
        live.map(|delivery| (delivery.version, delivery)).collect();
    let drains: Vec<_> = ticks
        .iter()
        .map(|(at, tick)| (*at, tick.drain_ns.map_or(u64::MAX, |drain| at + drain)))
        .collect();
    let reconciles = Reconciles::new(&inputs.log.reconciles);
    let mut recorders: BTreeMap<&str, LatencyRecorder> = BTreeMap::new();
    for commit in inputs
        .commits
        .iter()
        .filter(|commit| inputs.in_window(commit.scheduled_ns))
    {
        let Some(delivery) = handled.get(&commit.resource_version) else {
            continue;
        };
        let mut record = |series, from, to| {
            recorders
                .entry(series)
                .or_default()
                .record_between(from, to);
        };
        record("live", commit.scheduled_ns, delivery.returned_ns);
        record("live.service", commit.committed_ns, delivery.returned_ns);
        record("live.server", commit.scheduled_ns, commit.committed_ns);
        if let Some(received) = received.get(&commit.resource_version) {
            record("live.wire", commit.committed_ns, *received);
            record("live.queue", *received, delivery.began_ns);
        }
        record("live.handler", delivery.began_ns, delivery.returned_ns);
        if let Some(ended) = reconciles.of(delivery) {
            record("live.reconciled", commit.scheduled_ns, ended);
        }
        let in_drain = drains
            .iter()
            .any(|(from, to)| (*from..*to).contains(&commit.scheduled_ns));
        let split = if in_drain {
            "live.in_drain"
        } else {
            "live.outside_drain"
        };
        record(split, commit.scheduled_ns, delivery.returned_ns);
    }
    recorders
        .into_iter()
        .map(|(name, recorder)| (name.to_owned(), recorder.to_series()))
        .collect()
}

/// Reconciles by key, in the order of their begins: one key is never reconciled by two workers at a time.
struct Reconciles<'a>(HashMap<&'a str, Vec<&'a Reconcile>>);

impl<'a> Reconciles<'a> {
    fn new(reconciles: &'a [Reconcile]) -> Self {
        let mut by_key: HashMap<_, Vec<_>> = HashMap::new();
        for reconcile in reconciles {
            by_key
                .entry(reconcile.key.as_str())
                .or_default()
                .push(reconcile);
        }
        Self(by_key)
    }

    /// End of the first reconcile that began after the handler queued the key; none for a call that was lost.
    fn of(&self, delivery: &Delivery) -> Option<u64> {
        if delivery.lost || self.0.is_empty() {
            return None;
        }
        let of_key = self.0.get(delivery.key.to_string().as_str())?;
        let next = of_key.partition_point(|one| one.began_ns < delivery.began_ns);
        of_key.get(next).map(|one| one.ended_ns)
    }
}

fn notifications(inputs: &Inputs<'_>, resync: &ResyncSummary, superseded: u64) -> Notifications {
    let mut notifications = Notifications {
        superseded,
        ..Notifications::default()
    };
    for delivery in inputs
        .log
        .deliveries
        .iter()
        .filter(|delivery| inputs.in_window(delivery.returned_ns))
    {
        let counter = match delivery.cause {
            Cause::Initial => &mut notifications.initial,
            Cause::Live => &mut notifications.live,
            Cause::Relist => &mut notifications.relist,
            Cause::Replay => &mut notifications.replay,
            Cause::Resync => &mut notifications.sync,
        };
        *counter += 1;
    }
    notifications.skipped_pending = resync
        .ticks
        .iter()
        .flat_map(|tick| tick.skipped_pending.values())
        .sum();
    notifications
}

fn repair_of(
    inputs: &Inputs<'_>,
    resync: &ResyncSummary,
    ticks: &[(u64, ResyncTick)],
) -> Option<bench_core::measure::record::Repair> {
    let settings = inputs.settings;
    let interval_ns = resync
        .effective_period_ns
        .or_else(|| settings.resync_period.map(nanoseconds));
    let longest_drain = ticks
        .iter()
        .filter_map(|(_, tick)| tick.drain_ns)
        .max()
        .unwrap_or(0);
    let expected = interval_ns.and_then(|interval| {
        let rate = settings
            .churn
            .as_ref()
            .map_or(0.0, |churn| churn.rate_per_second);
        let cost = settings.handler_cost.duration().as_secs_f64();
        let period = settings.resync_period?.as_secs_f64();
        // Above load 1 drains overlap, however far the effective period stretches: there is no closed form.
        if inputs.known == 0 || inputs.known as f64 * cost / period + rate * cost > 1.0 {
            return None;
        }
        let joins =
            settings.informer == InformerKind::Plain && settings.queue == QueueKind::DeltaFifo;
        expected_mean_seconds(RepairModel {
            place: if joins {
                Place::WithItsKey
            } else {
                Place::AtTheEnd
            },
            interval: interval as f64 / 1e9,
            drain: inputs.known as f64 * cost / (1.0 - rate * cost).max(0.01),
            live_rate_per_key: rate * (1.0 - settings.losses.adds_and_updates)
                / inputs.known as f64,
        })
    });
    let span = RepairSpan {
        losses_until_ns: inputs
            .window_ended
            .nanoseconds
            .saturating_sub(interval_ns.unwrap_or(0) + longest_drain),
        repairs_until_ns: inputs.window_ended.nanoseconds,
    };
    repairs(
        &inputs.log.deliveries,
        span,
        expected.map(|seconds| seconds * 1e9),
    )
}

/// The samples, with the 99th percentile of the live events that were handled since the sample before.
fn timeline(inputs: &Inputs<'_>) -> Vec<TimelinePoint> {
    let scheduled: HashMap<u64, u64> = inputs
        .commits
        .iter()
        .map(|commit| (commit.resource_version, commit.scheduled_ns))
        .collect();
    let live: Vec<_> = inputs
        .log
        .deliveries
        .iter()
        .filter(|delivery| delivery.cause == Cause::Live)
        .collect();
    let mut next =
        live.partition_point(|delivery| delivery.returned_ns < inputs.window_began.nanoseconds);
    let mut points = inputs.samples.clone();
    for point in &mut points {
        let until = inputs.window_began.nanoseconds + point.at_ns;
        let mut recorder = LatencyRecorder::new();
        while let Some(delivery) = live
            .get(next)
            .filter(|delivery| delivery.returned_ns <= until)
        {
            if let Some(scheduled) = scheduled.get(&delivery.version) {
                recorder.record_between(*scheduled, delivery.returned_ns);
            }
            next += 1;
        }
        point.live_p99_ns = recorder.to_series().p99_ns;
    }
    points
}
