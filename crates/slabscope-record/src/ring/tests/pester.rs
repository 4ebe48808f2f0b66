//! Signals at a high rate, whose handler pushes too, and threads that are moved from CPU to CPU.

extern crate std;

use std::cell::Cell;
use std::ptr::null;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence};
use std::vec::Vec;

use super::super::*;
use crate::counts::EventKind;
use slabscope_wire::live::word;

/// A thread that is pestered.
pub(super) struct Victim {
    rings: *const Rings,
    clock: *const ThreadClock,
    thread: u32,
    handled: AtomicU64,
}

std::thread_local! {
    static VICTIM: Cell<*const Victim> = const { Cell::new(null()) };
}

#[derive(Default)]
pub(super) struct Pesterer {
    threads: Mutex<Vec<(libc::pid_t, libc::pthread_t)>>,
}

extern "C" fn handle(_: libc::c_int) {
    // SAFETY: it leads to what `enter` made, until `leave` has taken it back.
    let Some(victim) = (unsafe { VICTIM.get().as_ref() }) else { return };
    // SAFETY: the test keeps both until the threads have ended.
    let (rings, clock) = unsafe { (&*victim.rings, &*victim.clock) };
    let words = [word::event(EventKind::ObjectFree, 1, 0), 0];
    let event = Event { thread: victim.thread, words, floor: 0 };
    if let Pushed::Done { .. } = rings.push_reentrant(event) {
        victim.handled.fetch_add(1, Ordering::Relaxed);
    }
    clock.interrupt();
}

impl Pesterer {
    /// Has the calling thread be pestered.
    pub(super) fn enter(
        &self,
        rings: &Rings,
        clock: &ThreadClock,
        thread: u32,
    ) -> std::boxed::Box<Victim> {
        let victim = Victim { rings, clock, thread, handled: AtomicU64::new(0) };
        let victim = std::boxed::Box::new(victim);
        VICTIM.set(&raw const *victim);
        let handler = handle as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: the handler only pushes, which it may.
        unsafe { libc::signal(libc::SIGUSR1, handler) };
        // SAFETY: they take nothing.
        let ids = unsafe { (libc::gettid(), libc::pthread_self()) };
        self.threads.lock().expect("nobody panics with it").push(ids);
        victim
    }

    /// Leaves the calling thread alone; returns how many events its handler pushed.
    pub(super) fn leave(&self, victim: &Victim) -> u64 {
        // SAFETY: it takes nothing.
        let id = unsafe { libc::gettid() };
        self.threads.lock().expect("nobody panics with it").retain(|&(other, _)| other != id);
        VICTIM.set(null());
        compiler_fence(Ordering::SeqCst);
        victim.handled.load(Ordering::Relaxed)
    }

    /// Pesters as long as anybody pushes.
    pub(super) fn run(&self, pushing: &AtomicU32) {
        let cpus = cpu::count();
        let mut round = 0_usize;
        while pushing.load(Ordering::Acquire) > 0 {
            for (index, &(id, thread)) in
                self.threads.lock().expect("nobody panics with it").iter().enumerate()
            {
                // SAFETY: a thread in the list has not ended.
                unsafe { libc::pthread_kill(thread, libc::SIGUSR1) };
                if round.is_multiple_of(8) {
                    // SAFETY: a set of CPUs is plain bits, for which zero is valid.
                    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
                    // SAFETY: the set is ours, and has room for more than that.
                    unsafe { libc::CPU_SET((round / 8 + index) % cpus, &mut set) };
                    // SAFETY: the kernel reads the set only.
                    unsafe { libc::sched_setaffinity(id, size_of_val(&set), &raw const set) };
                }
            }
            round += 1;
            std::thread::sleep(std::time::Duration::from_micros(20));
        }
    }
}
