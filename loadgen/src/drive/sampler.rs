//! Depths, memory and CPU over the window.

use std::time::Duration;

use bench_core::measure::{
    clock::{MonotonicTime, process_cpu_time},
    process::resident_memory,
    record::TimelinePoint,
};

use super::{informer_under_test::UnderTest, recorder::Recorder};

/// Between two samples.
pub(super) const STEP: Duration = Duration::from_millis(100);

/// Samples into `points` until the window is over; `live_p99_ns` is filled in later, from the log. Cancel safe.
pub(super) async fn sample(
    informer: &UnderTest,
    recorder: &Recorder,
    began: MonotonicTime,
    window: Duration,
    points: &mut Vec<TimelinePoint>,
) {
    let mut ticks = tokio::time::interval(STEP);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut cpu_before = process_cpu_time();
    let (mut live_before, mut sync_before, _) = recorder.counts();
    ticks.tick().await;
    while MonotonicTime::now().since(began) < window {
        ticks.tick().await;
        let cpu = process_cpu_time();
        let (live, sync, stale_keys) = recorder.counts();
        let length = informer.queue_length();
        points.push(TimelinePoint {
            at_ns: nanoseconds(MonotonicTime::now().since(began)),
            queue_keys: length.keys,
            queue_deltas: length.deltas,
            listener: informer.listener_pending(),
            stale_keys,
            client_rss_bytes: resident_memory().map_or(0, |memory| memory.now_bytes),
            client_cpu_ns: nanoseconds(cpu.saturating_sub(cpu_before)),
            live_p99_ns: None,
            live_count: live - live_before,
            sync_count: sync - sync_before,
        });
        tracing::debug!(live, sync, stale_keys, "sampled");
        (cpu_before, live_before, sync_before) = (cpu, live, sync);
    }
}

pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
