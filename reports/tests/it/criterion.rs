//! Criterion's saved results, in the layout of criterion 0.8.

use std::fs;

use reports::{criterion::render_criterion, error::ReportError};

#[test]
fn saved_results_become_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    for (size, ns) in [(1_000_u32, 50_000.0), (10_000, 620_000.0)] {
        let new = folder.path().join(format!("delta_fifo/add/{size}/new"));
        fs::create_dir_all(&new).expect("a folder");
        let id = format!(
            r#"{{"group_id":"delta_fifo","function_id":"add","value_str":"{size}","throughput":{{"Elements":{size}}}}}"#
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
    let report = render_criterion(folder.path(), folder.path()).expect("a report");
    let page = fs::read_to_string(report.index).expect("a page");
    assert!(page.contains("delta_fifo/add/10000") && page.contains("62 ns"));
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
