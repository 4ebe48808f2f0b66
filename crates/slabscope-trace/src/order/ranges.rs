//! Ranges of time: the world stopped, marking, sweeping, helping to mark.

use slabscope_wire::event::{self, id};

use super::states::{GcState, OpenRange, Ranges};
use super::{Context, Input, Need, Order, Outcome};
use crate::error::StateError;
use crate::event::{Kind, Range, RangeName, Resource, Swept};
use crate::id::{GoId, ProcId};

/// The event that begins ranges of the kind that this event begins, confirms or ends.
fn begin_of(event: u8) -> u8 {
    match event::spec(event) {
        Some(spec) if spec.begins != 0 => spec.begins,
        _ => event,
    }
}

fn plain(event: u8) -> OpenRange {
    OpenRange { begin: begin_of(event), kind: 0, name: None }
}

fn sweep(proc: ProcId, swept: Option<Swept>) -> Range {
    Range { name: RangeName::Sweep(swept), scope: Resource::Proc(proc) }
}

const MARK: Range = Range { name: RangeName::Mark, scope: Resource::None };

impl Order {
    fn ranges_of_proc(&mut self, proc: ProcId) -> Result<&mut Ranges, StateError> {
        let entry = self.procs.get_mut(&proc).ok_or(StateError::UnknownProc(proc))?;
        Ok(&mut entry.ranges)
    }

    fn ranges_of_go(&mut self, goroutine: GoId) -> Result<&mut Ranges, StateError> {
        let entry = self.gos.get_mut(&goroutine).ok_or(StateError::UnknownGo(goroutine))?;
        Ok(&mut entry.ranges)
    }

    pub(super) fn go_range_begin(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require_running()?;
        let mut range = plain(input.raw.id);
        let mut name = RangeName::MarkAssist;
        if input.raw.id == id::STW_BEGIN {
            let reason = input.string(0);
            range.kind = input.arg(0);
            range.name = Some(reason.clone());
            name = RangeName::StopTheWorld(reason);
        }
        self.ranges_of_go(cx.goroutine)?.begin(range)?;
        let range = Range { name, scope: Resource::Goroutine(cx.goroutine) };
        Ok(self.emit(input, cx, Kind::RangeBegin(range), cx))
    }

    pub(super) fn go_range_end(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require_running()?;
        let ended = self.ranges_of_go(cx.goroutine)?.end(begin_of(input.raw.id))?;
        let name = ended.name.map_or(RangeName::MarkAssist, RangeName::StopTheWorld);
        let range = Range { name, scope: Resource::Goroutine(cx.goroutine) };
        Ok(self.emit(input, cx, Kind::RangeEnd(range), cx))
    }

    /// Says of any goroutine, running or not, that it is helping to mark.
    pub(super) fn go_range_active(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        let goroutine = GoId(input.arg(0) as i64);
        let is_first = input.generation == self.first_generation;
        self.ranges_of_go(goroutine)?.confirm(plain(input.raw.id), is_first)?;
        let range = Range { name: RangeName::MarkAssist, scope: Resource::Goroutine(goroutine) };
        Ok(self.emit(input, cx, Kind::RangeActive(range), cx))
    }

    /// The phases of the collector are numbered, as they begin and end on different threads.
    pub(super) fn gc_active(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        let sequence = input.arg(0);
        if input.generation == self.first_generation {
            if self.gc_state != GcState::Undetermined {
                return Err(StateError::GcRunning);
            }
            self.gc_state = GcState::Running;
        } else {
            if sequence != self.gc_sequence.wrapping_add(1) {
                return Ok(None);
            }
            if self.gc_state != GcState::Running {
                return Err(StateError::GcNotRunning);
            }
            cx.require_running()?;
        }
        self.gc_sequence = sequence;
        Ok(self.emit(input, cx, Kind::RangeActive(MARK), cx))
    }

    pub(super) fn gc_begin(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        let sequence = input.arg(0);
        if self.gc_state != GcState::Undetermined {
            if sequence != self.gc_sequence.wrapping_add(1) {
                return Ok(None);
            }
            if self.gc_state == GcState::Running {
                return Err(StateError::GcRunning);
            }
            cx.require_running()?;
        }
        self.gc_sequence = sequence;
        self.gc_state = GcState::Running;
        Ok(self.emit(input, cx, Kind::RangeBegin(MARK), cx))
    }

    pub(super) fn gc_end(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        let sequence = input.arg(0);
        if sequence != self.gc_sequence.wrapping_add(1) {
            return Ok(None);
        }
        if self.gc_state != GcState::Running {
            return Err(StateError::GcNotRunning);
        }
        cx.require_running()?;
        self.gc_sequence = sequence;
        self.gc_state = GcState::NotRunning;
        Ok(self.emit(input, cx, Kind::RangeEnd(MARK), cx))
    }

    pub(super) fn sweep_begin(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require(Need::Must, Need::May)?;
        self.ranges_of_proc(cx.proc)?.begin(plain(input.raw.id))?;
        Ok(self.emit(input, cx, Kind::RangeBegin(sweep(cx.proc, None)), cx))
    }

    /// Says of any processor that it is sweeping.
    pub(super) fn sweep_active(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        let proc = ProcId(input.arg(0) as i64);
        let is_first = input.generation == self.first_generation;
        self.ranges_of_proc(proc)?.confirm(plain(input.raw.id), is_first)?;
        Ok(self.emit(input, cx, Kind::RangeActive(sweep(proc, None)), cx))
    }

    pub(super) fn sweep_end(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require(Need::Must, Need::May)?;
        self.ranges_of_proc(cx.proc)?.end(begin_of(input.raw.id))?;
        let swept = Swept { swept_bytes: input.arg(0), reclaimed_bytes: input.arg(1) };
        Ok(self.emit(input, cx, Kind::RangeEnd(sweep(cx.proc, Some(swept))), cx))
    }
}
