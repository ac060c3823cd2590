//! client-go's `util/workqueue`: a queue of keys in which a key waits at most once and is worked on by one worker at a time.

mod queue;
mod state;

pub use queue::WorkQueue;
pub use state::WorkQueueState;
