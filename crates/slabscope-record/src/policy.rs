//! What is chosen of how a trace is made.

use core::time::Duration;

/// What a thread does whose event finds no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// It waits for the drainer: nothing is lost.
    Block,
    /// It drops the event and counts it: nobody waits.
    Drop,
}

/// When events get a reading of the clock of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// When the last one is too old, and when order needs it.
    Adaptive,
    /// Always.
    Precise,
    /// As [`Clock::Adaptive`], and the clock is the kernel's, as where the CPU's counter is not one.
    Kernel,
}

/// How a trace is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Not to use restartable sequences even where they are there.
    pub force_cas: bool,
    /// When to read the clock.
    pub clock: Clock,
    /// What to do when the drainer does not keep up.
    pub overflow: Overflow,
    /// How long to wait for a file that takes nothing, before the trace is ended without it.
    pub stall: Duration,
    /// How many frames of the call stack are recorded with each allocation; 0 for none.
    pub stacks: u8,
    /// Whether to compress the file. Only where that [is built in](crate::CAN_COMPRESS).
    pub compress: bool,
}

impl Policy {
    /// What holds when nobody says otherwise.
    pub const DEFAULT: Policy = Policy {
        force_cas: false,
        clock: Clock::Adaptive,
        overflow: Overflow::Block,
        stall: Duration::from_secs(5),
        stacks: 0,
        compress: false,
    };
}
