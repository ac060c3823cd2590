//! Traces of the work queue, and our side of them.
//!
//! The pure parts are put together here as [`bench_core::workqueue::WorkQueue`] does, since that one reads tokio's clock;
//! `bench-core/tests/it/workqueue_client_go.rs` replays the recorded traces on it, under the paused clock.

use std::{fmt::Write as _, time::Duration};

use bench_core::workqueue::{
    BucketRateLimiter, DelayingState, Finished, Got, ItemExponentialFailureRateLimiter,
    ItemFastSlowRateLimiter, MaxOfRateLimiter, RateLimiter, WithMaxWaitRateLimiter, WorkQueueState,
    default_controller_rate_limiter, default_item_based_rate_limiter,
};
use serde::{Deserialize, Serialize};

use super::{
    text::push_escaped,
    trace::{Header, Operation, SetupOption, Trace},
};

/// One operation on a work queue.
#[expect(
    missing_docs,
    reason = "the fields: the item, the place of one among those being processed, a time"
)]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "work", rename_all = "snake_case")]
pub enum WorkOperation {
    /// An item needs work.
    Add { item: String },
    /// As above, after a delay.
    AddAfter { item: String, nanoseconds: u64 },
    /// As above, after the delay that the limiter gives it.
    AddRateLimited { item: String },
    /// The limiter forgets an item.
    Forget { item: String },
    /// The limiter is asked for a delay, which counts a failure; the answer is in nanoseconds.
    When { item: String },
    /// The limiter is asked for the failures of an item.
    Requeues { item: String },
    /// A worker asks for an item; not done where it would wait.
    Get,
    /// The work on an item is done.
    Done { place: usize },
    /// Time passes.
    Step { nanoseconds: u64 },
    /// `ShutDown`.
    ShutDown,
    /// Somebody begins to wait in `ShutDownWithDrain`.
    Drain,
}

/// A work queue with its time.
#[derive(Debug)]
pub(super) struct WorkReplay {
    state: WorkQueueState<String>,
    delaying: DelayingState<String>,
    limiter: Box<dyn RateLimiter<String>>,
    now: Duration,
    processing: Vec<String>,
    was_shut_down: bool,
    // Calls of `ShutDownWithDrain` that wait, and that have returned.
    waiting_for_drain: u32,
    drained: u32,
}

/// The outcomes of a whole trace, one a line.
pub(super) fn replay(trace: &Trace) -> String {
    let mut replay = WorkReplay::new(&trace.header);
    let mut outcomes = String::new();
    for operation in &trace.operations {
        let Operation::Work(operation) = operation else {
            unreachable!("a trace of the work queue has no other operations");
        };
        outcomes.push_str("{\"result\":\"");
        replay.apply(operation, &mut outcomes);
        replay.push_state(&mut outcomes);
        outcomes.push('\n');
    }
    outcomes
}

/// The limiter of a trace, as the Go program makes it.
pub(super) fn limiter(header: &Header) -> Box<dyn RateLimiter<String>> {
    let ms = Duration::from_millis;
    let exponential = || ItemExponentialFailureRateLimiter::new(ms(5), ms(320));
    let fast_slow = || ItemFastSlowRateLimiter::new(ms(5), ms(20), 3);
    let bucket = || BucketRateLimiter::new(7.3, 3);
    let has = |option| header.has(option);
    if has(SetupOption::LimiterExponential) {
        Box::new(exponential())
    } else if has(SetupOption::LimiterFastSlow) {
        Box::new(fast_slow())
    } else if has(SetupOption::LimiterBucket) {
        Box::new(bucket())
    } else if has(SetupOption::LimiterMaxOf) {
        Box::new(MaxOfRateLimiter::new(vec![
            Box::new(exponential()),
            Box::new(fast_slow()),
            Box::new(bucket()),
        ]))
    } else if has(SetupOption::LimiterMaxWait) {
        Box::new(WithMaxWaitRateLimiter::new(exponential(), ms(33)))
    } else if has(SetupOption::LimiterItemBased) {
        Box::new(default_item_based_rate_limiter())
    } else {
        Box::new(default_controller_rate_limiter())
    }
}

