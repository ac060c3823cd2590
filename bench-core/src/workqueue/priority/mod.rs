//! A work queue whose items have priorities, as controller-runtime's `pkg/controller/priorityqueue`.

mod novelty;
mod queue;
mod state;

pub use novelty::{LOW_PRIORITY, Novelty};
pub use queue::{AddOptions, Pace, PriorityQueue};
pub use state::{PriorityAdded, PriorityQueueState, Ready};
