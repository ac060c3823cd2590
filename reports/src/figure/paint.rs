//! Colours, dashes and markers. Series are Okabe and Ito's colours, told apart by dash and marker as well.

use std::fmt::Write as _;

use plotters::style::RGBColor;

/// Background.
pub const SURFACE: RGBColor = RGBColor(0xFF, 0xFF, 0xFE);
/// Text.
pub const INK: RGBColor = RGBColor(0x1B, 0x1F, 0x24);
/// Secondary text and axes.
pub const MUTED: RGBColor = RGBColor(0x5B, 0x65, 0x70);
/// Grid lines.
pub const GRID: RGBColor = RGBColor(0xE1, 0xE5, 0xEA);
/// Rules for resyncs.
pub const RULE: RGBColor = RGBColor(0xC3, 0xCA, 0xD2);
/// What is above its limit: text and rules.
pub const DANGER: RGBColor = RGBColor(0xB3, 0x26, 0x1E);
/// What is above its limit: areas.
pub const DANGER_AREA: RGBColor = RGBColor(0xFB, 0xEA, 0xE8);

/// Series colours.
const HUES: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
];

/// Dashes of the series, in the order of [`HUES`]; lines of width 2.
const DASHES: [&str; 6] = ["", "8 4", "3 3", "10 3 2 3", "14 4", "5 2 1 2"];

/// Each drawing colour and the CSS variable that takes its place in the page.
const VARIABLES: [(RGBColor, &str); 13] = [
    (SURFACE, "--surface"),
    (INK, "--ink"),
    (MUTED, "--muted"),
    (GRID, "--grid"),
    (RULE, "--rule"),
    (DANGER, "--danger"),
    (DANGER_AREA, "--danger-area"),
    (HUES[0], "--s0"),
    (HUES[1], "--s1"),
    (HUES[2], "--s2"),
    (HUES[3], "--s3"),
    (HUES[4], "--s4"),
    (HUES[5], "--s5"),
];

/// Colour of series `index`.
pub fn hue(index: usize) -> RGBColor {
    HUES[index % HUES.len()]
}

fn hexadecimal(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// Gives lines of series their dashes: width 2 the dash of the colour, width 1 (what arithmetic says) dots.
/// plotters would cut a dashed line into hundreds of elements.
pub(super) fn with_dashes(svg: &str) -> String {
    let mut dashed = String::with_capacity(svg.len());
    for line in svg.lines() {
        match dash_of(line) {
            Some(dash) => {
                let start = format!("<polyline stroke-dasharray=\"{dash}\" ");
                let line = line
                    .replacen("<polyline ", &start, 1)
                    // One pixel of dots vanishes on a coloured area; plotters knows whole pixels only.
                    .replacen("stroke-width=\"1\"", "stroke-width=\"1.7\"", 1);
                let _ = writeln!(dashed, "{line}");
            }
            None => {
                dashed.push_str(line);
                dashed.push('\n');
            }
        }
    }
    dashed
}

fn dash_of(line: &str) -> Option<&'static str> {
    if !line.starts_with("<polyline ") {
        return None;
    }
    let index = HUES
        .iter()
        .position(|&color| line.contains(&format!("stroke=\"{}\"", hexadecimal(color))))?;
    if line.contains("stroke-width=\"1\"") {
        return Some("2 3");
    }
    let dash = if line.contains("stroke-width=\"2\"") {
        DASHES[index]
    } else {
        ""
    };
    (!dash.is_empty()).then_some(dash)
}

/// Colours become CSS variables, and the fixed size goes, so that the page decides.
pub(super) fn with_variables(svg: &str) -> String {
    let start = svg.find("viewBox").unwrap_or(0);
    let mut body = format!("<svg {}", &svg[start..]);
    for (color, variable) in VARIABLES {
        body = body.replace(
            &format!("\"{}\"", hexadecimal(color)),
            &format!("\"var({variable})\""),
        );
    }
    body.replace(&format!(" font-family=\"{}\"", super::font::FAMILY), "")
}
