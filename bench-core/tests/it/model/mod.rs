//! Slow, obvious models that share no line with what they check.

pub(crate) mod cache;
pub(crate) mod delta_fifo;
pub(crate) mod events;
pub(crate) mod priority_queue;
pub(crate) mod workqueue;

/// Cases of each model test: 10,000, or what `PROPTEST_CASES` says, since a mutated queue is found out by far fewer.
pub(crate) fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.map_or(10_000, |cases| cases.parse().expect("a number"))
}
