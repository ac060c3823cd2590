//! What can go wrong between a folder of records and a page.

use std::path::PathBuf;

use thiserror::Error;

/// Why no report was made.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A folder or file could not be read.
    #[error("cannot read {path}")]
    Read {
        /// What was read.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {path}")]
    Write {
        /// What was written.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// A JSON file does not hold what it should. The source names the field.
    #[error("{path}, line {line}, column {column}: not a {what}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What it should have been, such as `run record`.
        what: &'static str,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What the parser says, with the field's name.
        #[source]
        source: serde_json::Error,
    },
    /// A record of another version of the schema.
    #[error(
        "{path}: field `schema_version` is {found}, and this program reads {supported}; draw the report with the version that wrote it"
    )]
    SchemaVersion {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: u64,
        /// The version that this program reads.
        supported: u32,
    },
    /// There was nothing to draw.
    #[error(
        "no run records in {path}: expected one JSON file per trial, as `loadgen run` leaves them below its results directory"
    )]
    NoRecords {
        /// Where they should have been.
        path: PathBuf,
    },
    /// Criterion has saved nothing there.
    #[error(
        "no saved criterion results under {path}: expected files such as GROUP/FUNCTION/SIZE/new/estimates.json, which `cargo bench` writes below target/criterion"
    )]
    NoCriterionResults {
        /// Where they should have been.
        path: PathBuf,
    },
    /// A figure could not be drawn.
    #[error("cannot draw figure `{figure}`: {reason}")]
    Draw {
        /// The figure's name.
        figure: String,
        /// What the drawing library says; its own error type borrows from the drawing.
        reason: String,
    },
}
