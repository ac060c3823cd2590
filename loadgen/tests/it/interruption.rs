//! Ctrl-C in a real process: what was measured is kept and shown, and never mixed with what was measured in full.

use std::{fs, path::Path};

use bench_core::measure::record::Outcome;

use crate::program::{Ran, Running, field, loadgen, records};

const CHURN: [&str; 8] = [
    "--queue",
    "delta-fifo",
    "--count",
    "200",
    "--churn",
    "200/s",
    "--rounds",
    "1",
];

fn start(out: &Path, more: &[&str]) -> Running {
    let mut arguments = vec!["compare", "--out", out.to_str().unwrap()];
    arguments.extend(CHURN.iter().chain(more));
    Running::start(&arguments, "loadgen=debug")
}

fn assert_is_reported(ran: &Ran, out: &Path) {
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert!(ran.stderr.contains("\ninterrupted: measuring ends here"));
    let page = out.join("index.html");
    let named = page.display().to_string();
    assert_eq!(ran.stdout.lines().last(), Some(named.as_str()));
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("interrupted by Ctrl-C") && page.contains("the run was interrupted"));
}

#[test]
fn an_interrupt_in_the_window_keeps_what_was_measured_and_verifies_it() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let timing = ["--warm-up", "100ms", "--window", "60s"];
    let variant = ["--resync", "300ms,off", "--handler-cost", "none"];
    let mut run = start(&out, &[timing, variant].concat());
    run.wait_for(|line| line.contains("sampled") && field(line, "live") >= 50);
    run.interrupt();
    let ran = run.finish();
    assert_is_reported(&ran, &out);
    let written = records(&out);
    assert_eq!(written.len(), 1, "the trial that was to follow did not run");
    let nothing_wrong = Outcome::Interrupted {
        violations: Vec::new(),
    };
    assert_eq!(written[0].outcome, nothing_wrong);
    let one = written[0].measurements.as_ref().unwrap();
    assert!((1..60_000_000_000).contains(&one.window_ns));
    assert!(one.latency["live"].count > 0 && one.accounting.pending == 0);
    assert!(ran.stdout.contains("No verdict: no trial was verified."));
    assert!(
        ran.stdout
            .contains("What interrupted trials had measured, in no row above:")
    );
    let again = loadgen(&["report", out.to_str().unwrap()]);
    assert_eq!((again.code, again.stdout), (Some(0), ran.stdout));
}

#[test]
fn an_interrupt_before_the_window_is_recorded_without_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let mut run = start(&out, &["--warm-up", "60s", "--resync", "off"]);
    run.wait_for(|line| line.contains("warming up"));
    run.interrupt();
    let ran = run.finish();
    assert_is_reported(&ran, &out);
    let written = records(&out);
    assert!(matches!(written[0].outcome, Outcome::Interrupted { .. }));
    assert_eq!((written.len(), &written[0].measurements), (1, &None));
    assert!(ran.stdout.contains("stopped by Ctrl-C before its window"));
}

#[test]
fn what_cannot_be_worked_off_in_time_is_kept_and_said_to_be_unverified() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let timing = ["--warm-up", "1s", "--window", "60s"];
    // 220 changes before the window take 11 s and more.
    let variant = ["--resync", "off", "--handler-cost", "sleep:50ms"];
    let mut run = start(&out, &[timing, variant].concat());
    run.wait_for(|line| line.contains("sampled") && field(line, "live") >= 22);
    run.interrupt();
    let ran = run.finish();
    assert_is_reported(&ran, &out);
    let written = records(&out);
    let Outcome::Interrupted { violations } = &written[0].outcome else {
        panic!("{:?}", written[0].outcome)
    };
    let [violation] = &violations[..] else {
        panic!("{violations:?}")
    };
    assert!(
        violation.ends_with("so nothing was verified"),
        "{violation}"
    );
    assert!(written[0].measurements.as_ref().unwrap().window_ns > 0);
    assert!(
        ran.stdout.contains("not handled within 10 s"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_second_interrupt_ends_at_once_and_leaves_every_finished_record() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let timing = ["--warm-up", "1s", "--window", "500ms"];
    // The second variant leaves a backlog of seconds, in which the second interrupt comes.
    let variants = ["--resync", "off", "--handler-cost", "none,sleep:50ms"];
    let mut run = start(&out, &[timing, variants].concat());
    run.wait_for(|line| line.contains("recorded"));
    run.wait_for(|line| line.contains("measured"));
    run.interrupt();
    run.wait_for(|line| line.starts_with("interrupted:"));
    run.interrupt();
    let ran = run.finish();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(130), ""));
    assert!(ran.stderr.contains("interrupted again"), "{}", ran.stderr);
    assert!(!out.join("index.html").exists(), "it did not wait");
    let written = records(&out);
    assert_eq!(written.len(), 1);
    assert_eq!(written[0].outcome, Outcome::Verified);
    let report = loadgen(&["report", out.to_str().unwrap()]);
    assert_eq!(report.code, Some(0), "{report:?}");
}
