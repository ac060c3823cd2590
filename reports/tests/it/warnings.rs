//! Warnings of many trials as few lines.

use bench_core::measure::record::{RunRecord, Warning};
use expect_test::expect;
use reports::warnings::notes;

use crate::synthetic;

fn with_warnings(warnings: &[(&str, &str)]) -> Vec<RunRecord> {
    synthetic::dedup()
        .into_iter()
        .zip(warnings)
        .map(|(mut record, (kind, message))| {
            record.warnings = vec![Warning::afterwards(kind, (*message).to_owned())];
            record
        })
        .collect()
}

fn lines(warnings: &[(&str, &str)]) -> String {
    let lines: Vec<String> = notes(&with_warnings(warnings))
        .iter()
        .map(|note| format!("{}: {}", note.kind, note.line()))
        .collect();
    lines.join("\n")
}

#[test]
fn messages_that_differ_in_numbers_are_one_line_with_ranges() {
    expect![[r"
        LoadAboveOne: load 1.56–12.3: a resync is not drained before the next (3 trials of 3 variants)
        EffectivePeriod: 1.000 s asked for, 1.256 s got (1 trial: delta-fifo resync 2s plain 300us)"]]
    .assert_eq(&lines(&[
        ("LoadAboveOne", "load 3.12: a resync is not drained before the next"),
        ("LoadAboveOne", "load 12.3: a resync is not drained before the next"),
        ("LoadAboveOne", "load 1.56: a resync is not drained before the next"),
        ("EffectivePeriod", "1.000 s asked for, 1.256 s got"),
    ]));
}

#[test]
fn other_words_or_another_kind_are_another_line() {
    expect![[r"
        A: 3 of 5 lost (1 trial: delta-fifo resync 1s plain 100us)
        A: 3 of 5 found (1 trial: delta-fifo resync 2s plain 100us)
        B: 3 of 5 lost (1 trial: delta-fifo resync 1s plain 300us)"]]
    .assert_eq(&lines(&[
        ("A", "3 of 5 lost"),
        ("A", "3 of 5 found"),
        ("B", "3 of 5 lost"),
    ]));
}

#[test]
fn a_line_says_how_often_and_since_when() {
    let mut records = synthetic::dedup();
    records.truncate(3);
    for (record, (count, first_at_ns)) in
        records
            .iter_mut()
            .zip([(3, Some(1_200_000_000)), (5, Some(900_000_000)), (4, None)])
    {
        let message = "a handler waits".to_owned();
        record.warnings = vec![Warning {
            count,
            first_at_ns,
            ..Warning::afterwards("HandlerBacklog", message)
        }];
    }
    let line = |records: &[RunRecord]| notes(records)[0].line();
    assert_eq!(
        line(&records),
        "a handler waits (3–5 times, first 900 ms after the start, 3 trials of 3 variants)"
    );
    assert_eq!(
        line(&records[2..]),
        "a handler waits (4 times, 1 trial: delta-fifo resync 1s plain 300us)"
    );
}

#[test]
fn a_record_from_before_warnings_were_counted_is_read() {
    let warning: Warning = serde_json::from_str(r#"{"kind":"A","message":"b"}"#).unwrap();
    assert_eq!(warning, Warning::afterwards("A", "b".to_owned()));
}
