//! Figures over resync periods: cost against repair, and repair against the closed form.

use bench_core::measure::record::Measurements;

use super::{
    Area, Drawn, Figure, Words,
    panel::{Axis, Measured, Panel, Sample, Trace, legend},
};
use crate::{
    aggregate::Cell,
    error::ReportError,
    quantity::{duration, number, percent},
    series::Spread,
    work_balance::{SafePeriod, safe_period},
};

/// Neighbouring cells of one implementation, queue and informer.
pub fn groups<'b, 'a>(cells: &'b [Cell<'a>]) -> Vec<&'b [Cell<'a>]> {
    cells
        .chunk_by(|left, right| left.group() == right.group())
        .collect()
}

fn period(cell: &Cell<'_>) -> Option<f64> {
    cell.variant.resync_period_ns.map(|ns| ns as f64)
}

fn measured(group: &[Cell<'_>], value: impl Fn(&Cell<'_>) -> Option<Spread>) -> Vec<Measured> {
    let point = |cell: &Cell<'_>| {
        let spread = value(cell)?;
        Some(Measured {
            x: period(cell)?,
            y: spread.median,
            low: spread.min,
            high: spread.max,
        })
    };
    group.iter().filter_map(point).collect()
}

fn repair_spread(cell: &Cell<'_>) -> Option<Spread> {
    let mean = cell.time_to_repair().mean_ns?;
    let trials = cell.spread(|one| one.repair.as_ref()?.time_to_repair.mean_ns)?;
    Some(Spread {
        median: mean,
        ..trials
    })
}

