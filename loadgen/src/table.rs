//! What is printed for a person: the verdict and a table of 80 columns on stdout, errors on stderr.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets::NOTHING};
use reports::{
    column::Column,
    quantity::percent,
    summary::{FailedTrial, Summary, SummaryRow, columns},
};

const WIDTH: u16 = 80;

/// Reasons of one failed trial that are printed.
const MOST_REASONS: usize = 3;

/// The columns that fit, with their headings.
const COLUMNS: [(Column, &str); 8] = [
    (Column::Variant, ""),
    (Column::Resyncs, "resyncs"),
    (Column::Skipped, "skipped"),
    (Column::Cpu, "CPU"),
    (Column::LiveP50, "p50"),
    (Column::LiveP99, "p99"),
    (Column::Repair, "repair"),
    (Column::Stale, "stale"),
];

/// Prints verdict, table, failures and warnings.
pub fn print(summary: &Summary) {
    print_line(&render(summary));
}

/// The text that [`print()`] prints.
pub fn render(summary: &Summary) -> String {
    let mut lines = wrap(&summary.verdict.headline);
    lines.push(String::new());
    lines.extend(rows(&summary.rows));
    lines.push(String::new());
    lines.extend(wrap(&explained(&summary.rows)));
    lines.extend(failure_lines(&summary.failures));
    if !summary.interrupted.is_empty() {
        lines.push(String::new());
        lines.extend(wrap(
            "What interrupted trials had measured, in no row above:",
        ));
        lines.extend(rows(&summary.interrupted));
        lines.push(String::new());
    }
    for note in &summary.warnings {
        lines.extend(wrap(&format!("note: {}", note.line())));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn rows(rows: &[SummaryRow]) -> Vec<String> {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH);
    let said = columns(rows);
    let shown = || COLUMNS.iter().filter(|(column, _)| said.contains(column));
    table.set_header(shown().map(|(_, heading)| heading));
    for row in rows {
        table.add_row(shown().map(|(column, _)| narrow_text(row, *column)));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// The text of a cell; ranges over the rounds would not fit and are left to the page.
fn narrow_text(row: &SummaryRow, column: Column) -> String {
    match (column, row.client_cpu) {
        (Column::Cpu, Some(spread)) if row.near_control.contains(&column) => {
            format!("≈ {}", percent(spread.median))
        }
        (Column::Cpu, Some(spread)) => percent(spread.median),
        _ => row.text(column),
    }
}

/// What the headings and marks that occur say.
fn explained(rows: &[SummaryRow]) -> String {
    let said = columns(rows);
    let mut parts = vec![
        "CPU is of the client, the median of the rounds",
        "p50 and p99 are of live events, from the scheduled change to the handler's return",
    ];
    if said.contains(&Column::Repair) {
        parts.push("repair is the mean time until what the handler lost was delivered again");
    }
    if said.contains(&Column::Stale) {
        parts.push("stale is the most keys out of date at any time");
    }
    if rows.iter().any(|row| !row.near_control.is_empty()) {
        parts.push("≈ differs from resync off by no more than rounds of one variant differ among themselves");
    }
    format!("{}.", parts.join("; "))
}

/// Trials that are not verified; those that say the same are one entry.
fn failure_lines(failures: &[FailedTrial]) -> Vec<String> {
    let mut told: Vec<(&FailedTrial, usize)> = Vec::new();
    for failure in failures {
        let same = |(first, _): &&mut (&FailedTrial, usize)| {
            first.kind == failure.kind && first.reasons == failure.reasons
        };
        match told.iter_mut().find(same) {
            Some((_, more)) => *more += 1,
            None => told.push((failure, 0)),
        }
    }
    told.into_iter()
        .flat_map(|(first, more)| {
            let others = match more {
                0 => String::new(),
                1 => " and 1 more trial".to_owned(),
                several => format!(" and {several} more trials"),
            };
            wrap(&format!(
                "{}: {} (round {}){others}: {}",
                first.kind,
                first.label,
                first.round + 1,
                reasons_text(&first.reasons)
            ))
        })
        .collect()
}

/// The first reasons, and how many more the page has.
fn reasons_text(reasons: &[String]) -> String {
    let shown = reasons.len().min(MOST_REASONS);
    let mut text = reasons[..shown].join("; ");
    if reasons.len() > shown {
        let _ = write!(text, "; {} more on the page", reasons.len() - shown);
    }
    text
}

/// Prints one line to stdout.
#[expect(clippy::print_stdout, reason = "what a person asked for")]
pub fn print_line(line: &str) {
    println!("{line}");
}

/// Prints a line for whoever watches the run to stderr.
#[expect(clippy::print_stderr, reason = "what a person must see")]
pub fn print_notice(notice: &str) {
    eprintln!("{notice}");
}

/// Prints an error to stderr.
#[expect(clippy::print_stderr, reason = "what a person must see")]
pub fn print_error(error: &str) {
    eprintln!("error: {error}");
}

/// Breaks a text at spaces so that no line exceeds the width.
fn wrap(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > usize::from(WIDTH)
        {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_within_eighty_columns() {
        let lines = wrap(&"twelve chars ".repeat(20));
        assert!(
            lines.iter().all(|line| line.chars().count() <= 80) && lines.len() == 4,
            "{lines:?}"
        );
        assert_eq!(lines.join(" "), "twelve chars ".repeat(20).trim_end());
    }

    #[test]
    fn what_many_trials_say_alike_is_said_once_and_fits() {
        let failure = |round| FailedTrial {
            label: "delta-fifo resync 1s".to_owned(),
            round,
            kind: "error",
            reasons: vec![
                "the server did not start within two minutes, which it should".to_owned(),
            ],
        };
        let text = failure_lines(&[failure(0), failure(1), failure(2)]);
        assert_eq!(
            text,
            [
                "error: delta-fifo resync 1s (round 1) and 2 more trials: the server did not",
                "start within two minutes, which it should"
            ]
        );
        assert_eq!(
            reasons_text(&["a", "b", "c", "d", "e"].map(str::to_owned)),
            "a; b; c; 2 more on the page"
        );
    }
}
