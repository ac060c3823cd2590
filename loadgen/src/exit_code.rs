//! The exit codes of `loadgen`, in one place.

use bench_core::measure::record::{Outcome, RunRecord};

use crate::warnings::rate_shortfall;

/// How a run of `loadgen` ended, as its caller sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitCode {
    /// 0: everything ran and passed.
    Passed,
    /// 1: regressed, or a trial's verification failed.
    Failed,
    /// 2: could not run: bad arguments, missing input, a trial that ended in an error, nothing to compare.
    CouldNotRun,
    /// 3: ran, and nothing can be said.
    Inconclusive,
    /// 130: interrupted; what was measured so far is written.
    Interrupted,
}

/// What a generator that did not keep the asked rate means for the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatePolicy {
    /// Warned of in the record and the report.
    Warn,
    /// Nothing can be said about the asked rate, so the run is inconclusive.
    Strict,
}

impl ExitCode {
    /// What a finished run's records mean.
    pub fn of(records: &[RunRecord], rates: RatePolicy) -> Self {
        let any = |is_it: fn(&RunRecord) -> bool| records.iter().any(is_it);
        if any(|record| matches!(record.outcome, Outcome::Failed { .. })) {
            Self::Failed
        } else if any(|record| matches!(record.outcome, Outcome::Error { .. })) {
            Self::CouldNotRun
        } else if rates == RatePolicy::Strict && any(|record| rate_shortfall(record).is_some()) {
            Self::Inconclusive
        } else {
            Self::Passed
        }
    }

    /// The number that the process exits with.
    pub fn number(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::CouldNotRun => 2,
            Self::Inconclusive => 3,
            Self::Interrupted => 130,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}

#[cfg(test)]
mod tests {
    use bench_core::measure::record::Warning;
    use serde_json::json;

    use super::*;

    fn record(outcome: &Outcome) -> RunRecord {
        let text = |names: &[&str]| -> serde_json::Map<String, serde_json::Value> {
            names
                .iter()
                .map(|&name| (name.to_owned(), json!("")))
                .collect()
        };
        let mut variant = text(&[
            "label",
            "queue",
            "informer",
            "object_source",
            "resource",
            "handler",
            "handler_cost_kind",
        ]);
        for name in [
            "object_count",
            "object_size_bytes_mean",
            "handler_cost_ns",
            "churn_per_second",
            "loss_share",
        ] {
            variant.insert(name.to_owned(), json!(0));
        }
        let mut environment = text(&["commit", "rustc", "profile", "cpu", "kernel", "placement"]);
        environment.extend([
            ("dirty".to_owned(), json!(false)),
            ("cores".to_owned(), json!(2)),
            ("memory_bytes".to_owned(), json!(0)),
        ]);
        let record = json!({
            "schema_version": 1, "round": 0, "order": 0, "seed": 1,
            "scenario": {"name": "", "question": "", "hash": "", "axes": []},
            "variant": variant, "environment": environment,
            "implementation": "", "decode_mode": "", "trace_checksum": "", "started_at": "", "command": "",
            "outcome": outcome, "warnings": [],
        });
        serde_json::from_value(record).unwrap()
    }

    fn limited() -> RunRecord {
        let mut record = record(&Outcome::Verified);
        let limited = Warning::afterwards("GeneratorLimited", String::new());
        record.warnings.push(limited);
        record
    }

    #[test]
    fn the_worst_outcome_decides() {
        let failed = || {
            record(&Outcome::Failed {
                violations: vec![String::new()],
            })
        };
        let error = || {
            record(&Outcome::Error {
                message: String::new(),
            })
        };
        let verified = || record(&Outcome::Verified);
        let code = |records: &[RunRecord]| ExitCode::of(records, RatePolicy::Strict).number();
        assert_eq!(code(&[verified(), verified()]), 0);
        assert_eq!(code(&[verified(), failed(), error()]), 1);
        assert_eq!(code(&[error(), limited()]), 2);
        assert_eq!(code(&[failed(), limited()]), 1);
    }

    #[test]
    fn a_limited_generator_is_inconclusive_if_the_rate_is_strict() {
        let records = [record(&Outcome::Verified), limited()];
        assert_eq!(ExitCode::of(&records, RatePolicy::Warn), ExitCode::Passed);
        assert_eq!(
            ExitCode::of(&records, RatePolicy::Strict),
            ExitCode::Inconclusive
        );
    }

    #[test]
    fn exit_codes_are_the_documented_numbers() {
        let codes = [
            ExitCode::Passed,
            ExitCode::Failed,
            ExitCode::CouldNotRun,
            ExitCode::Inconclusive,
            ExitCode::Interrupted,
        ];
        assert_eq!(codes.map(ExitCode::number), [0, 1, 2, 3, 130]);
    }
}
