//! A rate that no server here can keep.

use bench_core::measure::record::{Outcome, RunRecord};

use crate::program::{Ran, loadgen, records};

fn run_at(rate: &str, more: &[&str]) -> (Ran, RunRecord) {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let small = [
        "--queue",
        "delta-fifo",
        "--count",
        "100",
        "--resync",
        "off",
        "--handler-cost",
        "none",
    ];
    let timing = ["--rounds", "1", "--warm-up", "0", "--window", "100ms"];
    let mut arguments = vec!["compare", "--churn", rate, "--out", out.to_str().unwrap()];
    arguments.extend(small.iter().chain(&timing).chain(more));
    let ran = loadgen(&arguments);
    let record = records(&out).remove(0);
    assert_eq!(record.outcome, Outcome::Verified, "{ran:?}");
    (ran, record)
}

fn shortfall(record: &RunRecord) -> Option<&str> {
    let mut warnings = record.warnings.iter();
    let limited = warnings.find(|warning| warning.kind == "GeneratorLimited")?;
    Some(&limited.message)
}

#[test]
fn a_rate_that_is_not_kept_is_warned_of_and_with_strict_rate_is_exit_code_3() {
    let (ran, record) = run_at("1000000/s", &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(
        ran.stdout.contains("note: the server committed"),
        "{}",
        ran.stdout
    );
    let generator = record.measurements.as_ref().unwrap().generator.clone();
    let (scheduled, committed) = (generator.scheduled, generator.committed);
    assert!(scheduled > 90_000, "of 100,000 due: {scheduled}");
    assert!(committed < scheduled / 2, "{committed} of {scheduled}");

    let (ran, record) = run_at("1000000/s", &["--strict-rate", "--json"]);
    assert_eq!(ran.code, Some(3));
    let said = shortfall(&record).expect("a warning in the record");
    for words in [
        said,
        "by --strict-rate",
        "resync off (round 1)",
        "lower --churn",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    let printed: Vec<RunRecord> = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(printed, [record], "the explanation is not on stdout");
}
