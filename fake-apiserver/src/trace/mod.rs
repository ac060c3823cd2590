//! What happened on a server, written down to be done again.
//!
//! A trace is a file of JSON values, one for each event, oldest first:
//!
//! ```text
//! {"offset_ns":1500000,"type":"MODIFIED","object":{"kind":"Pod",…}}
//! ```
//!
//! `offset_ns` counts from the beginning of the recording. Values may be spread over lines and may lack it, so that the output of
//! `kubectl get -w --output-watch-events -o json` is a trace too. Objects carry their versions of then; a replay gives new ones.
//! The state before the first event is not in a recording: start the replaying server with the same objects.

pub mod read;
mod record;
pub mod replay;

pub(crate) use self::record::Journal;
pub use self::record::{RecordError, Recording};
