//! Events as text, line for line as `go tool trace -d=parsed` prints them.
//!
//! Text goes to bytes, since strings of a trace need not be UTF-8.

mod calendar;
mod line;
mod quote;
mod wire;

pub use wire::{wire, wire_from};

use std::fmt;
use std::io::{self, Write};

use crate::event::{Event, GoState, Kind, Range, RangeName, StateTransition, Transition};
use crate::experiment::ExperimentalEvent;
use crate::stack::Stack;
use crate::sync::Sync;
use crate::text::Text;

use calendar::Rfc3339;
use quote::quoted;

/// Writes an event as Go prints it, with the newline after it.
///
/// Wall-clock times are in UTC, as Go prints them where `TZ` is.
///
/// # Errors
/// Those of `out`.
pub fn parsed(event: &Event, out: &mut impl Write) -> io::Result<()> {
    let Event { time, thread, proc, goroutine, kind, .. } = event;
    if let (Kind::Experimental(experimental), None) = (kind, &event.stack) {
        return line::experimental(event, experimental, out);
    }
    write!(out, "M={thread} P={proc} G={goroutine} {} Time={time}", kind.name())?;
    match kind {
        Kind::Sync(sync) => write_sync(sync, out)?,
        Kind::Metric { name, value } => write!(out, " Name=\"{name}\" Value={}", Value(*value))?,
        Kind::Label { label, resource } => {
            out.write_all(b" Label=")?;
            quoted(label, out)?;
            write!(out, " Resource={resource}")?;
        }
        Kind::StackSample => {}
        Kind::RangeBegin(range) | Kind::RangeActive(range) => write_range(range, out)?,
        Kind::RangeEnd(range) => {
            write_range(range, out)?;
            write_attributes(range, out)?;
        }
        Kind::TaskBegin(task) | Kind::TaskEnd(task) => {
            write!(out, " ID={} Parent={}", task.id, task.parent)?;
            named(" Type=", &task.name, out)?;
        }
        Kind::RegionBegin(region) | Kind::RegionEnd(region) => {
            write!(out, " Task={}", region.task)?;
            named(" Type=", &region.name, out)?;
        }
        Kind::Log(log) => {
            write!(out, " Task={}", log.task)?;
            named(" Category=", &log.category, out)?;
            named(" Message=", &log.message, out)?;
        }
        Kind::StateTransition(transition) => write_transition(transition, out)?,
        Kind::Experimental(event) => write_experimental(event, out)?,
    }
    // Go has an empty stack for a sample without one.
    if event.stack.is_some() || matches!(kind, Kind::StackSample) {
        write_stack("Stack", event.stack.as_ref(), out)?;
    }
    out.write_all(b"\n")
}

impl fmt::Display for Event {
    /// As [`parsed`] has it, without the last newline, and with U+FFFD for what is not UTF-8.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = Vec::new();
        parsed(self, &mut line).map_err(|_| fmt::Error)?;
        let line = String::from_utf8_lossy(&line);
        f.write_str(line.strip_suffix('\n').unwrap_or(&line))
    }
}

/// A number as Go prints typed values.
struct Value(u64);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value{{Uint64({})}}", self.0)
    }
}

fn named(name: &str, text: &Text, out: &mut impl Write) -> io::Result<()> {
    out.write_all(name.as_bytes())?;
    quoted(text, out)
}

fn write_sync(sync: &Sync, out: &mut impl Write) -> io::Result<()> {
    write!(out, " N={}", sync.n)?;
    match sync.clock {
        Some(clock) => {
            write!(out, " Trace={} Mono={} Wall={}", clock.trace, clock.mono, Rfc3339(clock.wall))
        }
        None => Ok(()),
    }
}

fn write_range(range: &Range, out: &mut impl Write) -> io::Result<()> {
    named(" Name=", &range.name.text(), out)?;
    write!(out, " Scope={}", range.scope)
}

fn write_attributes(range: &Range, out: &mut impl Write) -> io::Result<()> {
    match range.name {
        RangeName::Sweep(Some(swept)) => write!(
            out,
            " Attributes=[\"bytes swept\"={} \"bytes reclaimed\"={}]",
            Value(swept.swept_bytes),
            Value(swept.reclaimed_bytes)
        ),
        _ => out.write_all(b" Attributes=[]"),
    }
}

fn write_transition(change: &StateTransition, out: &mut impl Write) -> io::Result<()> {
    match change.transition {
        Transition::Goroutine { id, from, to } => write!(out, " GoID={id} {from}->{to}")?,
        Transition::Proc { id, from, to } => write!(out, " ProcID={id} {from}->{to}")?,
    }
    out.write_all(b" Reason=")?;
    match &change.reason {
        Some(reason) => quoted(reason, out)?,
        None => out.write_all(b"\"\"")?,
    }
    // Go has an empty stack for a new goroutine without one.
    let is_new = matches!(
        change.transition,
        Transition::Goroutine {
            from: GoState::NotExist,
            to: GoState::Runnable | GoState::Waiting,
            ..
        }
    );
    if is_new || change.stack.is_some() {
        write_stack("TransitionStack", change.stack.as_ref(), out)?;
    }
    Ok(())
}

fn write_experimental(event: &ExperimentalEvent, out: &mut impl Write) -> io::Result<()> {
    write!(out, " Name={} Args=[", event.name())?;
    for (index, (arg, &value)) in event.arg_names().iter().zip(event.args()).enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(out, "{comma}{}={}", arg.name, Value(value))?;
    }
    out.write_all(b"]")
}

fn write_stack(title: &str, stack: Option<&Stack>, out: &mut impl Write) -> io::Result<()> {
    write!(out, "\n{title}=\n")?;
    let Some(stack) = stack else {
        return Ok(());
    };
    for frame in stack.frames() {
        out.write_all(b"\t")?;
        out.write_all(frame.function.as_bytes())?;
        write!(out, " @ 0x{:x}\n\t\t", frame.pc)?;
        out.write_all(frame.file.as_bytes())?;
        writeln!(out, ":{}", frame.line)?;
    }
    Ok(())
}
