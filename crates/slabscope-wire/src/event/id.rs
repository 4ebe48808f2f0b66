//! Numbers of events and structural records, as they stand in the file.

/// A normal batch.
pub const EVENT_BATCH: u8 = 1;
/// Start of a stacks batch's payload.
pub const STACKS: u8 = 2;
/// A stack.
pub const STACK: u8 = 3;
/// Start of a strings batch's payload.
pub const STRINGS: u8 = 4;
/// A string.
pub const STRING: u8 = 5;
/// Start of a CPU samples batch's payload.
pub const CPU_SAMPLES: u8 = 6;
/// A sample of what a CPU was executing.
pub const CPU_SAMPLE: u8 = 7;
/// Ticks a second.
pub const FREQUENCY: u8 = 8;
/// The number of processors.
pub const PROCS_CHANGE: u8 = 9;
/// A processor starts on this thread.
pub const PROC_START: u8 = 10;
/// This thread's processor stops.
pub const PROC_STOP: u8 = 11;
/// A processor is taken from a thread in a system call.
pub const PROC_STEAL: u8 = 12;
/// A processor's state.
pub const PROC_STATUS: u8 = 13;
/// A goroutine is created, runnable.
pub const GO_CREATE: u8 = 14;
/// A goroutine appears in a system call, as a foreign thread calls in.
pub const GO_CREATE_SYSCALL: u8 = 15;
/// A goroutine starts running.
pub const GO_START: u8 = 16;
/// This goroutine ends.
pub const GO_DESTROY: u8 = 17;
/// This goroutine ends in a system call.
pub const GO_DESTROY_SYSCALL: u8 = 18;
/// This goroutine yields.
pub const GO_STOP: u8 = 19;
/// This goroutine blocks.
pub const GO_BLOCK: u8 = 20;
/// A goroutine becomes runnable.
pub const GO_UNBLOCK: u8 = 21;
/// This goroutine enters a system call.
pub const GO_SYSCALL_BEGIN: u8 = 22;
/// This goroutine leaves a system call with its processor.
pub const GO_SYSCALL_END: u8 = 23;
/// This goroutine leaves a system call that cost it its processor.
pub const GO_SYSCALL_END_BLOCKED: u8 = 24;
/// A goroutine's state.
pub const GO_STATUS: u8 = 25;
/// The world stops.
pub const STW_BEGIN: u8 = 26;
/// The world starts again.
pub const STW_END: u8 = 27;
/// Marking is under way.
pub const GC_ACTIVE: u8 = 28;
/// Marking begins.
pub const GC_BEGIN: u8 = 29;
/// Marking ends.
pub const GC_END: u8 = 30;
/// Sweeping is under way on a processor.
pub const GC_SWEEP_ACTIVE: u8 = 31;
/// Sweeping begins on this processor.
pub const GC_SWEEP_BEGIN: u8 = 32;
/// Sweeping ends on this processor.
pub const GC_SWEEP_END: u8 = 33;
/// A goroutine is helping to mark.
pub const GC_MARK_ASSIST_ACTIVE: u8 = 34;
/// This goroutine begins to help marking.
pub const GC_MARK_ASSIST_BEGIN: u8 = 35;
/// This goroutine ends helping.
pub const GC_MARK_ASSIST_END: u8 = 36;
/// Bytes of live heap.
pub const HEAP_ALLOC: u8 = 37;
/// Bytes of heap at which the next collection ends.
pub const HEAP_GOAL: u8 = 38;
/// A label for this goroutine.
pub const GO_LABEL: u8 = 39;
/// A task of the program begins.
pub const USER_TASK_BEGIN: u8 = 40;
/// A task of the program ends.
pub const USER_TASK_END: u8 = 41;
/// A region of the program begins.
pub const USER_REGION_BEGIN: u8 = 42;
/// A region of the program ends.
pub const USER_REGION_END: u8 = 43;
/// A message of the program.
pub const USER_LOG: u8 = 44;
/// This goroutine hands its thread to another and waits.
pub const GO_SWITCH: u8 = 45;
/// This goroutine hands its thread to another and ends.
pub const GO_SWITCH_DESTROY: u8 = 46;
/// A goroutine is created, waiting.
pub const GO_CREATE_BLOCKED: u8 = 47;
/// A goroutine's state, with its stack.
pub const GO_STATUS_STACK: u8 = 48;
/// An experimental batch.
pub const EXPERIMENTAL_BATCH: u8 = 49;
/// Start of a clock batch's payload.
pub const SYNC: u8 = 50;
/// The trace clock against the monotonic and the wall clock.
pub const CLOCK_SNAPSHOT: u8 = 51;
/// End of a generation.
pub const END_OF_GENERATION: u8 = 52;
/// A span exists.
pub const SPAN: u8 = 128;
/// A span was allocated.
pub const SPAN_ALLOC: u8 = 129;
/// A span is about to be freed.
pub const SPAN_FREE: u8 = 130;
/// An object exists.
pub const HEAP_OBJECT: u8 = 131;
/// An object was allocated.
pub const HEAP_OBJECT_ALLOC: u8 = 132;
/// An object is about to be freed.
pub const HEAP_OBJECT_FREE: u8 = 133;
/// A stack exists.
pub const GOROUTINE_STACK: u8 = 134;
/// A stack was allocated.
pub const GOROUTINE_STACK_ALLOC: u8 = 135;
/// A stack is about to be freed.
pub const GOROUTINE_STACK_FREE: u8 = 136;
