//! What is printed for a person: the verdict and a table of 80 columns on stdout, errors on stderr.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets::NOTHING};
use reports::{
    quantity::percent,
    summary::{Column, Summary, SummaryRow},
};

const WIDTH: u16 = 80;

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
    let explained = "CPU is of the client, the median of the rounds; p50 and p99 are of live events, from the scheduled change \
                     to the handler's return; repair is the mean time until what the handler lost was delivered again; stale is the most keys out of date at any time.";
    lines.extend(wrap(explained));
    for failure in &summary.failures {
        let reasons = failure.reasons.join("; ");
        lines.extend(wrap(&format!(
            "{} {} (round {}): {reasons}",
            failure.label,
            failure.kind,
            failure.round + 1
        )));
    }
    if !summary.interrupted.is_empty() {
        lines.push(String::new());
        lines.extend(wrap(
            "What interrupted trials had measured, in no row above:",
        ));
        lines.extend(rows(&summary.interrupted));
        lines.push(String::new());
    }
    for warning in &summary.warnings {
        lines.extend(wrap(&format!("note: {warning}")));
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
    table.set_header(COLUMNS.map(|(_, heading)| heading));
    for row in rows {
        table.add_row(COLUMNS.map(|(column, _)| narrow_text(row, column)));
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
        (Column::Cpu, Some(spread)) => percent(spread.median),
        _ => row.text(column),
    }
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
}
