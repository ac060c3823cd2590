//! When a handler is due for a resync. Pure: instants come in.

use std::time::Duration;

/// The smallest period that a handler may ask for.
const MINIMUM_RESYNC_PERIOD: Duration = Duration::from_secs(1);

/// One handler's period and when it is due next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenerPeriod {
    requested: Duration,
    effective: Duration,
    next_resync: Duration,
    // Whether updates without a change are for this handler; so until the first round, as upstream.
    syncing: bool,
}

/// The period that a handler really gets: none if it or the informer wants none, never less than the check period.
pub fn effective_period(requested: Duration, check_period: Duration) -> Duration {
    if requested.is_zero() {
        return Duration::ZERO;
    }
    if check_period.is_zero() {
        tracing::warn!(
            ?requested,
            "a handler asked for resyncs of an informer that does not resync: it gets none"
        );
        return Duration::ZERO;
    }
    requested.max(check_period)
}

/// Raises a period below one second to one second; zero stays never.
pub(super) fn at_least_minimum(requested: Duration) -> Duration {
    if requested.is_zero() {
        requested
    } else {
        requested.max(MINIMUM_RESYNC_PERIOD)
    }
}

impl ListenerPeriod {
    /// A handler added at `now`.
    pub fn new(requested: Duration, check_period: Duration, now: Duration) -> Self {
        let effective = effective_period(requested, check_period);
        Self {
            requested,
            effective,
            next_resync: now + effective,
            syncing: true,
        }
    }

    /// The check period has changed.
    pub fn recheck(&mut self, check_period: Duration, now: Duration) {
        self.effective = effective_period(self.requested, check_period);
        self.next_resync = now + self.effective;
    }

    /// Asks whether the handler is due, marks it accordingly, and arms it again if so.
    pub fn ask(&mut self, now: Duration) -> bool {
        self.syncing = !self.effective.is_zero() && now >= self.next_resync;
        if self.syncing {
            self.next_resync = now + self.effective;
        }
        self.syncing
    }

    /// Whether updates without a change are for this handler.
    pub fn is_syncing(&self) -> bool {
        self.syncing
    }

    /// The period that was asked for; zero is never.
    pub fn requested(&self) -> Duration {
        self.requested
    }

    /// The period that the handler really gets; zero is never.
    pub fn effective(&self) -> Duration {
        self.effective
    }

    /// The time between two rounds in which the handler is due: the period rounded up to rounds, which come every
    /// `check_period`; zero is never.
    pub fn between_due_rounds(&self, check_period: Duration) -> Duration {
        if check_period.is_zero() {
            return Duration::ZERO;
        }
        let rounds = self.effective.as_nanos().div_ceil(check_period.as_nanos());
        check_period.saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_handler_gets_no_resync_if_it_or_the_informer_wants_none_and_never_more_often_than_the_check()
     {
        assert_eq!(effective_period(seconds(0), seconds(5)), seconds(0));
        assert_eq!(effective_period(seconds(5), seconds(0)), seconds(0));
        assert_eq!(effective_period(seconds(2), seconds(5)), seconds(5));
        assert_eq!(effective_period(seconds(9), seconds(5)), seconds(9));
        assert_eq!(at_least_minimum(Duration::from_millis(3)), seconds(1));
        assert_eq!(at_least_minimum(seconds(0)), seconds(0));
    }

    #[test]
    fn a_period_is_rounded_up_to_the_rounds_of_the_check_period() {
        let mut period = ListenerPeriod::new(seconds(3), seconds(2), seconds(0));
        assert!(
            period.is_syncing(),
            "until the first round every handler gets unchanged updates"
        );
        let due: Vec<_> = [2, 4, 6, 8, 10]
            .into_iter()
            .filter(|&at| period.ask(seconds(at)))
            .collect();
        assert_eq!(due, [4, 8]);
        assert_eq!(period.between_due_rounds(seconds(2)), seconds(4));
    }

    #[test]
    fn a_shorter_check_period_arms_a_handler_anew() {
        let mut period = ListenerPeriod::new(seconds(5), seconds(10), seconds(0));
        assert_eq!(period.effective(), seconds(10));
        period.recheck(seconds(2), seconds(3));
        assert_eq!(period.effective(), seconds(5));
        assert!(!period.ask(seconds(7)) && period.ask(seconds(8)));
    }

    #[test]
    fn the_time_between_due_rounds_is_the_next_multiple_of_the_check_period() {
        let between = |requested_ms, check_ms| {
            let check = Duration::from_millis(check_ms);
            let period =
                ListenerPeriod::new(Duration::from_millis(requested_ms), check, seconds(0));
            period.between_due_rounds(check).as_millis()
        };
        for (requested, check, expected) in [
            (1_000, 1_000, 1_000),
            (1_100, 1_000, 2_000),
            (2_000, 1_000, 2_000),
            (2_001, 1_000, 3_000),
            (500, 1_000, 1_000),
            (0, 1_000, 0),
            (1_000, 0, 0),
        ] {
            assert_eq!(between(requested, check), expected, "{requested} {check}");
        }
    }
}
