//! Reads run records from a folder, all or nothing.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use bench_core::measure::record::{RunRecord, SCHEMA_VERSION};
use serde::Deserialize;

use crate::error::ReportError;

/// The one field that is read before the others, so that another version's record is not reported as malformed.
#[derive(Deserialize)]
struct VersionOnly {
    schema_version: u64,
}

/// Reads every `dir/records/*.json`, in the order in which the trials ran.
///
/// # Errors
///
/// The first file that cannot be read, is not a run record (with line and field) or is of another schema version; or that there is none.
pub fn read_records(dir: &Path) -> Result<Vec<RunRecord>, ReportError> {
    let folder = dir.join("records");
    let mut records = json_files(&folder)?
        .iter()
        .map(|path| read_record(path))
        .collect::<Result<Vec<_>, _>>()?;
    if records.is_empty() {
        return Err(ReportError::NoRecords { path: folder });
    }
    records.sort_by_key(|record| record.order);
    Ok(records)
}

fn json_files(folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let failed = |source: io::Error| {
        let path = folder.to_owned();
        if source.kind() == io::ErrorKind::NotFound {
            ReportError::NoRecords { path }
        } else {
            ReportError::Read { path, source }
        }
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn read_record(path: &Path) -> Result<RunRecord, ReportError> {
    let text = fs::read_to_string(path).map_err(|source| ReportError::Read {
        path: path.to_owned(),
        source,
    })?;
    let version: VersionOnly = parse(path, "run record", &text)?;
    if version.schema_version != u64::from(SCHEMA_VERSION) {
        return Err(ReportError::SchemaVersion {
            path: path.to_owned(),
            found: version.schema_version,
            supported: SCHEMA_VERSION,
        });
    }
    parse(path, "run record", &text)
}

/// Parses `text` of the file at `path`; `what` is the word for it in the error.
pub(crate) fn parse<'a, T: Deserialize<'a>>(
    path: &Path,
    what: &'static str,
    text: &'a str,
) -> Result<T, ReportError> {
    serde_json::from_str(text).map_err(|source| ReportError::Malformed {
        path: path.to_owned(),
        what,
        line: source.line(),
        column: source.column(),
        source,
    })
}
