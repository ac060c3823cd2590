//! client-go's `util/workqueue`: keys to be worked on, each by one worker at a time.
//!
//! - [`WorkQueueState`], [`DelayingState`], [`PriorityQueueState`], [`WorkTimes`] and the rate limiters are pure: time is an
//!   argument.
//! - [`WorkQueue`] is the locked, waking driver with the three upstream layers in one: base, delaying and rate limited.
//! - [`PriorityQueue`] is controller-runtime's in its place.
//! - [`WorkQueueMetrics`] is what either tells of itself, and [`parallelize`] is `ParallelizeUntil`.
//!
//! Only [`Novelty`] knows the cache's types: it says which notifications deserve a low priority.

mod delaying;
mod metrics;
mod parallelize;
mod priority;
mod queue;
mod rate_limiter;
mod state;
mod waiters;
mod work_times;

pub use delaying::DelayingState;
pub use metrics::WorkQueueMetrics;
pub use parallelize::parallelize;
pub use priority::{
    AddOptions, LOW_PRIORITY, Novelty, Pace, PriorityAdded, PriorityQueue, PriorityQueueState,
    Ready,
};
pub use queue::{Delayed, WorkQueue};
pub use rate_limiter::{
    BucketRateLimiter, ItemExponentialFailureRateLimiter, ItemFastSlowRateLimiter,
    MaxOfRateLimiter, RateLimiter, WithMaxWaitRateLimiter, default_controller_rate_limiter,
    default_item_based_rate_limiter,
};
pub use state::{Added, Finished, Got, WaitingItems, WorkQueueState};
pub use work_times::{UnfinishedWork, WorkTimes};
