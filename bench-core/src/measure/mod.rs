//! The instruments. The measured code (`cache`, `workqueue`) never imports this module.

pub mod allocations;
pub mod clock;
pub mod depth;
pub mod environment;
pub mod latency;
pub mod process;
pub mod record;
pub mod statistics;
