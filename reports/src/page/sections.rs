//! The sections between validity strip and method.

use maud::{Markup, html};

use super::layout::{bare_figure, figure_links};
use crate::{
    aggregate::Cell,
    column::{Column, Mark},
    figure::Figure,
    noise::NoiseFloor,
    quantity::{count, duration, number, percent},
    summary::{NO_DATA, NOT_APPLICABLE, Summary, SummaryRow, columns},
    work_balance::load,
};

/// Question, verdict and rule.
pub(super) fn top(summary: &Summary) -> Markup {
    let verdict = &summary.verdict;
    html! {
        header class=[(!verdict.doubts.is_empty()).then_some("doubtful")] {
            p.eyebrow { "informer-bench · " (summary.scenario) }
            h1 { (summary.question) }
            p.verdict { (verdict.headline) }
            @if !verdict.doubts.is_empty() { p.doubt { "Read with care: " (verdict.doubts.join("; ")) "." } }
            ul.details { @for detail in &verdict.details { li { (detail) } } }
            @if !verdict.rule.is_empty() { p.rule { "Rule: " (verdict.rule) } }
        }
    }
}

/// The table, a row per variant.
pub(super) fn table(summary: &Summary) -> Markup {
    let columns = columns(&summary.rows);
    let marks: Vec<Vec<Mark>> = columns
        .iter()
        .map(|column| summary.marks(*column))
        .collect();
    html! {
        section id="table" {
            h2 { "Every variant" }
            (rows(&summary.rows, &marks))
            p.legend { (key(summary, &marks)) }
            details { summary { "What the columns say" }
                dl { @for column in &columns { dt { (column.title()) } dd { (column.explanation()) } } }
            }
        }
    }
}

/// A table of `rows`; `marks` by column, then row.
fn rows(rows: &[SummaryRow], marks: &[Vec<Mark>]) -> Markup {
    let columns = columns(rows);
    html! {
        div.scroll { table {
            thead { tr { @for column in &columns { th scope="col" title=(column.explanation()) { (column.title()) } } } }
            tbody {
                @for (index, row) in rows.iter().enumerate() {
                    @if index == 0 || rows[index - 1].group != row.group {
                        tr.group { td colspan=(columns.len()) { (row.group) } }
                    }
                    tr class=[row.is_control.then_some("control")] {
                        @for (column, marks) in columns.iter().zip(marks) {
                            td class=[class(marks[index])] {
                                (row.text(*column))
                                @if *column == Column::Variant && row.verified < row.trials { " (" (row.verified) "/" (row.trials) " verified)" }
                            }
                        }
                    }
                }
            }
        } }
    }
}

/// How interrupted trials are to be read: none is the worst, since they compare with nothing.
fn interrupted_marks(rows: &[SummaryRow]) -> Vec<Vec<Mark>> {
    let of_column = |column: Column| rows.iter().map(|row| row.mark(column)).collect();
    columns(rows).into_iter().map(of_column).collect()
}

/// What the colours of the table mean, as far as they occur.
fn key(summary: &Summary, marks: &[Vec<Mark>]) -> Markup {
    let occurs = |mark: Mark| marks.iter().flatten().any(|other| *other == mark);
    html! {
        @if summary.rows.iter().any(|row| row.is_control) { span.swatch.control { "tinted row" } " control: resync off. " }
        @if occurs(Mark::Bad) { span.bad { "Red" } ": beyond its limit. " }
        @if occurs(Mark::Worst) { span.swatch.worst { "shaded" } " worst of its column" @if summary.noise != NoiseFloor::default() { ", or as bad within the noise floor" } ". " }
        @if occurs(Mark::Near) { span.near { "≈ grey" } ": differs from resync off by no more than the noise floor." }
    }
}

const fn class(mark: Mark) -> Option<&'static str> {
    match mark {
        Mark::Plain => None,
        Mark::Bad => Some("bad"),
        Mark::Near => Some("near"),
        Mark::NoData => Some("none"),
        Mark::Worst => Some("worst"),
    }
}

