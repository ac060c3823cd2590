//! Holds `CASES.md` to the sources: each case once and in order, every named test exists, every warning has a row, and every
//! case named above a test has a row that names the test's file. The tests that METHODOLOGY names are held, too.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::peer_tests::defines;

/// The cases that concern the informer in each generation of its queue. None may be missing.
const OF_THE_INFORMER: [&str; 13] = [
    "B01", "B02", "B06", "B16", "B18", "B20", "B31", "B34", "B37", "B38", "B49", "B50", "B65",
];

struct Row<'a> {
    id: &'a str,
    tests: Vec<&'a str>,
}

/// Rows of tables whose first cell is a case and whose last are tests.
fn rows(text: &str) -> Vec<Row<'_>> {
    let cells = text.lines().filter_map(|line| {
        let line = line.strip_prefix("| B")?;
        let (_, tests) = line.trim_end_matches(" |").rsplit_once(" | ")?;
        Some((line, tests))
    });
    cells
        .map(|(line, tests)| Row {
            // The letter before is the same for all.
            id: line.split(' ').next().unwrap_or(""),
            tests: tests
                .split("<br>")
                .map(|test| test.trim_matches('`'))
                .collect(),
        })
        .collect()
}

/// Cases that a comment above an item names, without their letter.
fn named_cases(source: &str) -> BTreeSet<&str> {
    let comments = source.lines().filter(|line| {
        let line = line.trim_start();
        line.starts_with("///")
    });
    comments
        .flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric()))
        .filter_map(|word| word.strip_prefix('B'))
        .filter(|rest| rest.len() == 2 && rest.bytes().all(|byte| byte.is_ascii_digit()))
        .collect()
}

fn faults(text: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let rows = rows(text);
    let mut faults = Vec::new();
    for pair in rows.windows(2) {
        if pair[0].id >= pair[1].id {
            let (before, after) = (pair[0].id, pair[1].id);
            faults.push(format!("B{after} comes after B{before}"));
        }
    }
    for row in &rows {
        for test in &row.tests {
            let exists = test
                .split_once("::")
                .is_some_and(|(file, name)| read(file).is_some_and(|it| defines(&it, name)));
            if !exists {
                faults.push(format!("B{}: there is no {test}", row.id));
            }
        }
    }
    faults
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.map(|entry| entry.expect("readable").path()) {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_case_that_is_tested_has_a_row_and_every_row_a_test() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(package.join("tests/it/CASES.md")).expect("it is there");
    let root = package.parent().expect("it is inside the workspace");
    let mut faults = faults(&text, |file| fs::read_to_string(root.join(file)).ok());
    let rows = rows(&text);
    for id in OF_THE_INFORMER {
        if rows.iter().all(|row| row.id != &id[1..]) {
            faults.push(format!("{id} is missing"));
        }
    }
    let mut files = Vec::new();
    for member in [
        "bench-core",
        "benches",
        "fake-apiserver",
        "loadgen",
        "reports",
    ] {
        for folder in ["src", "tests"] {
            sources(&root.join(member).join(folder), &mut files);
        }
    }
    assert!(files.len() > 100, "only {} sources were found", files.len());
    for path in files {
        let source = fs::read_to_string(&path).expect("text");
        let file = path.strip_prefix(root).expect("below it").display();
        let prefix = format!("{file}::");
        for id in named_cases(&source) {
            let has_row = rows
                .iter()
                .any(|row| row.id == id && row.tests.iter().any(|test| test.starts_with(&prefix)));
            if !has_row {
                faults.push(format!("{file} names B{id}, which has no row with it"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_warning_of_an_informer_has_a_row() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file| fs::read_to_string(package.join(file)).expect("it is there");
    let warnings = read("src/cache/warning.rs");
    let text = read("tests/it/CASES.md");
    let kinds: Vec<_> = warnings
        .lines()
        .filter_map(|line| line.split_once("=> \"")?.1.strip_suffix("\","))
        .collect();
    assert!(kinds.len() >= 8, "{kinds:?}");
    for kind in kinds {
        assert!(text.contains(&format!("| `{kind}` |")), "{kind} has no row");
    }
}

/// The table of what differs between client-go's queues.
#[test]
fn every_line_of_the_four_queues_names_a_test_that_exists() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let methodology = fs::read_to_string(package.join("../loadgen/METHODOLOGY.md"));
    let methodology = methodology.expect("it is there");
    let (_, section) = methodology
        .split_once("\n## The four queues\n")
        .expect("its heading");
    let (section, _) = section.split_once("\n## ").expect("another section");
    let lines: Vec<_> = section
        .lines()
        .filter(|line| line.starts_with("| "))
        .collect();
    assert!(lines.len() >= 9, "{lines:?}");
    for line in &lines[1..] {
        let (_, tests) = line
            .trim_end_matches(" |")
            .rsplit_once(" | ")
            .expect("cells");
        for test in tests.split(", ") {
            let test = test.trim_matches('`');
            let (file, name) = test.split_once("::").expect("file and test");
            let source = fs::read_to_string(package.join(format!("tests/it/{file}.rs")));
            assert!(source.is_ok_and(|it| defines(&it, name)), "no {test}");
        }
    }
}

#[test]
fn a_row_needs_tests_that_exist_and_its_place() {
    let read = |file: &str| (file == "a.rs").then(|| "#[test]\nfn there() {}\n".to_owned());
    let check = |text: &str| faults(text, read);
    assert_eq!(check("| B01 | x | `a.rs::there` |"), [""; 0]);
    assert_eq!(
        check("| B01 | x | `a.rs::there`<br>`a.rs::gone` |\n| B02 | x | none |"),
        ["B01: there is no a.rs::gone", "B02: there is no none"]
    );
    assert_eq!(
        check("| B02 | x | `a.rs::there` |\n| B01 | x | `a.rs::there` |"),
        ["B01 comes after B02"]
    );
    assert_eq!(
        check("| B02 | x | `a.rs::there` |\n| B02 | x | `a.rs::there` |"),
        ["B02 comes after B02"]
    );
}

#[test]
fn a_case_is_named_in_a_comment_by_its_letter_and_two_digits() {
    let source = "//! Report B09.\n    /// Reports B01 and B02.\n/// B3, B004, XB05; (B06)\nlet b = \"B07\";\n// B08\n";
    let named: Vec<_> = named_cases(source).into_iter().collect();
    assert_eq!(named, ["01", "02", "06"]);
}
