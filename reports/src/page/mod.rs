//! The page and the files beside it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bench_core::measure::record::RunRecord;
use maud::html;

use crate::{
    aggregate::{Cell, cells},
    error::ReportError,
    figure::{Figure, delivery, resync, scale, timelines},
    quantity::cores,
    summary::{Summary, summarise},
};

pub(crate) mod layout;
mod markdown;
mod method;
mod sections;
mod validity;

/// Bytes that a page may have; records are embedded as far as they fit.
pub const MOST_BYTES: usize = 1_000_000;

/// Where a report was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedReport {
    /// The page.
    pub index: PathBuf,
    /// The Markdown summary.
    pub summary: PathBuf,
    /// Every figure: SVG, PNG and its points as CSV.
    pub figures: Vec<PathBuf>,
}

/// The figures of a run; `None` where the records have nothing to draw.
struct Figures {
    trade_off: Option<Figure>,
    timelines: Option<Figure>,
    notifications: Option<Figure>,
    skip_load: Option<Figure>,
    skip_causes: Option<Figure>,
    stale_keys: Option<Figure>,
    scale: Option<Figure>,
}

impl Figures {
    fn draw(cells: &[Cell<'_>], conditions: &str) -> Result<Self, ReportError> {
        Ok(Self {
            trade_off: resync::trade_off(cells, conditions)?,
            timelines: timelines::timelines(cells, conditions)?,
            notifications: delivery::notifications(cells, conditions)?,
            skip_load: delivery::skip_against_load(cells, conditions)?,
            skip_causes: delivery::skip_causes(cells, conditions)?,
            stale_keys: resync::stale_keys(cells, conditions)?,
            scale: scale::against_scale(cells, conditions)?,
        })
    }

    fn all(&self) -> impl Iterator<Item = &Figure> {
        [
            &self.trade_off,
            &self.timelines,
            &self.notifications,
            &self.skip_load,
            &self.skip_causes,
            &self.stale_keys,
            &self.scale,
        ]
        .into_iter()
        .flatten()
    }
}

/// Writes `index.html`, `summary.md` and `figures/` into `out`.
///
/// # Errors
///
/// A file cannot be written or a figure not drawn; or there are no records.
pub fn render(records: &[RunRecord], out: &Path) -> Result<RenderedReport, ReportError> {
    if records.is_empty() {
        return Err(ReportError::NoRecords {
            path: out.to_owned(),
        });
    }
    let cells = cells(records);
    let summary = summarise(records);
    let figures = Figures::draw(&cells, &conditions(records))?;
    let drawn: Vec<&Figure> = figures.all().collect();
    let paths = write_figures(&drawn, out)?;
    let page = page(records, &cells, &summary, &figures);
    Ok(RenderedReport {
        index: write(out, "index.html", &page)?,
        summary: write(out, "summary.md", &markdown::summary(&summary))?,
        figures: paths,
    })
}

/// Trials and machine, for captions.
fn conditions(records: &[RunRecord]) -> String {
    let rounds = records
        .iter()
        .map(|record| record.round)
        .max()
        .map_or(0, |round| round + 1);
    let trials = if rounds == 1 {
        "1 trial".to_owned()
    } else {
        format!("{rounds} trials")
    };
    records.first().map_or_else(String::new, |record| {
        format!(
            "{trials} a variant; {}, {}, {}.",
            record.environment.cpu,
            cores(record.environment.cores),
            record.implementation
        )
    })
}

/// Writes figures below `out/figures`.
pub(crate) fn write_figures(figures: &[&Figure], out: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let folder = out.join("figures");
    fs::create_dir_all(&folder).map_err(|source| ReportError::Write {
        path: folder.clone(),
        source,
    })?;
    let mut paths = Vec::new();
    for figure in figures {
        paths.extend(figure.write(&folder)?.map(|name| folder.join(name)));
    }
    Ok(paths)
}

/// Writes one text file into `out`.
pub(crate) fn write(out: &Path, name: &str, text: &str) -> Result<PathBuf, ReportError> {
    let path = out.join(name);
    fs::write(&path, text).map_err(|source| ReportError::Write {
        path: path.clone(),
        source,
    })?;
    Ok(path)
}

fn page(records: &[RunRecord], cells: &[Cell<'_>], summary: &Summary, figures: &Figures) -> String {
    let drawn: Vec<&Figure> = figures.all().collect();
    let body = html! {
        (sections::top(summary))
        (validity::strip(records, cells, summary))
        @if let Some(figure) = &figures.trade_off { (layout::figure(figure)) }
        @if let Some(figure) = &figures.scale { (layout::figure(figure)) }
        (sections::table(summary))
        @if !summary.failures.is_empty() { (sections::failures(summary)) }
        @if let Some(figure) = &figures.timelines { (layout::figure(figure)) }
        (sections::notifications(cells, figures.notifications.as_ref()))
        (sections::dedup(cells, [figures.skip_load.as_ref(), figures.skip_causes.as_ref()]))
        (sections::repair(cells, figures.stale_keys.as_ref()))
        (method::section(records, summary))
        (sections::downloads(&drawn))
    };
    let title = format!("{}: informer-bench", summary.scenario);
    let page = layout::page(&title, &body, "");
    let embedded = embedded_records(records, MOST_BYTES.saturating_sub(page.len()));
    layout::page(&title, &body, &embedded)
}

/// The records as JSON inside a script element, whole or without buckets and timelines, or nothing if neither fits into `room`.
fn embedded_records(records: &[RunRecord], room: usize) -> String {
    let stripped: Vec<RunRecord> = records.iter().map(without_bulk).collect();
    [records, &stripped]
        .into_iter()
        .filter_map(|records| serde_json::to_string(records).ok())
        // `</script>` inside a string would end the element; `<` of JSON is only ever inside strings.
        .map(|json| json.replace('<', "\\u003c"))
        .find(|json| json.len() + 200 < room)
        .map_or_else(String::new, |json| {
            format!("<script type=\"application/json\" id=\"records\">{json}</script>")
        })
}

fn without_bulk(record: &RunRecord) -> RunRecord {
    let mut record = record.clone();
    if let Some(one) = &mut record.measurements {
        one.timeline.points.clear();
        one.generator.lateness.buckets.clear();
        for series in one.latency.values_mut() {
            series.buckets.clear();
        }
        if let Some(repair) = &mut one.repair {
            repair.time_to_repair.buckets.clear();
        }
    }
    record
}
