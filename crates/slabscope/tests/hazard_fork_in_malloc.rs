//! Fork while a signal handler that allocates has interrupted glibc's own `malloc`: the thread holds
//! a lock that `fork` will ask for, and must not be made to wait for the fork.
#![cfg(feature = "recorder")]

mod support;

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use support::{Traces, child, replay, succeed, wait};

#[global_allocator]
static GLOBAL: slabscope::Slabscope = slabscope::Slabscope::new();

static HANDLED: AtomicU64 = AtomicU64::new(0);
static END: AtomicBool = AtomicBool::new(false);

#[test]
fn a_thread_inside_the_c_library_does_not_stop_a_fork() {
    succeed(&mut child("forks", None));
    for rings in ["auto", "cas"] {
        let traces = Traces::new();
        let path = traces.path(&format!("fork-in-malloc-{rings}.trace"));
        let variable = format!("traceallocfree=1,rings={rings},out={}", path.display());
        succeed(&mut child("forks", Some(&variable)));
        assert_eq!(replay(&path).lost(), 0);
    }
}

extern "C" fn handler(_: i32) {
    let n = HANDLED.fetch_add(1, Ordering::Relaxed);
    let mut own: Vec<u64> = Vec::with_capacity(1 + (n % 50) as usize);
    own.push(n);
    black_box(&own);
}

/// Takes and gives back memory of the C library's, of its one arena: mostly under its lock.
fn use_malloc() {
    let mut kept = [std::ptr::null_mut::<libc::c_void>(); 64];
    while !END.load(Ordering::Relaxed) {
        for (index, place) in kept.iter_mut().enumerate() {
            // Beyond what glibc keeps for each thread, so its lock is taken.
            // SAFETY: each pointer is null or came from `malloc`, and is freed once.
            unsafe {
                libc::free(*place);
                *place = libc::malloc(2000 + index * 100);
            }
        }
    }
    // SAFETY: as above.
    kept.into_iter().for_each(|place| unsafe { libc::free(place) });
}

#[test]
#[ignore = "run by its parent, in a process of its own"]
fn forks() {
    // SAFETY: the handler does what this allocator allows a handler.
    unsafe {
        // Ends the program if it hangs; a busy machine takes long for the few forks that must be.
        libc::alarm(300);
        // One arena, so that all threads want its lock; and no caches before it.
        assert_eq!(libc::mallopt(libc::M_ARENA_MAX, 1), 1);
        libc::signal(libc::SIGUSR1, handler as *const () as libc::sighandler_t);
    }
    let users: Vec<_> = (0..3).map(|_| std::thread::spawn(use_malloc)).collect();
    let targets: Vec<_> =
        users.iter().map(std::os::unix::thread::JoinHandleExt::as_pthread_t).collect();
    let sender = std::thread::spawn(move || {
        while !END.load(Ordering::Relaxed) {
            for &target in &targets {
                // SAFETY: the threads are joined after this one.
                unsafe { libc::pthread_kill(target, libc::SIGUSR1) };
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let begun = Instant::now();
    for round in 0..300 {
        if round >= 30 && begun.elapsed() > Duration::from_secs(20) {
            break;
        }
        // SAFETY: the child leaves at once.
        match unsafe { libc::fork() } {
            0 => {
                drop(black_box(vec![1_u8; 100]));
                // SAFETY: _exit has no precondition.
                unsafe { libc::_exit(0) };
            }
            pid => assert_eq!(wait(pid), 0, "round {round}"),
        }
    }
    END.store(true, Ordering::Relaxed);
    sender.join().expect("it ends well");
    users.into_iter().for_each(|user| user.join().expect("it ends well"));
    println!("{} signals, {:?}", HANDLED.load(Ordering::Relaxed), begun.elapsed());
}
