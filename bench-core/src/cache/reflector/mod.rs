//! Lists and watches one resource type and feeds a queue. Mirrors client-go's `tools/cache/reflector.go` of 0.27.

mod driver;
mod retry_with_deadline;
mod state;

pub use driver::{Reflector, ReflectorSettings, ResyncTimer, ShouldResync};
pub use retry_with_deadline::RetryWithDeadline;
pub use state::{AfterWatch, ListRecovery, ReflectorState, WatchOutcome};
