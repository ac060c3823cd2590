//! The summary as Markdown, for a pull request.

use std::fmt::Write as _;

use crate::{
    column::{Column, Mark},
    summary::{Summary, SummaryRow},
};

/// Rows of the table at most.
const MOST_ROWS: usize = 12;

const COLUMNS: [Column; 10] = [
    Column::Variant,
    Column::Load,
    Column::Resyncs,
    Column::Interval,
    Column::Skipped,
    Column::Cpu,
    Column::Repair,
    Column::LiveP99,
    Column::ServiceP99,
    Column::QueuePeak,
];

/// Verdict and table.
pub(super) fn summary(summary: &Summary) -> String {
    let verdict = &summary.verdict;
    let mut text = format!("{}\n\n", escaped(&verdict.headline));
    if !verdict.doubts.is_empty() {
        let _ = writeln!(
            text,
            "**Read with care:** {}.\n",
            escaped(&verdict.doubts.join("; "))
        );
    }
    for detail in &verdict.details {
        let _ = writeln!(text, "- {}", escaped(detail));
    }
    if !verdict.rule.is_empty() {
        let _ = writeln!(text, "\nRule: {}", escaped(&verdict.rule));
    }
    write_table(&mut text, &summary.rows);
    if summary.rows.len() > MOST_ROWS {
        let _ = writeln!(
            text,
            "\n{} more variants are on the page.",
            summary.rows.len() - MOST_ROWS
        );
    }
    if let Some(floors) = summary.noise.text() {
        let _ = writeln!(
            text,
            "\nNoise floor, rounds of one variant against each other: {floors}. ≈ differs from resync off by no more."
        );
    }
    for trial in &summary.failures {
        let _ = writeln!(
            text,
            "\nNot verified: {}, round {}: {}: {}",
            escaped(&trial.label),
            trial.round,
            trial.kind,
            escaped(&trial.reasons.join("; "))
        );
    }
    if !summary.interrupted.is_empty() {
        text.push_str("\nWhat interrupted trials had measured, in no row above:\n");
        write_table(&mut text, &summary.interrupted);
    }
    if !summary.warnings.is_empty() {
        text.push_str("\nWarnings:\n\n");
        for note in &summary.warnings {
            let _ = writeln!(text, "- {}: {}", note.kind, escaped(&note.line()));
        }
    }
    text
}

fn write_table(text: &mut String, rows: &[SummaryRow]) {
    let titles: Vec<&str> = COLUMNS.iter().map(|column| column.title()).collect();
    let _ = writeln!(
        text,
        "\n| {} |\n|---|{}",
        titles.join(" | "),
        "--:|".repeat(COLUMNS.len() - 1)
    );
    for row in rows.iter().take(MOST_ROWS) {
        let cells: Vec<String> = COLUMNS
            .iter()
            .map(|&column| {
                let value = escaped(&row.text(column));
                if row.mark(column) == Mark::Bad {
                    format!("**{value}**")
                } else {
                    value
                }
            })
            .collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
        .replace('<', "&lt;")
        .replace('\n', " ")
}
