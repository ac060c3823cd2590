//! Doing again what a trace says.

use std::{sync::Arc, time::Duration};

use bench_core::measure::clock::MonotonicTime;
use tokio::{task::yield_now, time::sleep_until};
use tracing::{debug, info};

use super::read::{Trace, TraceEvent, TraceEventKind};
use crate::{ApiServer, churn::Write, storage::resource_name};

/// Events that are done without letting others run.
const BATCH: usize = 64;

/// How fast a trace is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Times of the trace are divided by this; above 0.
    pub speed: f64,
    /// Between two events of a trace without times.
    pub untimed_gap: Duration,
}

impl Pace {
    /// As it was, and ten a second where that is not known.
    pub fn original() -> Self {
        Self {
            speed: 1.0,
            untimed_gap: Duration::from_millis(100),
        }
    }

    /// When the event of this index is due, after the beginning.
    pub fn due(self, index: usize, event: &TraceEvent) -> Duration {
        match event.offset {
            Some(offset) => offset.div_f64(self.speed),
            None => self.untimed_gap * u32::try_from(index).unwrap_or(u32::MAX),
        }
    }
}

/// Does all events of a trace, the first offset counting from now. A removal of what is not there is passed over; a change to
/// what is not there creates it. Whatever resources the trace names must have been registered. Times are kept to a millisecond.
pub async fn replay(server: &Arc<ApiServer>, trace: Trace, pace: Pace) {
    let begin = server.now();
    let (clock_begin, events) = (MonotonicTime::now(), trace.events.len());
    info!(events, "replaying");
    for (index, event) in trace.events.into_iter().enumerate() {
        let due = pace.due(index, &event);
        if server.now() < begin + due {
            sleep_until(server.instant_of(begin + due)).await;
        } else if index % BATCH == 0 {
            yield_now().await;
        }
        let Some(id) = server.find_resource(&resource_name(&event.resource)) else {
            debug!(
                resource = event.resource.plural,
                "a replayed resource is not served"
            );
            continue;
        };
        let scheduled = clock_begin.plus(due);
        match event.kind {
            TraceEventKind::Put => drop(server.put(id, &event.draft, scheduled)),
            TraceEventKind::Remove => {
                if let Err(error) = server.commit(
                    id,
                    &Write::Delete {
                        key: event.draft.key().clone(),
                    },
                    scheduled,
                ) {
                    debug!(%error, "a replayed removal finds nothing");
                }
            }
        }
    }
    info!(events, "replayed");
}
