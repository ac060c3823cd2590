//! Is what one handler saw legal, does the cache equal the server, do the counts balance?
//!
//! Pure: what is wrong comes back as values.

mod balance;
mod event_stream;
mod states;
mod violation;

pub use balance::{Convergence, SyncBalance, check_accounting, check_resync, check_sync};
pub use event_stream::{EventCounts, EventStreamChecker, Notification};
pub use states::{ObjectState, compare_states};
pub use violation::Violation;
