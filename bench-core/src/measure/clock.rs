//! The machine's clocks. The only place beside the churn thread that reads them.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Time on `CLOCK_MONOTONIC`, which is the same in every process of one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonotonicTime {
    /// Nanoseconds since the clock's start.
    pub nanoseconds: u64,
}

impl MonotonicTime {
    /// The present instant.
    pub fn now() -> Self {
        Self {
            nanoseconds: nanoseconds(clock_gettime(ClockId::Monotonic)),
        }
    }

    /// This instant moved later.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self {
            nanoseconds: self.nanoseconds + saturating_nanoseconds(duration),
        }
    }

    /// Time from `earlier` to this instant; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanoseconds.saturating_sub(earlier.nanoseconds))
    }

    /// Sleeps the calling thread until this instant, or returns at once if it has passed. Blocks; never call it on a runtime worker.
    #[expect(
        clippy::disallowed_methods,
        reason = "for threads of their own: churn and a plain informer's sleeping handler"
    )]
    pub fn sleep_until(self) {
        let now = Self::now();
        if now < self {
            std::thread::sleep(self.since(now));
        }
    }
}

/// CPU time that this process has used, user and system together (`CLOCK_PROCESS_CPUTIME_ID`).
pub fn process_cpu_time() -> Duration {
    Duration::from_nanos(nanoseconds(clock_gettime(ClockId::ProcessCPUTime)))
}

fn nanoseconds(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).expect("these clocks are not negative");
    let nanoseconds = u64::try_from(time.tv_nsec).expect("these clocks are not negative");
    seconds * 1_000_000_000 + nanoseconds
}

fn saturating_nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_until_an_instant_ends_after_it_and_a_past_one_returns() {
        let start = MonotonicTime::now();
        let wake = start.plus(Duration::from_millis(2));
        wake.sleep_until();
        assert!(MonotonicTime::now() >= wake);
        start.sleep_until();
        assert_eq!(start.since(wake), Duration::ZERO);
    }
}
