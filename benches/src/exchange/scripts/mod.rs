//! Every script, written by hand or made from a seed.

mod events;
mod expired;
mod handlers;
mod lists;
mod refused;
mod seeded;
mod streams;
mod watches;
mod wire;

use super::script::Script;

/// All scripts, names unique.
pub fn all() -> Vec<Script> {
    let mut all = Vec::new();
    for some in [
        lists::scripts(),
        expired::scripts(),
        refused::scripts(),
        watches::scripts(),
        events::scripts(),
        handlers::scripts(),
        streams::scripts(),
        seeded::scripts(),
    ] {
        all.extend(some);
    }
    all
}
