//! How long a reflector waits before it tries again. Pure: the present instant and the randomness come in.
//!
//! Mirrors `wait.NewExponentialBackoffManager` as client-go's reflector sets it up: each delay is uniform in `[base, 2·base)`,
//! the base doubling up to a cap.

use std::time::Duration;

use rand::{Rng, RngExt as _};

/// When the base starts again from its initial value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackoffReset {
    /// If the last delay was asked for longer ago than this: client-go 0.27 to 0.35.
    AfterQuiet(Duration),
}

/// The constants of a backoff.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BackoffSettings {
    /// First base.
    pub initial: Duration,
    /// Largest base.
    pub cap: Duration,
    /// Growth from one base to the next.
    pub factor: f64,
    /// Share of the base that is added at random, from 0 to this.
    pub jitter: f64,
    /// When to start again.
    pub reset: BackoffReset,
}

/// The state of a backoff.
#[derive(Debug, Clone, PartialEq)]
pub struct Backoff {
    settings: BackoffSettings,
    next_base: Duration,
    last_asked: Option<Duration>,
}

impl BackoffSettings {
    /// What client-go's reflector uses: 0.8 s doubling to 30 s, up to twice that by jitter, reset after 2 quiet minutes.
    pub fn client_go() -> Self {
        Self {
            initial: Duration::from_millis(800),
            cap: Duration::from_secs(30),
            factor: 2.0,
            jitter: 1.0,
            reset: BackoffReset::AfterQuiet(Duration::from_mins(2)),
        }
    }
}

impl Backoff {
    /// Starts at the initial base.
    pub fn new(settings: BackoffSettings) -> Self {
        Self {
            settings,
            next_base: settings.initial,
            last_asked: None,
        }
    }

    /// The next delay. `now` is any clock that does not go back.
    pub fn next_delay(&mut self, now: Duration, random: &mut impl Rng) -> Duration {
        let BackoffReset::AfterQuiet(quiet) = self.settings.reset;
        if self
            .last_asked
            .is_some_and(|last| now.saturating_sub(last) > quiet)
        {
            self.next_base = self.settings.initial;
        }
        self.last_asked = Some(now);
        let base = self.next_base;
        self.next_base = base.mul_f64(self.settings.factor).min(self.settings.cap);
        base + base.mul_f64(self.settings.jitter * random.random::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng as _, rngs::ChaCha12Rng};

    use super::*;

    #[test]
    fn delays_lie_between_the_base_and_twice_the_base_and_the_base_doubles_to_a_cap() {
        let mut random = ChaCha12Rng::seed_from_u64(7);
        let mut backoff = Backoff::new(BackoffSettings::client_go());
        for base in [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0] {
            let delay = backoff
                .next_delay(Duration::ZERO, &mut random)
                .as_secs_f64();
            assert!(
                (base..2.0 * base).contains(&delay),
                "{delay} for base {base}"
            );
        }
    }

    #[test]
    fn two_quiet_minutes_start_the_backoff_again_and_less_does_not() {
        let mut random = ChaCha12Rng::seed_from_u64(7);
        let mut backoff = Backoff::new(BackoffSettings::client_go());
        backoff.next_delay(Duration::ZERO, &mut random);
        let second = backoff
            .next_delay(Duration::from_mins(2), &mut random)
            .as_secs_f64();
        assert!((1.6..3.2).contains(&second), "{second}");
        let third = backoff
            .next_delay(Duration::from_millis(240_001), &mut random)
            .as_secs_f64();
        assert!((0.8..1.6).contains(&third), "{third}");
    }
}
