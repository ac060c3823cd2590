//! The machine and the build, as a run record carries them; and placement on cores.

use std::{fs, path::Path, process::Command};

use rustix::{
    io::Errno,
    system::{sysinfo, uname},
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

use super::record::Environment;

/// What stands in a record for what the machine does not tell.
const UNKNOWN: &str = "unknown";

/// Why a thread's cores could not be read or set.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// The kernel did not tell the allowed cores.
    #[error("cannot read the allowed cores")]
    ReadAffinity(#[source] Errno),
    /// The kernel refused, usually because the core does not exist or is not allowed; run without pinning.
    #[error("cannot pin to core {core}")]
    Pin {
        /// The core asked for.
        core: usize,
        /// Why.
        #[source]
        source: Errno,
    },
}

/// Describes the machine and the build. `placement` says in words how client and server were placed.
///
/// Runs `git` twice and blocks for it, so call it outside a measurement window. The commit is that of the checkout the program
/// was built from, as it is now; `unknown` where that checkout is gone.
///
/// # Errors
/// If the allowed cores cannot be read.
pub fn capture(placement: &str) -> Result<Environment, EnvironmentError> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let checkout = checkout(package);
    let memory = sysinfo();
    Ok(Environment {
        commit: checkout
            .as_ref()
            .map_or_else(|| UNKNOWN.to_owned(), |it| it.commit.clone()),
        dirty: checkout.is_some_and(|it| it.state == WorkTree::Dirty),
        rustc: env!("BENCH_CORE_RUSTC_VERSION").to_owned(),
        profile: if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        }
        .to_owned(),
        cpu: cpu_model(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
        cores: u32::try_from(allowed_cores()?.len()).expect("a mask holds few cores"),
        memory_bytes: memory.totalram * u64::from(memory.mem_unit),
        kernel: uname().release().to_string_lossy().into_owned(),
        placement: placement.to_owned(),
    })
}

/// The wall clock in UTC as RFC 3339, to the second. For a record's date; never subtract two of these.
pub fn utc_now() -> String {
    let now = jiff::Timestamp::now().as_second();
    jiff::Timestamp::from_second(now)
        .expect("a second taken from a timestamp is in range")
        .to_string()
}

/// Cores that the calling thread may use, in rising order.
///
/// # Errors
/// If the kernel does not tell, as with more cores than its mask holds.
pub fn allowed_cores() -> Result<Vec<usize>, EnvironmentError> {
    let mask = sched_getaffinity(None).map_err(EnvironmentError::ReadAffinity)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&core| mask.is_set(core))
        .collect())
}

/// Keeps the calling thread, and the threads it starts from now on, on one core. Threads that already run are not moved, so
/// call it before a runtime starts.
///
/// # Errors
/// If the core does not exist or is not allowed; the thread's cores are then as before.
pub fn pin_to_core(core: usize) -> Result<(), EnvironmentError> {
    let failed = |source| EnvironmentError::Pin { core, source };
    if core >= CpuSet::MAX_CPU {
        return Err(failed(Errno::INVAL));
    }
    let mut mask = CpuSet::new();
    mask.set(core);
    sched_setaffinity(None, &mask).map_err(failed)
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Checkout {
    commit: String,
    state: WorkTree,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WorkTree {
    Clean,
    Dirty,
}

fn checkout(package: &Path) -> Option<Checkout> {
    let head = git(package, &["rev-parse", "HEAD", "--show-prefix"])?;
    let (commit, prefix) = head.trim_end().split_once('\n')?;
    // A source archive unpacked inside somebody else's repository is not a checkout of ours.
    if Path::new(prefix) != Path::new(package.file_name()?) {
        return None;
    }
    let status = git(
        package,
        &["--no-optional-locks", "status", "--porcelain", ":/"],
    )?;
    Some(Checkout {
        commit: commit.to_owned(),
        state: if status.is_empty() {
            WorkTree::Clean
        } else {
            WorkTree::Dirty
        },
    })
}

fn git(directory: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(arguments)
        // A git hook sets these, and they would name another repository than the directory's.
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .output()
        .ok()?;
    output.status.success().then_some(())?;
    String::from_utf8(output.stdout).ok()
}

fn cpu_model(cpuinfo: &str) -> String {
    // x86 says "model name"; arm64 has no name, only an implementer and a part.
    ["model name", "Model", "CPU part"]
        .iter()
        .find_map(|field| {
            cpuinfo.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                (name.trim() == *field).then(|| value.trim().to_owned())
            })
        })
        .unwrap_or_else(|| UNKNOWN.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_model_is_the_first_core_s_and_unknown_where_there_is_none() {
        assert_eq!(
            cpu_model("processor\t: 0\nmodel name\t: AMD EPYC\n\nmodel name\t: other\n"),
            "AMD EPYC"
        );
        assert_eq!(cpu_model("processor : 0\nCPU part : 0xd0c\n"), "0xd0c");
        assert_eq!(cpu_model(""), "unknown");
    }

    #[test]
    fn a_directory_that_is_no_part_of_a_checkout_has_no_commit() {
        assert_eq!(checkout(Path::new("/proc")), None);
        assert_eq!(checkout(Path::new("/does/not/exist")), None);
    }
}
