//! Values that people write in scenario files and flags, as types that cannot hold an invalid one.

use std::{fmt, str::FromStr, time::Duration};

/// Why a text is not the value it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {expected}")]
pub struct QuantityError {
    text: String,
    expected: &'static str,
}

impl QuantityError {
    pub(crate) fn new(text: &str, expected: &'static str) -> Self {
        Self {
            text: text.to_owned(),
            expected,
        }
    }
}

const DURATION: &str = "a duration such as 60us, 1.5s or 2m";

/// Reads `60us`, `1.5s`, `2m`; units are `ns`, `us`, `ms`, `s`, `m` and `h`, and 0 needs none.
///
/// # Errors
/// If there is no unit, or the number is negative or too large.
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    let error = || QuantityError::new(text, DURATION);
    let trimmed = text.trim();
    if trimmed == "0" {
        return Ok(Duration::ZERO);
    }
    let unit_start = trimmed
        .find(|character: char| character.is_alphabetic() || character == 'µ')
        .ok_or_else(error)?;
    let (number, unit) = trimmed.split_at(unit_start);
    let nanoseconds_per_unit = match unit {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        _ => return Err(error()),
    };
    let number: f64 = number.trim().parse().map_err(|_| error())?;
    // Through whole nanoseconds, so that 0.3ms is 300000 ns and not 299999.
    let nanoseconds = (number * nanoseconds_per_unit).round();
    if !(0.0..9e18).contains(&nanoseconds) {
        return Err(error());
    }
    Duration::try_from_secs_f64(nanoseconds / 1e9)
        .map(|duration| round_to_nanoseconds(duration, nanoseconds))
        .map_err(|_| error())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the caller checked the range"
)]
fn round_to_nanoseconds(approximate: Duration, nanoseconds: f64) -> Duration {
    if nanoseconds < 9e15 {
        Duration::from_nanos(nanoseconds as u64)
    } else {
        approximate
    }
}

/// Renders a duration as [`parse_duration`] reads it, in the largest unit that keeps it short.
pub fn format_duration(duration: Duration) -> String {
    let nanoseconds = duration.as_nanos();
    let units = [
        (1_000_000_000_u128, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
        (1, "ns"),
    ];
    for (size, unit) in units {
        if nanoseconds >= size {
            return format!("{}{unit}", nanoseconds as f64 / size as f64);
        }
    }
    "0".to_owned()
}

/// Events per second; 0 or more, finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate(f64);

impl Rate {
    /// Makes a rate.
    ///
    /// # Errors
    /// If it is negative or not finite.
    pub fn try_new(per_second: f64) -> Result<Self, QuantityError> {
        if per_second.is_finite() && per_second >= 0.0 {
            Ok(Self(per_second))
        } else {
            Err(QuantityError::new(&per_second.to_string(), RATE))
        }
    }

    /// Events per second.
    pub fn per_second(self) -> f64 {
        self.0
    }

    /// Whether there are no events at all.
    pub fn is_zero(self) -> bool {
        self.0 <= 0.0
    }
}

const RATE: &str = "a rate such as 200/s, 0 or more";

impl FromStr for Rate {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let number = text.trim();
        let number = number.strip_suffix("/s").unwrap_or(number);
        number
            .trim()
            .parse()
            .ok()
            .and_then(|per_second| Self::try_new(per_second).ok())
            .ok_or_else(|| QuantityError::new(text, RATE))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/s", self.0)
    }
}

/// A share from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share(f64);

const SHARE: &str = "a share from 0 to 1, such as 0.01 or 1%";

impl Share {
    /// Nothing.
    pub const ZERO: Self = Self(0.0);

    /// Makes a share.
    ///
    /// # Errors
    /// If it is outside 0 to 1.
    pub fn try_new(share: f64) -> Result<Self, QuantityError> {
        if (0.0..=1.0).contains(&share) {
            Ok(Self(share))
        } else {
            Err(QuantityError::new(&share.to_string(), SHARE))
        }
    }

    /// The share, from 0 to 1.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl FromStr for Share {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let trimmed = text.trim();
        let (number, scale) = match trimmed.strip_suffix('%') {
            Some(number) => (number.trim(), 100.0),
            None => (trimmed, 1.0),
        };
        number
            .parse::<f64>()
            .ok()
            .and_then(|number| Self::try_new(number / scale).ok())
            .ok_or_else(|| QuantityError::new(text, SHARE))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

/// How often an informer delivers its cache again; `off` is never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResyncPeriod {
    /// Never; `off` or `0`.
    Off,
    /// Every so often; never zero.
    Every(Duration),
}

impl ResyncPeriod {
    /// The period, if there is one.
    pub fn period(self) -> Option<Duration> {
        match self {
            Self::Off => None,
            Self::Every(period) => Some(period),
        }
    }
}

impl FromStr for ResyncPeriod {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "off" {
            return Ok(Self::Off);
        }
        match parse_duration(text) {
            Ok(Duration::ZERO) => Ok(Self::Off),
            Ok(period) => Ok(Self::Every(period)),
            Err(_) => Err(QuantityError::new(
                text,
                "a resync period such as off, 1s or 500ms",
            )),
        }
    }
}

impl fmt::Display for ResyncPeriod {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => formatter.write_str("off"),
            Self::Every(period) => formatter.write_str(&format_duration(*period)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_to_the_nanosecond_and_rendered_as_written() {
        let cases = [
            ("60us", 60_000),
            ("0.3ms", 300_000),
            ("1.5s", 1_500_000_000),
            ("2m", 120_000_000_000),
            ("0", 0),
        ];
        for (text, nanoseconds) in cases {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_nanos(nanoseconds)),
                "{text}"
            );
        }
        for text in ["", "5", "-1s", "1 parsec", "1e30h", "s", "NaNs"] {
            let error = parse_duration(text).expect_err(text);
            assert_eq!(error.to_string(), format!("{text:?} is not {DURATION}"));
        }
        assert_eq!(format_duration(Duration::from_micros(60)), "60us");
        assert_eq!(format_duration(Duration::from_millis(1500)), "1.5s");
    }

    #[test]
    fn rates_and_shares_cannot_be_out_of_range() {
        assert_eq!("200/s".parse(), Rate::try_new(200.0));
        assert_eq!("0".parse::<Rate>().map(Rate::is_zero), Ok(true));
        for text in ["-1/s", "inf", "NaN", "x", ""] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
        assert_eq!("1%".parse::<Share>(), "0.01".parse());
        for text in ["1.01", "-0.1", "101%", "NaN"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_resync_period_of_zero_is_off() {
        for text in ["off", "0", "0s"] {
            assert_eq!(text.parse(), Ok(ResyncPeriod::Off), "{text}");
        }
        let second = ResyncPeriod::Every(Duration::from_secs(1));
        assert_eq!("1s".parse(), Ok(second));
        assert_eq!(second.to_string(), "1s");
    }
}
