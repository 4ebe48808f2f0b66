//! Whether a trace is all there.

use serde::Serialize;
use slabscope_trace::alloc_free::Closing;
use slabscope_wire::alloc_free::EndReason;

use super::EventCount;

/// Whether a trace is all there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Completeness {
    /// The answer.
    pub state: State,
    /// Why the trace ended, where it tells.
    pub end: Option<End>,
    /// The closing counts against what was read; empty where the trace has none.
    pub counts: Vec<CountRow>,
}

/// Whether a trace is all there, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Every event that happened is in the file.
    Complete,
    /// Events are missing, and the file says how many.
    Lost,
    /// The file does not have what its closing counts say.
    Miscounted,
    /// It is one of ours and has no closing counts: it was cut off.
    CutOff,
    /// Reading ended with an error.
    Broken,
    /// It is not one of ours, and only ours have closing counts.
    NoCounts,
    /// What tells was not read: only a part was asked for, and there is more after it, or the command looks
    /// at no events.
    NotRead,
}

/// Why a trace ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The program stopped tracing.
    Stopped,
    /// The program exited.
    Exited,
    /// Writing failed.
    WriteFailed,
    /// The program was killed, and the trace finished from what it left behind.
    Killed,
    /// For a reason this version does not know.
    Unknown,
}

/// The closing counts of one kind of event against what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CountRow {
    /// The kind, as Go's tools call it.
    pub event: &'static str,
    /// How many happened.
    pub happened: u64,
    /// How many of these are not in the file, by its own account.
    pub lost: u64,
    /// How many are in the file.
    pub in_file: u64,
}

impl CountRow {
    /// Whether the file has what its counts say.
    pub fn adds_up(&self) -> bool {
        self.happened.checked_sub(self.lost) == Some(self.in_file)
    }
}

impl Completeness {
    /// Of a trace of which only a part was read.
    pub(crate) const NOT_READ: Completeness =
        Completeness { state: State::NotRead, end: None, counts: Vec::new() };

    /// Judges what was read.
    pub(crate) fn new(
        closing: Option<&Closing>,
        in_file: &[EventCount],
        is_ours: bool,
        is_broken: bool,
    ) -> Completeness {
        let counts: Vec<_> = closing.map_or_else(Vec::new, |closing| rows(closing, in_file));
        let state = if is_broken {
            State::Broken
        } else if closing.is_none() {
            if is_ours { State::CutOff } else { State::NoCounts }
        } else if counts.len() != in_file.len() || !counts.iter().all(CountRow::adds_up) {
            State::Miscounted
        } else if counts.iter().any(|row| row.lost > 0) {
            State::Lost
        } else {
            State::Complete
        };
        let end = closing.map(|closing| match closing.reason {
            Some(EndReason::Stopped) => End::Stopped,
            Some(EndReason::Exited) => End::Exited,
            Some(EndReason::WriteFailed) => End::WriteFailed,
            Some(EndReason::Killed) => End::Killed,
            None => End::Unknown,
        });
        Completeness { state, end, counts }
    }

    /// How many events are missing by the file's own account.
    pub fn lost(&self) -> u64 {
        self.counts.iter().fold(0, |sum, row| sum.saturating_add(row.lost))
    }
}

fn rows(closing: &Closing, in_file: &[EventCount]) -> Vec<CountRow> {
    let first = u64::from(slabscope_wire::event::id::SPAN);
    let of_kind = |(id, row): (u64, &EventCount)| {
        let &(_, happened, lost) = closing.kinds.iter().find(|&&(kind, ..)| kind == id)?;
        Some(CountRow { event: row.event, happened, lost, in_file: row.count })
    };
    (first..).zip(in_file).filter_map(of_kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(kinds: Vec<(u64, u64, u64)>) -> Completeness {
        let in_file = [EventCount { event: "Span", count: 5 }, EventCount { event: "b", count: 0 }];
        let closing = Closing { reason: None, kinds, cpus: vec![] };
        Completeness::new(Some(&closing), &in_file, true, false)
    }

    #[test]
    fn counts_decide() {
        assert_eq!(judge(vec![(128, 5, 0), (129, 0, 0)]).state, State::Complete);
        let lost = judge(vec![(128, 9, 4), (129, 2, 2)]);
        assert_eq!((lost.state, lost.lost()), (State::Lost, 6));
        assert_eq!(judge(vec![(128, 9, 3), (129, 0, 0)]).state, State::Miscounted);
        assert_eq!(judge(vec![(128, 1, 3), (129, 0, 0)]).state, State::Miscounted);
        assert_eq!(judge(vec![(128, 5, 0), (128, 5, 0)]).state, State::Miscounted);
        assert_eq!(judge(vec![(128, 5, 0), (129, 0, 0)]).end, Some(End::Unknown));
    }

    #[test]
    fn without_counts_it_depends_on_the_writer() {
        let state = |ours, broken| Completeness::new(None, &[], ours, broken).state;
        assert_eq!(state(true, false), State::CutOff);
        assert_eq!(state(false, false), State::NoCounts);
        assert_eq!(state(false, true), State::Broken);
    }
}
