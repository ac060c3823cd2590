//! What a reader must know beside a trial's numbers. Pure.

use std::time::Duration;

use bench_core::measure::record::{
    Generator, Measurements, ResyncSummary, RunRecord, Variant, Warning,
};

/// Kind of the warning that the generator did not keep the rate: then no number holds for that rate.
const GENERATOR_LIMITED: &str = "GeneratorLimited";

/// Samples below which a 99th percentile is hardly more than the maximum.
const FEW_SAMPLES: u64 = 1_000;

/// Share of the scheduled changes that a generator which keeps the rate commits at least.
const COMMITTED_SHARE_MIN: f64 = 0.95;

/// Changes that may be missing however few there are: one at each end of the window may fall just outside.
const MISSING_ALLOWED: u64 = 2;

/// Lateness that one change in a hundred of a generator which keeps the rate does not exceed.
const LATENESS_P99_MAX: Duration = Duration::from_millis(100);

/// All warnings of a trial.
pub(crate) fn warnings(variant: &Variant, measurements: &Measurements) -> Vec<Warning> {
    [
        few_samples(variant, measurements),
        negative_latencies(measurements),
        generator_limited(&measurements.generator),
        load_above_one(variant),
        stretched_period(variant.resync_period_ns, &measurements.resync),
        debug_build(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// How far a trial's generator fell short of the asked rate; absent if it kept it.
pub(crate) fn rate_shortfall(record: &RunRecord) -> Option<&str> {
    let mut warnings = record.warnings.iter();
    let limited = warnings.find(|warning| warning.kind == GENERATOR_LIMITED)?;
    Some(&limited.message)
}

fn few_samples(variant: &Variant, measurements: &Measurements) -> Option<Warning> {
    let live = measurements
        .latency
        .get("live")
        .map_or(0, |series| series.count);
    (variant.churn_per_second > 0.0 && live < FEW_SAMPLES).then(|| {
        let message = format!("{live} live events: the 99.9th percentile is the maximum");
        Warning::afterwards("TooFewSamples", message)
    })
}

fn negative_latencies(measurements: &Measurements) -> Option<Warning> {
    let series = measurements.latency.values();
    let negative: u64 = series.map(|series| series.negative).sum();
    (negative > 0).then(|| {
        let message = format!("{negative} latencies came out negative and are counted apart");
        Warning::afterwards("NegativeLatency", message)
    })
}

fn generator_limited(generator: &Generator) -> Option<Warning> {
    let Generator {
        scheduled,
        committed,
        lateness,
        ..
    } = generator;
    let limit_ns = LATENESS_P99_MAX.as_nanos();
    let missing = scheduled.saturating_sub(*committed);
    let too_few =
        (*committed as f64) < COMMITTED_SHARE_MIN * *scheduled as f64 && missing > MISSING_ALLOWED;
    let too_late = lateness
        .p99_ns
        .is_some_and(|p99| u128::from(p99) > limit_ns);
    (too_few || too_late).then(|| {
        let beyond = lateness.buckets.iter().filter(|bucket| u128::from(bucket.0) > limit_ns);
        let late: u64 = beyond.map(|bucket| bucket.1).sum();
        let message = format!(
            "the server committed {committed} of {scheduled} scheduled changes, {late} of them more than {LATENESS_P99_MAX:?} late"
        );
        Warning::afterwards(GENERATOR_LIMITED, message)
    })
}

fn load_above_one(variant: &Variant) -> Option<Warning> {
    let period = variant.resync_period_ns? as f64;
    let cost = variant.handler_cost_ns as f64;
    let load = variant.object_count as f64 * cost / period + variant.churn_per_second * cost / 1e9;
    (load > 1.0).then(|| {
        let message = format!("load {load:.2}: a resync is not drained before the next");
        Warning::afterwards("LoadAboveOne", message)
    })
}

/// A handler that is slower than the period holds resyncs up, in the worst case beyond the window.
fn stretched_period(asked_ns: Option<u64>, resync: &ResyncSummary) -> Option<Warning> {
    let asked_ns = asked_ns?;
    let asked = asked_ns as f64 / 1e9;
    let stretched = |effective_ns: &u64| *effective_ns as f64 > 1.05 * asked_ns as f64;
    let message = if let Some(effective_ns) = resync.effective_period_ns.filter(stretched) {
        let got = effective_ns as f64 / 1e9;
        format!("{asked:.3} s asked for, {got:.3} s got")
    } else {
        let ResyncSummary {
            expected, fired, ..
        } = resync;
        // The window may begin right after one and end right before one.
        if fired + 1 >= *expected {
            return None;
        }
        format!("{asked:.3} s asked for, {fired} resyncs where {expected} were due")
    };
    Some(Warning::afterwards("EffectivePeriod", message))
}

fn debug_build() -> Option<Warning> {
    cfg!(debug_assertions).then(|| {
        let message = "built without optimisation: not for numbers".to_owned();
        Warning::afterwards("DebugBuild", message)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bench_core::measure::latency::LatencyRecorder;

    use super::*;

    fn generator(scheduled: u64, committed: u64, lateness_ms: &[u64]) -> Generator {
        let mut lateness = LatencyRecorder::new();
        for &late in lateness_ms {
            lateness.record(Duration::from_millis(late));
        }
        Generator {
            scheduled,
            committed,
            committed_by_kind: BTreeMap::new(),
            lateness: lateness.to_series(),
        }
    }

    fn said(generator: &Generator) -> Option<String> {
        generator_limited(generator).map(|warning| {
            assert_eq!(warning.kind, GENERATOR_LIMITED);
            warning.message
        })
    }

    #[test]
    fn a_generator_that_commits_less_than_95_percent_is_limited() {
        assert_eq!(said(&generator(1_000, 950, &[1, 1])), None);
        assert_eq!(
            said(&generator(1_000, 949, &[1, 101, 500])).unwrap(),
            "the server committed 949 of 1000 scheduled changes, 2 of them more than 100ms late"
        );
        assert!(said(&generator(1_000_000, 30_000, &[])).is_some());
    }

    #[test]
    fn a_generator_that_commits_all_but_late_is_limited() {
        let mut lateness = vec![1; 98];
        lateness.extend([900, 900]);
        assert_eq!(
            said(&generator(100, 100, &lateness)).unwrap(),
            "the server committed 100 of 100 scheduled changes, 2 of them more than 100ms late"
        );
        lateness.extend([1; 100]);
        assert_eq!(said(&generator(200, 200, &lateness)), None);
    }

    #[test]
    fn a_change_at_each_end_of_a_short_window_is_no_limit() {
        assert_eq!(said(&generator(10, 8, &[1])), None);
        assert!(said(&generator(10, 7, &[1])).is_some());
        assert_eq!(said(&generator(0, 0, &[])), None, "no churn");
    }

    fn period_said(expected: u64, fired: u64, effective_period_ns: Option<u64>) -> Option<String> {
        let resync = ResyncSummary {
            expected,
            fired,
            effective_period_ns,
            ticks: Vec::new(),
        };
        stretched_period(Some(1_000_000_000), &resync).map(|warning| {
            assert_eq!(warning.kind, "EffectivePeriod");
            warning.message
        })
    }

    #[test]
    fn a_resync_that_a_slow_handler_holds_up_is_warned_of_even_if_it_never_comes() {
        assert_eq!(period_said(6, 6, Some(1_000_400_000)), None);
        assert_eq!(
            period_said(6, 4, Some(1_600_000_000)).unwrap(),
            "1.000 s asked for, 1.600 s got"
        );
        assert_eq!(
            period_said(6, 0, None).unwrap(),
            "1.000 s asked for, 0 resyncs where 6 were due"
        );
        assert_eq!(
            period_said(6, 3, Some(1_000_000_000)).unwrap(),
            "1.000 s asked for, 3 resyncs where 6 were due"
        );
        // One at each end of the window may fall outside.
        assert_eq!(period_said(6, 5, Some(1_000_000_000)), None);
        assert_eq!(period_said(1, 0, None), None);
        let none = ResyncSummary {
            expected: 0,
            fired: 0,
            effective_period_ns: None,
            ticks: Vec::new(),
        };
        assert_eq!(stretched_period(None, &none), None, "resync is off");
    }
}
