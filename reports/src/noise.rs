//! How far two measurements of the same thing differ (A/A): rounds of one variant against other rounds of it.
//!
//! The code and the settings are the same, only seeds differ, so what differs is noise. A difference between two variants that is
//! no larger says nothing.

use std::collections::BTreeMap;

use crate::{
    aggregate::Cell,
    quantity::{number, percent},
};

/// A quantity whose noise is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Client CPU, median of the trials.
    Cpu,
    /// Median of live latency.
    LiveP50,
    /// 99th percentile of live latency.
    LiveP99,
    /// Mean time to repair.
    Repair,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Cpu, Self::LiveP50, Self::LiveP99, Self::Repair];

    /// Name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::LiveP50 => "p50",
            Self::LiveP99 => "p99",
            Self::Repair => "repair",
        }
    }

    /// The value of the table; `None` where it was not measured or the samples do not support it.
    pub fn of(self, cell: &Cell<'_>) -> Option<f64> {
        let percentile = |share| {
            let found = cell.latency("live").percentile(share)?;
            found.supported.then_some(found.ns as f64)
        };
        match self {
            Self::Cpu => cell.client_cpu().map(|cpu| cpu.median),
            Self::LiveP50 => percentile(0.5),
            Self::LiveP99 => percentile(0.99),
            Self::Repair => cell.time_to_repair().mean_ns,
        }
    }
}

/// Largest ratio that noise alone makes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// The larger over the smaller of two values; 1 is no difference.
    pub ratio: f64,
    /// Variants that it was found from.
    pub comparisons: usize,
}

impl Floor {
    /// No noise: for counts.
    pub const NONE: Self = Self {
        ratio: 1.0,
        comparisons: 0,
    };

    /// What stands for noise that was not measured.
    pub const TENTH: Self = Self {
        ratio: 1.1,
        comparisons: 0,
    };

    /// 95th percentile (nearest rank, so the largest of up to 19) of the ratios of `pairs`; `None` without a pair of positive values.
    pub fn of(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        let mut ratios: Vec<f64> = pairs
            .into_iter()
            .filter(|(left, right)| *left > 0.0 && *right > 0.0)
            .map(|(left, right)| ratio(left, right))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let comparisons = ratios.len();
        let rank = (comparisons * 95).div_ceil(100);
        Some(Self {
            ratio: *ratios.get(rank.checked_sub(1)?)?,
            comparisons,
        })
    }

    /// How much larger: `12 %`, `2.4 times`.
    fn text(self) -> String {
        if self.ratio < 2.0 {
            percent(self.ratio - 1.0)
        } else {
            format!("{} times", number(self.ratio))
        }
    }

    /// Whether `left` and `right` differ by no more than noise does.
    pub fn covers(self, left: f64, right: f64) -> bool {
        left > 0.0 && right > 0.0 && ratio(left, right) <= self.ratio
    }
}

/// How the noise floor is found, for the page.
pub const NOISE_RULE: &str = "The same code and settings against themselves: for each variant the 1st, 3rd, … verified trial against the 2nd, 4th, …, each side put together as in the table. \
     The floor is the 95th percentile over the variants of larger / smaller (up to 19 variants the largest), given as how much larger. Trials of one variant differ in seed, so that is part of it. \
     A value marked ≈ differs from resync off by no more.";

fn ratio(left: f64, right: f64) -> f64 {
    left.max(right) / left.min(right)
}

/// The floor of each quantity of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NoiseFloor {
    floors: BTreeMap<Quantity, Floor>,
}

impl NoiseFloor {
    /// Compares the first, third, … verified trial of each variant with its second, fourth, …; each side is put together as the table is.
    pub fn measured(cells: &[Cell<'_>]) -> Self {
        let halves: Vec<_> = cells.iter().filter_map(Cell::halves).collect();
        let floor = |quantity: Quantity| {
            let pairs = halves
                .iter()
                .filter_map(|[left, right]| Some((quantity.of(left)?, quantity.of(right)?)));
            Some((quantity, Floor::of(pairs)?))
        };
        Self {
            floors: Quantity::ALL.into_iter().filter_map(floor).collect(),
        }
    }

    /// Every floor in words; `None` if there is none.
    pub fn text(&self) -> Option<String> {
        let texts: Vec<String> = self
            .floors
            .iter()
            .map(|(quantity, floor)| format!("{} {}", quantity.name(), floor.text()))
            .collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }

    /// Variants that the floors were found from, at most.
    pub fn comparisons(&self) -> usize {
        let counts = self.floors.values().map(|floor| floor.comparisons);
        counts.max().unwrap_or(0)
    }

    /// The floor of a quantity; `None` where no variant has it in two verified trials.
    pub fn of(&self, quantity: Quantity) -> Option<Floor> {
        self.floors.get(&quantity).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_the_largest_ratio_of_few_pairs() {
        let floor = Floor::of([(100.0, 110.0), (3.0, 2.0), (7.0, 7.0)]).expect("three pairs");
        assert_eq!(
            floor,
            Floor {
                ratio: 1.5,
                comparisons: 3
            }
        );
        assert!(floor.covers(10.0, 15.0) && floor.covers(15.0, 10.0));
        assert!(!floor.covers(10.0, 15.1) && !floor.covers(15.1, 10.0));
    }

    #[test]
    fn one_outlier_of_many_pairs_is_not_the_floor() {
        let pairs = |quiet: usize| std::iter::repeat_n((1.0, 1.1), quiet).chain([(1.0, 9.0)]);
        assert!((Floor::of(pairs(18)).expect("19 pairs").ratio - 9.0).abs() < 1e-9);
        assert!((Floor::of(pairs(19)).expect("20 pairs").ratio - 1.1).abs() < 1e-9);
    }

    #[test]
    fn what_was_not_measured_has_no_floor_and_is_near_nothing() {
        assert_eq!(Floor::of([]), None);
        assert_eq!(Floor::of([(0.0, 5.0)]), None);
        let floor = Floor::of([(1.0, 2.0)]).expect("a pair");
        assert!(!floor.covers(0.0, 0.0));
    }
}
