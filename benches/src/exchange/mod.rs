//! Whole informers, ours and client-go's, against the same scripted HTTP server: requests, handler calls, cache and last
//! version compared.
//!
//! `benches/peers/client-go/README.md` says how to run it.
//!
//! - [`script`]: what the server answers, and how the informer is set up; [`scripts`] has them all.
//! - [`server`]: answers by script and notes what was asked; over TCP in [`tcp`], within the process in [`in_process`].
//! - [`ours`]: what our informer makes of it; [`peer`]: what client-go's does.
//! - [`outcome`], [`waits`]: what is compared, and how; [`record`]: client-go's outcomes, kept.

pub mod in_process;
pub mod line;
pub mod ours;
pub mod outcome;
pub mod peer;
pub mod record;
mod recorder;
pub mod script;
pub mod scripts;
pub mod server;
pub mod tcp;
pub mod waits;
