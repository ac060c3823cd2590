//! What an informer warned of in a trial, each thing once, for the record.

use bench_core::{
    cache::InformerWarning,
    measure::{clock::MonotonicTime, record::Warning},
};
use parking_lot::Mutex;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Trap {
    Informer(InformerWarning),
    HandlerPanicked,
}

#[derive(Debug)]
struct Told {
    trap: Trap,
    count: u64,
    first_at_ns: u64,
}

/// Collects. It keeps the last of several that differ in how far something had got.
#[derive(Debug, Default)]
pub(super) struct InformerWarnings(Mutex<Vec<Told>>);

impl InformerWarnings {
    /// Notes a warning of the informer.
    pub(super) fn warned(&self, warning: &InformerWarning) {
        self.tell(Trap::Informer(warning.clone()), now());
    }

    /// Notes that a handler panicked.
    pub(super) fn handler_panicked(&self) {
        self.tell(Trap::HandlerPanicked, now());
    }

    /// Takes what was told, in the order of first sight; times from `began`.
    pub(super) fn take(&self, began: MonotonicTime) -> Vec<Warning> {
        let told = std::mem::take(&mut *self.0.lock());
        told.into_iter()
            .map(|told| Warning {
                kind: told.trap.kind().to_owned(),
                message: told.trap.message(),
                count: told.count,
                first_at_ns: Some(told.first_at_ns.saturating_sub(began.nanoseconds)),
            })
            .collect()
    }

    fn tell(&self, trap: Trap, at_ns: u64) {
        let mut told = self.0.lock();
        if let Some(known) = told.iter_mut().find(|known| known.trap.continues(&trap)) {
            known.trap = trap;
            known.count += 1;
        } else {
            told.push(Told {
                trap,
                count: 1,
                first_at_ns: at_ns,
            });
        }
    }
}

impl Trap {
    fn kind(&self) -> &'static str {
        match self {
            Self::Informer(warning) => warning.kind(),
            Self::HandlerPanicked => "HandlerPanicked",
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Informer(warning) => warning.to_string(),
            Self::HandlerPanicked => {
                "the handler panicked: what it was called with is lost to it, and a second passed"
                    .to_owned()
            }
        }
    }

    /// Whether both are one thing: the same, or one that grows.
    fn continues(&self, later: &Self) -> bool {
        use InformerWarning::{HandlerBacklog, InitialEventsEndMissing};
        let (Self::Informer(before), Self::Informer(after)) = (self, later) else {
            return self == later;
        };
        matches!(
            (before, after),
            (HandlerBacklog { .. }, HandlerBacklog { .. })
                | (
                    InitialEventsEndMissing { .. },
                    InitialEventsEndMissing { .. }
                )
        ) || before == after
    }
}

fn now() -> u64 {
    MonotonicTime::now().nanoseconds
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_grows_is_one_warning_and_what_differs_is_several() {
        let warnings = InformerWarnings::default();
        let began = MonotonicTime { nanoseconds: 100 };
        let rounded = |requested| InformerWarning::HandlerPeriodRounded {
            requested: Duration::from_millis(requested),
            check_period: Duration::from_secs(1),
            effective: Duration::from_secs(2),
        };
        for (trap, at_ns) in [
            (Trap::Informer(rounded(1_100)), 100),
            (Trap::Informer(rounded(1_200)), 100),
            (
                Trap::Informer(InformerWarning::HandlerBacklog { pending: 1_024 }),
                300,
            ),
            (Trap::HandlerPanicked, 310),
            (
                Trap::Informer(InformerWarning::HandlerBacklog { pending: 2_048 }),
                400,
            ),
            (Trap::HandlerPanicked, 410),
            (Trap::HandlerPanicked, 510),
        ] {
            warnings.tell(trap, at_ns);
        }
        let told: Vec<_> = warnings
            .take(began)
            .into_iter()
            .map(|warning| {
                let first_word = warning.message.split(' ').next().map(str::to_owned);
                let first_at_ns = warning.first_at_ns.expect("told in the trial");
                (warning.kind, first_word, warning.count, first_at_ns)
            })
            .collect();
        let expected = [
            ("HandlerPeriodRounded", "a", 1, 0),
            ("HandlerPeriodRounded", "a", 1, 0),
            ("HandlerBacklog", "2048", 2, 200),
            ("HandlerPanicked", "the", 3, 210),
        ];
        let expected = expected.map(|(kind, first_word, count, first_at_ns)| {
            let first_word = Some(first_word.to_owned());
            (kind.to_owned(), first_word, count, first_at_ns)
        });
        assert_eq!(told, expected);
        assert!(warnings.take(began).is_empty());
    }
}
