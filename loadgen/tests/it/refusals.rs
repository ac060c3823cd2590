//! What cannot be run is refused with exit code 2 before anything starts, and the message says what, where and what to do.

use std::{fs, path::Path};

use crate::program::loadgen;

const SCENARIO: &str = "question: why
cluster: {count: 20, profile: pod-6k, resource: pods}
churn:
  rate_per_second: 10
  mix: {create: 0, update: 1, delete: 0}
  arrivals: constant
  keys: uniform
informer: plain
queue: delta-fifo
resync: [off, 1s]
handler: {kind: inline, cost: none}
warm_up: 100ms
window: 1s
rounds: 1
seed: 1
";

#[track_caller]
fn assert_refused(arguments: &[&str], said: &[&str]) {
    let ran = loadgen(arguments);
    assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
    assert_eq!(ran.stdout, "", "{arguments:?}");
    for words in said {
        assert!(
            ran.stderr.contains(words),
            "{arguments:?} should say {words:?}: {}",
            ran.stderr
        );
    }
}

fn file(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn an_unknown_scenario_names_the_shipped_ones() {
    assert_refused(
        &["run", "resync-period"],
        &[
            "no scenario \"resync-period\"",
            "resync-periods, resync-scale, resync-dedup",
        ],
    );
    assert_refused(
        &["run", "absent.yaml"],
        &["cannot read scenario absent.yaml", "No such file"],
    );
}

#[test]
fn a_fault_in_a_scenario_file_is_named_by_file_line_and_field() {
    let directory = tempfile::tempdir().unwrap();
    let faults = [
        (
            "period.yaml",
            SCENARIO.replace("off, 1s", "off, 1 parsec"),
            "period.yaml:10: resync: \"1 parsec\" is not a resync period such as off, 1s or 500ms\n",
        ),
        (
            "field.yaml",
            SCENARIO.replace("warm_up", "warmup"),
            "field.yaml:12: warmup: unknown field `warmup`, expected one of name, question, cluster,",
        ),
        (
            "mix.yaml",
            SCENARIO.replace("update: 1", "update: 0"),
            "mix.yaml:5: mix: needs weights of 0 or more, one of them above 0\n",
        ),
        (
            "profile.yaml",
            SCENARIO.replace("pod-6k", "pod-7k"),
            "profile \"pod-7k\" does not exist: there are pod-6k, pod-11k, pod-50k, node, lease, configmap\n",
        ),
        (
            "resource.yaml",
            SCENARIO.replace("resource: pods", "resource: nodes"),
            "profile pod-6k makes pods, but the resource to watch is nodes: use --resource pods",
        ),
    ];
    for (name, text, said) in faults {
        let path = file(directory.path(), name, &text);
        assert_refused(&["run", &path], &[said]);
    }
}

#[test]
fn a_wrong_value_of_a_flag_names_the_flag_and_what_it_takes() {
    let wrong = [
        (
            "--resync",
            "never",
            "\"never\" is not a resync period such as off, 1s or 500ms",
        ),
        (
            "--churn",
            "-3/s",
            "\"-3/s\" is not a rate such as 200/s, 0 or more",
        ),
        (
            "--churn",
            "lots",
            "\"lots\" is not a rate such as 200/s, 0 or more",
        ),
        (
            "--handler-cost",
            "5ms",
            "\"5ms\" is not a handler cost such as none, sleep:5ms or spin:200us",
        ),
        (
            "--lose",
            "150%",
            "\"150%\" is not a share from 0 to 1, such as 0.01 or 1%",
        ),
        (
            "--window",
            "5",
            "\"5\" is not a duration such as 60us, 1.5s or 2m",
        ),
        (
            "--count",
            "many",
            "\"many\" is not a number of objects such as 20000",
        ),
        ("--queue", "lifo", "\"lifo\" is not a queue"),
    ];
    for (flag, value, said) in wrong {
        let named = format!("invalid value '{value}' for '{flag} ");
        assert_refused(&["compare", flag, value], &[&named, said]);
    }
    assert_refused(
        &["compare", "--window", "0s"],
        &["the scenario with these flags: window: must be longer than 0"],
    );
    assert_refused(
        &["compare", "--count", "5", "--objects", "x.json"],
        &["'--count <N,…>' cannot be used with '--objects <FILE>'"],
    );
}

#[test]
fn a_file_of_objects_that_cannot_be_used_is_named_with_item_and_field() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let refused = |text: Option<&str>, said: &str| {
        let path = match text {
            Some(text) => file(directory.path(), "objects.json", text),
            None => "absent.json".to_owned(),
        };
        let out = out.to_str().unwrap();
        assert_refused(&["compare", "--objects", &path, "--out", out], &[said]);
    };
    refused(None, "cannot read absent.json: No such file");
    refused(
        Some(r#"{"kind":"List","items":["#),
        "objects.json is not valid JSON: EOF while parsing a list at line 1 column 24",
    );
    refused(
        Some(
            r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"metadata":{"namespace":"d"}}]}"#,
        ),
        "objects.json: item 1 (Pod d/?): metadata.name is missing",
    );
    refused(
        Some(r#"{"kind":"PodList","apiVersion":"v1","items":[]}"#),
        "objects.json holds no objects",
    );
    refused(
        Some(
            r#"{"kind":"List","apiVersion":"v1","items":[{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"}}]}"#,
        ),
        "objects.json holds no pods: use --resource with one of deployments.apps (1)",
    );
    assert!(!out.exists(), "nothing was begun");
}

#[test]
fn an_implementation_that_does_not_run_here_is_refused_with_those_that_do() {
    for implementation in ["kube-rs", "client_go"] {
        assert_refused(
            &["compare", "--informer", implementation],
            &[implementation, "informer-bench or client-go"],
        );
    }
}

#[test]
fn what_client_gos_programs_do_not_do_is_refused_before_any_is_built() {
    assert_refused(
        &["run", "resync-scale", "--informer", "client-go"],
        &["its programs decode pods only, and the resource to watch is leases"],
    );
    let directory = tempfile::tempdir().unwrap();
    let text = SCENARIO.replace("kind: inline", "kind: workqueue");
    let path = file(directory.path(), "queued.yaml", &text);
    assert_refused(
        &["run", &path, "--informer", "client-go"],
        &["its handlers are probe and inline only, and the scenario's is a workqueue"],
    );
}

#[test]
fn a_directory_that_holds_something_is_not_written_into() {
    let directory = tempfile::tempdir().unwrap();
    file(directory.path(), "precious", "");
    assert_refused(
        &["compare", "--out", directory.path().to_str().unwrap()],
        &["holds something already: choose another --out"],
    );
}

#[test]
fn a_report_of_nothing_or_of_another_schema_says_where_it_looked() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    assert_refused(
        &["report", &path("absent")],
        &["absent/records: expected one JSON file per trial, as `loadgen run` leaves them"],
    );
    let records = directory.path().join("run/records");
    fs::create_dir_all(&records).unwrap();
    assert_refused(
        &["report", &path("run")],
        &["no run records in ", "run/records: expected one JSON file"],
    );
    file(&records, "000.json", "{\"schema_version\": 99}");
    assert_refused(
        &["report", &path("run")],
        &[
            "run/records/000.json: field `schema_version` is 99, and this program reads ",
            "draw the report with the version that wrote it",
        ],
    );
    file(&records, "000.json", "{\"schema_version\": ");
    assert_refused(
        &["report", &path("run")],
        &["run/records/000.json, line 1, column 19: not a run record: EOF"],
    );
    assert_refused(
        &["report", "--criterion", &path("run")],
        &["no saved criterion results under "],
    );
}
