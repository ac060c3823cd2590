//! Times as objects carry them: RFC 3339 in whole seconds, UTC.

use jiff::Timestamp as JiffTimestamp;
use serde_json::Value;

/// A second of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timestamp(i64);

impl Timestamp {
    /// Seconds since 1970.
    pub(crate) fn from_unix_seconds(seconds: i64) -> Self {
        Self(seconds)
    }

    pub(crate) fn parse(value: &Value) -> Option<Self> {
        let time: JiffTimestamp = value.as_str()?.parse().ok()?;
        Some(Self(time.as_second()))
    }

    pub(crate) fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds))
    }

    /// As it is written in metadata.
    pub(crate) fn value(self) -> Value {
        let time = JiffTimestamp::from_second(self.0).unwrap_or(JiffTimestamp::UNIX_EPOCH);
        Value::from(time.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_seconds_and_read_with_any_fraction_or_zone() {
        let time = Timestamp::from_unix_seconds(1_767_225_600);
        assert_eq!(time.value(), "2026-01-01T00:00:00Z");
        assert_eq!(time.plus_seconds(90).value(), "2026-01-01T00:01:30Z");
        for text in [
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00.999999Z",
            "2026-01-01T02:00:00+02:00",
        ] {
            assert_eq!(Timestamp::parse(&text.into()), Some(time), "{text}");
        }
        assert_eq!(Timestamp::parse(&"yesterday".into()), None);
    }
}
