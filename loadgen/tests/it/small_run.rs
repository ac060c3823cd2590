//! A run that works: what it leaves on disk and what it prints.

use std::{fs, path::Path};

use bench_core::measure::record::{Outcome, RunRecord};

use crate::program::{Ran, SMALL, loadgen, records};

fn compare_small(out: &Path, more: &[&str]) -> Ran {
    let out = out.to_str().unwrap();
    let mut arguments = vec!["compare", "--resync", "off,300ms", "--out", out];
    arguments.extend(SMALL.iter().chain(more));
    loadgen(&arguments)
}

fn assert_is_a_report(directory: &Path) {
    let page = fs::read_to_string(directory.join("index.html")).unwrap();
    assert!(
        page.contains("resync 300ms") && page.contains("2/2"),
        "the page shows the trials"
    );
    let summary = fs::read_to_string(directory.join("summary.md")).unwrap();
    assert!(summary.contains("| resync off |"), "{summary}");
    let figures: Vec<_> = fs::read_dir(directory.join("figures"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    for ending in ["svg", "png"] {
        assert!(
            figures
                .iter()
                .any(|path| path.extension().is_some_and(|it| it == ending)),
            "no {ending} among {figures:?}"
        );
    }
}

#[test]
fn a_run_leaves_records_page_and_figures_and_can_be_drawn_again() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let ran = compare_small(&out, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.stderr, "", "no terminal, so no progress");
    let page = out.join("index.html").display().to_string();
    assert_eq!(ran.stdout.lines().last(), Some(page.as_str()));
    for line in ran.stdout.lines().filter(|line| *line != page) {
        assert!(line.chars().count() <= 80, "wider than 80: {line}");
    }
    let written = records(&out);
    let labels: Vec<_> = written.iter().map(|it| it.variant.label.as_str()).collect();
    assert_eq!(labels, ["resync off", "resync 300ms"]);
    for record in &written {
        assert_eq!(record.outcome, Outcome::Verified);
        let one = record.measurements.as_ref().unwrap();
        assert!(one.accounting.sent > 0 && one.accounting.pending == 0);
        let cost = &one.cost;
        assert!(cost.client_allocations.unwrap() > one.notifications.live);
        assert!(cost.client_allocated_bytes > cost.client_allocations);
    }
    assert_is_a_report(&out);

    fs::remove_file(out.join("index.html")).unwrap();
    fs::remove_file(out.join("summary.md")).unwrap();
    fs::remove_dir_all(out.join("figures")).unwrap();
    let again = loadgen(&["report", out.to_str().unwrap()]);
    assert_eq!((again.code, again.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        again.stdout, ran.stdout,
        "the same table from the records alone"
    );
    assert_is_a_report(&out);
}

#[test]
fn with_json_stdout_is_the_records_as_one_document_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let ran = compare_small(&out, &["--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let printed: Vec<RunRecord> = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(printed, records(&out));
    assert_is_a_report(&out);
}

#[test]
fn the_copy_of_the_scenario_runs_the_same_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (first, second) = (path("first"), path("second"));
    let ran = compare_small(Path::new(&first), &["--lose", "5%", "--seed", "7"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let copy = path("first/scenario.yaml");
    let ran = loadgen(&["run", &copy, "--out", &second]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let [first, second] = [first, second].map(|out| records(Path::new(&out)));
    assert_eq!((first.len(), second.len()), (2, 2));
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(first.scenario, second.scenario, "name and hash too");
        assert_eq!(first.variant, second.variant);
        assert_eq!((first.seed, second.seed), (7, 7));
    }
}

/// Public report B65, and every other trap: never silent.
#[test]
fn what_a_shared_informer_warns_of_is_in_record_page_summary_and_on_the_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let out = path("out");
    let scenario = [
        "question: Is a trap told?",
        "cluster: {count: 20, profile: lease, resource: leases}",
        "churn: {rate_per_second: 20, mix: {create: 0, update: 1, delete: 0}, arrivals: constant, keys: uniform}",
        "informer: shared",
        "queue: atomic-fifo",
        "resync: [500ms]",
        "handler: {kind: probe, cost: none}",
        "warm_up: 100ms",
        "window: 500ms",
        "rounds: 1",
        "seed: 1",
    ];
    fs::write(path("trap.yaml"), scenario.join("\n")).unwrap();
    let ran = loadgen(&["run", &path("trap.yaml"), "--out", &out]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let record = records(out.as_ref()).remove(0);
    let raised = "a handler asked for a resync every 500ms, which is raised to a second";
    let warning = (record.warnings.iter())
        .find(|warning| warning.kind == "HandlerPeriodBelowMinimum")
        .unwrap_or_else(|| panic!("not in {:?}", record.warnings));
    assert_eq!((warning.message.as_str(), warning.count), (raised, 1));
    assert!(warning.first_at_ns.is_some_and(|at| at < 10_000_000_000));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&ran.stdout).contains(&format!("note: {raised} (first")));
    let read = |name: &str| fs::read_to_string(Path::new(&out).join(name)).unwrap();
    let line = format!("HandlerPeriodBelowMinimum: {raised}");
    assert!(read("summary.md").contains(&format!("- {line}")));
    let page = read("index.html");
    assert!(page.contains("<code>HandlerPeriodBelowMinimum</code>: a handler asked"));
    let (_, strip) = page.split_once("warnings: <b>").expect("a chip");
    let (chip, _) = strip.split_once("</b>").expect("its end");
    assert!(chip.contains("HandlerPeriodBelowMinimum"), "{chip}");
}
