//! One pair of axes with traces on it, and the legend above.

use std::ops::Range;

use plotters::{
    coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter},
    prelude::*,
};

use super::{Area, Drawn, font, paint};

/// An axis that knows its own ticks.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Name with unit.
    pub name: String,
    low: f64,
    high: f64,
    logarithmic: bool,
    ticks: Vec<f64>,
    format: fn(f64) -> String,
}

impl Axis {
    /// From 0 to a little above the largest of `values`.
    pub fn from_zero(
        name: &str,
        values: impl IntoIterator<Item = f64>,
        format: fn(f64) -> String,
    ) -> Self {
        let largest = values
            .into_iter()
            .filter(|value| value.is_finite())
            .fold(0.0, f64::max);
        let high = if largest > 0.0 { largest * 1.08 } else { 1.0 };
        Self {
            name: name.to_owned(),
            low: 0.0,
            high,
            logarithmic: false,
            ticks: even_ticks(high, 4),
            format,
        }
    }

    /// From 0 to exactly `high`.
    pub fn exact(name: &str, high: f64, format: fn(f64) -> String) -> Self {
        Self {
            name: name.to_owned(),
            low: 0.0,
            high,
            logarithmic: false,
            ticks: even_ticks(high, 4),
            format,
        }
    }

    /// Logarithmic, around `values`, with ticks at those of `ticks` that have room; decades where `ticks` is empty.
    pub fn logarithmic(
        name: &str,
        values: &[f64],
        ticks: &[f64],
        format: fn(f64) -> String,
    ) -> Self {
        let positive = || {
            values
                .iter()
                .chain(ticks)
                .copied()
                .filter(|value| *value > 0.0 && value.is_finite())
        };
        let smallest = positive().fold(f64::INFINITY, f64::min);
        let (smallest, largest) = if smallest.is_finite() {
            (smallest, positive().fold(0.0, f64::max))
        } else {
            (1.0, 10.0)
        };
        let margin = (largest / smallest).powf(0.08).max(1.25);
        let (low, high) = (smallest / margin, largest * margin);
        let mut chosen: Vec<f64> = ticks.to_vec();
        if chosen.is_empty() {
            chosen = decades(low, high);
        }
        chosen.sort_by(f64::total_cmp);
        chosen.dedup_by(|later, earlier| (*later / *earlier).ln() < 0.17 * (high / low).ln());
        Self {
            name: format!("{name}, log scale"),
            low,
            high,
            logarithmic: true,
            ticks: chosen,
            format,
        }
    }

    /// The same axis with half as many ticks, for small multiples.
    #[must_use]
    pub fn halved(mut self) -> Self {
        self.ticks = even_ticks(self.high, 2);
        self
    }
}

/// Round steps from 0 to `high`, about `wanted` of them.
pub(super) fn even_ticks(high: f64, wanted: u32) -> Vec<f64> {
    let rough = high / f64::from(wanted);
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(power);
    (0_u32..64)
        .map(|index| f64::from(index) * step)
        .take_while(|tick| *tick <= high * 1.000_001)
        .collect()
}

fn decades(low: f64, high: f64) -> Vec<f64> {
    let mut ticks = Vec::new();
    let mut tick = 10_f64.powf(low.log10().ceil());
    while tick <= high {
        ticks.push(tick);
        tick *= 10.0;
    }
    if ticks.len() < 2 {
        vec![low * 1.1, (low * high).sqrt(), high / 1.1]
    } else {
        ticks
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = if self.logarithmic {
            (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let place = f64::from(limit.0) + f64::from(limit.1 - limit.0) * share.clamp(-0.5, 1.5);
        #[expect(clippy::cast_possible_truncation, reason = "a pixel of the canvas")]
        let pixel = place.round() as i32;
        pixel
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        font::printable(&(self.format)(*value), 16)
    }
}

/// A measured value and its ends over the trials.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Place on the x axis.
    pub x: f64,
    /// Value.
    pub y: f64,
    /// Smallest.
    pub low: f64,
    /// Largest.
    pub high: f64,
}

impl Measured {
    /// A value without ends.
    pub const fn exact(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            low: y,
            high: y,
        }
    }
}

