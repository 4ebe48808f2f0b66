//! Restartable sequences: a push onto the current CPU's ring without a lock prefix.
//!
//! The kernel restarts a section from its beginning when the thread is preempted, migrates or gets
//! a signal before the section's last instruction. So that last instruction, one plain store of
//! the ring's head, commits a record: before it nobody sees anything, after it all is there. Every
//! instruction from the reading of the CPU number to that store lies inside, the clock included:
//! a reading taken outside could be older than what another thread has pushed meanwhile.
//!
//! The C library registers the area with the kernel (glibc 2.35 and later); where it did not,
//! [`area`] is `None`. The interface is the kernel's `include/uapi/linux/rseq.h`.

use core::ptr::null;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::errno::ErrnoGuard;

/// What a push needs to know of one ring; the assembly names all places.
#[derive(Debug)]
#[repr(C, align(256))]
pub struct RingHead {
    /// `[thread that pushed last : 32 | words pushed : 32]`. Written by the push on its own CPU only, as
    /// one store, of the lower half where the thread stays; read by the drainer with acquire.
    pub head: AtomicU64,
    /// First word of the buffer. Written before the ring is used, then constant.
    pub buffer: AtomicU64,
    /// Capacity in words less one, a power of two less one. Constant.
    pub mask: AtomicU64,
    /// Words that may be used before a push is refused. Constant.
    pub room: AtomicU64,
    /// On a line of its own, since the drainer writes it while pushes go on.
    pub tail: Tail,
}

/// What the drainer tells those who push.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Tail {
    /// How many words it has read, as [`RingHead::head`] counts them. Written with release, after it
    /// has read them; a push that sees it late believes the ring fuller than it is.
    pub words: AtomicU64,
    /// Changes when readings of the clock become too old to be used again. Relaxed: the barrier of
    /// whoever changed it makes every section see it.
    pub beat: AtomicU64,
    /// Events that found no room and were dropped. Not the push's own: whoever pushes counts here.
    pub dropped: AtomicU64,
}

const _: () = assert!(size_of::<RingHead>() == 256);
const _: () = assert!(core::mem::offset_of!(RingHead, tail) == 128);
const _: () = assert!(core::mem::offset_of!(Tail, beat) == 8);

/// Where the thread's rseq area lies: a distance from the thread pointer, the same in all threads.
#[derive(Clone, Copy, Debug)]
pub struct Area(isize);

/// The area the C library registered, if it did and the kernel took it.
///
/// May take the dynamic linker's lock: not from the middle of an allocation.
pub fn area() -> Option<Area> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    let _errno = ErrnoGuard::new();
    // SAFETY: both names are C strings; dlsym finds a symbol or returns null.
    let (offset, size) = unsafe {
        (
            libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()).cast::<isize>(),
            libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr()).cast::<u32>(),
        )
    };
    if offset.is_null() || size.is_null() {
        return None;
    }
    // SAFETY: the C library defines them with these types, and they are constant after start-up.
    let (offset, size) = unsafe { (*offset, *size) };
    // The size is 0 when registration failed or was turned off (GLIBC_TUNABLES, valgrind).
    (size > 0).then_some(Area(offset))
}

/// A push that was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Words in the ring before.
    pub used: u64,
    /// The reading of the clock, in ticks.
    pub ticks: u64,
    /// The CPU, and so the ring.
    pub cpu: u32,
    /// Words pushed onto the ring so far, these included.
    pub words: u32,
    /// The ring's beat, from before the reading.
    pub beat: u64,
}

/// What became of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It is committed.
    Done(Commit),
    /// The ring has no room.
    Full,
    /// The thread has no rseq area, or runs on a CPU beyond the rings.
    NoCpu,
}

/// What [`push`] takes and tells, in one place, since assembly has few registers.
#[derive(Debug, Default)]
#[repr(C)]
struct Push {
    thread: u64,
    first: u64,
    second: u64,
    floor: u64,
    ticks: u64,
    beat: u64,
    cpu: u64,
    words: u64,
}

/// What a section begins with: it is announced, with what [`leave`] says of it, and begins at label 3.
#[cfg(target_arch = "x86_64")]
macro_rules! announce {
    () => {
        "2:
        lea {ring}, [rip + 77f]
        mov qword ptr fs:[{area} + 8], {ring}
        3:"
    };
}

/// What a section ends with, right after its commit, at label 4. From label 3 to there the kernel may send
/// the thread to label 22, and so to the beginning. It wants the signature before that address.
#[cfg(target_arch = "x86_64")]
macro_rules! leave {
    () => {
        "4:
        mov qword ptr fs:[{area} + 8], 0
        .pushsection __slabscope_rseq_cs, \"aw\", @progbits
        .balign 32
        77:
        .long 0, 0
        .quad 3b, 4b - 3b, 22f
        .popsection
        .pushsection .text.slabscope_rseq_abort, \"ax\", @progbits
        .byte 0x0f, 0xb9, 0x3d
        .long 0x53053053
        22:
        jmp 2b
        .popsection"
    };
}

