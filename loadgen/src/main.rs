//! loadgen.
fn main() {}
