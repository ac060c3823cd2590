//! Depths, memory and CPU over the window.

use std::time::Duration;

use bench_core::measure::{clock::MonotonicTime, record::TimelinePoint};

use super::{recorder::Recorder, under_test::UnderTest};

/// Between two samples.
pub(super) const STEP: Duration = Duration::from_millis(100);

/// Samples into `points` until the window is over; `live_p99_ns` is filled in later, from the log. Cancel safe.
pub(super) async fn sample(
    informer: &UnderTest,
    recorder: &Recorder,
    began: MonotonicTime,
    window: Duration,
    points: &mut Vec<TimelinePoint>,
) -> anyhow::Result<()> {
    let mut ticks = tokio::time::interval(STEP);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut before = informer.observe(recorder).await?;
    ticks.tick().await;
    while MonotonicTime::now().since(began) < window {
        ticks.tick().await;
        let now = informer.observe(recorder).await?;
        points.push(TimelinePoint {
            at_ns: nanoseconds(MonotonicTime::now().since(began)),
            queue_keys: now.queue.keys,
            queue_deltas: now.queue.deltas,
            listener: now.listener,
            stale_keys: now.stale_keys,
            client_rss_bytes: now.memory.now_bytes,
            client_cpu_ns: nanoseconds(now.cpu.saturating_sub(before.cpu)),
            live_p99_ns: None,
            live_count: now.live - before.live,
            sync_count: now.sync - before.sync,
        });
        tracing::debug!(
            live = now.live,
            sync = now.sync,
            stale_keys = now.stale_keys,
            "sampled"
        );
        before = now;
    }
    Ok(())
}

pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
