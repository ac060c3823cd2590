//! client-go's `util/workqueue`: keys to be worked on, each by one worker at a time.
//!
//! - [`WorkQueueState`], [`DelayingState`] and the rate limiters are pure: time is an argument.
//! - [`WorkQueue`] is the locked, waking driver with the three upstream layers in one: base, delaying and rate limited.
//!
//! Deliberately absent: metrics, priorities, `ParallelizeUntil`.

mod delaying;
mod queue;
mod rate_limiter;
mod state;

pub use delaying::DelayingState;
pub use queue::WorkQueue;
pub use rate_limiter::{
    BucketRateLimiter, ItemExponentialFailureRateLimiter, ItemFastSlowRateLimiter,
    MaxOfRateLimiter, RateLimiter, WithMaxWaitRateLimiter, default_controller_rate_limiter,
    default_item_based_rate_limiter,
};
pub use state::{Added, Finished, Got, WorkQueueState};
