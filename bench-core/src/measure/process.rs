//! The resident memory of this process. Its CPU time is in [`super::clock`].

use std::{fs, io};

/// Resident memory of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResidentMemory {
    /// Resident set now (`VmRSS`). The kernel batches its counters by thread, so this may lag by some pages.
    pub now_bytes: u64,
    /// Highest resident set since the start, or since [`reset_resident_memory_peak`] (`VmHWM`).
    pub peak_bytes: u64,
}

/// Why the memory could not be told. A trial on such a machine cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// A file of `/proc/self` could not be used.
    #[error("cannot use {path}")]
    File {
        /// Its path.
        path: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The kernel does not tell this value.
    #[error("/proc/self/status has no {field} in kB")]
    MissingField {
        /// Its name.
        field: &'static str,
    },
}

/// Reads the resident memory of this process. Costs a few microseconds.
///
/// # Errors
/// If `/proc/self/status` cannot be read or lacks the values.
pub fn resident_memory() -> Result<ResidentMemory, ProcessError> {
    const PATH: &str = "/proc/self/status";
    let status =
        fs::read_to_string(PATH).map_err(|source| ProcessError::File { path: PATH, source })?;
    parse_status(&status)
}

/// Lets the peak start again from what is resident now.
///
/// # Errors
/// If the kernel refuses the write to `/proc/self/clear_refs`.
pub fn reset_resident_memory_peak() -> Result<(), ProcessError> {
    const PATH: &str = "/proc/self/clear_refs";
    // "5" resets the peak and nothing else; see proc_pid_clear_refs(5).
    fs::write(PATH, "5").map_err(|source| ProcessError::File { path: PATH, source })
}

fn parse_status(status: &str) -> Result<ResidentMemory, ProcessError> {
    Ok(ResidentMemory {
        now_bytes: kilobytes(status, "VmRSS")?,
        peak_bytes: kilobytes(status, "VmHWM")?,
    })
}

fn kilobytes(status: &str, field: &'static str) -> Result<u64, ProcessError> {
    status
        .lines()
        .find_map(|line| {
            let value = line.strip_prefix(field)?.strip_prefix(':')?;
            value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
        })
        .map(|kilobytes| kilobytes * 1024)
        .ok_or(ProcessError::MissingField { field })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_are_found_by_their_whole_name_and_are_kilobytes() {
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSSx:\t 1 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(
            parse_status(status).unwrap(),
            ResidentMemory {
                now_bytes: 1_048_576,
                peak_bytes: 2_097_152
            }
        );
        assert_eq!(
            parse_status("VmHWM: 1 kB\n").unwrap_err().to_string(),
            "/proc/self/status has no VmRSS in kB"
        );
    }
}
