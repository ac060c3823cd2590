//! Criterion's saved results, in the layout of criterion 0.8.

use std::{fs, path::Path};

use expect_test::expect;
use reports::{criterion::render_criterion, error::ReportError};

/// Saves a result of 1,000 elements as criterion does.
fn save(folder: &Path, (group, function, value): (&str, &str, &str), ns: f64) {
    let new = folder.join(format!("{group}/{function}/{value}/new"));
    fs::create_dir_all(&new).expect("a folder");
    let id = format!(
        r#"{{"group_id":"{group}","function_id":"{function}","value_str":"{value}","throughput":{{"Elements":1000}}}}"#
    );
    fs::write(new.join("benchmark.json"), id).expect("a file");
    let estimate = format!(
        r#"{{"confidence_interval":{{"confidence_level":0.95,"lower_bound":{ns},"upper_bound":{ns}}},"point_estimate":{ns},"standard_error":1.0}}"#
    );
    fs::write(
        new.join("estimates.json"),
        format!(r#"{{"median":{estimate}}}"#),
    )
    .expect("a file");
}

#[test]
fn saved_results_become_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    save(folder.path(), ("delta_fifo", "add", "1000"), 50_000.0);
    save(folder.path(), ("delta_fifo", "add", "10000"), 62_000.0);
    save(folder.path(), ("delta_fifo", "pop", "1"), 10.0);
    let report = render_criterion(folder.path(), folder.path()).expect("a report");
    let page = fs::read_to_string(report.index).expect("a page");
    assert!(page.contains("delta_fifo/add/10000") && page.contains("62 ns"));
    assert!(page.contains("in the table only: pop."));
    assert_eq!(report.figures.len(), 3);
}

#[test]
fn values_with_a_unit_are_in_the_order_of_their_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    for (value, ns) in [
        ("100%_pending", 3e4),
        ("10%_pending", 2e4),
        ("0%_pending", 1e4),
    ] {
        save(folder.path(), ("dedup", "lock_hold", value), ns);
    }
    let report = render_criterion(folder.path(), folder.path()).expect("a report");
    let points = fs::read_to_string(folder.path().join("figures/dedup.csv")).expect("points");
    expect![[r"
        panel,series,kind,x_axis,x,y_axis,y,low,high
        ,lock_hold,measured,% pending [1],0,time per element [ns],10,10,10
        ,lock_hold,measured,% pending [1],10,time per element [ns],20,20,20
        ,lock_hold,measured,% pending [1],100,time per element [ns],30,30,30
    "]]
    .assert_eq(&points);
    assert_eq!(report.figures.len(), 3);
}

#[test]
fn nothing_saved_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(matches!(
        render_criterion(folder.path(), folder.path()),
        Err(ReportError::NoCriterionResults { .. })
    ));
}