/// Trials whose numbers are in no aggregate.
pub(super) fn failures(summary: &Summary) -> Markup {
    html! {
        section id="failures" {
            h2 { "Trials that are not verified" }
            p { "Nothing of them is in any figure, table or sum." }
            table.words {
                thead { tr { th { "variant" } th { "round" } th { "outcome" } th { "why" } } }
                tbody { @for trial in &summary.failures {
                    tr { td { (trial.label) } td { (trial.round) } td class="bad" { (trial.kind) } td { @for reason in &trial.reasons { div { (reason) } } } }
                } }
            }
            @if !summary.interrupted.is_empty() {
                h3 { "What interrupted trials had measured until then" }
                (rows(&summary.interrupted, &interrupted_marks(&summary.interrupted)))
            }
        }
    }
}

/// Where notifications went, and the check that no key of a resync is missing.
pub(super) fn notifications(cells: &[Cell<'_>], figure: Option<&Figure>) -> Markup {
    let ticks: Vec<_> = cells.iter().flat_map(Cell::ticks).collect();
    let known: u64 = ticks.iter().map(|tick| tick.known).sum();
    let enqueued: u64 = ticks.iter().map(|tick| tick.enqueued).sum();
    let skipped: u64 = ticks
        .iter()
        .flat_map(|tick| tick.skipped_pending.values())
        .sum();
    let missing: u64 = ticks.iter().map(|tick| tick.missing).sum();
    let sign = if known == enqueued + skipped + missing {
        "="
    } else {
        "≠ (does not balance)"
    };
    html! {
        section id="notifications" {
            h2 { "Where notifications went" }
            @if let Some(figure) = figure { (bare_figure(figure)) } @else { p { "No verified trial, so nothing to draw." } }
            @if !ticks.is_empty() {
                p { "Conservation over " (count(ticks.len() as u64)) " resyncs: " (count(known)) " keys known " (sign) " " (count(enqueued)) " enqueued + "
                    (count(skipped)) " skipped since deltas were pending + " (count(missing)) " gone meanwhile." }
            }
        }
    }
}

/// What resyncs skipped.
pub(super) fn dedup(cells: &[Cell<'_>], figures: [Option<&Figure>; 2]) -> Markup {
    let resynced: Vec<_> = cells
        .iter()
        .filter(|cell| cell.skip_share().is_some())
        .collect();
    let highest = resynced
        .iter()
        .filter_map(|cell| cell.measured_load())
        .fold(0.0, f64::max);
    html! {
        section id="dedup" {
            h2 { "Deduplication: what a resync skipped, and why" }
            @if resynced.is_empty() { p { "No resync was measured." } }
            @for figure in figures.into_iter().flatten() { h3 { (figure.title) } (bare_figure(figure)) }
            @if !resynced.is_empty() && figures[1].is_none() {
                p { "No resync found a key pending, so none was skipped. The highest load was " (number(highest)) "; a plain informer skips from load 1 on." }
            }
            @if !resynced.is_empty() {
                details open[figures[1].is_some()] { summary { "Measured against the work balance, every variant" }
                    div.scroll { table {
                        thead { tr { th { "variant" } th { "load asked for" } th { "measured interval" } th { "load at that interval" } th { "skipped" } th { "work balance" } th { "difference, points" } th { "keys skipped by cause" } } }
                        tbody { @for cell in &resynced { (dedup_row(cell)) } }
                    } }
                }
            }
        }
    }
}

fn dedup_row(cell: &Cell<'_>) -> Markup {
    let (skipped, balance) = (cell.skip_share(), cell.balanced_skip_share());
    let share = |share: Option<f64>| share.map_or_else(|| NOT_APPLICABLE.to_owned(), percent);
    let measured = cell.effective_period().map(|period| period.median);
    let above = cell.measured_load().is_some_and(|load| load > 1.0);
    let difference = skipped
        .zip(balance)
        .map(|(skipped, balance)| format!("{:+.1}", (skipped - balance) * 100.0));
    html! {
        tr {
            td { (cell.variant.label) }
            td { (number(load(cell.variant))) }
            td { (measured.map_or_else(|| "fewer than two resyncs".to_owned(), |ns| format!("{:.3} s", ns / 1e9))) }
            td class=[above.then_some("bad")] { (cell.measured_load().map_or_else(|| NOT_APPLICABLE.to_owned(), number)) }
            td { (share(skipped)) }
            td { (share(balance)) }
            td { (difference.unwrap_or_else(|| NOT_APPLICABLE.to_owned())) }
            td { (causes_text(cell)) }
        }
    }
}

fn causes_text(cell: &Cell<'_>) -> String {
    let causes: Vec<String> = cell
        .skipped_by_cause()
        .iter()
        .filter(|(_, keys)| **keys > 0)
        .map(|(cause, keys)| format!("{cause} {}", count(*keys)))
        .collect();
    if causes.is_empty() {
        NOT_APPLICABLE.to_owned()
    } else {
        causes.join(", ")
    }
}

/// What resyncs repaired.
pub(super) fn repair(cells: &[Cell<'_>], figure: Option<&Figure>) -> Markup {
    let repairs: Vec<_> = cells
        .iter()
        .filter(|cell| cell.verified.iter().any(|one| one.repair.is_some()))
        .collect();
    let sum = |value: fn(&bench_core::measure::record::Repair) -> u64| -> u64 {
        repairs
            .iter()
            .flat_map(|cell| &cell.verified)
            .filter_map(|one| one.repair.as_ref())
            .map(value)
            .sum()
    };
    html! {
        section id="repair" {
            h2 { "Repair: what a resync brings back" }
            @if repairs.is_empty() {
                p { "No events were lost on purpose in this run, so there was nothing to repair." }
            } @else {
                p { "A resync delivers the cache again, so it repairs a lost add or update within a period. A lost " b { "delete" } " is never repaired by a resync, since its key is gone from the cache: of "
                    (count(sum(|repair| repair.lost_deletes))) " lost deletes, " (count(sum(|repair| repair.unrepaired_deletes))) " keys were still believed in at the end." }
                @if let Some(figure) = figure { (bare_figure(figure)) }
                div.scroll { table {
                    thead { tr { th { "variant" } th { "lost adds and updates" } th { "by resync" } th { "by a later event" } th { "not repaired in the window" } th { "lost deletes" } th { "of them never repaired" } th { "mean time to repair" } th { "expected by arithmetic" } th { "measured / expected" } } }
                    tbody { @for cell in &repairs { (repair_row(cell)) } }
                } }
            }
        }
    }
}

fn repair_row(cell: &Cell<'_>) -> Markup {
    let sum = |value: fn(&bench_core::measure::record::Repair) -> u64| {
        cell.sum(|one| one.repair.as_ref().map_or(0, value))
    };
    let mean = cell.time_to_repair().mean_ns;
    let expected = cell.expected_repair_ns().map(|spread| spread.median);
    let ratio = mean
        .zip(expected)
        .filter(|(_, expected)| *expected > 0.0)
        .map(|(mean, expected)| format!("{:.2}", mean / expected));
    let or_none = |ns: Option<f64>| ns.map_or_else(|| NO_DATA.to_owned(), duration);
    html! {
        tr class=[cell.variant.resync_period_ns.is_none().then_some("control")] {
            td { (cell.variant.label) }
            td { (count(sum(|repair| repair.lost_adds + repair.lost_updates))) }
            td { (count(sum(|repair| repair.repaired_by_resync))) }
            td { (count(sum(|repair| repair.repaired_by_live))) }
            td { (count(sum(|repair| repair.unrepaired))) }
            td { (count(sum(|repair| repair.lost_deletes))) }
            td { (count(sum(|repair| repair.unrepaired_deletes))) }
            td { (or_none(mean)) }
            td { (expected.map_or_else(|| NOT_APPLICABLE.to_owned(), duration)) }
            td { (ratio.unwrap_or_else(|| NOT_APPLICABLE.to_owned())) }
        }
    }
}

/// Links to the files beside the page.
pub(super) fn downloads(figures: &[&Figure]) -> Markup {
    html! {
        section id="downloads" {
            h2 { "Downloads" }
            ul {
                li { a href="records/" { "records/" } ": one JSON file per trial, from which this page is drawn again" }
                li { a href="summary.md" { "summary.md" } }
                (figure_links(figures))
            }
        }
    }
}
