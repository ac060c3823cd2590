//! Lists and watches one resource type and feeds a queue. Mirrors client-go's `tools/cache/reflector.go`; in which points its
//! lines differ, [`ReflectorSettings`] says.

mod driver;
mod error;
mod retry_with_deadline;
mod settings;
mod state;
mod streaming;

pub use driver::{Reflector, ResyncTimer, ShouldResync};
pub use error::ReflectorError;
pub use retry_with_deadline::RetryWithDeadline;
pub use settings::{BackoffManagers, InitialVersions, ReflectorSettings, StreamingList};
pub use state::{AfterStream, AfterWatch, ListRecovery, Observed, ReflectorState, WatchOutcome};