/// Pushes an event of `thread` with a reading of the clock: a run record first if another thread pushed
/// last, then the time, then `first`, then `second` unless it is 0. The reading is `floor` at least:
/// the clock is read until it is.
///
/// # Safety
/// - `area` came from [`area`] in this process.
/// - `rings` points to `count` ring heads, whose buffers are writable for their masks' length and
///   live while this runs, and which only this function and [`extend`] push to.
/// - `first` is not 0.
#[cfg(target_arch = "x86_64")]
pub unsafe fn push(
    area: Area,
    rings: *const RingHead,
    count: u32,
    thread: u32,
    [first, second]: [u64; 2],
    floor: u64,
) -> Pushed {
    let mut push = Push { thread: thread.into(), first, second, floor, ..Push::default() };
    let outcome: u64;
    // SAFETY: the section follows the protocol in the module's head. It writes to the thread's own
    // rseq area, which the C library reserved, to `push`, and to the buffer and head of one ring, all
    // inside by the masks; the caller vouches for those. It restores no flags and uses no stack.
    unsafe {
        core::arch::asm!(
            announce!(),
            "mov ecx, dword ptr fs:[{area} + 4]",
            "mov rax, -1",
            "cmp ecx, {count:e}",
            "jae 4f",
            "mov qword ptr [{push} + {cpu}], rcx",
            "shl rcx, 8",
            "lea {ring}, [{rings} + rcx]",
            // Room: words pushed less words drained.
            "mov {words:e}, dword ptr [{ring}]",
            "mov {used:e}, {words:e}",
            "sub {used:e}, dword ptr [{ring} + 128]",
            "mov rax, -2",
            "cmp {used}, qword ptr [{ring} + 24]",
            "ja 4f",
            // The beat, and only then the time: rdtscp waits for the loads before it.
            "mov rcx, qword ptr [{ring} + 136]",
            "mov qword ptr [{push} + {beat}], rcx",
            "5:",
            "rdtscp",
            "shl rdx, 32",
            "or rax, rdx",
            "cmp rax, qword ptr [{push} + {floor}]",
            "jb 5b",
            "mov qword ptr [{push} + {ticks}], rax",
            "shl rax, 4",
            "or rax, 2",
            // A run record (kind 1) when another thread pushed last.
            "mov edx, dword ptr [{ring} + 4]",
            "cmp edx, dword ptr [{push} + {thread}]",
            "mov rdx, qword ptr [{ring} + 8]",
            "je 6f",
            "mov ecx, {words:e}",
            "and rcx, qword ptr [{ring} + 16]",
            "lea rdx, [rdx + 8 * rcx]",
            "mov ecx, dword ptr [{push} + {thread}]",
            "shl rcx, 4",
            "or rcx, 1",
            "mov qword ptr [rdx], rcx",
            "mov rdx, qword ptr [{ring} + 8]",
            "inc {words:e}",
            "6:",
            "mov ecx, {words:e}",
            "and rcx, qword ptr [{ring} + 16]",
            "mov qword ptr [rdx + 8 * rcx], rax",
            "inc {words:e}",
            "mov ecx, {words:e}",
            "and rcx, qword ptr [{ring} + 16]",
            "mov rax, qword ptr [{push} + {first}]",
            "mov qword ptr [rdx + 8 * rcx], rax",
            "inc {words:e}",
            "mov rax, qword ptr [{push} + {second}]",
            "test rax, rax",
            "jz 7f",
            "mov ecx, {words:e}",
            "and rcx, qword ptr [{ring} + 16]",
            "mov qword ptr [rdx + 8 * rcx], rax",
            "inc {words:e}",
            "7:",
            "mov qword ptr [{push} + {pushed}], {words}",
            "mov ecx, dword ptr [{push} + {thread}]",
            "shl rcx, 32",
            "or rcx, {words}",
            "mov rax, {used}",
            // The commit.
            "mov qword ptr [{ring}], rcx",
            leave!(),
            area = in(reg) area.0,
            rings = in(reg) rings,
            count = in(reg) count,
            push = in(reg) &raw mut push,
            ring = out(reg) _,
            words = out(reg) _,
            used = out(reg) _,
            out("rax") outcome,
            out("rcx") _,
            out("rdx") _,
            thread = const core::mem::offset_of!(Push, thread),
            first = const core::mem::offset_of!(Push, first),
            second = const core::mem::offset_of!(Push, second),
            floor = const core::mem::offset_of!(Push, floor),
            ticks = const core::mem::offset_of!(Push, ticks),
            beat = const core::mem::offset_of!(Push, beat),
            cpu = const core::mem::offset_of!(Push, cpu),
            pushed = const core::mem::offset_of!(Push, words),
            options(nostack),
        );
    }
    match outcome as i64 {
        -1 => Pushed::NoCpu,
        -2 => Pushed::Full,
        _ => Pushed::Done(Commit {
            used: outcome,
            ticks: push.ticks,
            cpu: push.cpu as u32,
            words: push.words as u32,
            beat: push.beat,
        }),
    }
}

