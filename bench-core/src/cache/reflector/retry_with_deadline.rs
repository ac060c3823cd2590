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

    /// Whether to retry now; once the window is over it is forgotten.
    pub fn should_retry(&mut self, now: Duration) -> bool {
        if self.max.is_zero() {
            return false;
        }
        let within = self
            .first_error
            .is_none_or(|first| now.saturating_sub(first) <= self.max);
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

    #[test]
    fn a_window_of_zero_never_retries_and_another_ends_after_its_length() {
        let second = Duration::from_secs;
        let mut never = RetryWithDeadline::new(Duration::ZERO, second(60));
        never.after_error(second(0));
        assert!(!never.should_retry(second(0)));
        let mut retry = RetryWithDeadline::new(second(1), second(60));
        retry.after_error(second(0));
        assert!(retry.should_retry(second(1)));
        assert!(!retry.should_retry(second(2)));
    }

    #[test]
    fn a_quiet_minute_opens_a_new_window() {
        let second = Duration::from_secs;
        let mut retry = RetryWithDeadline::new(second(30), second(60));
        retry.after_error(second(0));
        retry.after_error(second(60));
        assert!(retry.should_retry(second(90)));
    }
}
