//! The rows of the table, by number.

use super::{Arg, ArgKind, Place, Spec, id};
use crate::alloc_free::EXPERIMENT;

const STACK: Arg = Arg { name: "stack", kind: ArgKind::Stack };

const fn number(name: &'static str) -> Arg {
    Arg { name, kind: ArgKind::Number }
}

const fn string(name: &'static str) -> Arg {
    Arg { name, kind: ArgKind::String }
}

const fn other_stack(name: &'static str) -> Arg {
    Arg { name, kind: ArgKind::OtherStack }
}

const fn structural(id: u8, name: &'static str, args: &'static [Arg]) -> Spec {
    Spec { id, name, args, place: Place::Structural, begins: 0, experiment: 0, since: 22 }
}

const fn timed(id: u8, name: &'static str, args: &'static [Arg]) -> Spec {
    Spec { id, name, args, place: Place::Timed, begins: 0, experiment: 0, since: 22 }
}

const fn alloc_free(id: u8, name: &'static str, args: &'static [Arg]) -> Spec {
    Spec { id, name, args, place: Place::Timed, begins: 0, experiment: EXPERIMENT, since: 23 }
}

impl Spec {
    /// The row of an event that ends, or confirms, what `begin` began.
    const fn ending(mut self, begin: u8) -> Spec {
        self.begins = begin;
        self
    }

    /// The row of an event that format `version` brought.
    const fn since(mut self, version: u8) -> Spec {
        self.since = version;
        self
    }
}

