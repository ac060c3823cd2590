//! Misbehaviour on purpose, by a script.
//!
//! - Pure state, time as an argument: [`script`] is what a person writes, [`plan`] decides which request meets which faults,
//!   [`stream`] what becomes of the bytes of one answer, [`timeline`] what happens to the whole server and when.
//! - Drivers: the layer in front of the routes, the body around their answers, and the task that follows the timeline.
//!
//! A script has three parts, all optional:
//!
//! ```yaml
//! seed: 7                       # of everything random here; that of the server if absent
//! limits:                       # small history, small buffers
//!   history_events: 10
//!   watch_buffer_events: 5
//! faults:
//!   - name: overloaded
//!     match: {verbs: [list], resources: [pods], user_agent: kube-rs, first: 3, until: 30s}
//!     fault: {error: {code: 429, retry_after: 1s}}
//!   - match: {verbs: [watch], nth: 2}
//!     fault: {stall: {after_events: 3}}
//! timeline:
//!   - {at: 10s, every: 30s, action: close_watches}
//! ```
//!
//! Times count from the server's start, or from when the script was put in place of another through the control API. Counts
//! are of requests in the order of their arrival. The same requests in the same order meet the same faults, random ones included.

mod body;
mod driver;
mod error_answer;
mod layer;
pub mod plan;
mod quantity;
mod routes;
pub mod script;
pub mod stream;
pub mod timeline;

pub(crate) use self::{
    driver::{FaultDriver, follow_timeline},
    layer::inject_faults,
    routes::routes,
};
