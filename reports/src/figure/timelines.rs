//! Small multiples: a row per variant, a column per quantity, the window on the shared x axis.

use bench_core::measure::record::{Measurements, TimelinePoint};
use plotters::prelude::*;

use super::{
    Area, Drawn, Figure, Words,
    axis::Axis,
    csv, font,
    legend::{Entry, Sample, legend},
    paint,
    panel::{Panel, Size, Trace},
};
use crate::{aggregate::Cell, error::ReportError, quantity::Unit};

/// Rows drawn; the table has the rest.
pub const MOST_ROWS: usize = 12;

/// Height of a row with its label.
const ROW_HEIGHT: u32 = 98;

/// A column: heading, value of a point, and its unit.
struct Quantity {
    name: &'static str,
    value: fn(&TimelinePoint) -> Option<f64>,
    unit: Unit,
}

const QUANTITIES: [Quantity; 5] = [
    Quantity {
        name: "live events, p99",
        value: |point| point.live_p99_ns.map(|ns| ns as f64),
        unit: Unit::Nanoseconds,
    },
    Quantity {
        name: "keys in the queue",
        value: |point| Some(point.queue_keys as f64),
        unit: Unit::Count,
    },
    Quantity {
        name: "listener's buffer",
        value: |point| point.listener.map(|count| count as f64),
        unit: Unit::Count,
    },
    Quantity {
        name: "stale keys",
        value: |point| Some(point.stale_keys as f64),
        unit: Unit::Count,
    },
    Quantity {
        name: "client RSS",
        value: |point| Some(point.client_rss_bytes as f64 / 1_048_576.0),
        unit: Unit::Mebibytes,
    },
];

/// Draws the timelines of up to [`MOST_ROWS`] variants; `None` if no trial has one.
///
/// # Errors
///
/// The figure could not be drawn.
pub fn timelines(cells: &[Cell<'_>], conditions: &str) -> Result<Option<Figure>, ReportError> {
    let rows: Vec<(&Cell<'_>, &Measurements)> = cells
        .iter()
        .filter_map(|cell| {
            let with_points = |one: &&&Measurements| !one.timeline.points.is_empty();
            Some((cell, *cell.verified.iter().find(with_points)?))
        })
        .collect();
    let shown = &rows[..rows.len().min(MOST_ROWS)];
    let columns: Vec<&Quantity> = QUANTITIES
        .iter()
        .filter(|quantity| {
            shown
                .iter()
                .flat_map(|(_, one)| &one.timeline.points)
                .any(|point| (quantity.value)(point).is_some_and(|value| value > 0.0))
        })
        .collect();
    if columns.is_empty() {
        return Ok(None);
    }
    let left_out = if rows.len() > shown.len() {
        format!(" The first {} of {} variants.", shown.len(), rows.len())
    } else {
        String::new()
    };
    let words = Words {
        slug: "timelines".to_owned(),
        title: "Timelines: what happens between two resyncs".to_owned(),
        caption: format!(
            "The first verified trial of each variant; a column has one scale for all variants, from 0.{left_out} {conditions}"
        ),
    };
    let panels = panels(shown, &columns);
    let entries = [
        Entry {
            series: 0,
            sample: Sample::Line,
            words: "the quantity above the column, over the measured window".to_owned(),
        },
        Entry {
            series: 1,
            sample: Sample::Rule,
            words: "a resync begins".to_owned(),
        },
    ];
    let height = u32::try_from(shown.len()).unwrap_or(1) * ROW_HEIGHT + 62;
    let drawing = |area: &Area<'_>| -> Drawn {
        let (_, area) = area.split_vertically(legend(area, &entries)?);
        let (head, rest) = area.split_vertically(26);
        for (quantity, place) in columns.iter().zip(head.split_evenly((1, columns.len()))) {
            let style = font::style(15, paint::INK);
            place.draw(&Text::new(quantity.name, (64, 6), style))?;
        }
        let rows = panels.chunks(columns.len());
        for (row, place) in rows.zip(rest.split_evenly((shown.len(), 1))) {
            draw_row(&place, row)?;
        }
        Ok(())
    };
    Figure::draw(words, csv::of_panels(&panels, &[]), (1120, height), drawing).map(Some)
}

fn draw_row(area: &Area<'_>, panels: &[Panel]) -> Drawn {
    let (head, plots) = area.split_vertically(18);
    if let Some(panel) = panels.first() {
        let style = font::style(14, paint::MUTED);
        head.draw(&Text::new(font::printable(&panel.title, 90), (8, 3), style))?;
    }
    for (panel, place) in panels.iter().zip(plots.split_evenly((1, panels.len()))) {
        panel.draw(&place)?;
    }
    Ok(())
}

/// Row by row.
fn panels(rows: &[(&Cell<'_>, &Measurements)], columns: &[&Quantity]) -> Vec<Panel> {
    let points = || rows.iter().flat_map(|(_, one)| &one.timeline.points);
    let end = points().map(|point| point.at_ns).max().unwrap_or(1) as f64;
    let mut panels = Vec::new();
    for (cell, one) in rows {
        for quantity in columns {
            let points_of_row = one.timeline.points.iter();
            let line = points_of_row
                .filter_map(|point| Some((point.at_ns as f64, (quantity.value)(point)?)))
                .collect();
            let ticks = one.resync.ticks.iter().map(|tick| tick.at_ns as f64);
            panels.push(Panel {
                size: Size::Small,
                title: cell.variant.label.clone(),
                x: Axis::exact("time in the window", end, Unit::Nanoseconds),
                y: Axis::from_zero(
                    quantity.name,
                    points().filter_map(quantity.value),
                    quantity.unit,
                )
                .halved(),
                traces: vec![
                    (1, Trace::Ticks(ticks.filter(|at| *at <= end).collect())),
                    (0, Trace::Line(line)),
                ],
            });
        }
    }
    panels
}
