//! What one handler call costs, and how it is spent exactly.

use std::{str::FromStr, time::Duration};

use bench_core::measure::clock::MonotonicTime;

use crate::quantity::{QuantityError, parse_duration};

/// Sleeps shorter than this are gathered first: a kernel's sleep overshoots by some 60 µs.
const SMALLEST_PORTION: Duration = Duration::from_micros(200);

/// Cost of one handler call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerCost {
    /// Returns at once.
    None,
    /// Sleeps, as a handler does that waits for another service.
    Sleep(Duration),
    /// Computes.
    Spin(Duration),
}

/// Spends a cost call after call so that the mean is exact: overshoot is carried over.
#[derive(Debug)]
pub struct CostExecutor {
    cost: HandlerCost,
    debt_ns: i64,
}

impl HandlerCost {
    /// The cost of one call.
    pub fn duration(self) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::Sleep(duration) | Self::Spin(duration) => duration,
        }
    }

    /// `none`, `sleep` or `spin`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Sleep(_) => "sleep",
            Self::Spin(_) => "spin",
        }
    }
}

impl FromStr for HandlerCost {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            Some(("sleep", duration)) => Ok(Self::Sleep(parse_duration(duration)?)),
            Some(("spin", duration)) => Ok(Self::Spin(parse_duration(duration)?)),
            _ => Err(QuantityError::new(text, "a cost such as none, sleep:60us or spin:200us")),
        }
    }
}

impl CostExecutor {
    /// Nothing spent yet.
    pub fn new(cost: HandlerCost) -> Self {
        Self { cost, debt_ns: 0 }
    }

    /// Spends one call's cost on the calling thread, which must be the handler's own.
    pub fn spend_blocking(&mut self) {
        if let Some((began, portion)) = self.due() {
            began.plus(portion).sleep_until();
            self.paid(began);
        }
    }

    /// Spends one call's cost in a task.
    pub async fn spend_async(&mut self) {
        if let Some((began, portion)) = self.due() {
            // Tokio's timers tick in milliseconds; the overshoot is carried over like any other.
            tokio::time::sleep(portion).await;
            self.paid(began);
        }
    }

    /// Adds one call to the debt and returns the sleep that is due, if any.
    fn due(&mut self) -> Option<(MonotonicTime, Duration)> {
        match self.cost {
            HandlerCost::None => None,
            HandlerCost::Spin(duration) => {
                let end = MonotonicTime::now().plus(duration);
                while MonotonicTime::now() < end {
                    std::hint::spin_loop();
                }
                None
            }
            HandlerCost::Sleep(duration) => {
                self.debt_ns += i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
                let debt = Duration::from_nanos(u64::try_from(self.debt_ns).unwrap_or(0));
                (debt >= SMALLEST_PORTION).then(|| (MonotonicTime::now(), debt))
            }
        }
    }

    fn paid(&mut self, began: MonotonicTime) {
        let slept = MonotonicTime::now().since(began);
        self.debt_ns -= i64::try_from(slept.as_nanos()).unwrap_or(i64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_written_as_kind_and_duration() {
        assert_eq!("none".parse(), Ok(HandlerCost::None));
        assert_eq!("sleep:60us".parse(), Ok(HandlerCost::Sleep(Duration::from_micros(60))));
        assert_eq!("spin:0.3ms".parse(), Ok(HandlerCost::Spin(Duration::from_micros(300))));
        let error = "nap:1s".parse::<HandlerCost>().unwrap_err();
        assert_eq!(error.to_string(), "\"nap:1s\" is not a cost such as none, sleep:60us or spin:200us");
    }

    #[test]
    fn small_sleeps_are_gathered_and_overshoot_is_carried_over() {
        let mut executor = CostExecutor::new(HandlerCost::Sleep(Duration::from_micros(60)));
        let dues: Vec<_> = (0..4).map(|_| executor.due().is_some()).collect();
        assert_eq!(dues, [false, false, false, true], "60, 120, 180 and 240 µs of debt");
    }
}
