//! What neither compiler nor clippy hold: sizes and names of files, layers, and no sleeping tests. Reports all faults at once.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const MOST_LINES: usize = 500;

/// A walk that finds fewer files went wrong, and would pass by finding nothing.
const FEWEST_FILES: usize = 30;

const VAGUE_STEMS: [&str; 7] = [
    "util", "utils", "helper", "helpers", "common", "misc", "types",
];

const TOP_LEVEL: [&str; 10] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "bench-core",
    "benches",
    "fake-apiserver",
    "loadgen",
    "reports",
    "target",
];

/// Files of pure state: time is an argument there. One that does not exist yet is no fault.
const PURE_FILES: [&str; 21] = [
    "bench-core/src/cache/any_queue.rs",
    "bench-core/src/cache/atomic_fifo.rs",
    "bench-core/src/cache/backoff.rs",
    "bench-core/src/cache/batch.rs",
    "bench-core/src/cache/delta.rs",
    "bench-core/src/cache/delta_fifo.rs",
    "bench-core/src/cache/indexer.rs",
    "bench-core/src/cache/initial_population.rs",
    "bench-core/src/cache/process.rs",
    "bench-core/src/cache/real_fifo.rs",
    "bench-core/src/cache/reflector/retry_with_deadline.rs",
    "bench-core/src/cache/reflector/state.rs",
    "bench-core/src/cache/shared_informer/periods.rs",
    "bench-core/src/measure/depth.rs",
    "bench-core/src/measure/latency.rs",
    "bench-core/src/measure/statistics.rs",
    "bench-core/src/workqueue/delaying.rs",
    "bench-core/src/workqueue/priority/state.rs",
    "bench-core/src/workqueue/rate_limiter.rs",
    "bench-core/src/workqueue/state.rs",
    "bench-core/src/workqueue/work_times.rs",
];

/// Paths that code below a folder may not name, and why. A path matches at the start of a name: `time` is not in `runtime`.
const LAYERS: [(&str, &[&str], &str); 8] = [
    (
        "bench-core/src/cache/",
        &["measure"],
        "the measured code does not know the measurer",
    ),
    (
        "bench-core/src/workqueue/",
        &["measure"],
        "the measured code does not know the measurer",
    ),
    (
        "bench-core/src/list_watch/",
        &["measure", "cache"],
        "the port to a server knows `api` only",
    ),
    (
        "bench-core/src/api/",
        &["measure", "cache", "list_watch", "workqueue", "tokio"],
        "Kubernetes' words know nothing else",
    ),
    (
        "bench-core/src/verify/",
        &["tokio", "clock"],
        "verification is pure",
    ),
    (
        "bench-core/src/",
        &[
            "axum",
            "clap",
            "anyhow",
            "plotters",
            "fake_apiserver",
            "loadgen",
            "reports",
        ],
        "the library is below servers, programs and pages",
    ),
    (
        "fake-apiserver/src/",
        &["loadgen", "reports", "workqueue"],
        "the server knows bench-core's words and clock only",
    ),
    (
        "reports/src/",
        &["tokio", "fake_apiserver", "loadgen", "cache", "workqueue"],
        "a page is drawn from records alone",
    ),
];

/// Calls that make a test wait for time instead of a condition, however they were imported.
const SLEEPS: [&str; 5] = [
    "sleep",
    "sleep_until",
    "sleep_ms",
    "interval",
    "interval_at",
];

/// In the comment of a line, this says that the sleep is a cost under the paused clock, such as a slow handler's.
const PAUSED_COST: &str = "paused time";

#[test]
fn the_workspace_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package is inside the workspace");
    let mut files = Vec::new();
    collect_rust_files(root, &mut files);
    let mut faults = top_level_faults(&names(root));
    for file in &files {
        let path = file.strip_prefix(root).expect("found below the root");
        let text = fs::read_to_string(file).expect("source is UTF-8");
        faults.extend(file_faults(path.to_str().expect("names are UTF-8"), &text));
    }
    if files.len() < FEWEST_FILES {
        faults.push(format!("only {} Rust files were found", files.len()));
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).expect("a folder of the workspace can be read");
    entries
        .map(|entry| {
            let name = entry.expect("its entries can, too").file_name();
            name.into_string().expect("names are UTF-8")
        })
        .collect()
}

