//! A library that is loaded while the program runs and has the allocator for itself: two heaps, two
//! sets of thread-locals and of hooks, in one process.
#![cfg(feature = "recorder")]

mod support;

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;

use support::{Traces, built, child, replay, succeed};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

/// Loads the library; it stays.
fn load() -> *mut c_void {
    let path = std::env::var_os("LIBRARY").expect("the parent says where");
    let path = CString::new(path.as_bytes()).expect("a path without NUL");
    // SAFETY: the library's initialisers are those of Rust's standard library.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!library.is_null(), "{} does not load", path.to_string_lossy());
    library
}

fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: the library is loaded.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    assert!(!address.is_null());
    address
}

#[test]
fn a_library_with_its_own_copy_is_served_and_leaves_our_trace_exact() {
    let library = built::library();
    succeed(child("loads", None).env("LIBRARY", &library));
    let traces = Traces::new();
    let path = traces.path("dlopen.trace");
    let variable = format!("traceallocfree=1,out={}", path.display());
    succeed(child("loads", Some(&variable)).env("LIBRARY", &library).env("TRACED", "1"));
    assert_eq!(replay(&path).lost(), 0);
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn loads() {
    // The library would follow the variable too, and write the same file.
    if std::env::var_os("TRACED").is_some() {
        // SAFETY: this is the only thread that reads or writes the environment now.
        unsafe { std::env::remove_var("SLABSCOPE") };
    }
    let library = load();
    // SAFETY: the functions have these types in `examples/own_copy.rs`.
    let (work, live): (extern "C" fn(u32) -> u64, extern "C" fn() -> u64) = unsafe {
        (
            std::mem::transmute::<*mut c_void, extern "C" fn(u32) -> u64>(symbol(
                library,
                c"own_copy_work",
            )),
            std::mem::transmute::<*mut c_void, extern "C" fn() -> u64>(symbol(
                library,
                c"own_copy_live_bytes",
            )),
        )
    };
    let expected = work(4);
    let ours: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    for _ in 0..20 {
        // Threads of the program that use both heaps, and end in either's hooks.
        let thread = std::thread::spawn(move || {
            let own: Vec<u32> = (0..5000).collect();
            (live(), work(2), own.len())
        });
        let (bytes, _, len) = thread.join().expect("it ends well");
        assert!(bytes >= 100_000 && len == 5000);
    }
    assert_eq!(work(4), expected);
    assert_eq!(ours[999], "999");
}