impl WorkReplay {
    fn new(header: &Header) -> Self {
        Self {
            state: WorkQueueState::new(),
            delaying: DelayingState::new(),
            limiter: limiter(header),
            now: Duration::ZERO,
            processing: Vec::new(),
            was_shut_down: false,
            waiting_for_drain: 0,
            drained: 0,
        }
    }

    fn apply(&mut self, operation: &WorkOperation, out: &mut String) {
        match operation {
            WorkOperation::Add { item } => {
                self.state.add(item.clone());
                out.push_str("ok");
            }
            WorkOperation::AddAfter { item, nanoseconds } => {
                self.add_after(item, Duration::from_nanos(*nanoseconds));
                out.push_str("ok");
            }
            WorkOperation::AddRateLimited { item } => {
                let delay = self.limiter.when(item, self.now);
                self.add_after(item, delay);
                out.push_str("ok");
            }
            WorkOperation::Forget { item } => {
                self.limiter.forget(item);
                out.push_str("ok");
            }
            WorkOperation::When { item } => {
                let delay = self.limiter.when(item, self.now);
                write!(out, "{}", delay.as_nanos()).expect("a string can grow");
            }
            WorkOperation::Requeues { item } => {
                let requeues = self.limiter.num_requeues(item);
                write!(out, "{requeues}").expect("a string can grow");
            }
            WorkOperation::Get => self.get(out),
            WorkOperation::Done { place } => self.done(*place, out),
            WorkOperation::Step { nanoseconds } => {
                self.now += Duration::from_nanos(*nanoseconds);
                while let Some(item) = self.delaying.pop_ready(self.now) {
                    self.state.add(item);
                }
                out.push_str("ok");
            }
            WorkOperation::ShutDown => {
                self.shut_down();
                // A delaying queue passes on only the first.
                if !std::mem::replace(&mut self.was_shut_down, true) {
                    self.drained += std::mem::take(&mut self.waiting_for_drain);
                }
                out.push_str("ok");
            }
            WorkOperation::Drain => {
                self.shut_down();
                self.waiting_for_drain += 1;
                self.end_drain();
                out.push_str("ok");
            }
        }
        out.push('"');
    }

    fn add_after(&mut self, item: &str, delay: Duration) {
        if delay.is_zero() {
            self.state.add(item.to_owned());
        } else if !self.state.is_shutting_down() {
            self.delaying.add(item.to_owned(), self.now + delay);
        }
    }

    fn get(&mut self, out: &mut String) {
        match self.state.get() {
            Got::Item(item) => {
                out.push_str("got ");
                push_escaped(out, &item);
                self.processing.push(item);
            }
            Got::Empty => out.push_str("empty"),
            Got::ShutDown => out.push_str("shut down"),
        }
    }

    fn done(&mut self, place: usize, out: &mut String) {
        if self.processing.is_empty() {
            out.push_str("nothing");
            return;
        }
        let item = self.processing.remove(place % self.processing.len());
        let finished = self.state.done(&item);
        assert_ne!(finished, Finished::NotProcessing, "it was handed out");
        out.push_str("done ");
        push_escaped(out, &item);
        self.end_drain();
    }

    fn shut_down(&mut self) {
        self.state.shut_down();
        self.delaying.clear();
    }

    fn end_drain(&mut self) {
        if self.state.processing() == 0 {
            self.drained += std::mem::take(&mut self.waiting_for_drain);
        }
    }

    fn push_state(&self, out: &mut String) {
        write!(out, ",\"len\":{}", self.state.len()).expect("a string can grow");
        if self.state.is_shutting_down() {
            out.push_str(",\"shutting_down\":true");
        }
        if self.drained > 0 {
            write!(out, ",\"drained\":{}", self.drained).expect("a string can grow");
        }
        out.push('}');
    }
}
