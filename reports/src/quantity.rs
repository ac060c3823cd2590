//! Numbers for people: three significant digits and a unit.

/// What a number on an axis or in a file of points is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Whole things.
    Count,
    /// 1,048,576 bytes.
    Mebibytes,
    /// Nanoseconds.
    Nanoseconds,
    /// A ratio or a rate.
    Plain,
    /// A share of 1.
    Share,
}

impl Unit {
    /// The value for people.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Count => count(rounded(value)),
            Self::Mebibytes if value == 0.0 => "0".to_owned(),
            Self::Mebibytes => format!("{} MiB", number(value)),
            Self::Nanoseconds => duration(value),
            Self::Plain => number(value),
            Self::Share => percent(value),
        }
    }

    /// The unit of the bare value, for machines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Mebibytes => "MiB",
            Self::Nanoseconds => "ns",
            Self::Plain => "1",
            Self::Share => "share",
        }
    }
}

/// Nanoseconds as `850 ns`, `12.3 µs`, `4.56 ms`, `1.21 s`, `2.5 min`, `3 h`.
pub fn duration(ns: f64) -> String {
    let units = [
        (1e3, 1.0, "ns"),
        (1e6, 1e3, "µs"),
        (1e9, 1e6, "ms"),
        (120e9, 1e9, "s"),
        (7_200e9, 60e9, "min"),
        (f64::INFINITY, 3_600e9, "h"),
    ];
    if ns == 0.0 {
        return "0 s".to_owned();
    }
    // 999.96 µs is 1 ms, not 1000 µs: the bound is compared after rounding.
    let (_, size, unit) = units
        .into_iter()
        .find(|&(below, _, _)| ns.abs() * 1.0005 < below)
        .unwrap_or((0.0, 3_600e9, "h"));
    format!("{} {unit}", significant(ns / size))
}

/// A whole number with thousands apart: `150,000`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with three significant digits and thousands apart: `0.123`, `12.3`, `12,300`.
pub fn number(value: f64) -> String {
    if value.abs() >= 99.95 && value.abs() < 1e15 {
        let whole = count(rounded(value.abs()));
        return if value < 0.0 {
            format!("-{whole}")
        } else {
            whole
        };
    }
    significant(value)
}

/// A share of 1 as `12.3 %`.
pub fn percent(share: f64) -> String {
    let hundredths = share * 100.0;
    if hundredths == 0.0 {
        "0 %".to_owned()
    } else if hundredths.abs() < 0.01 {
        "<0.01 %".to_owned()
    } else {
        format!("{} %", significant(hundredths))
    }
}

/// Bytes as `512 B`, `1.5 KiB`, `230 MiB`, `1.21 GiB`.
pub fn bytes(value: u64) -> String {
    let value = value as f64;
    let units = [
        (1024.0, 1.0, "B"),
        (1_048_576.0, 1024.0, "KiB"),
        (1_073_741_824.0, 1_048_576.0, "MiB"),
    ];
    let (_, size, unit) = units
        .into_iter()
        .find(|&(below, _, _)| value < below)
        .unwrap_or((0.0, 1_073_741_824.0, "GiB"));
    format!("{} {unit}", significant(value / size))
}

/// `1 core`, `2 cores`.
pub fn cores(value: u32) -> String {
    if value == 1 {
        "1 core".to_owned()
    } else {
        format!("{value} cores")
    }
}

/// The nearest whole number, 0 for what is negative or not a number.
pub fn rounded(value: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates, which is what is wanted of a rounded figure"
    )]
    let whole = value.round() as u64;
    whole
}

/// Three significant digits without trailing zeros after the point.
fn significant(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        size if size >= 0.0995 => 3,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_choose_their_unit_after_rounding() {
        let cases = [
            (0.0, "0 s"),
            (850.0, "850 ns"),
            (12_345.0, "12.3 µs"),
            (999_960.0, "1 ms"),
            (1.2146e9, "1.21 s"),
            (90e9, "90 s"),
            (150e9, "2.5 min"),
        ];
        for (ns, text) in cases {
            assert_eq!(duration(ns), text);
        }
    }

    #[test]
    fn counts_shares_and_bytes() {
        assert_eq!(
            [count(0), count(999), count(150_000), count(1_000_000)],
            ["0", "999", "150,000", "1,000,000"]
        );
        assert_eq!(
            [
                percent(0.0),
                percent(0.000_01),
                percent(0.123_4),
                percent(1.0)
            ],
            ["0 %", "<0.01 %", "12.3 %", "100 %"]
        );
        assert_eq!(
            [bytes(512), bytes(1536), bytes(241_172_480)],
            ["512 B", "1.5 KiB", "230 MiB"]
        );
        assert_eq!(
            [number(0.1234), number(12_345.6), number(99.96)],
            ["0.123", "12,346", "100"]
        );
    }
}
