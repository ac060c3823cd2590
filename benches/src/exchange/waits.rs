//! How long a client waited before a request: compared as the range that the wait was drawn from.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize, de::Error as _};

/// The range of a wait, in milliseconds, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    least: u64,
    most: u64,
}

/// A timer may fire a little early, and clocks are read apart.
const EARLY: Duration = Duration::from_millis(20);

/// How far apart waits for the same whole seconds may be: several waits that a backoff draws are not that close.
const SPREAD: Duration = Duration::from_millis(60);

impl Wait {
    /// None: at once.
    pub const NONE: Self = Self { least: 0, most: 0 };

    /// The ranges there are: none, what `Retry-After` asks for, and a reflector's backoff with its jitter.
    fn all() -> impl Iterator<Item = Self> {
        let exact = (0..=3).map(|seconds| Self {
            least: seconds * 1_000,
            most: seconds * 1_000,
        });
        let backoff = (0..=4).map(|step| Self {
            least: 800 << step,
            most: 1_600 << step,
        });
        exact.chain(backoff)
    }

    /// Whether a wait that was measured may be one of this range, if the machine delayed it by `delay` at most.
    pub fn admits(self, waited: Duration, delay: Duration) -> bool {
        waited + EARLY >= Duration::from_millis(self.least)
            && waited <= Duration::from_millis(self.most) + delay
    }

    /// The narrowest range that admits every one of these waits, if the machine delayed each by `delay` at most. Whole seconds
    /// are told from a backoff by how little they differ.
    pub fn of(waits: &[Duration], delay: Duration) -> Option<Self> {
        let delay = |range: &Self| match range.least {
            0 => delay,
            least if least == range.most => delay.min(SPREAD),
            _ => delay,
        };
        let fits =
            Self::all().filter(|range| waits.iter().all(|&wait| range.admits(wait, delay(range))));
        fits.min_by_key(|range| range.most - range.least)
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.least == self.most {
            write!(formatter, "{}ms", self.least)
        } else {
            write!(formatter, "{}..{}ms", self.least, self.most)
        }
    }
}

impl Serialize for Wait {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Wait {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let known = Self::all().find(|range| range.to_string() == text);
        known.ok_or_else(|| D::Error::custom(format!("no such wait: {text}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range_of(waits: &[u64]) -> Option<String> {
        let waits: Vec<_> = waits.iter().copied().map(Duration::from_millis).collect();
        Wait::of(&waits, Duration::from_millis(200)).map(|wait| wait.to_string())
    }

    #[test]
    fn the_narrowest_range_that_fits_is_taken() {
        assert_eq!(range_of(&[0, 150]).as_deref(), Some("0ms"));
        assert_eq!(range_of(&[1_001, 1_050]).as_deref(), Some("1000ms"));
        assert_eq!(range_of(&[1_001, 1_100]).as_deref(), Some("800..1600ms"));
        assert_eq!(range_of(&[1_700, 3_100]).as_deref(), Some("1600..3200ms"));
        assert_eq!(range_of(&[0, 900]), None);
    }

    #[test]
    fn a_range_is_read_as_it_is_written() {
        for range in Wait::all() {
            let text = serde_json::to_string(&range).unwrap();
            assert_eq!(serde_json::from_str::<Wait>(&text).unwrap(), range);
        }
        assert!(serde_json::from_str::<Wait>("\"7ms\"").is_err());
    }
}
