//! Figures: drawn once as SVG in light colours; the page swaps colours for CSS variables, PNG is a rendering of the same SVG.

use std::{fs, path::Path};

use plotters::{coord::Shift, prelude::*};

use crate::error::ReportError;

pub mod axis;
pub mod bars;
mod csv;
pub mod delivery;
pub mod font;
pub mod legend;
pub mod paint;
pub mod panel;
pub mod png;
pub mod resync;
pub mod scale;
pub mod timelines;

/// What plotters says when it cannot draw.
pub type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// A drawing area in pixels.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A drawn figure.
#[derive(Debug, Clone)]
pub struct Figure {
    /// File name without its ending.
    pub slug: String,
    /// Heading.
    pub title: String,
    /// What is drawn, of how many samples, on which machine.
    pub caption: String,
    /// The SVG in light colours.
    pub svg: String,
    /// The points as CSV, in the units that it names.
    pub csv: String,
}

/// Words around a drawing.
#[derive(Debug, Clone)]
pub struct Words {
    /// File name without its ending.
    pub slug: String,
    /// Heading.
    pub title: String,
    /// Caption.
    pub caption: String,
}

impl Figure {
    /// Draws on a canvas of `size` pixels; `csv` is the same points as text.
    ///
    /// # Errors
    ///
    /// What `drawing` returns, by the figure's name.
    pub fn draw(
        words: Words,
        csv: String,
        size: (u32, u32),
        drawing: impl FnOnce(&Area<'_>) -> Drawn,
    ) -> Result<Self, ReportError> {
        let slug = words.slug.clone();
        let failed = |reason: String| ReportError::Draw {
            figure: slug.clone(),
            reason,
        };
        font::register().map_err(failed)?;
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            area.fill(&paint::SURFACE)
                .and_then(|()| drawing(&area))
                .and_then(|()| area.present())
                .map_err(|error| failed(error.to_string()))?;
        }
        Ok(Self {
            slug: words.slug,
            title: words.title,
            caption: words.caption,
            svg: paint::with_dashes(&svg),
            csv,
        })
    }

    /// The SVG for inside the page: scales with it and takes its colours.
    pub fn inline_svg(&self) -> String {
        paint::with_variables(&self.svg)
    }

    /// Writes `slug.svg`, `slug.png` and `slug.csv` into `folder` and returns their names.
    ///
    /// # Errors
    ///
    /// A file cannot be written or the SVG not rendered.
    pub fn write(&self, folder: &Path) -> Result<[String; 3], ReportError> {
        let names = ["svg", "png", "csv"].map(|ending| format!("{}.{ending}", self.slug));
        let picture = png::render(&self.svg).map_err(|reason| ReportError::Draw {
            figure: self.slug.clone(),
            reason,
        })?;
        for (name, content) in
            names
                .iter()
                .zip([self.svg.as_bytes(), &picture, self.csv.as_bytes()])
        {
            let path = folder.join(name);
            fs::write(&path, content).map_err(|source| ReportError::Write { path, source })?;
        }
        Ok(names)
    }
}
