//! `--from` and `--to`: the part of a trace to look at.

use clap::Args;
use jiff::Timestamp;
use slabscope_analysis::{AnalyzeError, Bound, Temporary, Window};

/// Which part of the trace.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Part of the trace")]
pub(crate) struct WindowArgs {
    /// Leave out what comes before this moment
    ///
    /// 1.5s, 250ms, 10us, 3m or 2h after the trace's start, or a time of day
    /// such as 2026-12-02T10:15:00.5Z. Objects that are live at that moment
    /// count as there at the start.
    #[arg(long, value_name = "TIME", value_parser = bound, verbatim_doc_comment)]
    from: Option<Bound>,
    /// Stop at this moment
    ///
    /// Written as for --from. What is 'live at the end' is then what was live
    /// at that moment.
    #[arg(long, value_name = "TIME", value_parser = bound, verbatim_doc_comment)]
    to: Option<Bound>,
    /// Neither use nor make an index beside the trace
    ///
    /// The first command that reads all of a large trace leaves one there,
    /// FILE.slabscope-index, and the next ones answer at once.
    #[arg(long, verbatim_doc_comment, help_heading = "Index")]
    no_index: bool,
}

impl WindowArgs {
    /// Whether an index beside the trace may be used or made.
    pub(crate) fn may_index(self) -> bool {
        !self.no_index
    }

    /// The part; an error when it can have nothing in it.
    pub(crate) fn window(self) -> Result<Window, String> {
        let is_empty = match (self.from, self.to) {
            (Some(Bound::SinceStart(from)), Some(Bound::SinceStart(to)))
            | (Some(Bound::Unix(from)), Some(Bound::Unix(to))) => from >= to,
            _ => false,
        };
        if is_empty {
            return Err("--from is not before --to. Name a moment before it.".to_owned());
        }
        Ok(Window { from: self.from, to: self.to })
    }
}

/// What went wrong with the part, and what to do.
pub(crate) fn refusal(error: &AnalyzeError) -> String {
    let advice = match error {
        AnalyzeError::NoWallClock => "Give --from and --to as times after its start, as in 1.5s.",
        AnalyzeError::BehindEnd { .. } => "Choose an earlier --from.",
        _ => "Name a file that slabscope or Go wrote.",
    };
    format!("{error}. {advice}")
}

const UNITS: [(&str, f64); 7] =
    [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("min", 60e9), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];

/// A moment as a user writes it.
fn bound(text: &str) -> Result<Bound, String> {
    if let Some(ns) = duration(text) {
        return ns.map(Bound::SinceStart);
    }
    let timestamp: Timestamp = text.parse().map_err(|_| {
        "write it as 1.5s, 250ms, 10us, 3m or 2h after the trace's start, or as a time of day \
         such as 2026-12-02T10:15:00.5Z"
            .to_owned()
    })?;
    let ns = i64::try_from(timestamp.as_nanosecond());
    ns.map(Bound::Unix).map_err(|_| "it is too far from today".to_owned())
}

/// How soon is soon, as a user writes it: a number of events, or a time.
pub(crate) fn soon(text: &str) -> Result<Temporary, String> {
    if let Ok(events) = text.parse() {
        return Ok(Temporary::Events(events));
    }
    let ns = duration(text)
        .ok_or_else(|| "write it as a number of events, or as a time such as 10us".to_owned())?;
    ns.map(|ns| Temporary::Time { ns })
}

/// A length of time in nanoseconds; `None` when it is not written as one.
fn duration(text: &str) -> Option<Result<i64, String>> {
    UNITS.into_iter().find_map(|(unit, ns)| {
        let number: f64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        let length = number * ns;
        // Beyond that a number of nanoseconds is no time.
        let is_time = (0.0..9e18).contains(&length);
        Some(if is_time {
            Ok(length.round() as i64)
        } else {
            Err("it must not be negative, nor longer than centuries".to_owned())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        let since = [
            ("1.5s", 1_500_000_000),
            ("250ms", 250_000_000),
            ("10us", 10_000),
            ("7ns", 7),
            ("3m", 180_000_000_000),
            ("3min", 180_000_000_000),
            ("2h", 7_200_000_000_000),
            ("0s", 0),
        ];
        for (text, ns) in since {
            assert_eq!(bound(text), Ok(Bound::SinceStart(ns)), "{text}");
        }
        let unix = Bound::Unix(1_000_000_000_500_000_000);
        assert_eq!(bound("2001-09-09T01:46:40.5Z"), Ok(unix));
        assert_eq!(bound("2001-09-09T03:46:40.5+02:00"), Ok(unix));
        for text in ["", "s", "1.5", "-1s", "1 day", "NaNs", "infs", "2001-09-09", "99999999h"] {
            assert!(bound(text).is_err(), "{text}");
        }
    }

    #[test]
    fn soon_is_a_number_or_a_time() {
        assert_eq!(soon("16"), Ok(Temporary::Events(16)));
        assert_eq!(soon("10us"), Ok(Temporary::Time { ns: 10_000 }));
        for text in ["", "x", "-1", "1.5", "-1us"] {
            assert!(soon(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_part_without_room_is_refused() {
        let args = |from, to| WindowArgs {
            from: Some(Bound::SinceStart(from)),
            to: Some(Bound::SinceStart(to)),
            no_index: false,
        };
        assert!(args(5, 5).window().is_err());
        assert!(args(5, 6).window().is_ok());
        assert!(WindowArgs { from: Some(Bound::Unix(9)), ..args(0, 3) }.window().is_ok());
    }
}