/// Something on the axes.
#[derive(Debug, Clone)]
pub enum Trace {
    /// Line of a series.
    Line(Vec<(f64, f64)>),
    /// Line with a marker and a range at every point.
    Measured(Vec<Measured>),
    /// Markers only.
    Points(Vec<(f64, f64)>),
    /// What arithmetic says, dotted.
    Theory(Vec<(f64, f64)>),
    /// Thin vertical rules, such as resyncs.
    Ticks(Vec<f64>),
    /// Everything left of `x` is above load 1.
    Overload(f64),
    /// Everything right of `x` is above load 1.
    OverloadFrom(f64),
}

/// Axes and what is on them; each trace with the number of its series.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Heading.
    pub title: String,
    /// Horizontal.
    pub x: Axis,
    /// Vertical.
    pub y: Axis,
    /// Traces, drawn in order.
    pub traces: Vec<(usize, Trace)>,
}

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

impl Panel {
    /// Draws the panel over all of `area`. Without names on the axes it leaves less room for them.
    ///
    /// # Errors
    ///
    /// What plotters says.
    pub fn draw(&self, area: &Area<'_>) -> Drawn {
        let small = self.y.name.is_empty();
        let title_height = if self.title.is_empty() { 6 } else { 26 };
        if !self.title.is_empty() {
            area.draw(&Text::new(
                font::printable(&self.title, 70),
                (if small { 8 } else { 12 }, 4),
                font::style(if small { 14 } else { 17 }, paint::INK),
            ))?;
        }
        let mut chart = ChartBuilder::on(area)
            .margin_top(title_height)
            .margin_right(if small { 10 } else { 22 })
            .margin_left(2)
            .set_label_area_size(LabelAreaPosition::Left, if small { 58 } else { 84 })
            .set_label_area_size(
                LabelAreaPosition::Bottom,
                if self.x.name.is_empty() { 20 } else { 46 },
            )
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        self.draw_overload(&mut chart)?;
        chart
            .configure_mesh()
            .axis_style(paint::MUTED)
            .bold_line_style(paint::GRID)
            .light_line_style(TRANSPARENT)
            .label_style(font::style(if small { 12 } else { 14 }, paint::MUTED))
            .axis_desc_style(font::style(14, paint::INK))
            .x_labels(24)
            .y_labels(24)
            .x_desc(font::printable(&self.x.name, 60))
            .y_desc(font::printable(&self.y.name, 60))
            .draw()?;
        for (series, trace) in &self.traces {
            draw_trace(&mut chart, *series, trace, (self.y.low, self.y.high))?;
        }
        Ok(())
    }

    fn draw_overload(&self, chart: &mut Chart<'_, '_>) -> Drawn {
        for (_, trace) in &self.traces {
            let (from, to, edge) = match *trace {
                Trace::Overload(x) => (self.x.low, x.clamp(self.x.low, self.x.high), x),
                Trace::OverloadFrom(x) => (x.clamp(self.x.low, self.x.high), self.x.high, x),
                _ => continue,
            };
            chart.draw_series([Rectangle::new(
                [(from, self.y.low), (to, self.y.high)],
                paint::DANGER_AREA.filled(),
            )])?;
            if edge > self.x.low && edge < self.x.high {
                chart.draw_series([PathElement::new(
                    [(edge, self.y.low), (edge, self.y.high)],
                    paint::DANGER.stroke_width(1),
                )])?;
            }
            if to > from {
                let place = chart.backend_coord(&(from, self.y.high));
                chart.plotting_area().strip_coord_spec().draw(&Text::new(
                    "load above 1",
                    (
                        place.0 + 5 - chart.plotting_area().get_pixel_range().0.start,
                        4,
                    ),
                    font::style(13, paint::DANGER),
                ))?;
            }
        }
        Ok(())
    }
}

