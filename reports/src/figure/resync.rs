//! Figures over resync periods: cost against repair, and repair against the closed form.

use bench_core::measure::record::Measurements;

use super::{
    Area, Drawn, Figure, Words,
    axis::Axis,
    csv,
    legend::{Entry, Sample, legend},
    panel::{Measured, Panel, Size, Trace},
};
use crate::{
    aggregate::Cell,
    error::ReportError,
    quantity::{Unit, duration},
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

fn measured<'a>(group: &[Cell<'a>], value: impl Fn(&Cell<'a>) -> Option<Spread>) -> Vec<Measured> {
    let point = |cell: &Cell<'a>| {
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
    if groups.iter().any(|group| repeats_a_period(group)) {
        return Ok(None);
    }
    let overload = bound(cells);
    let (panels, entries) = trade_off_panels(&groups, &periods, overload);
    let safe = overload.map_or_else(String::new, |ns| {
        format!(
            " The red area lies below the smallest safe period, {}.",
            duration(ns)
        )
    });
    let words = Words {
        slug: "trade-off".to_owned(),
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
    entries: &[Entry],
) -> Result<Figure, ReportError> {
    let drawing = |area: &Area<'_>| -> Drawn {
        let height = legend(area, entries)?;
        let (_, rest) = area.split_vertically(height);
        for (panel, part) in panels.iter().zip(rest.split_evenly((1, panels.len()))) {
            panel.draw(&part)?;
        }
        Ok(())
    };
    Figure::draw(words, csv::of_panels(panels, entries), (1120, 400), drawing)
}

/// Stale keys over the window, one line a variant; `None` without losses.
///
/// # Errors
///
/// The figure could not be drawn.
pub fn stale_keys(cells: &[Cell<'_>], conditions: &str) -> Result<Option<Figure>, ReportError> {
    let mut panels = Vec::new();
    let mut entries: Vec<Entry> = Vec::new();
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
            if !entries.iter().any(|entry| entry.series == series) {
                entries.push(Entry {
                    series,
                    sample: Sample::Line,
                    words: format!("resync {name}"),
                });
            }
        }
        panels.push(Panel {
            size: Size::Full,
            title: group[0].short_group(),
            x: Axis::exact("time in the window", end as f64, Unit::Nanoseconds),
            y: Axis::from_zero("stale keys", [top as f64], Unit::Count),
            traces,
        });
    }
    let words = Words {
        slug: "stale-keys".to_owned(),
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

/// Whether more than one variant of a group has the same period, so that a line over periods would zigzag.
fn repeats_a_period(group: &[Cell<'_>]) -> bool {
    let mut seen: Vec<Option<u64>> = group
        .iter()
        .map(|cell| cell.variant.resync_period_ns)
        .collect();
    seen.sort_unstable();
    seen.windows(2).any(|pair| pair[0] == pair[1])
}

/// Traces of both panels and all values on them.
#[derive(Default)]
struct TradeOff {
    cost: Vec<(usize, Trace)>,
    cost_values: Vec<f64>,
    repair: Vec<(usize, Trace)>,
    repair_values: Vec<f64>,
    entries: Vec<Entry>,
}

impl TradeOff {
    fn add(&mut self, series: usize, group: &[Cell<'_>], ends: (f64, f64)) {
        let control = group
            .iter()
            .find(|cell| period(cell).is_none())
            .and_then(Cell::client_cpu);
        let costs = measured(group, Cell::client_cpu);
        let repairs = measured(group, repair_spread);
        let closed: Vec<(f64, f64)> = measured(group, Cell::expected_repair_ns)
            .iter()
            .map(|point| (point.x, point.y))
            .collect();
        self.cost_values.extend(
            costs
                .iter()
                .map(|point| point.high)
                .chain(control.map(|cpu| cpu.median)),
        );
        self.repair_values.extend(
            repairs
                .iter()
                .map(|point| point.high)
                .chain(closed.iter().map(|point| point.1)),
        );
        self.entries
            .push(Entry::series(series, group[0].short_group()));
        if let Some(cpu) = control {
            self.cost.push((
                series,
                Trace::Theory(vec![(ends.0, cpu.median), (ends.1, cpu.median)]),
            ));
        }
        if closed.len() > 1 {
            self.repair.push((series, Trace::Theory(closed)));
        }
        self.cost.push((series, Trace::Measured(costs)));
        self.repair.push((series, Trace::Measured(repairs)));
    }
}

fn trade_off_panels(
    groups: &[&[Cell<'_>]],
    periods: &[f64],
    overload: Option<f64>,
) -> (Vec<Panel>, Vec<Entry>) {
    let reach: Vec<f64> = periods.iter().copied().chain(overload).collect();
    let x = Axis::logarithmic(
        "resync period asked for",
        &reach,
        periods,
        Unit::Nanoseconds,
    );
    let ends = (
        reach.iter().copied().fold(f64::INFINITY, f64::min) / 1.2,
        reach.iter().copied().fold(0.0, f64::max) * 1.2,
    );
    let mut both = TradeOff::default();
    if let Some(ns) = overload {
        both.cost.push((0, Trace::Overload(ns)));
        both.repair.push((0, Trace::Overload(ns)));
    }
    for (series, group) in groups.iter().enumerate() {
        both.add(series, group, ends);
    }
    let dotted = |traces: &[(usize, Trace)]| {
        traces
            .iter()
            .any(|(_, trace)| matches!(trace, Trace::Theory(_)))
    };
    if dotted(&both.cost) {
        both.entries
            .push(Entry::theory(0, "dotted, left: the same with resync off"));
    }
    if dotted(&both.repair) {
        both.entries
            .push(Entry::theory(0, "dotted, right: expected by arithmetic"));
    }
    let mut panels = vec![Panel {
        size: Size::Full,
        title: "What it costs: CPU of the client".to_owned(),
        x: x.clone(),
        y: Axis::from_zero("CPU, % of one core", both.cost_values, Unit::Share),
        traces: both.cost,
    }];
    if !both.repair_values.is_empty() {
        panels.push(Panel {
            size: Size::Full,
            title: "What it buys: mean time to repair a lost event".to_owned(),
            x,
            y: Axis::from_zero("time to repair", both.repair_values, Unit::Nanoseconds),
            traces: both.repair,
        });
    }
    (panels, both.entries)
}
