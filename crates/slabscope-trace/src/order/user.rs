//! What the traced program says of itself: metrics, labels, tasks, regions, messages.

use slabscope_wire::event::id;

use super::states::TaskEntry;
use super::{Context, Input, Need, Order, Outcome};
use crate::error::StateError;
use crate::event::{Kind, Log, Region, Resource, Task};
use crate::id::TaskId;
use crate::text::Text;

impl Order {
    pub(super) fn metric(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        let (name, goroutine) = match input.raw.id {
            id::PROCS_CHANGE => ("/sched/gomaxprocs:threads", Need::Must),
            id::HEAP_ALLOC => ("/memory/classes/heap/objects:bytes", Need::May),
            _ => ("/gc/heap/goal:bytes", Need::May),
        };
        cx.require(Need::Must, goroutine)?;
        Ok(self.emit(input, cx, Kind::Metric { name, value: input.arg(0) }, cx))
    }

    pub(super) fn label(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require_running()?;
        let resource = Resource::Goroutine(cx.goroutine);
        Ok(self.emit(input, cx, Kind::Label { label: input.string(0), resource }, cx))
    }

    pub(super) fn task_begin(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        let id = TaskId(input.arg(0));
        // No task is the parent, or the parent began before the trace: it is not looked for.
        let parent = match TaskId(input.arg(1)) {
            TaskId::BACKGROUND => TaskId::NONE,
            parent => parent,
        };
        let name = input.string(2);
        if self.tasks.contains_key(&id) {
            return Err(StateError::TaskExists(id));
        }
        self.tasks.insert(id, TaskEntry { parent, name: name.clone() });
        cx.require_running()?;
        Ok(self.emit(input, cx, Kind::TaskBegin(Task { id, parent, name }), cx))
    }

    /// A task may end more than once, and may have begun before the trace.
    pub(super) fn task_end(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        let id = TaskId(input.arg(0));
        let (parent, name) = match self.tasks.remove(&id) {
            Some(task) => (task.parent, task.name),
            None => (TaskId::NONE, Text::new(b"")),
        };
        cx.require_running()?;
        Ok(self.emit(input, cx, Kind::TaskEnd(Task { id, parent, name }), cx))
    }

    pub(super) fn region_begin(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require_running()?;
        let region = Region { task: TaskId(input.arg(0)), name: input.string(1) };
        let entry = self.gos.get_mut(&cx.goroutine);
        let entry = entry.ok_or(StateError::UnknownGo(cx.goroutine))?;
        entry.regions.push((region.task, region.name.clone()));
        Ok(self.emit(input, cx, Kind::RegionBegin(region), cx))
    }

    /// Regions nest; one may end that began before the trace.
    pub(super) fn region_end(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require_running()?;
        let region = Region { task: TaskId(input.arg(0)), name: input.string(1) };
        let entry = self.gos.get_mut(&cx.goroutine);
        let entry = entry.ok_or(StateError::UnknownGo(cx.goroutine))?;
        if let Some((task, name)) = entry.regions.pop()
            && (task, &name) != (region.task, &region.name)
        {
            return Err(StateError::RegionMismatch(cx.goroutine));
        }
        Ok(self.emit(input, cx, Kind::RegionEnd(region), cx))
    }

    pub(super) fn log(&mut self, input: &Input<'_>, cx: Context) -> Outcome {
        cx.require_running()?;
        let log =
            Log { task: TaskId(input.arg(0)), category: input.string(1), message: input.string(2) };
        Ok(self.emit(input, cx, Kind::Log(log), cx))
    }
}