/// Never called where [`area`] is always `None`.
///
/// # Safety
/// None; it does nothing.
#[cfg(not(target_arch = "x86_64"))]
pub unsafe fn push(_: Area, _: *const RingHead, _: u32, _: u32, _: [u64; 2], _: u64) -> Pushed {
    Pushed::NoCpu
}

/// Events that one thread pushes in a row onto one ring, all with the time of the first.
///
/// The thread's own. Atomic, since a signal handler of the thread may end the streak; relaxed, since
/// nobody else looks.
#[derive(Debug)]
#[repr(C)]
pub struct Streak {
    ring: AtomicPtr<RingHead>,
    beat: AtomicU64,
    /// [`Streak::NO_CPU`] when there is no streak.
    cpu: AtomicU32,
    thread: AtomicU32,
    /// The count of words at which the streak ends.
    stop: AtomicU32,
}

impl Streak {
    /// No CPU's number, and not what the kernel writes where it knows no number.
    const NO_CPU: u32 = 1 << 31;

    /// None.
    pub const fn none() -> Self {
        Streak {
            ring: AtomicPtr::new(null::<RingHead>().cast_mut()),
            beat: AtomicU64::new(0),
            cpu: AtomicU32::new(Streak::NO_CPU),
            thread: AtomicU32::new(0),
            stop: AtomicU32::new(0),
        }
    }

    /// Ends it.
    #[inline]
    pub fn end(&self) {
        self.cpu.store(Streak::NO_CPU, Ordering::Relaxed);
    }

    /// Begins one with `commit`, that of an event of `thread` on `ring`, for `words` words more. It
    /// holds as long as `ring` does, and must be ended before.
    pub fn begin(&self, ring: &RingHead, thread: u32, commit: &Commit, words: u32) {
        self.ring.store(core::ptr::from_ref(ring).cast_mut(), Ordering::Relaxed);
        self.beat.store(commit.beat, Ordering::Relaxed);
        self.thread.store(thread, Ordering::Relaxed);
        self.stop.store(commit.words.wrapping_add(words), Ordering::Relaxed);
        self.cpu.store(commit.cpu, Ordering::Relaxed);
    }
}

/// Pushes `event` as the next of the streak: one word, at the time that stands in the ring already.
/// `false`, and nothing is pushed, when the streak is over: the thread runs on another CPU, another
/// thread or a signal handler of this one pushed meanwhile, the beat changed, or its words are used up.
///
/// # Safety
/// - `area` came from [`area`] in this process, and `event` is not 0.
/// - If there is a streak, its ring is as [`push`] asks for.
#[cfg(target_arch = "x86_64")]
#[inline]
pub unsafe fn extend(area: Area, streak: &Streak, event: u64) -> bool {
    // SAFETY: as in `push`: it writes to the thread's own rseq area, and to one ring inside the mask.
    // Before the commit nothing was changed; a jump to `over` leaves the section, and the announcement
    // that stays behind is one of a section we are not in, until the next push takes it back.
    unsafe {
        core::arch::asm!(
            announce!(),
            "mov {index:e}, dword ptr fs:[{area} + 4]",
            "cmp {index:e}, dword ptr [{streak} + {cpu}]",
            "jne {over}",
            "mov {ring}, qword ptr [{streak} + {place}]",
            "mov {index:e}, dword ptr [{ring} + 4]",
            "cmp {index:e}, dword ptr [{streak} + {thread}]",
            "jne {over}",
            "mov {words:e}, dword ptr [{ring}]",
            "cmp {words:e}, dword ptr [{streak} + {stop}]",
            "jae {over}",
            "mov {index}, qword ptr [{ring} + 136]",
            "cmp {index}, qword ptr [{streak} + {beat}]",
            "jne {over}",
            "mov {index:e}, {words:e}",
            "and {index}, qword ptr [{ring} + 16]",
            "shl {index}, 3",
            "add {index}, qword ptr [{ring} + 8]",
            "mov qword ptr [{index}], {event}",
            "inc {words:e}",
            // The commit.
            "mov dword ptr [{ring}], {words:e}",
            leave!(),
            area = in(reg) area.0,
            streak = in(reg) streak,
            event = in(reg) event,
            ring = out(reg) _,
            words = out(reg) _,
            index = out(reg) _,
            place = const core::mem::offset_of!(Streak, ring),
            cpu = const core::mem::offset_of!(Streak, cpu),
            thread = const core::mem::offset_of!(Streak, thread),
            stop = const core::mem::offset_of!(Streak, stop),
            beat = const core::mem::offset_of!(Streak, beat),
            over = label { return false },
            options(nostack),
        );
    }
    true
}

/// Never called where [`area`] is always `None`.
///
/// # Safety
/// None; it does nothing.
#[cfg(not(target_arch = "x86_64"))]
pub unsafe fn extend(_: Area, _: &Streak, _: u64) -> bool {
    false
}
