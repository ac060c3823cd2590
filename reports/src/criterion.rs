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

    /// Place on the axis: the number that the value begins with, otherwise the elements.
    fn place(&self) -> Option<f64> {
        let (number, _) = self.value_parts();
        number.parse().ok().or(self.elements)
    }

    /// What follows the number in the value, in words: `% pending` of `10%_pending`; empty for a size.
    fn value_unit(&self) -> String {
        let (number, rest) = self.value_parts();
        if number.is_empty() {
            String::new()
        } else {
            rest.replace('_', " ").trim().to_owned()
        }
    }

    fn value_parts(&self) -> (&str, &str) {
        let end = self
            .value
            .find(|symbol: char| !symbol.is_ascii_digit() && symbol != '.')
            .unwrap_or(self.value.len());
        self.value.split_at(end)
    }

    fn line_name(&self) -> String {
        if self.function.is_empty() {
            self.group.clone()
        } else {
            self.function.clone()
        }
    }

    /// The median and its interval, per element; `None` without a place on the axis.
    fn point(&self) -> Option<Measured> {
        let interval = &self.median.confidence_interval;
        let [y, low, high] = [
            self.median.point_estimate,
            interval.lower_bound,
            interval.upper_bound,
        ]
        .map(|ns| self.per_element(ns));
        Some(Measured {
            x: self.place()?,
            y,
            low,
            high,
        })
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
                left.place()
                    .unwrap_or(0.0)
                    .total_cmp(&right.place().unwrap_or(0.0)),
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

/// Cost against size, or against another number that the benchmarks' values begin with; one line a function of two or more places.
/// `None` without such a function.
fn group_figure(group: &[Saved]) -> Result<Option<Figure>, ReportError> {
    let (mut traces, mut entries) = (Vec::new(), Vec::new());
    let (mut places, mut values) = (Vec::new(), Vec::new());
    let mut left_out = Vec::new();
    for function in group.chunk_by(|left, right| left.function == right.function) {
        let points: Vec<Measured> = function.iter().filter_map(Saved::point).collect();
        let name = function[0].line_name();
        if points.len() < 2 {
            left_out.push(name);
            continue;
        }
        places.extend(points.iter().map(|point| point.x));
        values.extend(points.iter().map(|point| point.high));
        entries.push(Entry::series(traces.len(), name));
        traces.push((traces.len(), Trace::Measured(points)));
    }
    if traces.is_empty() {
        return Ok(None);
    }
    let y = if group.iter().all(|one| one.elements.is_some()) {
        "time per element"
    } else {
        "time per iteration"
    };
    let unit = group[0].value_unit();
    let panel = Panel {
        size: Size::Full,
        title: String::new(),
        x: if unit.is_empty() {
            Axis::logarithmic("size, elements", &places, &places, Unit::Count)
        } else {
            Axis::from_zero(&unit, places, Unit::Plain)
        },
        y: Axis::from_zero(y, values, Unit::Nanoseconds),
        traces,
    };
    let only_in_table = if left_out.is_empty() {
        String::new()
    } else {
        format!(
            " Measured at one place only, so in the table only: {}.",
            left_out.join(", ")
        )
    };
    let words = Words {
        slug: file_name(&group[0].group),
        title: group[0].group.clone(),
        caption: format!(
            "Lower is better; a level line means that the cost per element does not change along the axis. Markers are medians, bars criterion's confidence interval.{only_in_table}"
        ),
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
    let groups = saved
        .chunk_by(|left, right| left.group == right.group)
        .count();
    let body = html! {
        p.eyebrow { "informer-bench · criterion" }
        h1 { "What do the parts cost, alone?" }
        p.verdict { (saved.len()) " benchmarks of " (groups) " parts, each alone in a loop, without server or network." }
        @for figure in figures { (layout::figure(figure)) }
        section id="table" {
            h2 { "Every benchmark" }
            div.scroll { table {
                thead { tr { th { "benchmark" } th { "median of one iteration" } th { "confidence interval" } th { "per element" } } }
                tbody { @for row in rows(saved) { tr { @for cell in &row { td { (cell) } } } } }
            } }
        }
        section { h2 { "Method" }
            p { "Drawn from what " code { "cargo bench" } " saved. An iteration is one call of the code in a benchmark's name; an element is one object, key or event that it handles, where the benchmark says how many. "
                "The interval is criterion's (usually 95 %, by bootstrap) over the iterations of one process, so it does not hold the difference between two runs. Criterion does not save the machine." }
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
        "{} benchmarks\n\n| benchmark | median of one iteration | confidence interval | per element |\n|---|--:|--:|--:|\n{}\n",
        saved.len(),
        lines.join("\n")
    )
}
