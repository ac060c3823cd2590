//! The one font of all figures, shipped with the crate.

use std::sync::OnceLock;

use plotters::prelude::IntoFont;
use plotters::style::{FontStyle, RGBColor, TextStyle, register_font};

/// The family's true name: SVG renderers look the font up by it, and drop all text of a family that they do not find.
pub const FAMILY: &str = "DejaVu Sans";

/// The font file.
pub const BYTES: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");

/// Characters in the font file.
const COVERED: [(char, char); 16] = [
    ('\u{20}', '\u{7e}'),
    ('\u{a0}', '\u{17f}'),
    ('\u{370}', '\u{377}'),
    ('\u{37a}', '\u{37f}'),
    ('\u{384}', '\u{38a}'),
    ('\u{38c}', '\u{38c}'),
    ('\u{38e}', '\u{3a1}'),
    ('\u{3a3}', '\u{3ff}'),
    ('\u{2010}', '\u{2027}'),
    ('\u{2030}', '\u{203a}'),
    ('\u{2070}', '\u{2071}'),
    ('\u{2074}', '\u{208e}'),
    ('\u{2190}', '\u{2199}'),
    ('\u{2200}', '\u{22ff}'),
    ('\u{25a0}', '\u{25cf}'),
    ('\u{2713}', '\u{2717}'),
];

/// Registers the font with plotters, once a process.
pub(super) fn register() -> Result<(), String> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let registered =
        *REGISTERED.get_or_init(|| register_font(FAMILY, FontStyle::Normal, BYTES).is_ok());
    if registered {
        Ok(())
    } else {
        Err("the shipped font is not a font".to_owned())
    }
}

/// A text style of `size`; the SVG's font size is `size` / 1.24.
pub fn style(size: u32, color: RGBColor) -> TextStyle<'static> {
    (FAMILY, size).into_font().color(&color)
}

/// `text` with a visible `□` for each character that the font lacks, cut to `longest` characters with `…`.
pub fn printable(text: &str, longest: usize) -> String {
    let covered = |symbol: char| {
        COVERED
            .iter()
            .any(|&(first, last)| (first..=last).contains(&symbol))
    };
    let mut shown: String = text
        .chars()
        .take(longest)
        .map(|symbol| if covered(symbol) { symbol } else { '□' })
        .collect();
    if text.chars().nth(longest).is_some() {
        shown.pop();
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_outside_the_font_are_replaced_visibly() {
        assert_eq!(printable("é中😀 ≤ 3 µs\n", 40), "é□□ ≤ 3 µs□");
        assert_eq!(printable("delta-fifo resync", 8), "delta-f…");
    }
}
