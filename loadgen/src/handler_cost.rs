//! What one call of the measured handler costs, and how it is spent.

use std::{fmt, str::FromStr, time::Duration};

use bench_core::measure::clock::MonotonicTime;

use crate::quantity::{QuantityError, format_duration, parse_duration};

/// Cost of one handler call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerCost {
    /// The handler returns at once.
    None,
    /// The handler sleeps, as one does that waits for another service.
    Sleep(Duration),
    /// The handler computes.
    Spin(Duration),
}

impl HandlerCost {
    /// `none`, `sleep` or `spin`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Sleep(_) => "sleep",
            Self::Spin(_) => "spin",
        }
    }

    /// Cost of one call.
    pub fn duration(self) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::Sleep(cost) | Self::Spin(cost) => cost,
        }
    }
}

impl FromStr for HandlerCost {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let error =
            || QuantityError::new(text, "a handler cost such as none, sleep:5ms or spin:200us");
        if text.trim() == "none" {
            return Ok(Self::None);
        }
        let (kind, duration) = text.trim().split_once(':').ok_or_else(error)?;
        let duration = parse_duration(duration).map_err(|_| error())?;
        match kind {
            _ if duration.is_zero() => Ok(Self::None),
            "sleep" => Ok(Self::Sleep(duration)),
            "spin" => Ok(Self::Spin(duration)),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for HandlerCost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("none"),
            Self::Sleep(cost) | Self::Spin(cost) => {
                write!(formatter, "{}:{}", self.kind(), format_duration(*cost))
            }
        }
    }
}

/// Shortest sleep worth asking for: the kernel's timer slack and a wake-up cost about 0.1 ms, so shorter ones say little.
const SLEEP_PORTION_MIN: Duration = Duration::from_micros(200);

/// Turns costs into sleeps whose mean is exact: costs add up to a debt, which is slept once it reaches a portion of 0.2 ms, and
/// what a sleep overshot is taken off the next.
#[derive(Debug, Default)]
pub struct SleepDebt {
    // Invariant: at most one of the two is above zero.
    owed: Duration,
    credit: Duration,
}

impl SleepDebt {
    /// Adds one call's cost and says how long to sleep now; absent while the debt is below a portion.
    pub fn charge(&mut self, cost: Duration) -> Option<Duration> {
        let paid_from_credit = self.credit.min(cost);
        self.credit -= paid_from_credit;
        self.owed += cost.saturating_sub(paid_from_credit);
        (self.owed >= SLEEP_PORTION_MIN).then_some(self.owed)
    }

    /// Books a sleep as it really was.
    pub fn slept(&mut self, actual: Duration) {
        self.credit += actual.saturating_sub(self.owed);
        self.owed = self.owed.saturating_sub(actual);
    }
}

/// Spends [`HandlerCost`] on the calling thread. Blocks; for a plain informer's thread or a blocking task, never for a runtime worker.
#[derive(Debug)]
pub struct CostExecutor {
    cost: HandlerCost,
    debt: SleepDebt,
}

impl CostExecutor {
    /// Makes an executor without debt.
    pub fn new(cost: HandlerCost) -> Self {
        Self {
            cost,
            debt: SleepDebt::default(),
        }
    }

    /// Spends one call's cost.
    pub fn spend(&mut self) {
        match self.cost {
            HandlerCost::None => {}
            HandlerCost::Sleep(cost) => {
                if let Some(portion) = self.debt.charge(cost) {
                    let start = MonotonicTime::now();
                    start.plus(portion).sleep_until();
                    self.debt.slept(MonotonicTime::now().since(start));
                }
            }
            HandlerCost::Spin(cost) => {
                let end = MonotonicTime::now().plus(cost);
                while MonotonicTime::now() < end {
                    std::hint::spin_loop();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read_and_rendered() {
        for text in ["none", "sleep:60us", "spin:1.5ms"] {
            assert_eq!(text.parse::<HandlerCost>().unwrap().to_string(), text);
        }
        assert_eq!("sleep:0".parse(), Ok(HandlerCost::None));
        for text in ["5ms", "nap:1s", "sleep:", "sleep:1"] {
            assert!(text.parse::<HandlerCost>().is_err(), "{text}");
        }
    }

    #[test]
    fn short_costs_add_up_to_one_portion() {
        let mut debt = SleepDebt::default();
        let cost = Duration::from_micros(60);
        let slept: Vec<_> = (0..4).map(|_| debt.charge(cost)).collect();
        assert_eq!(slept, [None, None, None, Some(Duration::from_micros(240))]);
    }

    #[test]
    fn overshoot_is_carried_over_so_that_the_mean_is_exact() {
        let mut debt = SleepDebt::default();
        let mut total = Duration::ZERO;
        for _ in 0..10_000 {
            if let Some(portion) = debt.charge(Duration::from_micros(300)) {
                let actual = portion + Duration::from_micros(77);
                total += actual;
                debt.slept(actual);
            }
        }
        let asked = Duration::from_secs(3);
        assert!(
            total.abs_diff(asked) <= Duration::from_micros(300),
            "{total:?}"
        );
    }
}
