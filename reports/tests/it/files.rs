//! Reading records: errors name file, line and field.

use std::{error::Error, fs};

use reports::{error::ReportError, read::read_records};

use crate::synthetic;

fn folder_with(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("records")).expect("a folder");
    fs::write(folder.path().join("records/0001.json"), text).expect("a file");
    folder
}

#[test]
fn records_come_back_in_the_order_of_running() {
    let written = synthetic::periods();
    let folder = folder_with(&serde_json::to_string(&written[3]).expect("JSON"));
    fs::write(
        folder.path().join("records/0002.json"),
        serde_json::to_string(&written[1]).expect("JSON"),
    )
    .expect("a file");
    assert_eq!(
        read_records(folder.path()).expect("records"),
        [written[1].clone(), written[3].clone()]
    );
}

#[test]
fn a_broken_record_names_file_line_and_field() {
    let text = serde_json::to_string_pretty(&synthetic::periods()[0]).expect("JSON");
    let folder = folder_with(&text.replace("\"round\": 0", "\"rounds\": 0"));
    let error = read_records(folder.path()).expect_err("a missing field");
    let ReportError::Malformed { path, line, .. } = &error else {
        panic!("{error}")
    };
    assert!(path.ends_with("records/0001.json") && *line > 1);
    assert!(
        error
            .source()
            .expect("a cause")
            .to_string()
            .contains("missing field `round`")
    );
}

#[test]
fn another_schema_version_is_its_own_error() {
    let folder = folder_with("{\"schema_version\": 99}");
    assert!(matches!(
        read_records(folder.path()),
        Err(ReportError::SchemaVersion { found: 99, .. })
    ));
}

#[test]
fn no_records_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(matches!(
        read_records(folder.path()),
        Err(ReportError::NoRecords { .. })
    ));
    fs::create_dir(folder.path().join("records")).expect("a folder");
    assert!(matches!(
        read_records(folder.path()),
        Err(ReportError::NoRecords { .. })
    ));
}
