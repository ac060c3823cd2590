//! loadgen.
