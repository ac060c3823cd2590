//! What a reader finds on the page and in the files beside it.

use std::fs;

use bench_core::measure::record::{LatencySeries, RunRecord};
use reports::{
    column::Column,
    page::{RenderedReport, render},
    summary::summarise,
};

use crate::synthetic;

fn rendered(records: &[RunRecord]) -> (tempfile::TempDir, RenderedReport, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let report = render(records, folder.path()).expect("a report");
    let page = fs::read_to_string(&report.index).expect("a page");
    // To look at the page: REPORTS_KEEP=/some/folder cargo test -p reports
    if let Some(keep) = std::env::var_os("REPORTS_KEEP") {
        let to = std::path::Path::new(&keep).join(format!(
            "{}-{}",
            records[0].scenario.name,
            records.len()
        ));
        render(
            records,
            fs::create_dir_all(&to)
                .map(|()| to.as_path())
                .expect("a folder"),
        )
        .expect("a report");
    }
    (folder, report, page)
}

fn assert_stands_alone(page: &str) {
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    for attribute in [
        "src=\"http",
        "href=\"http",
        "url(http",
        "@import",
        "src=\"//",
        "href=\"//",
    ] {
        assert!(!page.contains(attribute), "{attribute} on the page");
    }
}

#[test]
fn the_page_shows_every_variant_and_every_failed_trial() {
    let mut records = synthetic::periods();
    records[5] = synthetic::failed(records[5].clone());
    let (_folder, report, page) = rendered(&records);
    for record in &records {
        assert!(
            page.contains(&record.variant.label),
            "{} is missing",
            record.variant.label
        );
    }
    assert!(page.contains("synthetic: pod a/b differs between cache and server"));
    assert!(page.contains("1 of 16 trials not verified"));
    assert!(page.contains("(1/2 verified)"));
    assert!(page.contains("is never repaired by a resync"));
    assert!(
        !page.contains("loadgen compare </script>"),
        "text is not escaped"
    );
    assert_stands_alone(&page);
    assert_eq!(
        report.figures.len(),
        18,
        "six figures, each SVG, PNG and CSV: {:?}",
        report.figures
    );
    for figure in &report.figures {
        let bytes = fs::read(figure).expect("a figure");
        if figure.extension().is_some_and(|ending| ending == "png") {
            assert!(
                bytes.starts_with(b"\x89PNG") && bytes.len() > 5_000,
                "{}",
                figure.display()
            );
        } else if figure.extension().is_some_and(|ending| ending == "csv") {
            let csv = String::from_utf8(bytes).expect("text");
            assert!(csv.lines().count() > 2, "{} is empty", figure.display());
            let name = figure.file_name().expect("a name").to_string_lossy();
            assert!(
                page.contains(&format!("figures/{name}")),
                "{name} is not linked"
            );
        } else {
            let svg = String::from_utf8(bytes).expect("text");
            assert!(
                svg.contains("<text") && svg.contains("DejaVu Sans"),
                "{} has no text",
                figure.display()
            );
        }
    }
    assert!(
        fs::read_to_string(&report.summary)
            .expect("a summary")
            .contains("| delta-fifo resync 2s |")
    );
}

#[test]
fn live_latency_and_service_time_stand_side_by_side_with_their_clock_points() {
    let records = synthetic::periods();
    let (_folder, report, page) = rendered(&records);
    let markdown = fs::read_to_string(&report.summary).expect("a summary");
    for text in [&page, &markdown] {
        assert!(text.contains("live p99") && text.contains("service p99"));
    }
    assert!(page.contains("99th percentile of the commit itself to the handler's return."));
    assert!(page.contains("load achieved: <b>20,800 of 20,800 changes (100 %)</b>"));
    let row = &summarise(&records).rows[0];
    assert_eq!(row.text(Column::LiveP99), "2.7 ms");
    assert_eq!(row.text(Column::ServiceP99), "990 µs");
}

