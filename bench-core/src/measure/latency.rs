//! Latency distributions on hdrhistogram, with what it does not say: negatives, saturation, and nothing where nothing was
//! measured.

use hdrhistogram::Histogram;

use super::record::LatencySeries;

/// Largest latency that is told apart: one hour.
const LARGEST_NS: u64 = 3_600_000_000_000;

/// Records latencies in nanoseconds, at a relative error of at most one per cent.
#[derive(Debug, Clone)]
pub struct LatencyRecorder {
    histogram: Histogram<u64>,
    saturated: u64,
    negative: u64,
    sum: f64,
}

impl LatencyRecorder {
    /// Nothing recorded.
    pub fn new() -> Self {
        let histogram =
            Histogram::new_with_bounds(1, LARGEST_NS, 3).expect("these bounds are valid");
        Self {
            histogram,
            saturated: 0,
            negative: 0,
            sum: 0.0,
        }
    }

    /// Records the time between two instants. One that runs backwards is counted apart and not recorded.
    pub fn record_between(&mut self, start_ns: u64, end_ns: u64) {
        match end_ns.checked_sub(start_ns) {
            Some(nanoseconds) => self.record(nanoseconds),
            None => self.negative += 1,
        }
    }

    /// Records a latency; one above an hour is counted as an hour and as saturated.
    pub fn record(&mut self, nanoseconds: u64) {
        if nanoseconds > LARGEST_NS {
            self.saturated += 1;
        }
        self.sum += nanoseconds as f64;
        self.histogram.saturating_record(nanoseconds);
    }

    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The distribution as a record holds it; with no sample every value is absent.
    pub fn to_series(&self) -> LatencySeries {
        let count = self.histogram.len();
        let some = |value: u64| (count > 0).then_some(value);
        // The histogram rounds within a bucket; no percentile may lie outside what was measured.
        let (min, max) = (self.histogram.min(), self.histogram.max());
        let quantile = |quantile| some(self.histogram.value_at_quantile(quantile).clamp(min, max));
        LatencySeries {
            count,
            saturated: self.saturated,
            negative: self.negative,
            min_ns: some(min),
            mean_ns: (count > 0).then(|| self.sum / count as f64),
            p50_ns: quantile(0.5),
            p90_ns: quantile(0.9),
            p99_ns: quantile(0.99),
            p999_ns: quantile(0.999),
            max_ns: some(max),
            buckets: self
                .histogram
                .iter_recorded()
                .map(|step| (step.value_iterated_to(), step.count_at_value()))
                .collect(),
        }
    }
}

impl Default for LatencyRecorder {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_measured_is_no_latency_of_zero() {
        let series = LatencyRecorder::new().to_series();
        assert_eq!(series, LatencySeries::default());
    }

    #[test]
    fn no_percentile_of_one_sample_lies_above_it() {
        let mut recorder = LatencyRecorder::new();
        recorder.record(682_123);
        let series = recorder.to_series();
        assert_eq!(
            (series.count, series.p50_ns, series.p99_ns),
            (1, series.max_ns, series.max_ns)
        );
        let error = (series.max_ns.unwrap() as f64 - 682_123.0).abs() / 682_123.0;
        assert!(error < 0.001, "{error}");
    }

    #[test]
    fn a_negative_latency_is_counted_apart_and_an_endless_one_at_the_end() {
        let mut recorder = LatencyRecorder::new();
        recorder.record_between(9, 5);
        recorder.record_between(5, 9);
        recorder.record(u64::MAX);
        let series = recorder.to_series();
        assert_eq!(
            (
                series.count,
                series.negative,
                series.saturated,
                series.min_ns
            ),
            (2, 1, 1, Some(4))
        );
    }
}
