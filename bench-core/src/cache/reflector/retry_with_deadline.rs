//! For how long internal errors of the server are retried at once. Mirrors client-go's `retry_with_deadline.go`. Pure.

use std::time::Duration;

/// A window that opens with the first error and is forgotten after a quiet time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryWithDeadline {
    max: Duration,
    min_reset: Duration,
    first_error: Option<Duration>,
    last_error: Option<Duration>,
}

impl RetryWithDeadline {
    /// Retries for `max` after the first error; zero means never. `min_reset` without an error closes the window.
    pub fn new(max: Duration, min_reset: Duration) -> Self {
        Self {
            max,
            min_reset,
            first_error: None,
            last_error: None,
        }
    }

    /// Notes a retryable error.
    pub fn after_error(&mut self, now: Duration) {
        if self
            .last_error
            .is_some_and(|last| now.saturating_sub(last) >= self.min_reset)
        {
            self.first_error = None;
        }
        self.first_error.get_or_insert(now);
        self.last_error = Some(now);
    }

    /// Whether to retry now; not without an error, and once the window is over it is forgotten.
    pub fn should_retry(&mut self, now: Duration) -> bool {
        if self.max.is_zero() {
            return false;
        }
        let within = self
            .first_error
            .is_some_and(|first| now.saturating_sub(first) <= self.max);
        if !within {
            self.first_error = None;
            self.last_error = None;
        }
        within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// `TestRetryWithDeadline`, its first case.
    #[test]
    fn a_window_of_zero_never_retries() {
        let mut never = RetryWithDeadline::new(Duration::ZERO, seconds(30));
        assert!(!never.should_retry(seconds(1)));
        never.after_error(seconds(1));
        assert!(!never.should_retry(seconds(1)));
    }

    /// `TestRetryWithDeadline`, its second and third case.
    #[test]
    fn a_window_begins_with_the_first_error_and_ends_after_its_length() {
        let mut retry = RetryWithDeadline::new(seconds(1), seconds(30));
        assert!(!retry.should_retry(seconds(0)), "without an error");
        for (now, retried) in [(1, true), (2, true), (3, false), (4, true)] {
            retry.after_error(seconds(now));
            assert_eq!(retry.should_retry(seconds(now)), retried, "{now} s");
        }
    }

    /// `TestRetryWithDeadline`, its last case: other errors are not noted.
    #[test]
    fn asking_changes_nothing_within_the_window() {
        let mut retry = RetryWithDeadline::new(seconds(1), seconds(30));
        retry.after_error(seconds(1));
        assert!(retry.should_retry(seconds(1)));
        assert!(retry.should_retry(seconds(1)));
        retry.after_error(seconds(2));
        assert!(retry.should_retry(seconds(2)));
    }

    #[test]
    fn a_quiet_time_opens_a_new_window() {
        let mut retry = RetryWithDeadline::new(seconds(30), seconds(60));
        retry.after_error(seconds(0));
        retry.after_error(seconds(60));
        assert!(retry.should_retry(seconds(90)));
        let mut busy = RetryWithDeadline::new(seconds(30), seconds(60));
        busy.after_error(seconds(0));
        busy.after_error(seconds(59));
        assert!(!busy.should_retry(seconds(59)));
    }
}
