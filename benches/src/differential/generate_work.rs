//! Random traces of the work queue.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use bench_core::workqueue::RateLimiter;
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha12Rng, seq::IndexedRandom as _};

use super::{
    trace::{Header, Operation, Preset, SetupOption, Trace},
    work::{WorkOperation, limiter},
};

const ITEMS: [&str; 6] = ["a", "b", "default/web", "", "é\"\\", "x/y/z"];

const LIMITERS: [Option<SetupOption>; 7] = [
    None,
    Some(SetupOption::LimiterBucket),
    Some(SetupOption::LimiterExponential),
    Some(SetupOption::LimiterFastSlow),
    Some(SetupOption::LimiterItemBased),
    Some(SetupOption::LimiterMaxOf),
    Some(SetupOption::LimiterMaxWait),
];

/// A queue as far as it takes to know which instants items wait for, so that no two wait for one: their order is a heap's
/// upstream, and open.
struct Generator {
    random: ChaCha12Rng,
    items: Vec<&'static str>,
    limiter: Box<dyn RateLimiter<String>>,
    ready: HashMap<String, Duration>,
    now: Duration,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    // Somebody may wait for a drain. Upstream wakes only one of those who do, so there must not be two.
    Draining,
    // The first call of ShutDown, which alone calls off a drain.
    ShutDown,
    DrainingAfterShutDown,
}

/// The trace of a seed; the same on every machine.
pub(super) fn generate(seed: u64) -> Trace {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let options: BTreeSet<_> = LIMITERS
        .choose(&mut random)
        .expect("not empty")
        .iter()
        .copied()
        .collect();
    let header = Header {
        trace: format!("{}-{seed}", Preset::WorkQueue.name()),
        preset: Preset::WorkQueue,
        options,
        batch: 1,
    };
    let count = random.random_range(1..=5);
    let items = (0..count)
        .map(|_| *ITEMS.choose(&mut random).expect("not empty"))
        .collect();
    let longest = *[6_usize, 20, 60, 150]
        .choose(&mut random)
        .expect("not empty");
    let length = random.random_range(1..=longest);
    let mut generator = Generator {
        items,
        limiter: limiter(&header),
        ready: HashMap::new(),
        now: Duration::ZERO,
        state: State::Open,
        random,
    };
    let mut operations = Vec::new();
    for _ in 0..length {
        // An instant that is taken by chance ends the trace.
        let Some(operation) = generator.operation() else {
            break;
        };
        operations.push(Operation::Work(operation));
    }
    Trace { header, operations }
}

impl Generator {
    fn operation(&mut self) -> Option<WorkOperation> {
        let item = (*self.items.choose(&mut self.random).expect("not empty")).to_owned();
        Some(match self.random.random_range(0..100) {
            0..18 => WorkOperation::Add { item },
            18..38 => WorkOperation::Get,
            38..54 => WorkOperation::Done {
                place: self.random.random_range(0..4),
            },
            54..64 => {
                let nanoseconds = self.free_delay();
                self.wait(&item, Duration::from_nanos(nanoseconds))?;
                WorkOperation::AddAfter { item, nanoseconds }
            }
            64..74 => {
                let delay = self.limiter.when(&item, self.now);
                self.wait(&item, delay)?;
                WorkOperation::AddRateLimited { item }
            }
            74..77 => {
                self.limiter.forget(&item);
                WorkOperation::Forget { item }
            }
            77..81 => {
                self.limiter.when(&item, self.now);
                WorkOperation::When { item }
            }
            81..84 => WorkOperation::Requeues { item },
            84..98 => self.step(),
            98 => {
                self.ready.clear();
                self.state = match self.state {
                    State::Open | State::Draining | State::ShutDown => State::ShutDown,
                    State::DrainingAfterShutDown => State::DrainingAfterShutDown,
                };
                WorkOperation::ShutDown
            }
            _ => {
                self.ready.clear();
                self.state = match self.state {
                    State::Open => State::Draining,
                    State::ShutDown => State::DrainingAfterShutDown,
                    State::Draining | State::DrainingAfterShutDown => {
                        return Some(WorkOperation::Get);
                    }
                };
                WorkOperation::Drain
            }
        })
    }

    // Nothing if another item waits for that instant.
    fn wait(&mut self, item: &str, delay: Duration) -> Option<()> {
        if delay.is_zero() || self.state != State::Open {
            return Some(());
        }
        let ready_at = self.now + delay;
        let is_taken =
            |(other, instant): (&String, &Duration)| other != item && *instant == ready_at;
        if self.ready.iter().any(is_taken) {
            return None;
        }
        let known = self.ready.entry(item.to_owned()).or_insert(ready_at);
        *known = ready_at.min(*known);
        Some(())
    }

    fn free_delay(&mut self) -> u64 {
        if self.random.random_ratio(1, 10) {
            return 0;
        }
        let milliseconds = *[1, 3, 10, 11_000]
            .choose(&mut self.random)
            .expect("not empty");
        let mut delay = Duration::from_millis(self.random.random_range(1..=milliseconds));
        while self.ready.values().any(|taken| *taken == self.now + delay) {
            delay += Duration::from_nanos(1);
        }
        nanoseconds(delay)
    }

    // Often to the very instant for which an item waits, or to just before it.
    fn step(&mut self) -> WorkOperation {
        let mut instants: Vec<_> = self.ready.values().copied().collect();
        instants.sort_unstable();
        let until = instants
            .choose(&mut self.random)
            .map(|instant| instant.saturating_sub(self.now));
        let step = match (self.random.random_range(0..10), until) {
            (0..5, Some(until)) => until,
            (5..7, Some(until)) => until.saturating_sub(Duration::from_nanos(1)),
            (7, _) => Duration::from_millis(self.random.random_range(1..30_000)),
            _ => Duration::from_micros(self.random.random_range(1..20_000)),
        };
        self.now += step;
        let now = self.now;
        self.ready.retain(|_, ready_at| *ready_at > now);
        WorkOperation::Step {
            nanoseconds: nanoseconds(step),
        }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("minutes")
}
