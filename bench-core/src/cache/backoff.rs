//! How long a reflector waits before it tries again. Pure: the present instant and the randomness come in.
//!
//! Mirrors the exponential backoff of apimachinery's `util/wait` as client-go's reflector sets it up: each delay is uniform
//! in `[base, 2·base)`, the base doubling up to a cap.

use std::time::Duration;

use rand::{Rng, RngExt as _};

/// When the base starts again from its initial value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackoffReset {
    /// If the last delay was asked for longer ago than this: client-go 0.27 to 0.35. While a server is down there is no
    /// quiet, so the delays stay at the cap.
    AfterQuiet(Duration),
    /// If the base last started longer ago than this, however many delays were asked for meanwhile: client-go 0.36 and
    /// later. A server that stays down is asked quickly again each time.
    Every(Duration),
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
    // When the last delay was asked for, or when the base last started: what the reset rule looks at. The construction
    // counts as either.
    since: Duration,
}

const RESET: Duration = Duration::from_mins(2);

impl BackoffSettings {
    /// What the reflector of client-go 0.27 to 0.35 uses: 0.8 s doubling to 30 s, up to twice that by jitter, reset after 2
    /// quiet minutes.
    pub fn client_go_0_27() -> Self {
        Self {
            initial: Duration::from_millis(800),
            cap: Duration::from_secs(30),
            factor: 2.0,
            jitter: 1.0,
            reset: BackoffReset::AfterQuiet(RESET),
        }
    }

    /// What the reflector of client-go 0.36 and later uses: the same, but reset every 2 minutes.
    pub fn client_go_0_36() -> Self {
        Self {
            reset: BackoffReset::Every(RESET),
            ..Self::client_go_0_27()
        }
    }
}

impl Backoff {
    /// Starts at the initial base.
    pub fn new(settings: BackoffSettings) -> Self {
        Self {
            settings,
            next_base: settings.initial,
            since: Duration::ZERO,
        }
    }

    /// The next delay. `now` is the time since the construction.
    pub fn next_delay(&mut self, now: Duration, random: &mut impl Rng) -> Duration {
        let waited = now.saturating_sub(self.since);
        match self.settings.reset {
            BackoffReset::AfterQuiet(quiet) => {
                if waited > quiet {
                    self.next_base = self.settings.initial;
                }
                self.since = now;
            }
            BackoffReset::Every(period) => {
                if waited > period {
                    self.next_base = self.settings.initial;
                    self.since = now;
                }
            }
        }
        let base = self.next_base;
        self.next_base = base.mul_f64(self.settings.factor).min(self.settings.cap);
        base + base.mul_f64(self.settings.jitter * random.random::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng as _, rngs::ChaCha12Rng};

    use super::*;

    fn without_jitter(settings: BackoffSettings) -> Backoff {
        Backoff::new(BackoffSettings {
            jitter: 0.0,
            ..settings
        })
    }

    /// The delays asked for at the given seconds, in seconds.
    fn delays(mut backoff: Backoff, at: &[f64]) -> Vec<f64> {
        let mut random = ChaCha12Rng::seed_from_u64(7);
        at.iter()
            .map(|&at| {
                backoff
                    .next_delay(Duration::from_secs_f64(at), &mut random)
                    .as_secs_f64()
            })
            .collect()
    }

    #[test]
    fn delays_lie_between_the_base_and_twice_the_base_and_the_base_doubles_to_a_cap() {
        for settings in [
            BackoffSettings::client_go_0_27(),
            BackoffSettings::client_go_0_36(),
        ] {
            let delays = delays(Backoff::new(settings), &[0.0; 8]);
            for (delay, base) in delays
                .iter()
                .zip([0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0])
            {
                assert!((base..2.0 * base).contains(delay), "{delay} for {base}");
            }
        }
    }

    #[test]
    fn up_to_0_35_two_quiet_minutes_start_the_backoff_again_and_less_does_not() {
        let backoff = without_jitter(BackoffSettings::client_go_0_27());
        let asked_at = [0.0, 120.0, 240.0, 360.001, 360.001];
        assert_eq!(delays(backoff, &asked_at), [0.8, 1.6, 3.2, 0.8, 1.6]);
    }

    #[test]
    fn from_0_36_the_backoff_starts_again_every_two_minutes_however_busy_it_was() {
        let backoff = without_jitter(BackoffSettings::client_go_0_36());
        let asked_at = [0.0, 60.0, 120.0, 120.001, 240.0, 240.001, 240.002];
        assert_eq!(
            delays(backoff, &asked_at),
            [0.8, 1.6, 3.2, 0.8, 1.6, 3.2, 0.8]
        );
    }

    /// The time that 20 failures in a row take, each tried when the delay before it is over.
    fn total_of_20_failures(settings: BackoffSettings, seed: u64) -> Duration {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let mut backoff = Backoff::new(settings);
        (0..20).fold(Duration::ZERO, |now, _| {
            now + backoff.next_delay(now, &mut random)
        })
    }

    #[test]
    fn twenty_failures_take_700_s_by_the_old_rule_and_half_of_that_by_the_new_one() {
        let mean = |settings| {
            let totals = (0..500).map(|seed| total_of_20_failures(settings, seed).as_secs_f64());
            totals.sum::<f64>() / 500.0
        };
        let old = mean(BackoffSettings::client_go_0_27());
        assert!((690.0..720.0).contains(&old), "{old}");
        let new = mean(BackoffSettings::client_go_0_36());
        assert!((310.0..340.0).contains(&new), "{new}");
    }
}
