//! The modules of the program, as the trace and the live file have them.

use slabscope_os::file::Errno;
use slabscope_os::say::Decimal;
use slabscope_os::{clock, say};
use slabscope_unwind::{Module, Unwinder};
use slabscope_wire::buffer::Buffer;

use crate::live::Live;
use crate::policy::Policy;
use crate::stacks::Stacks;

/// Nanoseconds between two looks at what is loaded, at least.
const EVERY_NS: u64 = 50_000_000;

/// A look may take one part in so many of the time until the next.
const SHARE: u64 = 100;

/// When to look again at what is loaded.
#[derive(Debug)]
pub(crate) struct Watch {
    next_ns: u64,
    /// When the trace began.
    begun_ns: u64,
    /// Whether it was said that some have no room.
    complained: bool,
}

impl Watch {
    /// Of a trace that began then.
    pub(crate) fn new(begun_ns: u64) -> Self {
        Watch { next_ns: 0, begun_ns, complained: false }
    }

    /// Looks, if it is time to or somebody wants it; whether anything has changed.
    pub(crate) fn look(&mut self, stacks: &Stacks, live: &Live) -> bool {
        let now_ns = clock::monotonic_ns();
        if now_ns < self.next_ns && !stacks.wants_scan() {
            return false;
        }
        let changed = stacks.unwinder().scan(now_ns).unwrap_or(false);
        self.complain_of_left_out(stacks.unwinder().left_out());
        let end_ns = clock::monotonic_ns();
        // Tables are made of a new module once: that does not say what the next look takes.
        let cost = if changed { 0 } else { end_ns.saturating_sub(now_ns) };
        self.next_ns = end_ns + EVERY_NS.max(cost.saturating_mul(SHARE));
        if changed {
            keep(stacks.unwinder(), live, now_ns, self.begun_ns);
        }
        changed
    }

    /// Says once that some modules have no unwind table.
    fn complain_of_left_out(&mut self, left_out: u32) {
        if left_out > 0 && !self.complained {
            self.complained = true;
            let left_out = Decimal::new(left_out.into());
            say::line(&[
                "no room for the unwind tables of ",
                left_out.as_str(),
                " modules; call stacks end in their code, until there is",
            ]);
        }
    }
}

/// Finds the modules there are when a trace with call stacks begins. Takes some 25 KB of stack.
#[inline(never)]
pub(crate) fn look_first(unwinder: &Unwinder, policy: &Policy) -> Result<(), Errno> {
    if policy.stacks == 0 {
        return Ok(());
    }
    if !cfg!(target_arch = "x86_64") {
        return Err(Errno(0));
    }
    unwinder.scan(clock::monotonic_ns()).map(|_| ())
}

/// Notes the modules that were found before the trace began.
pub(crate) fn keep_first(unwinder: &Unwinder, live: &Live) {
    keep(unwinder, live, 0, u64::MAX);
}

/// Says that there will be no stacks, and why.
pub(crate) fn complain(why: Errno) {
    let why = if why == Errno(0) { "not on this kind of CPU" } else { why.text() };
    say::line(&["call stacks cannot be taken: ", why, "; the trace is made without them"]);
}

/// Notes modules that have changed since `since_ns`, for a trace that is to be finished from the live
/// file. What finds no room there is in the trace only.
fn keep(unwinder: &Unwinder, live: &Live, since_ns: u64, begun_ns: u64) {
    unwinder.each_module(|module| {
        if module.changed_ns >= since_ns && (since_ns > 0 || module.unloaded_ns == 0) {
            live.add_module(|buffer| write(buffer, module, begun_ns));
        }
    });
}

/// Appends a module's record; it was there before the trace if it was before `begun_ns`.
pub(crate) fn write(buffer: &mut Buffer<'_>, module: &Module, begun_ns: u64) -> bool {
    let loaded_ns = if module.loaded_ns < begun_ns { 0 } else { module.loaded_ns };
    [
        u64::from(module.id),
        module.first as u64,
        module.end as u64,
        module.bias as u64,
        loaded_ns,
        module.unloaded_ns,
    ]
    .iter()
    .all(|&number| buffer.varint(number))
        && buffer.text(module.build_id())
        && buffer.text(module.path())
}
