//! Signals at a high rate, whose handler allocates, and threads that are moved from CPU to CPU.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use super::workers::Random;

/// Runs of the handler.
static HANDLED: AtomicU64 = AtomicU64::new(0);

/// Objects that one run of the handler leaves for another to free, on whatever thread.
static LEFT: [AtomicPtr<[u64; 4]>; 8] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 8];

/// Threads that are pestered.
type Victims = Arc<Mutex<Vec<(libc::pid_t, libc::pthread_t)>>>;

/// Pesters the threads that entered, until it is ended.
pub(crate) struct Pesterer {
    victims: Victims,
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// The calling thread is pestered as long as this lives.
pub(crate) struct Victim(Victims);

extern "C" fn handler(_: libc::c_int) {
    let n = HANDLED.fetch_add(1, Ordering::Relaxed);
    black_box(Vec::<u64>::with_capacity(1 + (n % 50) as usize));
    let new = Box::into_raw(Box::new([n; 4]));
    let old = LEFT[n as usize % LEFT.len()].swap(new, Ordering::AcqRel);
    free(old);
}

fn free(left: *mut [u64; 4]) {
    if !left.is_null() {
        // SAFETY: it came from `Box::into_raw`, and the swap that took it made it ours alone.
        drop(unsafe { Box::from_raw(left) });
    }
}

impl Pesterer {
    pub(crate) fn start() -> Pesterer {
        // SAFETY: the handler does what this allocator allows a handler; the structure is ours.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()), 0);
        }
        let (victims, end) = (Victims::default(), Arc::new(AtomicBool::new(false)));
        let of_thread = (victims.clone(), end.clone());
        let thread = std::thread::spawn(move || pester(&of_thread.0, &of_thread.1));
        Pesterer { victims, end, thread: Some(thread) }
    }

    /// Has the calling thread be pestered.
    pub(crate) fn enter(&self) -> Victim {
        // SAFETY: they take nothing.
        let ids = unsafe { (libc::gettid(), libc::pthread_self()) };
        self.victims.lock().expect("nobody panics with it").push(ids);
        Victim(self.victims.clone())
    }

    /// Ends it; how often the handler ran.
    pub(crate) fn end(mut self) -> u64 {
        self.end.store(true, Ordering::Relaxed);
        self.thread.take().expect("it was not ended").join().expect("it ends well");
        for place in &LEFT {
            free(place.swap(std::ptr::null_mut(), Ordering::AcqRel));
        }
        HANDLED.load(Ordering::Relaxed)
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        // SAFETY: it takes nothing.
        let id = unsafe { libc::gettid() };
        self.0.lock().expect("nobody panics with it").retain(|&(other, _)| other != id);
    }
}

fn pester(victims: &Victims, end: &AtomicBool) {
    let cpus = cpus();
    let mut random = Random(0xbeef);
    while !end.load(Ordering::Relaxed) {
        for &(id, thread) in victims.lock().expect("nobody panics with it").iter() {
            // SAFETY: a thread in the list has not ended.
            unsafe { libc::pthread_kill(thread, libc::SIGUSR1) };
            if random.below(8) == 0 {
                move_to(id, cpus[random.below(cpus.len() as u64) as usize]);
            }
        }
        std::thread::sleep(Duration::from_micros(20));
    }
}

/// The CPUs this process may run on.
pub(crate) fn cpus() -> Vec<usize> {
    // SAFETY: the set is ours to write, and all zero is a set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        assert_eq!(libc::sched_getaffinity(0, size, &raw mut set), 0);
        (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect()
    }
}

/// Has a thread run on `cpu`; 0 is the calling one.
pub(crate) fn move_to(thread: libc::pid_t, cpu: usize) {
    // SAFETY: the set is ours, and all zero is a set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        let size = size_of::<libc::cpu_set_t>();
        assert_eq!(libc::sched_setaffinity(thread, size, &raw const set), 0);
    }
}
