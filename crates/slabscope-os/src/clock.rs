//! Time: the CPU's counter for events, the kernel's clocks to give it a meaning.

use crate::errno::ErrnoGuard;

/// The wall clock, as seconds and nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallTime {
    /// Whole seconds.
    pub seconds: u64,
    /// Nanoseconds into the second.
    pub nanos: u32,
}

/// Nanoseconds of the monotonic clock.
pub fn monotonic_ns() -> u64 {
    let time = read(libc::CLOCK_MONOTONIC);
    time.seconds * 1_000_000_000 + u64::from(time.nanos)
}

/// The wall clock now.
pub fn wall() -> WallTime {
    read(libc::CLOCK_REALTIME)
}

/// Nanoseconds since the machine started.
pub(crate) fn since_boot_ns() -> u64 {
    let time = read(libc::CLOCK_BOOTTIME);
    time.seconds * 1_000_000_000 + u64::from(time.nanos)
}

fn read(clock: libc::clockid_t) -> WallTime {
    let _errno = ErrnoGuard::new();
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is ours to write. These clocks exist on every kernel.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    WallTime { seconds: time.tv_sec as u64, nanos: time.tv_nsec as u32 }
}

/// The CPU's time stamp counter, read after every earlier load of the program is done.
///
/// So a thread that has seen another's store reads a later time than the other did before it.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn ticks() -> u64 {
    let mut aux = 0;
    // SAFETY: every x86-64 CPU that the kernel trusts as clock source has rdtscp (see
    // `ticks_are_time`), and `aux` is ours to write.
    unsafe { core::arch::x86_64::__rdtscp(&raw mut aux) }
}

/// Where the CPU has no counter we know, a tick is a nanosecond.
#[cfg(not(target_arch = "x86_64"))]
pub fn ticks() -> u64 {
    monotonic_ns()
}

/// Whether the CPU's counter runs evenly and alike on all CPUs: the kernel itself goes by it.
pub fn ticks_are_time() -> bool {
    let mut buffer = [0; 32];
    let path = c"/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let len = crate::file::read_whole(path, &mut buffer).unwrap_or(0);
    cfg!(target_arch = "x86_64") && buffer.get(..len).is_some_and(|name| name.starts_with(b"tsc"))
}
