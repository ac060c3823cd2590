//! Memory of this process, by `/proc`.

/// Resident set now; 0 where the system does not tell.
pub fn resident_bytes() -> u64 {
    status_kilobytes("VmRSS:") * 1_024
}

/// Largest resident set so far; 0 where the system does not tell.
pub fn resident_peak_bytes() -> u64 {
    status_kilobytes("VmHWM:") * 1_024
}

/// Makes the largest resident set start anew from the present one, so that trials of one process do not share a peak.
pub fn reset_resident_peak() {
    if let Err(error) = std::fs::write("/proc/self/clear_refs", "5") {
        tracing::debug!(%error, "the peak of the resident set cannot be reset");
    }
}

fn status_kilobytes(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_memory_and_its_peak_is_no_smaller() {
        let now = resident_bytes();
        assert!(now > 0 && resident_peak_bytes() >= now / 2);
    }
}
