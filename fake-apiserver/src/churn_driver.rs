//! The thread that carries a churn out: sleeps to absolute instants, commits, and is late rather than idle if it cannot keep up.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use bench_core::measure::clock::MonotonicTime;
use tracing::warn;

use crate::{
    ApiServer,
    api_server::StartChurnError,
    churn::{ChurnError, ChurnSchedule},
    control::ChurnRequest,
    storage::ResourceId,
};

/// Longest sleep, so that a stop is noticed.
const NAP: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(crate) struct RunningChurn {
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<Progress>,
}

/// What a churn has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) scheduled: u64,
    pub(crate) committed: u64,
    pub(crate) checksum: u64,
}

impl RunningChurn {
    pub(crate) fn start(
        server: Arc<ApiServer>,
        request: &ChurnRequest,
    ) -> Result<Self, StartChurnError> {
        let id = server
            .find_resource(&request.resource)
            .ok_or_else(|| ChurnError::UnknownResource(request.resource.clone()))?;
        let (scope, population) = server.population(id);
        let schedule = ChurnSchedule::try_new(request, scope, population)?;
        let start = request
            .start_at_ns
            .map_or_else(MonotonicTime::now, |nanoseconds| MonotonicTime {
                nanoseconds,
            });
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("churn".to_owned())
            .spawn(move || drive(&server, id, schedule, &Pace { start, stopped }))?;
        Ok(Self { stop, thread })
    }

    pub(crate) fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }

    pub(crate) fn stop(self) -> Progress {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the churn thread does not panic")
    }
}

struct Pace {
    start: MonotonicTime,
    stopped: Arc<AtomicBool>,
}

impl Pace {
    /// Waits for an instant; false if the churn was stopped before it. A stopped churn that is late does no more.
    fn wait_until(&self, due: MonotonicTime) -> bool {
        loop {
            if self.stopped.load(Ordering::Relaxed) {
                return false;
            }
            let now = MonotonicTime::now();
            if due <= now {
                return true;
            }
            due.min(now.plus(NAP)).sleep_until();
        }
    }
}

fn drive(server: &ApiServer, id: ResourceId, mut schedule: ChurnSchedule, pace: &Pace) -> Progress {
    let mut progress = Progress {
        scheduled: 0,
        committed: 0,
        checksum: schedule.checksum(),
    };
    loop {
        let scheduled = schedule.next_write();
        let due = pace.start.plus(scheduled.offset);
        if !pace.wait_until(due) {
            progress.scheduled += count_due(&mut schedule, pace.start, due);
            return progress;
        }
        progress.scheduled += 1;
        progress.checksum = schedule.checksum();
        match server.commit(id, &scheduled.write, due) {
            Ok(_) => progress.committed += 1,
            Err(error) => warn!(%error, "a scheduled write found the object changed by others"),
        }
    }
}

/// Writes that were due and not done when a late churn was stopped, the one in hand included.
fn count_due(schedule: &mut ChurnSchedule, start: MonotonicTime, mut due: MonotonicTime) -> u64 {
    let now = MonotonicTime::now();
    let mut count = 0;
    while due <= now {
        count += 1;
        due = start.plus(schedule.next_write().offset);
    }
    count
}
