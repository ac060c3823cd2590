//! The points of a figure as CSV, one row a point.

use std::fmt::Write as _;

use super::{
    axis::Axis,
    bars::Bar,
    legend::Entry,
    panel::{Panel, Trace},
};
use crate::quantity::Unit;

/// Every point of `panels`; a series is named as in the legend. `low` and `high` are the ends of a bar, where there is one.
pub(super) fn of_panels(panels: &[Panel], entries: &[Entry]) -> String {
    let mut text = "panel,series,kind,x_axis,x,y_axis,y,low,high\n".to_owned();
    for panel in panels {
        for (series, trace) in &panel.traces {
            let name = entries
                .iter()
                .find(|entry| entry.series == *series)
                .map_or("", |entry| entry.words.as_str());
            let (kind, points) = points(trace);
            let words: Vec<String> = [&panel.title, name, kind].into_iter().map(field).collect();
            let (x_axis, y_axis) = (named(&panel.x), named(&panel.y));
            for [x, y, low, high] in points {
                let _ = writeln!(
                    text,
                    "{},{x_axis},{x},{y_axis},{y},{low},{high}",
                    words.join(",")
                );
            }
        }
    }
    text
}

/// Every part of `bars`, whose parts are called `names` and count `unit`.
pub(super) fn of_bars(bars: &[Bar], names: &[&str], axis: (&str, Unit)) -> String {
    let mut text = "bar,part,axis,value\n".to_owned();
    for bar in bars {
        for &(part, value) in &bar.parts {
            let _ = writeln!(
                text,
                "{},{},{},{}",
                field(&bar.label),
                field(names.get(part).copied().unwrap_or_default()),
                field(format!("{} [{}]", axis.0, axis.1.word())),
                bare(value)
            );
        }
    }
    text
}

fn named(axis: &Axis) -> String {
    field(format!("{} [{}]", axis.name, axis.unit.word()))
}

/// Kind of a trace and its points as text: x, y, low, high.
fn points(trace: &Trace) -> (&'static str, Vec<[String; 4]>) {
    let plain = |points: &[(f64, f64)]| {
        points
            .iter()
            .map(|(x, y)| [bare(*x), bare(*y), String::new(), String::new()])
            .collect()
    };
    match trace {
        Trace::Line(points) => ("line", plain(points)),
        Trace::Points(points) => ("point", plain(points)),
        Trace::Theory(points) => ("arithmetic", plain(points)),
        Trace::Measured(values) => (
            "measured",
            values
                .iter()
                .map(|value| [value.x, value.y, value.low, value.high].map(bare))
                .collect(),
        ),
        Trace::Ticks(places) => (
            "resync",
            places
                .iter()
                .map(|x| [bare(*x), String::new(), String::new(), String::new()])
                .collect(),
        ),
        Trace::Overload(x) | Trace::OverloadFrom(x) => (
            "load is 1",
            vec![[bare(*x), String::new(), String::new(), String::new()]],
        ),
    }
}

/// A number to ten significant digits, so that 0.81 is not 0.8099999999999999.
fn bare(value: f64) -> String {
    let short = format!("{value:.9e}");
    short
        .parse::<f64>()
        .map_or(short, |rounded| rounded.to_string())
}

/// A field, quoted where it must be. A text that a spreadsheet would take for a formula gets an apostrophe.
fn field(text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    let text = if text.starts_with(['=', '+', '-', '@']) {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::panel::{Measured, Size};

    #[test]
    fn every_point_is_a_row_with_its_series_and_units() {
        let panel = Panel {
            size: Size::Full,
            title: "left, \"cost\"".to_owned(),
            x: Axis::exact("period", 3e9, Unit::Nanoseconds),
            y: Axis::exact("CPU", 1.0, Unit::Share),
            traces: vec![
                (
                    1,
                    Trace::Measured(vec![Measured {
                        x: 1e9,
                        y: 0.25,
                        low: 0.2,
                        high: 0.3,
                    }]),
                ),
                (1, Trace::Ticks(vec![5.0])),
            ],
        };
        let entries = [Entry::series(0, "other"), Entry::series(1, "=delta-fifo")];
        assert_eq!(
            of_panels(&[panel], &entries),
            "panel,series,kind,x_axis,x,y_axis,y,low,high\n\
             \"left, \"\"cost\"\"\",'=delta-fifo,measured,period [ns],1000000000,CPU [share],0.25,0.2,0.3\n\
             \"left, \"\"cost\"\"\",'=delta-fifo,resync,period [ns],5,CPU [share],,,\n"
        );
    }

    #[test]
    fn every_part_of_a_bar_is_a_row() {
        let bar = Bar {
            label: "resync 1s".to_owned(),
            parts: vec![(0, 0.1 + 0.2), (1, 2.0)],
        };
        assert_eq!(
            of_bars(&[bar], &["live", "sync"], ("a second", Unit::Plain)),
            "bar,part,axis,value\nresync 1s,live,a second [1],0.3\nresync 1s,sync,a second [1],2\n"
        );
    }
}