#[test]
fn an_interrupted_trial_is_shown_apart_and_in_no_aggregate() {
    let mut records = synthetic::periods();
    let whole: Vec<RunRecord> = [&records[..5], &records[6..]].concat();
    records[5] = synthetic::interrupted(records[5].clone());
    let (_folder, report, page) = rendered(&records);
    assert!(page.contains("interrupted by Ctrl-C: <b>2 s of a window, in no aggregate</b>"));
    assert!(page.contains("the run was interrupted, and what was to follow did not run"));
    assert!(page.contains("stopped by Ctrl-C after 2 s of its window"));
    assert!(page.contains("<td class=\"bad\">interrupted, partial</td>"));
    assert!(page.contains("What interrupted trials had measured until then"));
    let summary = summarise(&records);
    assert_eq!(summary.interrupted.len(), 1);
    assert_eq!(summary.interrupted[0].resyncs_fired, 77);
    for (row, expected) in summary.rows.iter().zip(summarise(&whole).rows) {
        for column in Column::ALL {
            assert_eq!(row.text(column), expected.text(column), "{}", row.label);
        }
    }
    let markdown = fs::read_to_string(&report.summary).expect("a summary");
    let (_, interrupted) = markdown
        .split_once("What interrupted trials had measured, in no row above:")
        .expect("a table of its own");
    assert!(interrupted.contains(" 77/"), "{interrupted}");
}

#[test]
fn scale_and_dedup_have_their_sections() {
    let (_folder, report, page) = rendered(&synthetic::scale());
    assert!(page.contains("N^1.0"), "no fitted growth");
    assert!(page.contains("No events were lost on purpose"));
    assert!(
        report
            .figures
            .iter()
            .any(|path| path.ends_with("scale.svg"))
    );
    assert_stands_alone(&page);
    let (_folder, report, page) = rendered(&synthetic::dedup());
    for figure in ["skip-load.svg", "skip-causes.svg"] {
        assert!(
            report.figures.iter().any(|path| path.ends_with(figure)),
            "{figure}"
        );
    }
    assert!(page.contains("an earlier resync not yet drained"));
}

#[test]
fn without_samples_there_is_no_percentile() {
    let mut records = synthetic::periods();
    records.truncate(4);
    for record in &mut records {
        let one = record.measurements.as_mut().expect("numbers");
        one.latency
            .insert("live".to_owned(), LatencySeries::default());
        one.timeline.points.clear();
    }
    let (_folder, _, page) = rendered(&records);
    assert!(page.contains("<td class=\"none\">no data</td>"));
    assert!(!page.contains("NaN"));
}

#[test]
fn a_run_of_failures_only_is_still_a_page() {
    let records: Vec<RunRecord> = synthetic::periods()
        .into_iter()
        .map(synthetic::failed)
        .collect();
    let (_folder, report, page) = rendered(&records);
    assert!(page.contains("No verdict: no trial was verified."));
    assert!(page.contains("delta-fifo resync 3s"));
    assert!(report.figures.is_empty());
}

#[test]
fn a_run_of_interrupted_trials_only_is_still_a_page() {
    let records: Vec<RunRecord> = synthetic::periods()
        .into_iter()
        .map(synthetic::interrupted)
        .collect();
    let (_folder, report, page) = rendered(&records);
    assert!(page.contains("No verdict: no trial was verified."));
    assert_eq!(page.matches("interrupted, partial").count(), records.len());
    assert!(report.figures.is_empty(), "{:?}", report.figures);
}

#[test]
fn the_noise_floor_is_stated_with_its_rule() {
    let records = synthetic::periods();
    let (_folder, report, page) = rendered(&records);
    let markdown = fs::read_to_string(&report.summary).expect("a summary");
    assert!(markdown.contains("Noise floor, rounds of one variant against each other: CPU "));
    assert!(
        page.contains("noise floor (A/A): <b>CPU ") && !page.contains("not measured: one round")
    );
    assert!(page.contains("The same code and settings against themselves"));
    let (_folder, _, page) = rendered(&records[..8]);
    assert!(page.contains("noise floor (A/A): <b>not measured: one round</b>"));
}
