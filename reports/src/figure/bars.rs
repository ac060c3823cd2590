//! Horizontal stacked bars, one row a variant.

use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::{Area, Drawn, axis::even_ticks, font, paint};
use crate::quantity::Unit;

/// One bar.
#[derive(Debug, Clone)]
pub struct Bar {
    /// Words before it.
    pub label: String,
    /// Parts in order: series and length.
    pub parts: Vec<(usize, f64)>,
}

/// Height of one bar with its distance to the next.
pub const ROW_HEIGHT: u32 = 30;

/// Room for labels on the left.
const LEFT: i32 = 250;

/// Room for the sum of a bar's parts on the right.
const RIGHT: i32 = 90;

/// Draws bars from `top` on, with an axis from 0 and its name below them. Parts carry their value where it fits, a bar of several parts its sum.
///
/// # Errors
///
/// What plotters says.
pub fn draw(area: &Area<'_>, top: u32, bars: &[Bar], (name, unit): (&str, Unit)) -> Drawn {
    let width = i32::try_from(area.dim_in_pixel().0).unwrap_or(i32::MAX) - LEFT - RIGHT;
    let top = i32::try_from(top).unwrap_or(0);
    let row = i32::try_from(ROW_HEIGHT).unwrap_or(30);
    let longest = bars
        .iter()
        .map(|bar| bar.parts.iter().map(|part| part.1).sum::<f64>())
        .fold(0.0, f64::max);
    let high = if longest > 0.0 { longest } else { 1.0 };
    let place = |value: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "a pixel of the canvas")]
        let pixel = (f64::from(width) * value / high).round() as i32;
        LEFT + pixel
    };
    let bottom = top + row * i32::try_from(bars.len()).unwrap_or(0);
    let centred = |size, color, side| font::style(size, color).pos(Pos::new(side, VPos::Center));
    for tick in even_ticks(unit, high, 6) {
        let x = place(tick);
        area.draw(&PathElement::new(
            [(x, top), (x, bottom + 4)],
            paint::GRID.stroke_width(1),
        ))?;
        area.draw(&Text::new(
            font::printable(&unit.text(tick), 16),
            (x, bottom + 14),
            centred(13, paint::MUTED, HPos::Center),
        ))?;
    }
    area.draw(&Text::new(
        font::printable(name, 90),
        (LEFT + width / 2, bottom + 34),
        centred(14, paint::INK, HPos::Center),
    ))?;
    let mut y = top;
    for bar in bars {
        area.draw(&Text::new(
            font::printable(&bar.label, 32),
            (LEFT - 10, y + row / 2),
            centred(14, paint::INK, HPos::Right),
        ))?;
        let mut sum = 0.0;
        for &(series, value) in bar.parts.iter().filter(|part| part.1 > 0.0) {
            let (from, to) = (place(sum), place(sum + value));
            area.draw(&Rectangle::new(
                [(from, y + 4), ((to - 1).max(from + 1), y + row - 4)],
                paint::hue(series).filled(),
            ))?;
            let words = unit.text(value);
            let style = centred(13, paint::SURFACE, HPos::Center);
            let needed = i32::try_from(area.estimate_text_size(&words, &style)?.0).unwrap_or(0);
            if to - from > needed + 8 {
                area.draw(&Text::new(
                    words,
                    (i32::midpoint(from, to), y + row / 2),
                    style,
                ))?;
            }
            sum += value;
        }
        area.draw(&Text::new(
            font::printable(&unit.text(sum), 16),
            (place(sum) + 8, y + row / 2),
            centred(13, paint::INK, HPos::Left),
        ))?;
        y += row;
    }
    area.draw(&PathElement::new(
        [(LEFT, top), (LEFT, bottom)],
        paint::MUTED.stroke_width(1),
    ))
}