/// Widest safe period among the cells, if the run has one setting of work.
fn bound(cells: &[Cell<'_>]) -> Option<f64> {
    let mut bounds = cells.iter().filter_map(|cell| {
        if let SafePeriod::AtLeast(ns) = safe_period(cell.variant) {
            Some(ns)
        } else {
            None
        }
    });
    let first = bounds.next()?;
    bounds
        .all(|other| (other - first).abs() < 1.0)
        .then_some(first)
}

/// What a period costs beside what it buys; `None` below two periods.
///
/// # Errors
///
/// The figure could not be drawn.
pub fn trade_off(cells: &[Cell<'_>], conditions: &str) -> Result<Option<Figure>, ReportError> {
    let mut periods: Vec<f64> = cells
        .iter()
        .filter(|cell| !cell.verified.is_empty())
        .filter_map(period)
        .collect();
    periods.sort_by(f64::total_cmp);
    periods.dedup();
    if periods.len() < 2 {
        return Ok(None);
    }
    let groups = groups(cells);
    let overload = bound(cells);
    let reach: Vec<f64> = periods.iter().copied().chain(overload).collect();
    let x = Axis::logarithmic("resync period asked for", &reach, &periods, duration);
    let mut cost = Vec::new();
    let mut repair = Vec::new();
    let mut entries = Vec::new();
    if let Some(ns) = overload {
        cost.push((0, Trace::Overload(ns)));
        repair.push((0, Trace::Overload(ns)));
    }
    let ends = (
        reach.iter().copied().fold(f64::INFINITY, f64::min) / 1.2,
        reach.iter().copied().fold(0.0, f64::max) * 1.2,
    );
    let mut tops = (Vec::new(), Vec::new());
    for (series, group) in groups.iter().enumerate() {
        let control = group
            .iter()
            .find(|cell| period(cell).is_none())
            .and_then(Cell::client_cpu);
        let costs = measured(group, |cell| cell.client_cpu());
        let repairs = measured(group, repair_spread);
        tops.0.extend(
            costs
                .iter()
                .map(|point| point.high)
                .chain(control.map(|cpu| cpu.median)),
        );
        tops.1.extend(repairs.iter().map(|point| point.high));
        let closed: Vec<(f64, f64)> = measured(group, |cell| cell.expected_repair_ns())
            .iter()
            .map(|point| (point.x, point.y))
            .collect();
        tops.1.extend(closed.iter().map(|point| point.1));
        entries.push((series, Sample::Series, group[0].short_group()));
        if let Some(cpu) = control {
            cost.push((
                series,
                Trace::Theory(vec![(ends.0, cpu.median), (ends.1, cpu.median)]),
            ));
            entries.push((series, Sample::Theory, "left: resync off".to_owned()));
        }
        if closed.len() > 1 {
            entries.push((series, Sample::Theory, "right: closed form".to_owned()));
            repair.push((series, Trace::Theory(closed)));
        }
        cost.push((series, Trace::Measured(costs)));
        repair.push((series, Trace::Measured(repairs)));
    }
    let mut panels = vec![Panel {
        title: "What it costs: CPU of the client".to_owned(),
        x: x.clone(),
        y: Axis::from_zero("CPU, % of one core", tops.0, percent),
        traces: cost,
    }];
    if !tops.1.is_empty() {
        panels.push(Panel {
            title: "What it buys: mean time to repair a lost event".to_owned(),
            x,
            y: Axis::from_zero("time to repair", tops.1, duration),
            traces: repair,
        });
    }
    let safe = overload.map_or_else(String::new, |ns| {
        format!(
            " The red area lies below the smallest safe period, {}.",
            duration(ns)
        )
    });
    let words = Words {
        slug: "trade-off",
        title: "Trade-off: what a resync period costs and what it buys".to_owned(),
        caption: format!(
            "A marker is the median of the trials (left) or the mean over all repairs (right); bars span the trials.{safe} {conditions}"
        ),
    };
    side_by_side(words, &panels, &entries).map(Some)
}

/// Draws panels beside each other with one legend above.
///
/// # Errors
///
/// The figure could not be drawn.
pub fn side_by_side(
    words: Words,
    panels: &[Panel],
    entries: &[(usize, Sample, String)],
) -> Result<Figure, ReportError> {
    let drawing = |area: &Area<'_>| -> Drawn {
        let height = legend(area, entries)?;
        let (_, rest) = area.split_vertically(height);
        for (panel, part) in panels.iter().zip(rest.split_evenly((1, panels.len()))) {
            panel.draw(&part)?;
        }
        Ok(())
    };
    Figure::draw(words, (1120, 400), drawing)
}

/// Stale keys over the window, one line a variant; `None` without losses.
///
/// # Errors
///
/// The figure could not be drawn.
pub fn stale_keys(cells: &[Cell<'_>], conditions: &str) -> Result<Option<Figure>, ReportError> {
    let mut panels = Vec::new();
    let mut entries: Vec<(usize, Sample, String)> = Vec::new();
    let all = || {
        cells
            .iter()
            .filter_map(with_losses)
            .flat_map(|one| &one.timeline.points)
    };
    let (top, end) = (
        all().map(|point| point.stale_keys).max(),
        all().map(|point| point.at_ns).max(),
    );
    let (Some(top), Some(end)) = (top, end) else {
        return Ok(None);
    };
    for group in groups(cells).into_iter().take(3) {
        let mut traces = Vec::new();
        for (series, cell) in group
            .iter()
            .filter(|cell| with_losses(cell).is_some())
            .take(6)
            .enumerate()
        {
            let Some(one) = with_losses(cell) else {
                continue;
            };
            traces.push((
                series,
                Trace::Line(
                    one.timeline
                        .points
                        .iter()
                        .map(|point| (point.at_ns as f64, point.stale_keys as f64))
                        .collect(),
                ),
            ));
            let name = period(cell).map_or_else(|| "off".to_owned(), duration);
            if !entries.iter().any(|(index, _, _)| *index == series) {
                entries.push((series, Sample::Line, format!("resync {name}")));
            }
        }
        panels.push(Panel {
            title: group[0].short_group(),
            x: Axis::exact("time in the window", end as f64, duration),
            y: Axis::from_zero("stale keys", [top as f64], number),
            traces,
        });
    }
    let words = Words {
        slug: "stale-keys",
        title: "Stale keys: what the handler lost and has not been told again".to_owned(),
        caption: format!(
            "The first verified trial of each variant. Same scale in all panels. {conditions}"
        ),
    };
    side_by_side(words, &panels, &entries).map(Some)
}

/// The first verified trial that lost events and has a timeline.
fn with_losses<'a>(cell: &Cell<'a>) -> Option<&'a Measurements> {
    cell.verified
        .iter()
        .find(|one| one.repair.is_some() && !one.timeline.points.is_empty())
        .copied()
}
