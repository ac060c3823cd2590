//! Latency distributions and values merged over the trials of a variant.
//!
//! Percentiles come from merged buckets and are never averaged. What is not there is `None`, never zero.

use std::collections::BTreeMap;

use bench_core::measure::record::LatencySeries;

/// Several [`LatencySeries`] as one distribution.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MergedLatency {
    /// Samples.
    pub count: u64,
    /// Samples above the histogram's range.
    pub saturated: u64,
    /// Samples that came out negative, which are in no percentile.
    pub negative: u64,
    /// Mean over all samples.
    pub mean_ns: Option<f64>,
    /// Largest sample.
    pub max_ns: Option<u64>,
    buckets: BTreeMap<u64, u64>,
}

/// One percentile and how far the samples support it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentile {
    /// The value, never above the largest sample.
    pub ns: u64,
    /// Whether at least one sample is expected beyond it; otherwise it is only the largest sample.
    pub supported: bool,
}

impl MergedLatency {
    /// Merges all series.
    pub fn of<'a>(series: impl IntoIterator<Item = &'a LatencySeries>) -> Self {
        let mut merged = Self::default();
        let mut total_ns = 0.0;
        for one in series {
            merged.count += one.count;
            merged.saturated += one.saturated;
            merged.negative += one.negative;
            total_ns += one.mean_ns.unwrap_or(0.0) * one.count as f64;
            merged.max_ns = merged.max_ns.max(one.max_ns);
            for &(value, count) in &one.buckets {
                *merged.buckets.entry(value).or_default() += count;
            }
        }
        merged.mean_ns = (merged.count > 0).then(|| total_ns / merged.count as f64);
        merged
    }

    /// The smallest recorded value that at least `share` of the samples do not exceed; `None` without samples.
    pub fn percentile(&self, share: f64) -> Option<Percentile> {
        let total: u64 = self.buckets.values().sum();
        if total == 0 {
            return None;
        }
        let wanted = share * total as f64;
        let mut seen = 0;
        let highest = self.buckets.iter().find_map(|(&value, &count)| {
            seen += count;
            (seen as f64 >= wanted && seen > 0).then_some(value)
        })?;
        let ns = self.max_ns.map_or(highest, |max| highest.min(max));
        Some(Percentile {
            ns,
            supported: total as f64 * (1.0 - share) >= 1.0,
        })
    }
}

/// A value over the trials of a variant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The middle value; of an even number of trials, the mean of the two in the middle.
    pub median: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

impl Spread {
    /// Spread of `values`; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len().is_multiple_of(2) {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        } else {
            sorted[middle]
        };
        Some(Self { median, min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(samples: &[(u64, u64)]) -> LatencySeries {
        let count = samples.iter().map(|&(_, count)| count).sum();
        let total: u64 = samples.iter().map(|&(value, count)| value * count).sum();
        LatencySeries {
            count,
            mean_ns: (count > 0).then(|| total as f64 / count as f64),
            max_ns: samples.last().map(|&(value, _)| value),
            buckets: samples.to_vec(),
            ..LatencySeries::default()
        }
    }

    #[test]
    fn percentiles_come_from_merged_buckets() {
        // 99 fast and 1 slow beside 300 fast: averaged p99 would be between, merged it is the fast value.
        let merged = MergedLatency::of(&[series(&[(10, 98), (1_000, 2)]), series(&[(10, 300)])]);
        assert_eq!(merged.count, 400);
        assert_eq!(
            merged.percentile(0.99),
            Some(Percentile {
                ns: 10,
                supported: true
            })
        );
        assert_eq!(
            merged.percentile(0.999),
            Some(Percentile {
                ns: 1_000,
                supported: false
            })
        );
        assert_eq!(
            merged.mean_ns,
            Some((98.0 * 10.0 + 2_000.0 + 3_000.0) / 400.0)
        );
    }

    #[test]
    fn no_samples_is_no_percentile() {
        let merged = MergedLatency::of(&[LatencySeries::default(), series(&[])]);
        assert_eq!(
            (merged.percentile(0.5), merged.mean_ns, merged.max_ns),
            (None, None, None)
        );
    }

    #[test]
    fn percentiles_of_one_sample_are_that_sample() {
        let one = LatencySeries {
            count: 1,
            mean_ns: Some(682_000.0),
            max_ns: Some(682_000),
            buckets: vec![(682_495, 1)],
            ..LatencySeries::default()
        };
        let merged = MergedLatency::of(&[one]);
        assert_eq!(
            merged.percentile(0.5),
            Some(Percentile {
                ns: 682_000,
                supported: false
            })
        );
        assert_eq!(
            merged.percentile(0.99),
            Some(Percentile {
                ns: 682_000,
                supported: false
            })
        );
    }

    #[test]
    fn spread_has_the_middle_and_both_ends() {
        assert_eq!(
            Spread::of([3.0, 1.0, 10.0]),
            Some(Spread {
                median: 3.0,
                min: 1.0,
                max: 10.0
            })
        );
        assert_eq!(
            Spread::of([3.0, 1.0]),
            Some(Spread {
                median: 2.0,
                min: 1.0,
                max: 3.0
            })
        );
        assert_eq!(Spread::of([]), None);
    }
}
