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
        name: "CPU, % of one core",
        value: |cell| cell.client_cpu(),
        unit: Unit::Share,
    },
];

/// Which cells of a group a line is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Resync {
    /// The control.
    Off,
    /// Those that resync.
    On,
}

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
    let panels: Vec<Panel> = GROWING
        .iter()
        .filter_map(|growing| panel(growing, &groups, &sizes))
        .collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let words = Words {
        slug: "scale".to_owned(),
        title: "Cost of a resync against the number of objects".to_owned(),
        caption: format!(
            "Both axes are logarithmic. Lock hold: how long the resync kept the queue to itself. Drain: from its begin until the handler had its last object. A marker is the median; \
             bars span all resyncs (lock hold, drain) or trials (CPU). The exponent is fitted to the markers: N^1 is proportional to the number of objects N. {conditions}"
        ),
    };
    side_by_side(words, &panels, &entries(&groups)).map(Some)
}

fn entries(groups: &[&[Cell<'_>]]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (series, group) in groups.iter().enumerate() {
        entries.push(Entry::series(series, group[0].short_group()));
        if !points(group, Resync::Off, Cell::client_cpu).is_empty() {
            let words = format!("CPU with resync off, {}", group[0].short_group());
            entries.push(Entry::series(groups.len() + series, words));
        }
    }
    entries.push(Entry::theory(0, "fitted line"));
    entries
}

/// The panel of one quantity, with the control where there is one; `None` if nothing was measured.
fn panel(growing: &Growing, groups: &[&[Cell<'_>]], sizes: &[f64]) -> Option<Panel> {
    let (mut traces, mut values, mut growths) = (Vec::new(), Vec::new(), Vec::new());
    for (series, group) in groups.iter().enumerate() {
        let control = points(group, Resync::Off, growing.value);
        let points = points(group, Resync::On, growing.value);
        let ends = |point: &Measured| [point.low, point.high];
        values.extend(points.iter().chain(&control).flat_map(ends));
        let places: Vec<(f64, f64)> = points.iter().map(|point| (point.x, point.y)).collect();
        if let Some(law) = PowerLaw::fit(&places) {
            let line = sizes.iter().map(|&size| (size, law.at(size))).collect();
            traces.push((series, Trace::Theory(line)));
            growths.push(format!("N^{:.2}", law.exponent));
        }
        if !control.is_empty() {
            traces.push((groups.len() + series, Trace::Measured(control)));
        }
        traces.push((series, Trace::Measured(points)));
    }
    let grows = if growths.is_empty() {
        String::new()
    } else {
        format!(", grows as {}", growths.join(", "))
    };
    (!values.is_empty()).then(|| Panel {
        size: Size::Full,
        title: format!("{}{grows}", growing.title),
        x: Axis::logarithmic("objects", sizes, sizes, Unit::Count),
        y: Axis::logarithmic(growing.name, &values, &[], growing.unit),
        traces,
    })
}

fn points<'a>(
    group: &[Cell<'a>],
    resync: Resync,
    value: fn(&Cell<'a>) -> Option<Spread>,
) -> Vec<Measured> {
    let point = |cell: &Cell<'a>| {
        let spread = value(cell).filter(|spread| spread.min > 0.0)?;
        Some(Measured {
            x: cell.variant.object_count as f64,
            y: spread.median,
            low: spread.min,
            high: spread.max,
        })
    };
    group
        .iter()
        .filter(|cell| cell.variant.resync_period_ns.is_some() == (resync == Resync::On))
        .filter_map(point)
        .collect()
}
