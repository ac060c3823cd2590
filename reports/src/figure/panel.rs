//! One pair of axes with traces on it.

use plotters::{chart::MeshStyle, prelude::*};

use super::{Area, Drawn, axis::Axis, font, legend::draw_marker, paint};

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

/// How much room a panel has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Title and names of the axes are drawn.
    Full,
    /// Neither is, and no vertical grid: what surrounds the panel says what it shows.
    Small,
}

/// Axes and what is on them; each trace with the number of its series.
#[derive(Debug, Clone)]
pub struct Panel {
    /// How much room it has.
    pub size: Size,
    /// Heading.
    pub title: String,
    /// Horizontal.
    pub x: Axis,
    /// Vertical.
    pub y: Axis,
    /// Traces, drawn in order.
    pub traces: Vec<(usize, Trace)>,
}

type Mesh<'a, 'b, 's> = MeshStyle<'a, 'b, Axis, Axis, SVGBackend<'s>>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

impl Panel {
    /// Draws the panel over all of `area`.
    ///
    /// # Errors
    ///
    /// What plotters says.
    pub fn draw(&self, area: &Area<'_>) -> Drawn {
        match self.size {
            Size::Full => self.draw_full(area),
            Size::Small => self.draw_small(area),
        }
    }

    fn draw_full(&self, area: &Area<'_>) -> Drawn {
        if !self.title.is_empty() {
            let style = font::style(17, paint::INK);
            area.draw(&Text::new(font::printable(&self.title, 70), (12, 4), style))?;
        }
        let mut chart = ChartBuilder::on(area)
            .margin_top(if self.title.is_empty() { 6 } else { 26 })
            .margin_right(22)
            .margin_left(2)
            .set_label_area_size(LabelAreaPosition::Left, 84)
            .set_label_area_size(LabelAreaPosition::Bottom, 46)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        self.draw_overload(&mut chart)?;
        styled(&mut chart.configure_mesh(), 14)
            .axis_desc_style(font::style(14, paint::INK))
            .x_desc(font::printable(&self.x.name, 60))
            .y_desc(font::printable(&self.y.name, 60))
            .draw()?;
        self.draw_traces(&mut chart)
    }

    fn draw_small(&self, area: &Area<'_>) -> Drawn {
        let mut chart = ChartBuilder::on(area)
            .margin_top(6)
            .margin_right(12)
            .margin_left(2)
            .set_label_area_size(LabelAreaPosition::Left, 62)
            .set_label_area_size(LabelAreaPosition::Bottom, 20)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        // The only vertical rules of a small panel are resyncs.
        styled(&mut chart.configure_mesh(), 12)
            .disable_x_mesh()
            .draw()?;
        if self.is_empty() {
            let style = font::style(13, paint::MUTED);
            return area.draw(&Text::new("does not apply", (72, 14), style));
        }
        self.draw_traces(&mut chart)
    }

    /// Whether no line has a point.
    fn is_empty(&self) -> bool {
        self.traces
            .iter()
            .all(|(_, trace)| !matches!(trace, Trace::Line(points) if !points.is_empty()))
    }

    fn draw_traces(&self, chart: &mut Chart<'_, '_>) -> Drawn {
        for (series, trace) in &self.traces {
            draw_trace(chart, *series, trace, self.y.ends())?;
        }
        Ok(())
    }

    fn draw_overload(&self, chart: &mut Chart<'_, '_>) -> Drawn {
        for (_, trace) in &self.traces {
            let ((left, right), (bottom, top)) = (self.x.ends(), self.y.ends());
            let (from, to, edge) = match *trace {
                Trace::Overload(x) => (left, x.clamp(left, right), x),
                Trace::OverloadFrom(x) => (x.clamp(left, right), right, x),
                _ => continue,
            };
            chart.draw_series([Rectangle::new(
                [(from, bottom), (to, top)],
                paint::DANGER_AREA.filled(),
            )])?;
            if edge > left && edge < right {
                chart.draw_series([PathElement::new(
                    [(edge, bottom), (edge, top)],
                    paint::DANGER.stroke_width(1),
                )])?;
            }
            if to > from {
                let place = chart.backend_coord(&(from, top));
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

/// Colours of axes and grid, and labels of `size`.
fn styled<'m, 'a, 'b, 's>(mesh: &'m mut Mesh<'a, 'b, 's>, size: u32) -> &'m mut Mesh<'a, 'b, 's> {
    mesh.axis_style(paint::MUTED)
        .bold_line_style(paint::GRID)
        .light_line_style(TRANSPARENT)
        .label_style(font::style(size, paint::MUTED))
        .x_labels(24)
        .y_labels(24)
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
