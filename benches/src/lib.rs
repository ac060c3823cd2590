//! Shared set-up of the criterion benches.
