//! Tests of the whole crate.

mod differential;
mod exchange;
mod reference;
