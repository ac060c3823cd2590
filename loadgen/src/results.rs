//! Where results go: a directory for each run, with a file for each trial.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use bench_core::measure::{environment::utc_now, record::RunRecord};

use crate::scenario::NamedScenario;

/// Where runs are kept unless told otherwise.
const DEFAULT_ROOT: &str = "target/informer-bench";

/// The directory of one run.
#[derive(Debug)]
pub struct ResultsDirectory {
    path: PathBuf,
}

impl ResultsDirectory {
    /// Makes `out`, or a directory named by time and scenario with a link `latest` beside it.
    ///
    /// # Errors
    /// If it cannot be made, or `out` holds something already.
    pub fn create(out: Option<&Path>, scenario: &str) -> anyhow::Result<Self> {
        let path = match out {
            Some(out) => out.to_owned(),
            None => {
                Path::new(DEFAULT_ROOT).join(format!("{}-{scenario}", utc_now().replace(':', "")))
            }
        };
        if fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_some()) {
            bail!(
                "{} holds something already: choose another --out",
                path.display()
            );
        }
        let records = path.join("records");
        fs::create_dir_all(&records)
            .with_context(|| format!("cannot make {}", records.display()))?;
        if out.is_none() {
            link_latest(&path)?;
        }
        Ok(Self { path })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a copy of the scenario beside the records, from which the same can be run again.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_scenario(&self, named: &NamedScenario) -> anyhow::Result<()> {
        let place = self.path.join("scenario.yaml");
        fs::write(&place, named.to_yaml())
            .with_context(|| format!("cannot write {}", place.display()))
    }

    /// Writes a trial's record: first beside its place, then into it, so that no half file is ever read.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, record: &RunRecord) -> anyhow::Result<()> {
        let label: String = record
            .variant
            .label
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let place = self
            .path
            .join("records")
            .join(format!("{:03}-{label}.json", record.order));
        let partial = place.with_extension("partial");
        let json =
            serde_json::to_vec_pretty(record).context("a record cannot be written as JSON")?;
        fs::write(&partial, json).with_context(|| format!("cannot write {}", partial.display()))?;
        fs::rename(&partial, &place).with_context(|| format!("cannot write {}", place.display()))
    }
}

#[cfg(unix)]
fn link_latest(path: &Path) -> anyhow::Result<()> {
    let latest = Path::new(DEFAULT_ROOT).join("latest");
    match fs::remove_file(&latest) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot replace {}", latest.display()));
        }
        _ => {}
    }
    let name = path.file_name().context("a run's directory has a name")?;
    std::os::unix::fs::symlink(name, &latest)
        .with_context(|| format!("cannot make {}", latest.display()))
}
