//! Spans of time for a person, with two or three significant figures (apimachinery's `pkg/util/duration`).

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// Seconds since 1970 of an RFC 3339 time, rounded down.
pub(super) fn seconds(time: &str) -> Option<i64> {
    Some(time.parse::<jiff::Timestamp>().ok()?.as_second())
}

/// How long ago a time was; `<unknown>` for none.
pub(super) fn since(time: &str, now: i64) -> String {
    seconds(time).map_or_else(|| "<unknown>".to_owned(), |time| span(now - time))
}

/// A span of seconds.
pub(super) fn span(seconds: i64) -> String {
    let pair = |(large, large_unit): (i64, &str), (small, small_unit): (i64, &str)| {
        if small == 0 {
            format!("{large}{large_unit}")
        } else {
            format!("{large}{large_unit}{small}{small_unit}")
        }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => pair((seconds / MINUTE, "m"), (seconds % MINUTE, "s")),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => pair((seconds / HOUR, "h"), (seconds % HOUR / MINUTE, "m")),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => pair((seconds / DAY, "d"), (seconds % DAY / HOUR, "h")),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        63_072_000..252_288_000 => pair((seconds / YEAR, "y"), (seconds % YEAR / DAY, "d")),
        _ => format!("{}y", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_keep_two_or_three_figures() {
        for (seconds, expected) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (599, "9m59s"),
            (600, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (7 * HOUR + 59 * MINUTE, "7h59m"),
            (8 * HOUR, "8h"),
            (2 * DAY - 1, "47h"),
            (2 * DAY, "2d"),
            (7 * DAY + 23 * HOUR, "7d23h"),
            (8 * DAY, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR + DAY, "2y1d"),
            (8 * YEAR, "8y"),
        ] {
            assert_eq!(span(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn times_are_read_with_and_without_fractions() {
        assert_eq!(seconds("2026-01-01T00:00:00Z"), Some(1_767_225_600));
        assert_eq!(seconds("2026-01-01T00:00:00.999999Z"), Some(1_767_225_600));
        assert_eq!(since("", 0), "<unknown>");
    }
}
