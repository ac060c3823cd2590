//! Criterion's saved results as a page of the same style.
//!
//! Criterion 0.8 keeps each benchmark's last run in a folder `new` with `benchmark.json` (its id) and `estimates.json`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use maud::html;
use serde::Deserialize;

use crate::{
    error::ReportError,
    figure::{
        Figure, Words,
        axis::Axis,
        legend::Entry,
        panel::{Measured, Panel, Size, Trace},
        resync::side_by_side,
    },
    page::{RenderedReport, layout, write, write_figures},
    quantity::{Unit, duration},
    read::parse,
};

#[derive(Debug, Deserialize)]
struct BenchmarkId {
    group_id: String,
    function_id: Option<String>,
    value_str: Option<String>,
    throughput: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

#[derive(Debug, Deserialize)]
struct Estimate {
    confidence_interval: Interval,
    point_estimate: f64,
}

#[derive(Debug, Deserialize)]
struct Estimates {
    median: Estimate,
}

/// One benchmark's last run, in nanoseconds an iteration.
struct Saved {
    group: String,
    function: String,
    value: String,
    elements: Option<f64>,
    median: Estimate,
}

impl Saved {
    /// Nanoseconds an element, or an iteration where elements are not known.
    fn per_element(&self, ns: f64) -> f64 {
        ns / self.elements.unwrap_or(1.0)
    }

    /// Place on the axis of sizes.
    fn size(&self) -> Option<f64> {
        self.value
            .parse()
            .ok()
            .or(self.elements)
            .filter(|size| *size > 0.0)
    }
}

/// Draws every result below `criterion_dir` (usually `target/criterion`) into `out`.
///
/// # Errors
///
/// Nothing was found, a result is malformed, or a file cannot be written.
pub fn render_criterion(criterion_dir: &Path, out: &Path) -> Result<RenderedReport, ReportError> {
    let mut folders = Vec::new();
    result_folders(criterion_dir, &mut folders)?;
    let mut saved = folders
        .iter()
        .map(|folder| read_saved(folder))
        .collect::<Result<Vec<_>, _>>()?;
    if saved.is_empty() {
        return Err(ReportError::NoCriterionResults {
            path: criterion_dir.to_owned(),
        });
    }
    saved.sort_by(|left, right| {
        (&left.group, &left.function)
            .cmp(&(&right.group, &right.function))
            .then(
                left.size()
                    .unwrap_or(0.0)
                    .total_cmp(&right.size().unwrap_or(0.0)),
            )
    });
    let mut figures = Vec::new();
    for group in saved.chunk_by(|left, right| left.group == right.group) {
        figures.extend(group_figure(group)?);
    }
    let drawn: Vec<&Figure> = figures.iter().collect();
    Ok(RenderedReport {
        figures: write_figures(&drawn, out)?,
        index: write(out, "index.html", &page(&saved, &drawn))?,
        summary: write(out, "summary.md", &markdown(&saved))?,
    })
}

fn result_folders(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), ReportError> {
    let failed = |source| ReportError::Read {
        path: folder.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            if path.ends_with("new") && path.join("benchmark.json").is_file() {
                found.push(path);
            } else {
                result_folders(&path, found)?;
            }
        }
    }
    Ok(())
}

fn read_saved(folder: &Path) -> Result<Saved, ReportError> {
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path)
            .map(|text| (path.clone(), text))
            .map_err(|source| ReportError::Read { path, source })
    };
    let (path, text) = read("benchmark.json")?;
    let id: BenchmarkId = parse(&path, "criterion benchmark", &text)?;
    let (path, text) = read("estimates.json")?;
    let estimates: Estimates = parse(&path, "criterion estimate", &text)?;
    let throughput = id.throughput.unwrap_or_default();
    let elements = throughput
        .get("Elements")
        .or_else(|| throughput.pointer("/ElementsAndBytes/elements"));
    Ok(Saved {
        group: id.group_id,
        function: id.function_id.unwrap_or_default(),
        value: id.value_str.unwrap_or_default(),
        elements: elements
            .and_then(serde_json::Value::as_f64)
            .filter(|count| *count > 0.0),
        median: estimates.median,
    })
}

