//! Figures of counts: where notifications went and what resyncs skipped.

use super::{
    Area, Drawn, Figure, Words,
    axis::Axis,
    bars::{self, Bar, ROW_HEIGHT},
    csv,
    legend::{Entry, Sample, legend},
    panel::{Panel, Size, Trace},
    resync::{groups, side_by_side},
};
use crate::{
    aggregate::Cell,
    error::ReportError,
    quantity::{Unit, number},
    work_balance::live_load,
};

/// Causes of a skip in the order of drawing.
const CAUSES: [&str; 5] = ["Sync", "Updated", "Replaced", "Added", "Deleted"];

fn bar_figure(
    words: Words,
    names: &[&str],
    bars: &[Bar],
    axis: (&str, Unit),
) -> Result<Figure, ReportError> {
    let height = 90 + u32::try_from(bars.len()).unwrap_or(1) * ROW_HEIGHT;
    let entries = used_entries(names, bars);
    let drawing = |area: &Area<'_>| -> Drawn {
        let top = legend(area, &entries)?;
        bars::draw(area, top + 4, bars, axis)
    };
    let csv = csv::of_bars(bars, names, axis);
    Figure::draw(words, csv, (1120, height), drawing)
}

/// Where notifications went; `None` without a verified trial.
///
/// # Errors
///
/// The figure could not be drawn.
pub fn notifications(cells: &[Cell<'_>], conditions: &str) -> Result<Option<Figure>, ReportError> {
    let bars: Vec<Bar> = cells
        .iter()
        .filter(|cell| cell.window_seconds() > 0.0)
        .map(|cell| {
            let sums = cell.notifications();
            let parts = [
                sums.live,
                sums.sync,
                sums.relist + sums.replay + sums.initial,
                sums.skipped_pending,
                sums.superseded,
            ];
            let rate = |count: u64| count as f64 / cell.window_seconds();
            Bar {
                label: cell.variant.label.clone(),
                parts: parts.into_iter().map(rate).enumerate().collect(),
            }
        })
        .collect();
    if bars.is_empty() {
        return Ok(None);
    }
    let names = [
        "live changes, delivered",
        "resync (Sync), delivered",
        "relist, replay and first list, delivered",
        "skipped by a resync, since pending",
        "superseded before delivery",
    ];
    let words = Words {
        slug: "notifications".to_owned(),
        title: "Where notifications went".to_owned(),
        caption: format!("All verified trials of a variant together. {conditions}"),
    };
    let axis = ("notifications a second", Unit::Plain);
    bar_figure(words, &names, &bars, axis).map(Some)
}

fn used_entries(names: &[&str], bars: &[Bar]) -> Vec<Entry> {
    let used = |series: usize| {
        bars.iter()
            .flat_map(|bar| &bar.parts)
            .any(|part| part.0 == series && part.1 > 0.0)
    };
    names
        .iter()
        .enumerate()
        .filter(|(series, _)| used(*series))
        .map(|(series, name)| Entry {
            series,
            sample: Sample::Fill,
            words: (*name).to_owned(),
        })
        .collect()
}

/// What had made skipped keys pending, as shares of the keys known; `None` if nothing was skipped.
///
/// # Errors
///
/// The figure could not be drawn.
pub fn skip_causes(cells: &[Cell<'_>], conditions: &str) -> Result<Option<Figure>, ReportError> {
    let bars: Vec<Bar> = cells
        .iter()
        .filter(|cell| cell.skip_share().is_some_and(|share| share > 0.0))
        .map(|cell| {
            let (causes, known) = (cell.skipped_by_cause(), cell.known_to_resyncs() as f64);
            let share = |cause: &&str| causes.get(*cause).copied().unwrap_or(0) as f64 / known;
            Bar {
                label: cell.variant.label.clone(),
                parts: CAUSES.iter().map(share).enumerate().collect(),
            }
        })
        .collect();
    if bars.is_empty() {
        return Ok(None);
    }
    let names = [
        "Sync: an earlier resync not yet drained",
        "Updated: a live event",
        "Replaced: an earlier list",
        "Added: a live event",
        "Deleted: a live event",
    ];
    let words = Words {
        slug: "skip-causes".to_owned(),
        title: "What had made the skipped keys pending".to_owned(),
        caption: format!(
            "By the first delta that was pending. Variants that skipped nothing are not drawn. {conditions}"
        ),
    };
    let axis = ("share of the keys known to the resyncs", Unit::Share);
    bar_figure(words, &names, &bars, axis).map(Some)
}

/// Share skipped against the load at the measured interval, with the curve of the work balance; `None` where nothing was skipped and
/// nothing should have been.
///
/// # Errors
///
/// The figure could not be drawn.
pub fn skip_against_load(
    cells: &[Cell<'_>],
    conditions: &str,
) -> Result<Option<Figure>, ReportError> {
    let mut traces = vec![(0, Trace::OverloadFrom(1.0))];
    let mut entries = Vec::new();
    let mut all: Vec<(f64, f64)> = Vec::new();
    for (series, group) in groups(cells).into_iter().enumerate() {
        let points: Vec<(f64, f64)> = group
            .iter()
            .filter_map(|cell| Some((cell.measured_load()?, cell.skip_share()?)))
            .collect();
        if points.is_empty() {
            continue;
        }
        all.extend(&points);
        traces.push((series, Trace::Points(points)));
        entries.push(Entry {
            series,
            sample: Sample::Marker,
            words: group[0].short_group(),
        });
    }
    let Some(highest) = all.iter().map(|point| point.0).max_by(f64::total_cmp) else {
        return Ok(None);
    };
    let mut top = all.iter().map(|point| point.1).fold(0.0, f64::max);
    if top == 0.0 && highest <= 1.0 {
        return Ok(None);
    }
    let end = highest.max(1.2) * 1.08;
    for (index, live) in live_loads(cells).into_iter().enumerate() {
        let series = 5 - index;
        let curve = balance_curve(live, end);
        top = curve.last().map_or(top, |last| top.max(last.1));
        traces.push((series, Trace::Theory(curve)));
        let words = format!("work balance where live load c·cost = {}", number(live));
        entries.push(Entry::theory(series, words));
    }
    let panel = Panel {
        size: Size::Full,
        title: String::new(),
        x: Axis::exact(
            "load at the measured interval, N·cost/I + c·cost",
            end,
            Unit::Plain,
        ),
        y: Axis::exact(
            "share of keys skipped",
            (top * 1.15).clamp(0.05, 1.0),
            Unit::Share,
        ),
        traces,
    };
    let words = Words {
        slug: "skip-load".to_owned(),
        title: "Share skipped against load".to_owned(),
        caption: format!(
            "A marker is a variant, all its resyncs together. N is the objects, cost the time of one handler call, c the changes a second, I the measured interval between two resyncs \
             (the period asked for where fewer than two fired). The curve is max(0, 1 − I(1 − c·cost)/(N·cost)): what a plain informer whose handler is never idle must skip; a shared informer keeps its backlog elsewhere, in the listener's buffer, and a resync of atomic-fifo is one entry for the whole cache, so neither skips. {conditions}"
        ),
    };
    side_by_side(words, &[panel], &entries).map(Some)
}

/// Up to three distinct live loads: the smallest, the middle and the largest.
fn live_loads(cells: &[Cell<'_>]) -> Vec<f64> {
    let mut all: Vec<f64> = cells
        .iter()
        .filter(|cell| cell.skip_share().is_some())
        .map(|cell| live_load(cell.variant))
        .filter(|live| *live < 1.0)
        .collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|later, earlier| (*later - *earlier).abs() < 0.005);
    if all.len() > 3 {
        vec![all[0], all[all.len() / 2], all[all.len() - 1]]
    } else {
        all
    }
}

fn balance_curve(live: f64, end: f64) -> Vec<(f64, f64)> {
    let start = 1.0_f64;
    let steps = 120_u32;
    let share = |load: f64| (1.0 - (1.0 - live) / (load - live)).max(0.0);
    let mut points = vec![(live, 0.0)];
    points.extend(
        (0..=steps)
            .map(|step| start + (end - start) * f64::from(step) / f64::from(steps))
            .map(|load| (load, share(load))),
    );
    points
}
