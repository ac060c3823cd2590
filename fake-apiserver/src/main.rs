//! fake-apiserver.
fn main() {}
