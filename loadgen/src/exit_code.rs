//! The exit codes of `loadgen`, in one place.

/// How a run of `loadgen` ended, as its caller sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitCode {
    /// 0: everything ran and passed.
    Passed,
    /// 1: regressed, or a trial's verification failed.
    Failed,
    /// 2: could not run: bad arguments, missing input, a trial that ended in an error, nothing to compare.
    CouldNotRun,
    /// 3: ran, and nothing can be said.
    Inconclusive,
    /// 130: interrupted; what was measured so far is written.
    Interrupted,
}

impl ExitCode {
    /// The number that the process exits with.
    pub fn number(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::CouldNotRun => 2,
            Self::Inconclusive => 3,
            Self::Interrupted => 130,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_the_documented_numbers() {
        let codes = [
            ExitCode::Passed,
            ExitCode::Failed,
            ExitCode::CouldNotRun,
            ExitCode::Inconclusive,
            ExitCode::Interrupted,
        ];
        assert_eq!(codes.map(ExitCode::number), [0, 1, 2, 3, 130]);
    }
}