fn draw_trace(
    chart: &mut Chart<'_, '_>,
    series: usize,
    trace: &Trace,
    (low, high): (f64, f64),
) -> Drawn {
    let color = paint::hue(series);
    match trace {
        Trace::Line(points) => {
            chart.draw_series([PathElement::new(points.clone(), color.stroke_width(2))])?;
        }
        Trace::Theory(points) => {
            chart.draw_series([PathElement::new(points.clone(), color.stroke_width(1))])?;
        }
        Trace::Ticks(places) => {
            chart.draw_series(
                places
                    .iter()
                    .map(|&x| PathElement::new([(x, low), (x, high)], paint::RULE.stroke_width(1))),
            )?;
        }
        Trace::Points(points) => {
            for &point in points {
                let pixel = chart.backend_coord(&point);
                marker(chart, series, pixel)?;
            }
        }
        Trace::Measured(values) => {
            let line: Vec<(f64, f64)> = values.iter().map(|value| (value.x, value.y)).collect();
            chart.draw_series([PathElement::new(line, color.stroke_width(2))])?;
            let ranges = values.iter().filter(|value| value.high > value.low);
            chart.draw_series(ranges.map(|value| {
                PathElement::new(
                    [(value.x, value.low), (value.x, value.high)],
                    paint::MUTED.stroke_width(1),
                )
            }))?;
            for value in values {
                let pixel = chart.backend_coord(&(value.x, value.y));
                marker(chart, series, pixel)?;
            }
        }
        Trace::Overload(_) | Trace::OverloadFrom(_) => {}
    }
    Ok(())
}

fn marker(chart: &Chart<'_, '_>, series: usize, (x, y): (i32, i32)) -> Drawn {
    let area = chart.plotting_area().strip_coord_spec();
    let (columns, rows) = chart.plotting_area().get_pixel_range();
    draw_marker(&area, series, (x - columns.start, y - rows.start))
}

/// The marker of a series, in pixels.
pub(super) fn draw_marker(area: &Area<'_>, series: usize, (x, y): (i32, i32)) -> Drawn {
    let fill = paint::hue(series).filled();
    match series % 6 {
        0 => area.draw(&Circle::new((x, y), 5, fill)),
        1 => area.draw(&Polygon::new(
            [(x, y - 6), (x + 6, y + 5), (x - 6, y + 5)],
            fill,
        )),
        2 => area.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], fill)),
        3 => area.draw(&Polygon::new(
            [(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)],
            fill,
        )),
        4 => area.draw(&Polygon::new(
            [(x, y + 6), (x + 6, y - 5), (x - 6, y - 5)],
            fill,
        )),
        _ => area.draw(&Circle::new((x, y), 5, paint::hue(series).stroke_width(3))),
    }
}

/// What an entry of the legend shows before its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// Line and marker.
    Series,
    /// Line alone.
    Line,
    /// Dotted line.
    Theory,
    /// Filled box.
    Fill,
}

/// Draws a legend in rows from the top of `area` and returns its height.
///
/// # Errors
///
/// What plotters says.
pub fn legend(
    area: &Area<'_>,
    entries: &[(usize, Sample, String)],
) -> Result<u32, DrawingAreaErrorKind<std::io::Error>> {
    let (width, _) = area.dim_in_pixel();
    let (mut x, mut y) = (14_i32, 15_i32);
    for (series, sample, words) in entries {
        let words = font::printable(words, 90);
        let style = font::style(14, paint::INK);
        let length = i32::try_from(area.estimate_text_size(&words, &style)?.0).unwrap_or(0) + 60;
        if x > 14 && x + length > i32::try_from(width).unwrap_or(i32::MAX) {
            (x, y) = (14, y + 21);
        }
        let color = paint::hue(*series);
        match sample {
            Sample::Series | Sample::Line => area.draw(&PathElement::new(
                [(x, y), (x + 30, y)],
                color.stroke_width(2),
            ))?,
            Sample::Theory => area.draw(&PathElement::new(
                [(x, y), (x + 30, y)],
                color.stroke_width(1),
            ))?,
            Sample::Fill => area.draw(&Rectangle::new(
                [(x + 12, y - 6), (x + 28, y + 6)],
                color.filled(),
            ))?,
        }
        if *sample == Sample::Series {
            draw_marker(area, *series, (x + 15, y))?;
        }
        let anchored = style.pos(plotters::style::text_anchor::Pos::new(
            plotters::style::text_anchor::HPos::Left,
            plotters::style::text_anchor::VPos::Center,
        ));
        area.draw(&Text::new(words, (x + 37, y), anchored))?;
        x += length;
    }
    Ok(u32::try_from(y + 16).unwrap_or(32))
}
