//! Durations and shares as people write them.

use std::time::Duration;

use serde::{Deserialize as _, Deserializer, de::Error as _};

/// Such as `1s`, `250ms` or `1m 30s`.
pub(super) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    let expected = || {
        D::Error::custom(format!(
            "{text:?} is not a duration such as 250ms, 1s or 1m"
        ))
    };
    let signed: jiff::SignedDuration = text.parse().map_err(|_unclear| expected())?;
    Duration::try_from(signed).map_err(|_negative| expected())
}

/// The same for a field that may be absent.
pub(super) fn optional_duration<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    duration(deserializer).map(Some)
}

/// A probability.
pub(super) fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let share = f64::deserialize(deserializer)?;
    if (0.0..=1.0).contains(&share) {
        Ok(Some(share))
    } else {
        Err(D::Error::custom(format!("{share} is not between 0 and 1")))
    }
}

/// A count from 1.
pub(super) fn positive<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    match u64::deserialize(deserializer)? {
        0 => Err(D::Error::custom("counts begin at 1")),
        count => Ok(Some(count)),
    }
}
