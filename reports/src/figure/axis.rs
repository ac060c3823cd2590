//! Axes that know their own ticks.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::font;
use crate::quantity::Unit;

/// An axis that knows its own ticks.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Name for people.
    pub name: String,
    /// What its numbers are.
    pub unit: Unit,
    low: f64,
    high: f64,
    logarithmic: bool,
    ticks: Vec<f64>,
}

impl Axis {
    /// From 0 to a little above the largest of `values`.
    pub fn from_zero(name: &str, values: impl IntoIterator<Item = f64>, unit: Unit) -> Self {
        let largest = values
            .into_iter()
            .filter(|value| value.is_finite())
            .fold(0.0, f64::max);
        let high = if largest > 0.0 { largest * 1.08 } else { 1.0 };
        Self::exact(name, high, unit)
    }

    /// From 0 to exactly `high`.
    pub fn exact(name: &str, high: f64, unit: Unit) -> Self {
        Self {
            name: name.to_owned(),
            unit,
            low: 0.0,
            high,
            logarithmic: false,
            ticks: even_ticks(unit, high, 4),
        }
    }

    /// Logarithmic, around `values`, with ticks at those of `ticks` that have room; round ones where `ticks` is empty.
    pub fn logarithmic(name: &str, values: &[f64], ticks: &[f64], unit: Unit) -> Self {
        let positive = || {
            values
                .iter()
                .chain(ticks)
                .copied()
                .filter(|value| *value > 0.0 && value.is_finite())
        };
        let smallest = positive().fold(f64::INFINITY, f64::min);
        let (smallest, largest) = if smallest.is_finite() {
            (smallest, positive().fold(0.0, f64::max))
        } else {
            (1.0, 10.0)
        };
        let margin = (largest / smallest).powf(0.08).max(1.25);
        let (low, high) = (smallest / margin, largest * margin);
        let chosen = if ticks.is_empty() {
            round_ticks(low, high)
        } else {
            let mut chosen: Vec<f64> = ticks.to_vec();
            chosen.sort_by(f64::total_cmp);
            chosen.dedup_by(|later, earlier| (*later / *earlier).ln() < 0.15 * (high / low).ln());
            chosen
        };
        Self {
            name: format!("{name}, log scale"),
            unit,
            low,
            high,
            logarithmic: true,
            ticks: chosen,
        }
    }

    /// The same axis with half as many ticks, for small multiples.
    #[must_use]
    pub fn halved(mut self) -> Self {
        self.ticks = even_ticks(self.unit, self.high, 2);
        self
    }

    /// Its ends.
    pub const fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }
}

/// Round steps from 0 to `high`, about `wanted` of them and at least one where the unit allows.
pub(super) fn even_ticks(unit: Unit, high: f64, wanted: u32) -> Vec<f64> {
    // Ticks are round in the unit that is written: 1 min, 2 min and not 100 s, 3.33 min.
    let base = match unit {
        Unit::Nanoseconds if high >= 7_200e9 => 3_600e9,
        Unit::Nanoseconds if high >= 120e9 => 60e9,
        _ => 1.0,
    };
    let (high, wanted) = (high / base, f64::from(wanted));
    let power = 10_f64.powf((high / wanted).log10().floor());
    let whole = |step: &f64| unit != Unit::Count || *step >= 1.0;
    let distance = |step: f64| (high / step - wanted).abs();
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .filter(whole)
        .min_by(|left, right| distance(*left).total_cmp(&distance(*right)))
        .unwrap_or_else(|| high.max(1.0));
    (0_u32..64)
        .map(|index| f64::from(index) * step)
        .take_while(|tick| *tick <= high * 1.000_001)
        .map(|tick| tick * base)
        .collect()
}

/// Decades between `low` and `high`, with their 2 and 5 where there are fewer than three.
fn round_ticks(low: f64, high: f64) -> Vec<f64> {
    let within = |factors: &[f64]| -> Vec<f64> {
        let mut power = 10_f64.powf(low.log10().floor());
        let mut ticks = Vec::new();
        while power <= high {
            ticks.extend(factors.iter().map(|factor| factor * power));
            power *= 10.0;
        }
        ticks.retain(|tick| (low..=high).contains(tick));
        ticks
    };
    let decades = within(&[1.0]);
    if decades.len() < 3 {
        within(&[1.0, 2.0, 5.0])
    } else {
        decades
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = if self.logarithmic {
            (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let place = f64::from(limit.0) + f64::from(limit.1 - limit.0) * share.clamp(-0.5, 1.5);
        #[expect(clippy::cast_possible_truncation, reason = "a pixel of the canvas")]
        let pixel = place.round() as i32;
        pixel
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        font::printable(&self.unit.text(*value), 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(unit: Unit, high: f64, wanted: u32) -> Vec<String> {
        even_ticks(unit, high, wanted)
            .into_iter()
            .map(|tick| unit.text(tick))
            .collect()
    }

    #[test]
    fn an_axis_has_a_tick_above_zero() {
        // A step of 500 would leave 0 alone on an axis to 432.
        assert_eq!(
            texts(Unit::Mebibytes, 432.0, 2),
            ["0", "200 MiB", "400 MiB"]
        );
        assert_eq!(texts(Unit::Count, 2.1, 4), ["0", "1", "2"]);
        assert_eq!(texts(Unit::Share, 0.077, 4), ["0 %", "2 %", "4 %", "6 %"]);
    }

    #[test]
    fn long_times_are_round_in_minutes() {
        assert_eq!(
            texts(Unit::Nanoseconds, 600e9, 4),
            ["0 s", "2 min", "4 min", "6 min", "8 min", "10 min"]
        );
        assert_eq!(
            texts(Unit::Nanoseconds, 42e9, 4),
            ["0 s", "10 s", "20 s", "30 s", "40 s"]
        );
    }

    #[test]
    fn a_short_logarithmic_axis_has_round_ticks() {
        assert_eq!(round_ticks(3.0, 70.0), [5.0, 10.0, 20.0, 50.0]);
        assert_eq!(round_ticks(0.9, 2_000.0), [1.0, 10.0, 100.0, 1_000.0]);
    }
}
