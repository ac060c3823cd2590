//! Slow, obvious models that share no line with what they check.

pub(crate) mod cache;
pub(crate) mod delta_fifo;
pub(crate) mod events;
pub(crate) mod priority_queue;
pub(crate) mod workqueue;
