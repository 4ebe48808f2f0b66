//! Times of day, as Go prints them.

use std::fmt;

use crate::sync::WallTime;

/// A time of day in UTC, with as many digits of the second as it needs.
pub(super) struct Rfc3339(pub(super) WallTime);

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WallTime { seconds, nanos } = self.0;
        let (year, month, day) = civil(seconds.div_euclid(86_400));
        let second = seconds.rem_euclid(86_400);
        write!(f, "{year:04}-{month:02}-{day:02}T")?;
        write!(f, "{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)?;
        if nanos != 0 {
            let digits = format!("{nanos:09}");
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

/// Year, month and day of the Gregorian calendar, `days` days after 1 January 1970.
///
/// Years are taken to begin in March, so that the leap day is the last of its year; 400 years
/// have 146,097 days (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_printed_as_go_prints_them() {
        for (seconds, nanos, expected) in [
            (0, 0, "1970-01-01T00:00:00Z"),
            (951_782_399, 500_000_000, "2000-02-28T23:59:59.5Z"),
            (951_782_400, 1, "2000-02-29T00:00:00.000000001Z"),
            (1_796_140_800, 0, "2026-12-01T16:00:00Z"),
            (-1, 0, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(Rfc3339(WallTime { seconds, nanos }).to_string(), expected);
        }
        // Far off the calendar, but no panic.
        for seconds in [i64::MIN, i64::MAX] {
            let _ = Rfc3339(WallTime { seconds, nanos: 0 }).to_string();
        }
    }
}
