//! The legend above a figure, and the markers that it shares with the panels.

use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::{Area, Drawn, font, paint};

/// What an entry of the legend shows before its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// Filled box.
    Fill,
    /// Line alone.
    Line,
    /// Marker alone.
    Marker,
    /// Vertical rule.
    Rule,
    /// Line and marker.
    Series,
    /// Dotted line.
    Theory,
}

/// A line of the legend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Number of the series.
    pub series: usize,
    /// What stands before the words.
    pub sample: Sample,
    /// The words.
    pub words: String,
}

impl Entry {
    /// A series with line and marker.
    pub fn series(series: usize, words: impl Into<String>) -> Self {
        Self {
            series,
            sample: Sample::Series,
            words: words.into(),
        }
    }

    /// What arithmetic says of a series.
    pub fn theory(series: usize, words: impl Into<String>) -> Self {
        Self {
            series,
            sample: Sample::Theory,
            words: words.into(),
        }
    }
}

/// Draws a legend in rows from the top of `area` and returns its height.
///
/// # Errors
///
/// What plotters says.
pub fn legend(
    area: &Area<'_>,
    entries: &[Entry],
) -> Result<u32, DrawingAreaErrorKind<std::io::Error>> {
    let (width, _) = area.dim_in_pixel();
    let (mut x, mut y) = (14_i32, 15_i32);
    for entry in entries {
        let words = font::printable(&entry.words, 90);
        let style = font::style(14, paint::INK);
        let length = i32::try_from(area.estimate_text_size(&words, &style)?.0).unwrap_or(0) + 60;
        if x > 14 && x + length > i32::try_from(width).unwrap_or(i32::MAX) {
            (x, y) = (14, y + 21);
        }
        draw_sample(area, entry, (x, y))?;
        let anchored = style.pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(words, (x + 37, y), anchored))?;
        x += length;
    }
    Ok(u32::try_from(y + 16).unwrap_or(32))
}

fn draw_sample(area: &Area<'_>, entry: &Entry, (x, y): (i32, i32)) -> Drawn {
    let color = paint::hue(entry.series);
    let line = |width| PathElement::new([(x, y), (x + 30, y)], color.stroke_width(width));
    match entry.sample {
        Sample::Fill => area.draw(&Rectangle::new(
            [(x + 12, y - 6), (x + 28, y + 6)],
            color.filled(),
        )),
        Sample::Line => area.draw(&line(2)),
        Sample::Marker => draw_marker(area, entry.series, (x + 15, y)),
        Sample::Rule => area.draw(&PathElement::new(
            [(x + 15, y - 8), (x + 15, y + 8)],
            paint::RULE.stroke_width(1),
        )),
        Sample::Series => {
            area.draw(&line(2))?;
            draw_marker(area, entry.series, (x + 15, y))
        }
        Sample::Theory => area.draw(&line(1)),
    }
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