fn collect_rust_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for name in names(directory) {
        let path = directory.join(&name);
        if name.starts_with('.') || name == "target" || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            collect_rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn top_level_faults(names: &BTreeSet<String>) -> Vec<String> {
    let allowed = |name: &&String| name.starts_with('.') || TOP_LEVEL.contains(&name.as_str());
    names
        .iter()
        .filter(|name| !allowed(name))
        .map(|name| format!("{name}: nothing new stands at the top of the repository"))
        .collect()
}

// `path` is from the root of the workspace, with slashes.
fn file_faults(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = text.lines().count();
    if lines > MOST_LINES {
        faults.push(format!("{path}: {lines} lines; split it by concept"));
    }
    for part in path.split('/') {
        let stem = part.strip_suffix(".rs").unwrap_or(part);
        if VAGUE_STEMS.contains(&stem) {
            faults.push(format!("{path}: `{stem}` names no concept"));
        }
    }
    for (place, line) in text.lines().enumerate() {
        let code = without_comment(line);
        let number = place + 1;
        for (folder, forbidden, reason) in LAYERS {
            let below = path.starts_with(folder);
            for name in forbidden.iter().filter(|name| below && uses(code, name)) {
                faults.push(format!("{path}:{number}: uses `{name}`; {reason}"));
            }
        }
        if PURE_FILES.contains(&path) {
            let impure = ["tokio", "clock", "Instant", "SystemTime"];
            for name in impure.iter().filter(|name| uses(code, name)) {
                faults.push(format!("{path}:{number}: uses `{name}`; the file is pure"));
            }
        }
        if format!("/{path}").contains("/tests/") {
            let is_called = |name: &&&str| calls(code, name) && !line.contains(PAUSED_COST);
            for sleep in SLEEPS.iter().filter(is_called) {
                faults.push(format!("{path}:{number}: `{sleep}` in a test"));
            }
        }
    }
    faults
}

// A `//` in a string cuts it short, which can only miss a fault in the rest of that line.
fn without_comment(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

// Whether code names a path: `name::…`, or `name` alone in an import.
fn uses(code: &str, name: &str) -> bool {
    let start = code.trim_start();
    let imported = start.starts_with("use ") || start.starts_with("pub use ");
    // A name on a line of its own is an entry of a grouped import.
    let entry = code.trim().trim_end_matches(',') == name;
    whole_names(code, name).any(|after| after.starts_with("::") || imported || entry)
}

fn calls(code: &str, name: &str) -> bool {
    whole_names(code, name).any(|after| after.starts_with('('))
}

// What follows each occurrence of a name that is not part of a longer one.
fn whole_names<'a>(code: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let is_identifier = |character: char| character.is_alphanumeric() || character == '_';
    code.match_indices(name).filter_map(move |(start, found)| {
        let before = code[..start].chars().next_back();
        let after = &code[start + found.len()..];
        let whole = !before.is_some_and(is_identifier) && !after.starts_with(is_identifier);
        whole.then_some(after)
    })
}

#[track_caller]
fn check(path: &str, text: &str, expected: &[&str]) {
    assert_eq!(file_faults(path, text), expected);
}

#[test]
fn a_file_may_have_500_lines_and_no_more() {
    check("loadgen/src/plan.rs", &"\n".repeat(500), &[]);
    check(
        "loadgen/src/plan.rs",
        &"\n".repeat(501),
        &["loadgen/src/plan.rs: 501 lines; split it by concept"],
    );
}

#[test]
fn a_vague_name_is_a_fault_as_file_and_as_folder() {
    check(
        "reports/src/utils.rs",
        "",
        &["reports/src/utils.rs: `utils` names no concept"],
    );
    check(
        "reports/src/common/axis.rs",
        "",
        &["reports/src/common/axis.rs: `common` names no concept"],
    );
    check("reports/src/commonness.rs", "", &[]);
}

#[test]
fn the_measured_code_may_not_name_the_measurer_in_any_form_of_import() {
    for text in [
        "use crate::measure::clock::MonotonicTime;",
        "use crate::{api::ObjectKey, measure::record};",
        "    measure::record::RunRecord,",
        "use crate::measure;",
        "let now = crate::measure::clock::now();",
    ] {
        for folder in ["cache", "workqueue"] {
            let path = format!("bench-core/src/{folder}/x.rs");
            let expected =
                format!("{path}:1: uses `measure`; the measured code does not know the measurer");
            check(&path, text, &[&expected]);
        }
    }
    check("bench-core/src/cache/x.rs", "// see measure::clock", &[]);
    check(
        "bench-core/src/cache/x.rs",
        "let remeasure = measured;",
        &[],
    );
    check(
        "bench-core/src/verify/x.rs",
        "use crate::measure::record;",
        &[],
    );
}

#[test]
fn layers_hold_between_crates() {
    let faults = |path: &str, text: &str| file_faults(path, text).len();
    for name in ["axum", "clap", "anyhow", "plotters", "loadgen"] {
        assert_eq!(
            faults("bench-core/src/lib.rs", &format!("use {name}::X;")),
            1
        );
        assert_eq!(
            faults("bench-core/tests/it/x.rs", &format!("use {name}::X;")),
            0
        );
    }
    for name in ["tokio", "fake_apiserver", "loadgen"] {
        assert_eq!(faults("reports/src/page.rs", &format!("use {name}::X;")), 1);
    }
    assert_eq!(
        faults("reports/src/page.rs", "use bench_core::measure::record;"),
        0
    );
}

#[test]
fn a_pure_file_has_no_runtime_and_no_clock() {
    for text in [
        "use tokio::sync::Notify;",
        "use std::time::Instant;",
        "    Instant::now()",
    ] {
        assert_eq!(
            file_faults("bench-core/src/workqueue/state.rs", text).len(),
            1
        );
        assert_eq!(
            file_faults("bench-core/src/workqueue/queue.rs", text),
            [""; 0]
        );
    }
}

#[test]
fn a_test_may_not_sleep_but_for_a_cost_in_paused_time() {
    for sleep in SLEEPS {
        for path in ["", "std::thread::", "tokio::time::"] {
            let code = format!("    {path}{sleep}(delay);");
            check(
                "loadgen/tests/it/cli.rs",
                &code,
                &[&format!("loadgen/tests/it/cli.rs:1: `{sleep}` in a test")],
            );
            check("loadgen/src/cli.rs", &code, &[]);
            let cost = format!("{code} // the handler's cost, in paused time");
            check("loadgen/tests/it/cli.rs", &cost, &[]);
        }
    }
    check("loadgen/tests/it/cli.rs", "fn oversleep(x: u8)", &[]);
}

#[test]
fn nothing_new_stands_at_the_top() {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    assert_eq!(
        top_level_faults(&names(&["Cargo.toml", ".ci", "reports"])),
        [""; 0]
    );
    assert_eq!(
        top_level_faults(&names(&["docs", "loadgen", "xtask"])),
        [
            "docs: nothing new stands at the top of the repository",
            "xtask: nothing new stands at the top of the repository"
        ]
    );
}
