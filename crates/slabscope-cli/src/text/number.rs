//! Numbers as people read them.

use jiff::Timestamp;
use slabscope_analysis::Moment;

/// A count, with a comma at every thousand.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count of things: `1 event`, `2 events`.
pub(crate) fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// Bytes, in the largest binary unit that keeps a digit before the point.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let mut value = n as f64 / 1024.0;
    let mut unit = 0;
    // 1,023.95 and more would round to 1,024.0.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A part of a whole.
pub(crate) fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// A length of time, in seconds.
pub(crate) fn duration(ns: i64) -> String {
    format!("{:.3} s", ns as f64 / 1e9)
}

/// A length of time, in the unit that suits it.
pub(crate) fn short_time(ns: u64) -> String {
    let value = ns as f64;
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} us", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", value / 1e6),
        _ => format!("{:.1} s", value / 1e9),
    }
}

/// Bytes more or fewer than before.
pub(crate) fn signed_bytes(n: i64) -> String {
    match n {
        0 => "0 B".to_owned(),
        n => format!("{}{}", if n < 0 { '-' } else { '+' }, bytes(n.unsigned_abs())),
    }
}

/// A count more or less than before.
pub(crate) fn signed_count(n: i64) -> String {
    match n {
        0 => "0".to_owned(),
        n => format!("{}{}", if n < 0 { '-' } else { '+' }, count(n.unsigned_abs())),
    }
}

/// A moment, since the trace's start.
pub(crate) fn moment(moment: &Moment) -> String {
    format!("{:+.3} s", moment.since_start_ns as f64 / 1e9)
}

/// A moment by the wall clock, where that is known.
pub(crate) fn wall(moment: &Moment) -> Option<String> {
    let timestamp = Timestamp::from_nanosecond(i128::from(moment.unix_ns?)).ok()?;
    Some(timestamp.strftime("%Y-%m-%d %H:%M:%S%.3f UTC").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_commas() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (n, text) in cases {
            assert_eq!(count(n), text);
        }
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!((plural(1, "x", "xs"), plural(0, "x", "xs")), ("1 x".into(), "0 xs".into()));
    }

    #[test]
    fn bytes_change_unit_before_they_need_four_digits() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (1_048_575, "1.0 MiB"),
            (5 << 30, "5.0 GiB"),
            (u64::MAX, "16.0 EiB"),
        ];
        for (n, text) in cases {
            assert_eq!(bytes(n), text);
        }
    }

    #[test]
    fn times_and_differences_have_their_unit_and_sign() {
        let times = [999, 1_500, 2_000_000, 3_250_000_000].map(short_time);
        assert_eq!(times, ["999 ns", "1.5 us", "2.0 ms", "3.2 s"]);
        assert_eq!([0, 5, -2048].map(signed_bytes), ["0 B", "+5 B", "-2.0 KiB"]);
        assert_eq!([0, 5, -2048].map(signed_count), ["0", "+5", "-2,048"]);
    }

    #[test]
    fn times_count_from_the_start_and_by_the_clock() {
        let at =
            Moment { since_start_ns: 12_345_678_901, unix_ns: Some(1_000_000_000_123_000_000) };
        assert_eq!(moment(&at), "+12.346 s");
        assert_eq!(wall(&at).as_deref(), Some("2001-09-09 01:46:40.123 UTC"));
        assert_eq!(wall(&Moment { unix_ns: None, ..at }), None);
        assert_eq!(duration(-5_000_000), "-0.005 s");
        assert_eq!(percent(0.125), "12.5 %");
    }
}
