//! Durations, rates and periods as people write them.

use std::time::Duration;

/// A quantity could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {expected}")]
pub struct QuantityError {
    text: String,
    expected: &'static str,
}

impl QuantityError {
    /// `text` was found where `expected` was wanted.
    pub fn new(text: &str, expected: &'static str) -> Self {
        Self { text: text.to_owned(), expected }
    }
}

/// Reads `60us`, `0.3ms`, `1.5s`, `2m` or `1h`.
///
/// # Errors
/// [`QuantityError`] for anything else.
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    let error = || QuantityError::new(text, "a duration such as 60us, 1.5s or 10m");
    let split = text.find(|character: char| character.is_ascii_alphabetic() || character == 'µ').ok_or_else(error)?;
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => return Err(error()),
    };
    let number: f64 = number.parse().map_err(|_| error())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| error())
}

/// Reads a resync period: a duration, or `off` or `0` for never.
///
/// # Errors
/// [`QuantityError`] for anything else.
pub fn parse_period(text: &str) -> Result<Option<Duration>, QuantityError> {
    match text {
        "off" | "0" | "never" => Ok(None),
        _ => {
            let period = parse_duration(text).map_err(|_| QuantityError::new(text, "a resync period such as off, 1s or 10m"))?;
            Ok((!period.is_zero()).then_some(period))
        }
    }
}

/// Reads a rate: `200/s`, or a plain number of changes a second; 0 is none.
///
/// # Errors
/// [`QuantityError`] for anything else.
pub fn parse_rate(text: &str) -> Result<f64, QuantityError> {
    let number = text.strip_suffix("/s").unwrap_or(text);
    match number.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate >= 0.0 => Ok(rate),
        _ => Err(QuantityError::new(text, "a rate such as 200/s")),
    }
}

/// Writes a duration as briefly as it can be read: `off` for none.
pub fn render_period(period: Option<Duration>) -> String {
    period.map_or_else(|| "off".to_owned(), render_duration)
}

/// Writes a duration with the largest unit that leaves at most three decimals.
pub fn render_duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (value, unit) = match seconds {
        _ if seconds >= 1.0 => (seconds, "s"),
        _ if seconds >= 1e-3 => (seconds * 1e3, "ms"),
        _ => (seconds * 1e6, "us"),
    };
    let text = format!("{value:.3}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_as_written_and_errors_name_what_was_found() {
        assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1_500)));
        assert_eq!(parse_period("off"), Ok(None));
        assert_eq!(parse_period("0s"), Ok(None));
        assert_eq!(parse_rate("200/s"), Ok(200.0));
        assert_eq!(parse_period("soon").unwrap_err().to_string(), "\"soon\" is not a resync period such as off, 1s or 10m");
        assert!(parse_duration("-1s").is_err() && parse_rate("NaN").is_err() && parse_rate("-3/s").is_err());
        assert_eq!(render_duration(Duration::from_micros(1_500)), "1.5ms");
        assert_eq!(render_period(Some(Duration::from_secs(10))), "10s");
    }
}
