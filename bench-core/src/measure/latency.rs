//! Latency distributions: recording, and reading and merging what a run record keeps of them.

use std::{collections::BTreeMap, time::Duration};

use hdrhistogram::Histogram;

use super::record::LatencySeries;

/// Largest latency that has a bucket of its own: one hour. Fixed, so that every two recordings merge.
pub const HIGHEST_NS: u64 = 3_600_000_000_000;

const SIGNIFICANT_DIGITS: u8 = 3;

/// Records latencies in nanoseconds, to three significant digits from 1 ns to [`HIGHEST_NS`].
///
/// Longer samples are counted in the last bucket and as `saturated`; samples that come out negative are counted as `negative`
/// and nowhere else, since a clamped one would pass for a fast one. Minimum, mean and maximum are exact.
///
/// ```
/// use bench_core::measure::latency::LatencyRecorder;
///
/// let mut recorder = LatencyRecorder::new();
/// recorder.record_between(1_000, 683_000);
/// recorder.record_between(5_000, 4_999);
/// let series = recorder.to_series();
/// assert_eq!((series.count, series.negative), (1, 1));
/// assert_eq!((series.p99_ns, series.max_ns), (Some(682_000), Some(682_000)));
/// ```
#[derive(Debug, Clone)]
pub struct LatencyRecorder {
    histogram: Histogram<u64>,
    exact: Option<Exact>,
    saturated: u64,
    negative: u64,
}

#[derive(Debug, Clone, Copy)]
struct Exact {
    min: u64,
    max: u64,
    sum: u128,
}

impl LatencyRecorder {
    /// An empty recorder. Takes about 300 KB.
    pub fn new() -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS)
                .expect("the bounds are constants that the histogram accepts"),
            exact: None,
            saturated: 0,
            negative: 0,
        }
    }

    /// Records the time from one instant to another, both on the same clock; a negative one is only counted as such.
    pub fn record_between(&mut self, start_ns: u64, end_ns: u64) {
        match end_ns.checked_sub(start_ns) {
            Some(latency_ns) => self.record_ns(latency_ns),
            None => self.negative += 1,
        }
    }

    /// Records one latency.
    pub fn record(&mut self, latency: Duration) {
        self.record_ns(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Adds every sample of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.histogram
            .add(&other.histogram)
            .expect("all recorders have the same bounds");
        self.exact = match (self.exact, other.exact) {
            (Some(mine), Some(theirs)) => Some(Exact {
                min: mine.min.min(theirs.min),
                max: mine.max.max(theirs.max),
                sum: mine.sum + theirs.sum,
            }),
            (mine, theirs) => mine.or(theirs),
        };
        self.saturated += other.saturated;
        self.negative += other.negative;
    }

    /// Forgets every sample.
    pub fn reset(&mut self) {
        self.histogram.reset();
        self.exact = None;
        self.saturated = 0;
        self.negative = 0;
    }

    /// Samples recorded, negative ones left out.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// What a run record keeps. Every value is absent while there are no samples, and no percentile lies outside the
    /// smallest and largest sample.
    pub fn to_series(&self) -> LatencySeries {
        let buckets = self
            .histogram
            .iter_recorded()
            .map(|bucket| {
                let highest = self
                    .histogram
                    .highest_equivalent(bucket.value_iterated_to());
                (highest, bucket.count_at_value())
            })
            .collect();
        let count = self.count();
        let series = LatencySeries {
            count,
            saturated: self.saturated,
            negative: self.negative,
            min_ns: self.exact.map(|exact| exact.min),
            mean_ns: self.exact.map(|exact| exact.sum as f64 / count as f64),
            max_ns: self.exact.map(|exact| exact.max),
            buckets,
            ..LatencySeries::default()
        };
        with_percentiles(series)
    }

    fn record_ns(&mut self, latency_ns: u64) {
        if latency_ns > HIGHEST_NS {
            self.saturated += 1;
        }
        self.histogram.saturating_record(latency_ns);
        let exact = self.exact.get_or_insert(Exact {
            min: latency_ns,
            max: latency_ns,
            sum: 0,
        });
        exact.min = exact.min.min(latency_ns);
        exact.max = exact.max.max(latency_ns);
        exact.sum += u128::from(latency_ns);
    }
}

impl Default for LatencyRecorder {
    fn default() -> Self {
        Self::new()
    }
}

/// The value that a share `quantile` (0 to 1) of the samples does not exceed, from the recorded buckets: the highest value of
/// its bucket, kept within the smallest and largest sample. Absent if there are no samples.
pub fn series_percentile(series: &LatencySeries, quantile: f64) -> Option<u64> {
    let (min, max) = (series.min_ns?, series.max_ns?);
    let total: u64 = series.buckets.iter().map(|&(_, count)| count).sum();
    // Without the small allowance 0.07 of 100 samples would be the eighth: 0.07 * 100.0 is above 7.
    let rank = (quantile.clamp(0.0, 1.0) * total as f64 - 1e-6)
        .ceil()
        .max(1.0);
    let mut seen = 0;
    let bucket = series.buckets.iter().find(|&&(_, count)| {
        seen += count;
        seen as f64 >= rank
    });
    bucket.map(|&(highest, _)| highest.clamp(min, max))
}

/// One distribution of all samples of `parts`, by adding up their buckets. Percentiles are computed anew, never averaged.
pub fn merge_series(parts: &[&LatencySeries]) -> LatencySeries {
    let mut buckets = BTreeMap::new();
    for &(highest, count) in parts.iter().flat_map(|part| &part.buckets) {
        *buckets.entry(highest).or_insert(0) += count;
    }
    let count = parts.iter().map(|part| part.count).sum();
    let sum: f64 = parts
        .iter()
        .filter_map(|part| Some(part.mean_ns? * part.count as f64))
        .sum();
    with_percentiles(LatencySeries {
        count,
        saturated: parts.iter().map(|part| part.saturated).sum(),
        negative: parts.iter().map(|part| part.negative).sum(),
        min_ns: parts.iter().filter_map(|part| part.min_ns).min(),
        mean_ns: (count > 0).then(|| sum / count as f64),
        max_ns: parts.iter().filter_map(|part| part.max_ns).max(),
        buckets: buckets.into_iter().collect(),
        ..LatencySeries::default()
    })
}

fn with_percentiles(series: LatencySeries) -> LatencySeries {
    LatencySeries {
        p50_ns: series_percentile(&series, 0.5),
        p90_ns: series_percentile(&series, 0.9),
        p99_ns: series_percentile(&series, 0.99),
        p999_ns: series_percentile(&series, 0.999),
        ..series
    }
}
