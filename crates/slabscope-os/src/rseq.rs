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

use core::sync::atomic::AtomicU64;

use crate::errno::ErrnoGuard;

/// How far the count of words stands above the thread in a ring's head.
pub const THREAD_BITS: u32 = 24;

/// What the push needs to know of one ring; the fields the assembly names come first.
#[derive(Debug)]
#[repr(C, align(256))]
pub struct RingHead {
    /// `[words pushed : 40 | thread that pushed last : 24]`. Written by the push on its own CPU
    /// only, as one store; read by the drainer with acquire.
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

/// How far the drainer has come.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Tail {
    /// As [`RingHead::head`], with thread 0. Written by the drainer with release, after it has
    /// read the words; a push that sees it late believes the ring fuller than it is.
    pub words: AtomicU64,
    /// Events that found no room and were dropped. Not the push's own: whoever pushes counts here.
    pub dropped: AtomicU64,
}

const _: () = assert!(size_of::<RingHead>() == 256);
const _: () = assert!(core::mem::offset_of!(RingHead, tail) == 128);

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

/// What became of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It is committed; the ring held this many words before.
    Done(u64),
    /// The ring has no room.
    Full,
    /// The thread has no rseq area, or runs on a CPU beyond the rings.
    NoCpu,
}

/// Pushes an event of `thread` with the time of now: a run record first if another thread pushed
/// last, then the time, then `first`, then `second` unless it is 0.
///
/// # Safety
/// - `area` came from [`area`] in this process.
/// - `rings` points to `count` ring heads, whose buffers are writable for their masks' length and
///   live while this runs, and which only this function pushes to.
/// - `thread` fits [`THREAD_BITS`], and `first` is not 0.
#[cfg(target_arch = "x86_64")]
#[inline]
pub unsafe fn push(
    area: Area,
    rings: *const RingHead,
    count: u32,
    thread: u64,
    first: u64,
    second: u64,
) -> Pushed {
    let outcome: u64;
    // SAFETY: the section follows the protocol in the module's head. It writes to the thread's own
    // rseq area, which the C library reserved, and to the buffer and head of one ring, all inside
    // by the masks; the caller vouches for those. It restores no flags and uses no stack.
    unsafe {
        core::arch::asm!(
            // Announce the section; from label 3 to label 4 the kernel may send us to label 22.
            "2:",
            "lea {ring}, [rip + 77f]",
            "mov qword ptr fs:[{area} + 8], {ring}",
            "3:",
            "mov ecx, dword ptr fs:[{area} + 4]",
            "mov rax, -1",
            "cmp ecx, {count:e}",
            "jae 4f",
            "shl rcx, 8",
            "lea {ring}, [{rings} + rcx]",
            "mov {head}, qword ptr [{ring}]",
            // Room: words pushed less words drained; the thread bits of the head fall out.
            "mov {used}, {head}",
            "sub {used}, qword ptr [{ring} + 128]",
            "shr {used}, 24",
            "mov rax, -2",
            "cmp {used}, qword ptr [{ring} + 24]",
            "ja 4f",
            // The time, as a word of kind 2.
            "rdtscp",
            "shl rdx, 32",
            "or rax, rdx",
            "shl rax, 4",
            "or rax, 2",
            // A run record (kind 1) when another thread pushed last.
            "mov rdx, {head}",
            "shr rdx, 24",
            "mov ecx, {head:e}",
            "and ecx, 0xffffff",
            "cmp rcx, {thread}",
            "je 5f",
            "sub {head}, rcx",
            "add {head}, {thread}",
            "add {head}, 0x1000000",
            "mov rcx, rdx",
            "and rcx, qword ptr [{ring} + 16]",
            "shl rcx, 3",
            "add rcx, qword ptr [{ring} + 8]",
            "mov qword ptr [rcx], {thread}",
            "shl qword ptr [rcx], 4",
            "or qword ptr [rcx], 1",
            "inc rdx",
            "5:",
            "mov rcx, rdx",
            "and rcx, qword ptr [{ring} + 16]",
            "shl rcx, 3",
            "add rcx, qword ptr [{ring} + 8]",
            "mov qword ptr [rcx], rax",
            "inc rdx",
            "mov rcx, rdx",
            "and rcx, qword ptr [{ring} + 16]",
            "shl rcx, 3",
            "add rcx, qword ptr [{ring} + 8]",
            "mov qword ptr [rcx], {first}",
            "add {head}, 0x2000000",
            "mov rax, {used}",
            "test {second}, {second}",
            "jz 6f",
            "inc rdx",
            "mov rcx, rdx",
            "and rcx, qword ptr [{ring} + 16]",
            "shl rcx, 3",
            "add rcx, qword ptr [{ring} + 8]",
            "mov qword ptr [rcx], {second}",
            "add {head}, 0x1000000",
            "6:",
            // The commit.
            "mov qword ptr [{ring}], {head}",
            "4:",
            "mov qword ptr fs:[{area} + 8], 0",
            ".pushsection __slabscope_rseq_cs, \"aw\", @progbits",
            ".balign 32",
            "77:",
            ".long 0, 0",
            ".quad 3b, 4b - 3b, 22f",
            ".popsection",
            // The kernel wants the signature before the abort address; as an operand of an
            // undefined instruction it also disassembles.
            ".pushsection .text.slabscope_rseq_abort, \"ax\", @progbits",
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "22:",
            "jmp 2b",
            ".popsection",
            area = in(reg) area.0,
            rings = in(reg) rings,
            count = in(reg) count,
            thread = in(reg) thread,
            first = in(reg) first,
            second = in(reg) second,
            ring = out(reg) _,
            head = out(reg) _,
            used = out(reg) _,
            out("rax") outcome,
            out("rcx") _,
            out("rdx") _,
            options(nostack),
        );
    }
    match outcome as i64 {
        -1 => Pushed::NoCpu,
        -2 => Pushed::Full,
        _ => Pushed::Done(outcome),
    }
}

/// Never called where [`area`] is always `None`.
///
/// # Safety
/// None; it does nothing.
#[cfg(not(target_arch = "x86_64"))]
pub unsafe fn push(_: Area, _: *const RingHead, _: u32, _: u64, _: u64, _: u64) -> Pushed {
    Pushed::NoCpu
}
