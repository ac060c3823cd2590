//! The machine and the build, without which nothing is recorded.

use std::{fs, process::Command};

use rustix::{
    system::uname,
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

use super::record::Environment;

/// Looks at the machine; `placement` says where client and server run.
pub fn environment(placement: &str) -> Environment {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(arguments)
            .output()
            .ok()
            .filter(|output| output.status.success());
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let kernel = uname();
    Environment {
        commit: git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned()),
        dirty: git(&["status", "--porcelain"]).is_some_and(|status| !status.is_empty()),
        rustc: env!("INFORMER_BENCH_RUSTC").to_owned(),
        profile: if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        }
        .to_owned(),
        cpu: first_value("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned()),
        cores: u32::try_from(allowed_cores().len()).unwrap_or(0),
        memory_bytes: memory_bytes(),
        kernel: kernel.release().to_string_lossy().into_owned(),
        placement: placement.to_owned(),
    }
}

/// The present instant in UTC, RFC 3339, whole seconds.
pub fn utc_now() -> String {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second())
        .map_or_else(|_| now.to_string(), |second| second.to_string())
}

/// Cores on which this process may run.
pub fn allowed_cores() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else {
        return Vec::new();
    };
    (0..CpuSet::MAX_CPU)
        .filter(|core| set.is_set(*core))
        .collect()
}

/// Keeps the calling thread, and the threads that it makes from now on, on one core.
///
/// # Errors
/// The system's, if the core does not exist or is not allowed.
pub fn pin_to_core(core: usize) -> std::io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

fn memory_bytes() -> u64 {
    let total = first_value("/proc/meminfo", "MemTotal");
    let kilobytes = total.and_then(|total| total.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1_024
}

fn first_value(path: &str, field: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(field))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_compiler_kernel_and_cores() {
        let environment = environment("nowhere");
        assert!(
            environment.rustc.starts_with("rustc 1."),
            "{}",
            environment.rustc
        );
        assert!(
            environment.cores > 0 && environment.memory_bytes > 0 && !environment.kernel.is_empty()
        );
    }
}
