//! Our queues against client-go's: the same operations on both, outcomes compared after each.
//!
//! `benches/peers/client-go/README.md` says how to run it and what the lines mean.
//!
//! - [`trace`], [`object`]: what both sides are told; [`generate`] makes it from a seed.
//! - [`work`]: the same for the work queue.
//! - [`replay`]: what ours makes of it; [`peer`]: what client-go does.
//! - [`stream`]: millions, until one differs; [`shrink`]: the difference made small; [`corpus`]: kept with its outcomes;
//!   [`choose`]: a few traces that show much.

pub mod choose;
pub mod corpus;
pub mod generate;
mod generate_work;
pub mod object;
pub mod peer;
mod queues;
pub mod replay;
pub mod shrink;
pub mod stream;
mod text;
pub mod trace;
pub mod work;
