//! The process as a whole.

use crate::errno::ErrnoGuard;
use crate::{clock, file};

/// Where `/proc/self/stat` has the start, counted in fields from the one after the name.
const START_FIELD: usize = 19;

/// The process id.
pub fn id() -> u64 {
    // SAFETY: getpid takes nothing and cannot fail.
    u64::from(unsafe { libc::getpid() }.unsigned_abs())
}

/// When the process started, by the wall clock as it goes now, in nanoseconds since 1970, some 10 ms
/// off; 0 if it cannot be told. `exec` changes nothing of it.
pub fn started_wall_ns() -> u64 {
    let mut stat = [0; 1024];
    let len = file::read_whole(c"/proc/self/stat", &mut stat).unwrap_or(0);
    let text = stat.get(..len).and_then(|text| str::from_utf8(text).ok()).unwrap_or_default();
    // The name may hold spaces and brackets.
    let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let start = fields.split(' ').nth(START_FIELD).and_then(|start| start.parse::<u64>().ok());
    // SAFETY: sysconf takes a number.
    let per_second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) });
    let (Some(start), Ok(per_second @ 1..)) = (start, per_second) else { return 0 };
    let age =
        clock::since_boot_ns().saturating_sub(start.saturating_mul(1_000_000_000 / per_second));
    let now = clock::wall();
    (now.seconds * 1_000_000_000 + u64::from(now.nanos)).saturating_sub(age)
}

/// Has `function` run when the process exits by `exit` or a return from `main`.
///
/// May call the C allocator. `false` when there was no memory to remember it.
pub fn at_exit(function: extern "C" fn()) -> bool {
    let _errno = ErrnoGuard::new();
    // SAFETY: the function lives as long as the program.
    unsafe { libc::atexit(function) == 0 }
}