/// Time an element against size, one line a function; `None` below two sizes.
fn group_figure(group: &[Saved]) -> Result<Option<Figure>, ReportError> {
    let mut sizes: Vec<f64> = group.iter().filter_map(Saved::size).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if sizes.len() < 2 {
        return Ok(None);
    }
    let (mut traces, mut entries, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (series, function) in group
        .chunk_by(|left, right| left.function == right.function)
        .enumerate()
    {
        let point = |one: &Saved| {
            let interval = &one.median.confidence_interval;
            let [y, low, high] = [
                one.median.point_estimate,
                interval.lower_bound,
                interval.upper_bound,
            ]
            .map(|ns| one.per_element(ns));
            Some(Measured {
                x: one.size()?,
                y,
                low,
                high,
            })
        };
        let points: Vec<Measured> = function.iter().filter_map(point).collect();
        values.extend(points.iter().map(|point| point.high));
        let name = if function[0].function.is_empty() {
            &function[0].group
        } else {
            &function[0].function
        };
        entries.push(Entry::series(series, name.clone()));
        traces.push((series, Trace::Measured(points)));
    }
    let per = if group.iter().all(|one| one.elements.is_some()) {
        "time an element"
    } else {
        "time an iteration"
    };
    let panel = Panel {
        size: Size::Full,
        title: String::new(),
        x: Axis::logarithmic("size", &sizes, &sizes, Unit::Count),
        y: Axis::from_zero(per, values, Unit::Nanoseconds),
        traces,
    };
    let words = Words {
        slug: file_name(&group[0].group),
        title: group[0].group.clone(),
        caption: "Medians with criterion's confidence interval.".to_owned(),
    };
    side_by_side(words, &[panel], &entries).map(Some)
}

fn file_name(group: &str) -> String {
    group
        .chars()
        .map(|symbol| {
            if symbol.is_ascii_alphanumeric() {
                symbol
            } else {
                '-'
            }
        })
        .collect()
}

fn rows(saved: &[Saved]) -> impl Iterator<Item = [String; 4]> {
    saved.iter().map(|one| {
        let interval = &one.median.confidence_interval;
        let per = one.elements.map_or_else(
            || "–".to_owned(),
            |_| duration(one.per_element(one.median.point_estimate)),
        );
        let name = [&one.group, &one.function, &one.value]
            .into_iter()
            .filter(|part| !part.is_empty())
            .cloned()
            .collect::<Vec<_>>()
            .join("/");
        [
            name,
            duration(one.median.point_estimate),
            format!(
                "{}–{}",
                duration(interval.lower_bound),
                duration(interval.upper_bound)
            ),
            per,
        ]
    })
}

fn page(saved: &[Saved], figures: &[&Figure]) -> String {
    let body = html! {
        p.eyebrow { "informer-bench · criterion" }
        h1 { "What do the parts cost, alone?" }
        p.verdict { (saved.len()) " benchmarks, median time." }
        @for figure in figures { (layout::figure(figure)) }
        section id="table" {
            h2 { "Every benchmark" }
            div.scroll { table {
                thead { tr { th { "benchmark" } th { "median" } th { "confidence interval" } th { "an element" } } }
                tbody { @for row in rows(saved) { tr { @for cell in &row { td { (cell) } } } } }
            } }
        }
        section { h2 { "Downloads" } ul { (layout::figure_links(figures)) } }
    };
    layout::page("criterion: informer-bench", &body, "")
}

fn markdown(saved: &[Saved]) -> String {
    let lines: Vec<String> = rows(saved)
        .map(|row| format!("| {} |", row.join(" | ")))
        .collect();
    format!(
        "{} benchmarks\n\n| benchmark | median | confidence interval | an element |\n|---|--:|--:|--:|\n{}\n",
        saved.len(),
        lines.join("\n")
    )
}