/// All events and structural records of all versions, experimental ones included, by number.
pub static TABLE: [Spec; 61] = [
    structural(
        id::EVENT_BATCH,
        "EventBatch",
        &[number("gen"), number("m"), number("time"), number("size")],
    ),
    structural(id::STACKS, "Stacks", &[]),
    structural(id::STACK, "Stack", &[number("id"), number("nframes")]),
    structural(id::STRINGS, "Strings", &[]),
    structural(id::STRING, "String", &[number("id")]),
    structural(id::CPU_SAMPLES, "CPUSamples", &[]),
    structural(
        id::CPU_SAMPLE,
        "CPUSample",
        &[number("time"), number("m"), number("p"), number("g"), STACK],
    ),
    structural(id::FREQUENCY, "Frequency", &[number("freq")]),
    timed(id::PROCS_CHANGE, "ProcsChange", &[number("procs_value"), STACK]),
    timed(id::PROC_START, "ProcStart", &[number("p"), number("p_seq")]),
    timed(id::PROC_STOP, "ProcStop", &[]),
    timed(id::PROC_STEAL, "ProcSteal", &[number("p"), number("p_seq"), number("m")]),
    timed(id::PROC_STATUS, "ProcStatus", &[number("p"), number("pstatus")]),
    timed(id::GO_CREATE, "GoCreate", &[number("new_g"), other_stack("new_stack"), STACK]),
    timed(id::GO_CREATE_SYSCALL, "GoCreateSyscall", &[number("new_g")]),
    timed(id::GO_START, "GoStart", &[number("g"), number("g_seq")]),
    timed(id::GO_DESTROY, "GoDestroy", &[]),
    timed(id::GO_DESTROY_SYSCALL, "GoDestroySyscall", &[]),
    timed(id::GO_STOP, "GoStop", &[string("reason_string"), STACK]),
    timed(id::GO_BLOCK, "GoBlock", &[string("reason_string"), STACK]),
    timed(id::GO_UNBLOCK, "GoUnblock", &[number("g"), number("g_seq"), STACK]),
    timed(id::GO_SYSCALL_BEGIN, "GoSyscallBegin", &[number("p_seq"), STACK]),
    timed(id::GO_SYSCALL_END, "GoSyscallEnd", &[]).ending(id::GO_SYSCALL_BEGIN),
    timed(id::GO_SYSCALL_END_BLOCKED, "GoSyscallEndBlocked", &[]).ending(id::GO_SYSCALL_BEGIN),
    timed(id::GO_STATUS, "GoStatus", &[number("g"), number("m"), number("gstatus")]),
    timed(id::STW_BEGIN, "STWBegin", &[string("kind_string"), STACK]),
    timed(id::STW_END, "STWEnd", &[]).ending(id::STW_BEGIN),
    timed(id::GC_ACTIVE, "GCActive", &[number("gc_seq")]).ending(id::GC_BEGIN),
    timed(id::GC_BEGIN, "GCBegin", &[number("gc_seq"), STACK]),
    timed(id::GC_END, "GCEnd", &[number("gc_seq")]).ending(id::GC_BEGIN),
    timed(id::GC_SWEEP_ACTIVE, "GCSweepActive", &[number("p")]).ending(id::GC_SWEEP_BEGIN),
    timed(id::GC_SWEEP_BEGIN, "GCSweepBegin", &[STACK]),
    timed(id::GC_SWEEP_END, "GCSweepEnd", &[number("swept_value"), number("reclaimed_value")])
        .ending(id::GC_SWEEP_BEGIN),
    timed(id::GC_MARK_ASSIST_ACTIVE, "GCMarkAssistActive", &[number("g")])
        .ending(id::GC_MARK_ASSIST_BEGIN),
    timed(id::GC_MARK_ASSIST_BEGIN, "GCMarkAssistBegin", &[STACK]),
    timed(id::GC_MARK_ASSIST_END, "GCMarkAssistEnd", &[]).ending(id::GC_MARK_ASSIST_BEGIN),
    timed(id::HEAP_ALLOC, "HeapAlloc", &[number("heapalloc_value")]),
    timed(id::HEAP_GOAL, "HeapGoal", &[number("heapgoal_value")]),
    timed(id::GO_LABEL, "GoLabel", &[string("label_string")]),
    timed(
        id::USER_TASK_BEGIN,
        "UserTaskBegin",
        &[number("task"), number("parent_task"), string("name_string"), STACK],
    ),
    timed(id::USER_TASK_END, "UserTaskEnd", &[number("task"), STACK]),
    timed(
        id::USER_REGION_BEGIN,
        "UserRegionBegin",
        &[number("task"), string("name_string"), STACK],
    ),
    timed(id::USER_REGION_END, "UserRegionEnd", &[number("task"), string("name_string"), STACK])
        .ending(id::USER_REGION_BEGIN),
    timed(
        id::USER_LOG,
        "UserLog",
        &[number("task"), string("key_string"), string("value_string"), STACK],
    ),
    timed(id::GO_SWITCH, "GoSwitch", &[number("g"), number("g_seq")]).since(23),
    timed(id::GO_SWITCH_DESTROY, "GoSwitchDestroy", &[number("g"), number("g_seq")]).since(23),
    timed(
        id::GO_CREATE_BLOCKED,
        "GoCreateBlocked",
        &[number("new_g"), other_stack("new_stack"), STACK],
    )
    .since(23),
    timed(
        id::GO_STATUS_STACK,
        "GoStatusStack",
        &[number("g"), number("m"), number("gstatus"), STACK],
    )
    .since(23),
    structural(
        id::EXPERIMENTAL_BATCH,
        "ExperimentalBatch",
        &[number("exp"), number("gen"), number("m"), number("time")],
    )
    .since(23),
    structural(id::SYNC, "Sync", &[]).since(25),
    timed(id::CLOCK_SNAPSHOT, "ClockSnapshot", &[number("mono"), number("sec"), number("nsec")])
        .since(25),
    structural(id::END_OF_GENERATION, "EndOfGeneration", &[]).since(26),
    alloc_free(id::SPAN, "Span", &[number("id"), number("npages_value"), number("kindclass")]),
    alloc_free(
        id::SPAN_ALLOC,
        "SpanAlloc",
        &[number("id"), number("npages_value"), number("kindclass")],
    ),
    alloc_free(id::SPAN_FREE, "SpanFree", &[number("id")]),
    alloc_free(id::HEAP_OBJECT, "HeapObject", &[number("id"), number("type")]),
    alloc_free(id::HEAP_OBJECT_ALLOC, "HeapObjectAlloc", &[number("id"), number("type")]),
    alloc_free(id::HEAP_OBJECT_FREE, "HeapObjectFree", &[number("id")]),
    alloc_free(id::GOROUTINE_STACK, "GoroutineStack", &[number("id"), number("order")]),
    alloc_free(id::GOROUTINE_STACK_ALLOC, "GoroutineStackAlloc", &[number("id"), number("order")]),
    alloc_free(id::GOROUTINE_STACK_FREE, "GoroutineStackFree", &[number("id")]),
];
