//! An event as an object of JSON.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use slabscope_trace::{
    Event, ExperimentalEvent, Kind, Range, RangeName, Stack, StateTransition, Sync, Task,
    Transition,
};

/// An event. What it does not have is left out, as the number of a goroutine where none ran.
pub(super) struct Row<'a>(pub(super) &'a Event);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Event { time, thread, proc, goroutine, stack, kind } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", kind.name())?;
        map.serialize_entry("time", &time.0)?;
        for (name, id) in [("thread", thread.0), ("proc", proc.0), ("goroutine", goroutine.0)] {
            if id != -1 {
                map.serialize_entry(name, &id)?;
            }
        }
        of_kind(kind, &mut map)?;
        stack_as("stack", stack.as_ref(), &mut map)?;
        map.end()
    }
}

fn of_kind<M: SerializeMap>(kind: &Kind, map: &mut M) -> Result<(), M::Error> {
    match kind {
        Kind::Sync(sync) => of_sync(sync, map),
        Kind::Metric { name, value } => {
            map.serialize_entry("name", name)?;
            map.serialize_entry("value", value)
        }
        Kind::Label { label, resource } => {
            map.serialize_entry("label", &label.to_str())?;
            map.serialize_entry("resource", &resource.to_string())
        }
        Kind::RangeBegin(range) | Kind::RangeActive(range) | Kind::RangeEnd(range) => {
            of_range(range, map)
        }
        Kind::TaskBegin(Task { id, parent, name }) | Kind::TaskEnd(Task { id, parent, name }) => {
            map.serialize_entry("task", &id.0)?;
            map.serialize_entry("parent", &parent.0)?;
            map.serialize_entry("name", &name.to_str())
        }
        Kind::RegionBegin(region) | Kind::RegionEnd(region) => {
            map.serialize_entry("task", &region.task.0)?;
            map.serialize_entry("name", &region.name.to_str())
        }
        Kind::Log(log) => {
            map.serialize_entry("task", &log.task.0)?;
            map.serialize_entry("category", &log.category.to_str())?;
            map.serialize_entry("message", &log.message.to_str())
        }
        Kind::StateTransition(transition) => of_transition(transition, map),
        Kind::Experimental(event) => of_experiment(event, map),
        // A sample has its stack, and what comes later has at least its name.
        _ => Ok(()),
    }
}

fn of_sync<M: SerializeMap>(sync: &Sync, map: &mut M) -> Result<(), M::Error> {
    map.serialize_entry("n", &sync.n)?;
    let Some(clock) = sync.clock else { return Ok(()) };
    map.serialize_entry("clock_time", &clock.trace.0)?;
    map.serialize_entry("clock_monotonic_ns", &clock.mono)?;
    map.serialize_entry("clock_wall_s", &clock.wall.seconds)?;
    map.serialize_entry("clock_wall_ns", &clock.wall.nanos)
}

fn of_range<M: SerializeMap>(range: &Range, map: &mut M) -> Result<(), M::Error> {
    map.serialize_entry("name", &range.name.text().to_str())?;
    map.serialize_entry("scope", &range.scope.to_string())?;
    if let RangeName::Sweep(Some(swept)) = range.name {
        map.serialize_entry("swept_bytes", &swept.swept_bytes)?;
        map.serialize_entry("reclaimed_bytes", &swept.reclaimed_bytes)?;
    }
    Ok(())
}

fn of_transition<M: SerializeMap>(change: &StateTransition, map: &mut M) -> Result<(), M::Error> {
    let (of, id, from, to) = match change.transition {
        Transition::Goroutine { id, from, to } => {
            ("goroutine", id.0, from.to_string(), to.to_string())
        }
        Transition::Proc { id, from, to } => ("proc", id.0, from.to_string(), to.to_string()),
    };
    map.serialize_entry("of", of)?;
    map.serialize_entry("id", &id)?;
    map.serialize_entry("from", &from)?;
    map.serialize_entry("to", &to)?;
    if let Some(reason) = &change.reason {
        map.serialize_entry("reason", &reason.to_str())?;
    }
    stack_as("transition_stack", change.stack.as_ref(), map)
}

fn of_experiment<M: SerializeMap>(event: &ExperimentalEvent, map: &mut M) -> Result<(), M::Error> {
    map.serialize_entry("experiment", event.experiment().name())?;
    map.serialize_entry("name", event.name())?;
    map.serialize_entry("args", &Args(event))
}

/// Arguments by name.
struct Args<'a>(&'a ExperimentalEvent);

impl Serialize for Args<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.0.arg_names().iter().map(|arg| arg.name);
        serializer.collect_map(names.zip(self.0.args()))
    }
}

#[derive(Serialize)]
struct Frame<'a> {
    function: std::borrow::Cow<'a, str>,
    file: std::borrow::Cow<'a, str>,
    line: u64,
    pc: u64,
}

/// The frames of a stack from the innermost out, if there is one.
fn stack_as<M: SerializeMap>(
    name: &'static str,
    stack: Option<&Stack>,
    map: &mut M,
) -> Result<(), M::Error> {
    let Some(stack) = stack else { return Ok(()) };
    let frames: Vec<_> = stack.frames().collect();
    let rows = frames.iter().map(|frame| Frame {
        function: frame.function.to_str(),
        file: frame.file.to_str(),
        line: frame.line,
        pc: frame.pc,
    });
    map.serialize_entry(name, &rows.collect::<Vec<_>>())
}
