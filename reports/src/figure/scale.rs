//! Cost against the number of objects, on log-log paper with the fitted growth.

use super::{
    Figure, Words,
    axis::Axis,
    legend::Entry,
    panel::{Measured, Panel, Size, Trace},
    resync::{groups, side_by_side},
};
use crate::{
    aggregate::Cell, error::ReportError, quantity::Unit, series::Spread, work_balance::PowerLaw,
};

/// A quantity that may grow with the number of objects.
struct Growing {
    title: &'static str,
    name: &'static str,
    value: fn(&Cell<'_>) -> Option<Spread>,
    unit: Unit,
}

const GROWING: [Growing; 3] = [
    Growing {
        title: "Lock hold of one resync",
        name: "lock hold",
        value: |cell| cell.lock_hold(),
        unit: Unit::Nanoseconds,
    },
    Growing {
        title: "Drain of one resync",
        name: "drain",
        value: |cell| cell.drain(),
        unit: Unit::Nanoseconds,
    },
    Growing {
        title: "Client CPU",
        name: "% of a core",
        value: |cell| cell.client_cpu(),
        unit: Unit::Share,
    },
];

fn counts(cells: &[Cell<'_>]) -> Vec<f64> {
    let mut counts: Vec<f64> = cells
        .iter()
        .filter(|cell| !cell.verified.is_empty())
        .map(|cell| cell.variant.object_count as f64)
        .filter(|count| *count > 0.0)
        .collect();
    counts.sort_by(f64::total_cmp);
    counts.dedup();
    counts
}

/// Draws the cost against scale; `None` below two sizes.
///
/// # Errors
///
/// The figure could not be drawn.
pub fn against_scale(cells: &[Cell<'_>], conditions: &str) -> Result<Option<Figure>, ReportError> {
    let sizes = counts(cells);
    if sizes.len() < 2 {
        return Ok(None);
    }
    let groups = groups(cells);
    let mut entries: Vec<_> = groups
        .iter()
        .enumerate()
        .map(|(series, group)| Entry::series(series, group[0].short_group()))
        .collect();
    entries.push(Entry::theory(0, "fitted line"));
    let mut panels = Vec::new();
    for growing in &GROWING {
        let mut traces = Vec::new();
        let mut values = Vec::new();
        let mut growths = Vec::new();
        for (series, group) in groups.iter().enumerate() {
            let points: Vec<Measured> = group
                .iter()
                .filter(|cell| cell.variant.resync_period_ns.is_some())
                .filter_map(|cell| point(cell, growing.value))
                .collect();
            values.extend(points.iter().flat_map(|point| [point.low, point.high]));
            if let Some(law) = PowerLaw::fit(
                &points
                    .iter()
                    .map(|point| (point.x, point.y))
                    .collect::<Vec<_>>(),
            ) {
                traces.push((
                    series,
                    Trace::Theory(sizes.iter().map(|&size| (size, law.at(size))).collect()),
                ));
                growths.push(format!("N^{:.2}", law.exponent));
            }
            traces.push((series, Trace::Measured(points)));
        }
        if values.is_empty() {
            continue;
        }
        let grows = if growths.is_empty() {
            String::new()
        } else {
            format!(": {}", growths.join(", "))
        };
        panels.push(Panel {
            size: Size::Full,
            title: format!("{}{grows}", growing.title),
            x: Axis::logarithmic("objects", &sizes, &sizes, Unit::Count),
            y: Axis::logarithmic(growing.name, &values, &[], growing.unit),
            traces,
        });
    }
    let words = Words {
        slug: "scale".to_owned(),
        title: "Cost of a resync against the number of objects".to_owned(),
        caption: format!(
            "Log-log. A marker is the median; bars span all resyncs (lock hold, drain) or trials (CPU); the exponent is fitted to the markers, 1 is proportional. {conditions}"
        ),
    };
    if panels.is_empty() {
        Ok(None)
    } else {
        side_by_side(words, &panels, &entries).map(Some)
    }
}

fn point(cell: &Cell<'_>, value: fn(&Cell<'_>) -> Option<Spread>) -> Option<Measured> {
    let spread = value(cell).filter(|spread| spread.min > 0.0)?;
    Some(Measured {
        x: cell.variant.object_count as f64,
        y: spread.median,
        low: spread.min,
        high: spread.max,
    })
}
