//! Holds `PEER_TESTS.md` to the sources: each row once, as many rows as the headings say, and every named test exists.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// What a row says.
#[derive(Debug, PartialEq, Eq)]
enum Ours<'a> {
    /// Files and names of tests.
    Tests(Vec<(&'a str, &'a str)>),
    /// A reason.
    DoesNotApply(&'a str),
}

struct Row<'a> {
    section: &'a str,
    name: &'a str,
    ours: Result<Ours<'a>, String>,
}

/// The rows of a table, and how many each heading promises.
fn parse(text: &str) -> (Vec<Row<'_>>, Vec<(&str, usize)>) {
    let mut rows = Vec::new();
    let mut headings = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            let promise = heading
                .strip_suffix(')')
                .and_then(|heading| heading.rsplit_once(" ("))
                .and_then(|(title, count)| Some((title, count.parse().ok()?)));
            headings.push(promise.unwrap_or((heading, 0)));
        }
        let Some(cells) = line.strip_prefix("| `") else {
            continue;
        };
        let mut cells = cells.trim_end_matches('|').split(" | ");
        let name = cells.next().unwrap_or("").trim_end_matches('`');
        let ours = cells.nth(1).unwrap_or("").trim();
        rows.push(Row {
            section: headings.last().map_or("", |heading| heading.0),
            name,
            ours: parse_ours(ours),
        });
    }
    (rows, headings)
}

fn parse_ours(cell: &str) -> Result<Ours<'_>, String> {
    if let Some(reason) = cell.strip_prefix("does not apply: ") {
        return Ok(Ours::DoesNotApply(reason));
    }
    let tests = cell.split("<br>").map(|test| {
        let test = test.strip_prefix('`')?.strip_suffix('`')?;
        test.split_once("::")
    });
    let tests: Option<Vec<_>> = tests.collect();
    tests
        .map(Ours::Tests)
        .ok_or_else(|| format!("neither a test nor a reason: {cell:?}"))
}

/// All faults of the table; `read` gives a source file's text.
fn faults(text: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let (rows, headings) = parse(text);
    let mut faults = Vec::new();
    let mut counts = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let (mut covered, mut not_applicable) = (0, 0);
    for row in &rows {
        *counts.entry(row.section).or_insert(0) += 1;
        if !seen.insert((row.section, row.name)) {
            faults.push(format!("{}: {} is here twice", row.section, row.name));
        }
        match &row.ours {
            Err(fault) => faults.push(format!("{}: {fault}", row.name)),
            Ok(Ours::DoesNotApply(_)) => not_applicable += 1,
            Ok(Ours::Tests(tests)) => {
                covered += 1;
                for (file, test) in tests {
                    let exists = read(file).is_some_and(|source| defines(&source, test));
                    if !exists {
                        faults.push(format!("{}: there is no {test} in {file}", row.name));
                    }
                }
            }
        }
    }
    for (section, promised) in headings {
        let found = counts.get(section).copied().unwrap_or(0);
        if found != promised {
            faults.push(format!("{section}: {found} rows, not {promised}"));
        }
    }
    let total = rows.len();
    let summary =
        format!("{total} rows: {covered} covered, {not_applicable} that do not apply, 0 missing.");
    if !text.lines().any(|line| line == summary) {
        faults.push(format!("the summary should be: {summary}"));
    }
    faults
}

/// Whether a source has a test of this name.
pub(crate) fn defines(source: &str, test: &str) -> bool {
    let head = format!("fn {test}(");
    let mut attributes = Vec::new();
    for line in source.lines().map(str::trim) {
        if line.contains(&head) {
            return attributes.iter().any(|attribute: &&str| {
                attribute.starts_with("#[test]") || attribute.starts_with("#[tokio::test")
            });
        }
        if line.starts_with("#[") {
            attributes.push(line);
        } else {
            attributes.clear();
        }
    }
    false
}

#[test]
fn every_test_of_client_go_has_one_of_ours_or_a_reason() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(package.join("tests/it/PEER_TESTS.md")).expect("it is there");
    let root = package
        .parent()
        .expect("the package is inside the workspace");
    let faults = faults(&text, |file| fs::read_to_string(root.join(file)).ok());
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
    let (rows, _) = parse(&text);
    assert!(rows.len() >= 200, "only {} rows were found", rows.len());
}

#[track_caller]
fn check(rows: &str, summary: &str, expected: &[&str]) {
    let text = format!("{summary}\n\n## x_test.go (1)\n\n{rows}\n");
    let read = |file: &str| {
        let source = "#[test]\nfn there() {}\n\nfn helper() {}\n";
        (file == "a.rs").then(|| source.to_owned())
    };
    assert_eq!(faults(&text, read), expected);
}

#[test]
fn a_row_needs_a_test_that_exists_or_a_reason() {
    let covered = "1 rows: 1 covered, 0 that do not apply, 0 missing.";
    check("| `TestX` | all | `a.rs::there` |", covered, &[]);
    for (file, test) in [("a.rs", "gone"), ("b.rs", "there"), ("a.rs", "helper")] {
        check(
            &format!("| `TestX` | all | `a.rs::there`<br>`{file}::{test}` |"),
            covered,
            &[&format!("TestX: there is no {test} in {file}")],
        );
    }
    let reasoned = "1 rows: 0 covered, 1 that do not apply, 0 missing.";
    check("| `TestX` | all | does not apply: why |", reasoned, &[]);
    check(
        "| `TestX` | all |  |",
        "1 rows: 0 covered, 0 that do not apply, 0 missing.",
        &["TestX: neither a test nor a reason: \"\""],
    );
}

#[test]
fn a_row_may_be_neither_lost_nor_doubled() {
    let row = "| `TestX` | all | does not apply: why |";
    check(
        &format!("{row}\n{row}"),
        "2 rows: 0 covered, 2 that do not apply, 0 missing.",
        &["x_test.go: TestX is here twice", "x_test.go: 2 rows, not 1"],
    );
    check(
        "",
        "3 rows: 3 covered, 0 that do not apply, 0 missing.",
        &[
            "x_test.go: 0 rows, not 1",
            "the summary should be: 0 rows: 0 covered, 0 that do not apply, 0 missing.",
        ],
    );
}
