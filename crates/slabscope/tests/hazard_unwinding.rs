//! Call stacks where they are hard to find: code that no compiler made, small stacks, and a program that
//! aborts when it panics.
#![cfg(all(feature = "recorder", target_arch = "x86_64"))]

mod support;

use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use slabscope_trace::alloc_free::StackFrame;
use slabscope_wire::alloc_free::frame;
use support::{Replayed, Traces, built, child, own_stack, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

// Three functions that call their argument. One keeps a frame pointer, one is described by tables alone and
// has garbage in that register, and one says nothing of how to unwind it.
std::arch::global_asm!(
    ".pushsection .text.by_hand, \"ax\"",
    ".globl slabscope_test_by_pointer",
    ".globl slabscope_test_by_table",
    ".globl slabscope_test_by_nothing",
    ".globl slabscope_test_end",
    "slabscope_test_by_pointer:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "call rdi",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    "slabscope_test_by_table:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, 0x123456789",
    "call rdi",
    "pop rbp",
    ".cfi_def_cfa_offset 8",
    "ret",
    ".cfi_endproc",
    "slabscope_test_by_nothing:",
    "push rbp",
    "mov rbp, 0x123456789",
    "call rdi",
    "pop rbp",
    "ret",
    "slabscope_test_end:",
    "nop",
    ".popsection",
);

unsafe extern "C" {
    fn slabscope_test_by_pointer(callback: extern "C" fn());
    fn slabscope_test_by_table(callback: extern "C" fn());
    fn slabscope_test_by_nothing(callback: extern "C" fn());
    fn slabscope_test_end();
}

/// Sizes that nothing else asks for.
const BY_POINTER: usize = 71_001;
const BY_TABLE: usize = 71_003;
const BY_NOTHING: usize = 71_005;
const IN_THREAD: usize = 71_007;
const IN_HANDLER: usize = 71_009;

#[inline(never)]
fn ask(size: usize) {
    drop(black_box(Vec::<u8>::with_capacity(black_box(size))));
}

extern "C" fn ask_by_pointer() {
    ask(BY_POINTER);
}

extern "C" fn ask_by_table() {
    ask(BY_TABLE);
}

extern "C" fn ask_by_nothing() {
    ask(BY_NOTHING);
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn by_hand() {
    // SAFETY: the three keep the registers that a function has to, and call their argument.
    unsafe {
        slabscope_test_by_pointer(ask_by_pointer);
        slabscope_test_by_table(ask_by_table);
        slabscope_test_by_nothing(ask_by_nothing);
    }
    let begin = slabscope_test_by_pointer as *const () as usize;
    let table = slabscope_test_by_table as *const () as usize;
    let nothing = slabscope_test_by_nothing as *const () as usize;
    let end = slabscope_test_end as *const () as usize;
    println!("addresses {begin} {table} {nothing} {end}");
}

/// Runs the test `name` with this many frames; the trace is of that name, which is no other test's.
fn replay_of(name: &str, trace: &str, depth: usize) -> (Replayed, String) {
    let traces = Traces::new();
    let path = traces.path(&format!("unwinding-{trace}.trace"));
    let variable = format!("traceallocfree=1,stacks={depth},out={}", path.display());
    let output = succeed(&mut child(name, Some(&variable)));
    let replayed = replay(&path);
    assert_eq!(replayed.lost(), 0);
    (replayed, String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The one stack of the site that asks for so many bytes.
fn stack_of(replayed: &Replayed, size: usize) -> &[StackFrame] {
    let mut sites = replayed.sites.iter().filter(|(_, site)| site.0 == size as u64);
    let (site, _) = sites.next().expect("the size was asked for");
    assert!(sites.next().is_none(), "{size} was asked for at one place");
    replayed.stacks_of.get(site).expect("a stack")
}

/// The three functions' addresses as the program printed them, and where the last one ends.
fn addresses(printed: &str) -> Vec<u64> {
    let line = printed.lines().find_map(|line| line.split_once("addresses ")).expect("a line").1;
    line.split(' ').map(|word| word.parse().expect("a number")).collect()
}

#[test]
fn a_trace_says_how_each_frame_was_found() {
    let (replayed, printed) = replay_of("by_hand", "flags", 64);
    let addresses = addresses(&printed);
    for (size, range, flag) in [
        (BY_POINTER, addresses[0]..addresses[1], 0),
        (BY_TABLE, addresses[1]..addresses[2], frame::BY_TABLE),
    ] {
        let stack = stack_of(&replayed, size);
        let found = stack.iter().find(|frame| range.contains(&frame.lookup_address()));
        let found = found.unwrap_or_else(|| panic!("{size}: {range:x?} in {stack:x?}"));
        assert_eq!(found.flags & frame::BY_TABLE, flag, "{size}: {stack:x?}");
        assert_eq!(stack.last().expect("a frame").flags, 0, "it goes to the thread's beginning");
    }
}

#[test]
fn a_stack_ends_in_code_without_tables_and_says_so() {
    let (replayed, printed) = replay_of("by_hand", "no-tables", 64);
    let addresses = addresses(&printed);
    let stack = stack_of(&replayed, BY_NOTHING);
    let last = stack.last().expect("a frame");
    assert!((addresses[2]..addresses[3]).contains(&last.lookup_address()), "{stack:x?}");
    assert_eq!(last.flags & frame::TRUNCATED, frame::TRUNCATED, "{stack:x?}");
    assert!(stack[..stack.len() - 1].iter().all(|frame| frame.flags & frame::TRUNCATED == 0));
}

extern "C" fn handler(_: c_int) {
    ask(IN_HANDLER);
}

extern "C" fn small(_: *mut c_void) -> *mut c_void {
    // The trace begins on this stack too.
    slabscope::trace::start().expect("a trace");
    ask(IN_THREAD);
    // As small as people make them.
    own_stack::interrupt(handler, 16 << 10);
    std::ptr::null_mut()
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn small_stacks() {
    // SAFETY: the attributes are initialised before their use; the thread is joined.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        assert_eq!(libc::pthread_attr_init(&raw mut attributes), 0);
        assert_eq!(libc::pthread_attr_setstacksize(&raw mut attributes, 64 << 10), 0);
        let (mut thread, none) = (0, std::ptr::null_mut());
        assert_eq!(libc::pthread_create(&raw mut thread, &raw const attributes, small, none), 0);
        assert_eq!(libc::pthread_join(thread, std::ptr::null_mut()), 0);
    }
}

#[test]
fn small_stacks_are_enough() {
    let traces = Traces::new();
    let path = traces.path("unwinding-small.trace");
    let variable = format!("traceallocfree=0,stacks=64,out={}", path.display());
    succeed(&mut child("small_stacks", Some(&variable)));
    let replayed = replay(&path);
    assert_eq!(replayed.lost(), 0);
    for size in [IN_THREAD, IN_HANDLER] {
        let stack = stack_of(&replayed, size);
        assert_eq!(stack.last().expect("a frame").flags, 0, "{size}: {stack:x?}");
    }
    let interrupted = |frame: &&StackFrame| frame.flags & frame::EXACT != 0;
    assert_eq!(stack_of(&replayed, IN_HANDLER).iter().filter(interrupted).count(), 1);
}

#[test]
fn stacks_of_a_program_that_aborts_when_it_panics_are_whole() {
    let program = built::aborting();
    let traces = Traces::new();
    let path = traces.path("unwinding-aborting.trace");
    let variable = format!("traceallocfree=1,stacks=64,out={}", path.display());
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    succeed(Command::new(&program).arg(sources).env("SLABSCOPE", variable));
    let replayed = replay(&path);
    assert_eq!(replayed.lost(), 0);
    assert!(!replayed.build.contains_key("without a stack"), "{:?}", replayed.build);
    let stacks: Vec<_> = replayed.stacks_of.values().collect();
    assert!(stacks.len() > 1000, "{} stacks", stacks.len());
    let (mut whole, program) = (0, program.to_string_lossy().into_owned());
    let module = replayed.modules.values().find(|module| module.path == program);
    let module = module.expect("the program is a module");
    for stack in &stacks {
        let last = stack.last().expect("a frame");
        assert_eq!(last.flags & frame::TRUNCATED, 0, "{stack:x?}");
        whole += usize::from(last.flags & frame::CUT == 0);
        let inside = |frame: &StackFrame| (module.first..module.end).contains(&frame.address);
        assert!(stack.iter().any(inside), "{stack:x?}");
    }
    assert!(whole > 100, "{whole} of {} go to their thread's beginning", stacks.len());
}
