//! What arithmetic alone says of a resync period: handler work arriving against time to do it.

use bench_core::measure::record::Variant;

/// Shortest period at which the handler keeps up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SafePeriod {
    /// The handler costs nothing: arithmetic sets no bound.
    Any,
    /// Nanoseconds, `N·cost / (1 − c·cost)`.
    AtLeast(f64),
    /// Live changes alone take all of the handler's time.
    Never,
}

/// Cost of one handler call in seconds.
fn cost_seconds(variant: &Variant) -> f64 {
    if variant.handler_cost_kind == "none" {
        0.0
    } else {
        variant.handler_cost_ns as f64 / 1e9
    }
}

/// Share of one handler's time that live changes take: `c·cost`.
pub fn live_load(variant: &Variant) -> f64 {
    variant.churn_per_second * cost_seconds(variant)
}

/// Share of one handler's time that everything takes at the period asked for: `N·cost/P + c·cost`; without resync, [`live_load`].
pub fn load(variant: &Variant) -> f64 {
    variant.resync_period_ns.map_or_else(
        || live_load(variant),
        |period| load_at(variant, period as f64),
    )
}

/// The same with a resync every `interval_ns`: `N·cost/I + c·cost`.
pub fn load_at(variant: &Variant, interval_ns: f64) -> f64 {
    variant.object_count as f64 * cost_seconds(variant) * 1e9 / interval_ns + live_load(variant)
}

/// Smallest safe period: the one at which [`load`] is 1.
pub fn safe_period(variant: &Variant) -> SafePeriod {
    let cost = cost_seconds(variant);
    let live = live_load(variant);
    if cost == 0.0 {
        SafePeriod::Any
    } else if live >= 1.0 {
        SafePeriod::Never
    } else {
        SafePeriod::AtLeast(variant.object_count as f64 * cost * 1e9 / (1.0 - live))
    }
}

/// Share of the keys that a resync every `interval_ns` must skip if the handler is busy all the time: `max(0, 1 − I(1 − c·cost)/(N·cost))`.
/// `None` where the handler costs nothing.
pub fn skip_share(variant: &Variant, interval_ns: f64) -> Option<f64> {
    let work = variant.object_count as f64 * cost_seconds(variant) * 1e9;
    (work > 0.0).then(|| (1.0 - interval_ns * (1.0 - live_load(variant)) / work).clamp(0.0, 1.0))
}

/// Line through points on log-log paper: `y = factor · x^exponent`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerLaw {
    /// `y` at `x` = 1.
    pub factor: f64,
    /// Slope on log-log paper: 1 is proportional.
    pub exponent: f64,
}

impl PowerLaw {
    /// Least squares on logarithms; `None` below three distinct positive `x`, since two points always fit.
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let logs: Vec<(f64, f64)> = points
            .iter()
            .filter(|(x, y)| *x > 0.0 && *y > 0.0)
            .map(|(x, y)| (x.ln(), y.ln()))
            .collect();
        let mut distinct: Vec<f64> = logs.iter().map(|(x, _)| *x).collect();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        if distinct.len() < 3 {
            return None;
        }
        let n = logs.len() as f64;
        let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / n;
        let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / n;
        let spread = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>();
        let exponent = logs
            .iter()
            .map(|(x, y)| (x - mean_x) * (y - mean_y))
            .sum::<f64>()
            / spread;
        Some(Self {
            factor: (mean_y - exponent * mean_x).exp(),
            exponent,
        })
    }

    /// `y` at `x`.
    pub fn at(self, x: f64) -> f64 {
        self.factor * x.powf(self.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(count: u64, cost_us: u64, churn: f64, period_ms: Option<u64>) -> Variant {
        Variant {
            label: "synthetic".to_owned(),
            queue: "delta-fifo".to_owned(),
            informer: "plain".to_owned(),
            resync_period_ns: period_ms.map(|ms| ms * 1_000_000),
            object_count: count,
            object_source: "pod-6k".to_owned(),
            resource: "pods".to_owned(),
            object_size_bytes_mean: 6_000,
            handler: "inline".to_owned(),
            handler_cost_kind: "sleep".to_owned(),
            handler_cost_ns: cost_us * 1_000,
            churn_per_second: churn,
            loss_share: 0.0,
        }
    }

    fn near(left: f64, right: f64) {
        assert!(
            (left - right).abs() < 1e-9 * right.abs().max(1.0),
            "{left} is not {right}"
        );
    }

    #[test]
    fn load_is_one_at_the_safe_period() {
        let asked = variant(20_000, 60, 200.0, Some(1_000));
        near(load(&asked), 1.2 + 0.012);
        let SafePeriod::AtLeast(ns) = safe_period(&asked) else {
            panic!("there is a bound")
        };
        near(ns, 1.2e9 / 0.988);
        near(load(&variant(20_000, 60, 200.0, None)), 0.012);
        assert_eq!(
            safe_period(&variant(20_000, 0, 200.0, None)),
            SafePeriod::Any
        );
        assert_eq!(
            safe_period(&variant(20_000, 6_000, 200.0, None)),
            SafePeriod::Never
        );
    }

    #[test]
    fn skip_share_is_that_of_the_measured_table() {
        // client-go, N = 5,000, 0.3 ms, 200/s, interval 1.010 s: 36.7 % by the work balance.
        let share =
            skip_share(&variant(5_000, 300, 200.0, Some(1_000)), 1.010e9).expect("a cost is set");
        assert!((share - 0.367).abs() < 0.001, "{share}");
        assert_eq!(
            skip_share(&variant(5_000, 20, 200.0, Some(1_000)), 1.0e9),
            Some(0.0)
        );
        assert_eq!(
            skip_share(&variant(5_000, 0, 200.0, Some(1_000)), 1.0e9),
            None
        );
    }

    #[test]
    fn a_power_law_is_found_again() {
        let points: Vec<(f64, f64)> = [1e3, 1e4, 1e5]
            .into_iter()
            .map(|x: f64| (x, 7.0 * x.powf(1.25)))
            .collect();
        let law = PowerLaw::fit(&points).expect("three points");
        near(law.exponent, 1.25);
        near(law.at(2e4), 7.0 * 2e4_f64.powf(1.25));
        assert_eq!(PowerLaw::fit(&points[..2]), None);
        assert_eq!(PowerLaw::fit(&[(1.0, 0.0), (2.0, 1.0), (3.0, 2.0)]), None);
    }
}
