//! Small multiples: a row per variant, a column per quantity, the window on the shared x axis.

use bench_core::measure::record::{Measurements, TimelinePoint};
use plotters::prelude::*;

use super::{
    Area, Drawn, Figure, Words, font, paint,
    panel::{Axis, Panel, Trace},
};
use crate::{
    aggregate::Cell,
    error::ReportError,
    quantity::{duration, number},
};

/// Rows drawn; the table has the rest.
pub const MOST_ROWS: usize = 12;

/// A column: heading, value of a point, and its text.
struct Quantity {
    name: &'static str,
    value: fn(&TimelinePoint) -> Option<f64>,
    format: fn(f64) -> String,
}

const QUANTITIES: [Quantity; 5] = [
    Quantity {
        name: "live p99",
        value: |point| point.live_p99_ns.map(|ns| ns as f64),
        format: duration,
    },
    Quantity {
        name: "queue, keys",
        value: |point| Some(point.queue_keys as f64),
        format: number,
    },
    Quantity {
        name: "listener buffer",
        value: |point| point.listener.map(|count| count as f64),
        format: number,
    },
    Quantity {
        name: "stale keys",
        value: |point| Some(point.stale_keys as f64),
        format: number,
    },
    Quantity {
        name: "client RSS",
        value: |point| Some(point.client_rss_bytes as f64 / 1_048_576.0),
        format: |value| format!("{} MiB", number(value)),
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
            Some((
                cell,
                *cell
                    .verified
                    .iter()
                    .find(|one| !one.timeline.points.is_empty())?,
            ))
        })
        .collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let shown = &rows[..rows.len().min(MOST_ROWS)];
    let left_out = if rows.len() > shown.len() {
        format!(" The first {} of {} variants.", shown.len(), rows.len())
    } else {
        String::new()
    };
    let words = Words {
        slug: "timelines".to_owned(),
        title: "Timelines: what happens between two resyncs".to_owned(),
        caption: format!(
            "The first verified trial of each variant; vertical rules are resyncs; a column has one scale for all variants, from 0.{left_out} {conditions}"
        ),
    };
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
    let height = u32::try_from(shown.len()).unwrap_or(1) * 112 + 10;
    Figure::draw(words, (1120, height), |area| {
        draw_rows(area, shown, &columns)
    })
    .map(Some)
}

fn draw_rows(area: &Area<'_>, rows: &[(&Cell<'_>, &Measurements)], columns: &[&Quantity]) -> Drawn {
    let end = rows
        .iter()
        .filter_map(|(_, one)| one.timeline.points.last())
        .map(|point| point.at_ns)
        .max()
        .unwrap_or(1) as f64;
    for ((cell, one), part) in rows.iter().zip(area.split_evenly((rows.len(), 1))) {
        let (head, plots) = part.split_vertically(20);
        head.draw(&Text::new(
            font::printable(&cell.variant.label, 90),
            (8, 3),
            font::style(15, paint::INK),
        ))?;
        for (quantity, place) in columns.iter().zip(plots.split_evenly((1, columns.len()))) {
            let all = rows
                .iter()
                .flat_map(|(_, one)| &one.timeline.points)
                .filter_map(quantity.value);
            let points: Vec<(f64, f64)> = one
                .timeline
                .points
                .iter()
                .filter_map(|point| Some((point.at_ns as f64, (quantity.value)(point)?)))
                .collect();
            let ticks = one
                .resync
                .ticks
                .iter()
                .map(|tick| tick.at_ns as f64)
                .filter(|at| *at <= end)
                .collect();
            Panel {
                title: quantity.name.to_owned(),
                x: Axis::exact("", end, duration),
                y: Axis::from_zero("", all, quantity.format).halved(),
                traces: vec![(0, Trace::Ticks(ticks)), (0, Trace::Line(points))],
            }
            .draw(&place)?;
        }
    }
    Ok(())
}
