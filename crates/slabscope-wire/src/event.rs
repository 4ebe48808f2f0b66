//! The one table of events.

/// Numbers of events and structural records.
pub mod id {
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
    /// Ticks a second.
    pub const FREQUENCY: u8 = 8;
    /// A processor's state.
    pub const PROC_STATUS: u8 = 13;
    /// A goroutine's state.
    pub const GO_STATUS: u8 = 25;
    /// Bytes of live heap.
    pub const HEAP_ALLOC: u8 = 37;
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
}
