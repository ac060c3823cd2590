//! The time of day, which the age of an object is counted from.

/// Seconds since 1970.
pub(crate) fn seconds() -> i64 {
    jiff::Timestamp::now().as_second()
}
