//! Threads that allocate all the time, and hand half of it to each other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread::JoinHandle;

/// A small generator of our own kind, so that a failure can be run again (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    /// Mostly small, seldom large.
    pub(crate) fn size(&mut self) -> usize {
        let size = match self.below(1000) {
            0..900 => self.below(400),
            900..998 => self.below(34_000),
            _ => 33_000 + self.below(200_000),
        };
        1 + size as usize
    }
}

/// The threads, and a way to hold them still.
pub(crate) struct Workers {
    pause: Arc<AtomicBool>,
    end: Arc<AtomicBool>,
    barrier: Arc<Barrier>,
    threads: Vec<JoinHandle<()>>,
    /// How many objects, of what sizes, each thread holds while it is held still.
    held: mpsc::Receiver<Vec<(usize, usize)>>,
}

impl Workers {
    pub(crate) fn start(count: usize) -> Self {
        let (pause, end) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let barrier = Arc::new(Barrier::new(count + 1));
        let (tell, held) = mpsc::channel();
        let (senders, inboxes): (Vec<_>, Vec<_>) =
            (0..count).map(|_| mpsc::channel::<Vec<u8>>()).unzip();
        let threads = inboxes.into_iter().enumerate().map(|(index, inbox)| {
            let (pause, end, barrier) = (pause.clone(), end.clone(), barrier.clone());
            let (senders, tell) = (senders.clone(), tell.clone());
            let name = format!("worker {index}");
            let work = move || {
                let mut random = Random(1 + index as u64 * 7919);
                let mut kept: Vec<Vec<u8>> = Vec::new();
                while !end.load(Ordering::Relaxed) {
                    if pause.load(Ordering::Relaxed) {
                        let held = kept.iter().map(|v| (v.as_ptr().addr(), v.capacity()));
                        let _ = tell.send(held.collect());
                        // Else a handler could be at work here while nothing is to happen.
                        with_signals_blocked(|| {
                            barrier.wait();
                            barrier.wait();
                        });
                        continue;
                    }
                    work_a_little(&mut random, &mut kept, &senders, &inbox);
                }
            };
            std::thread::Builder::new().name(name).spawn(work).expect("a thread")
        });
        let threads = threads.collect();
        Workers { pause, end, barrier, threads, held }
    }

    /// Runs `f` while all of them stand still; it is told address and size of what they hold.
    pub(crate) fn still<R>(&self, f: impl FnOnce(&[(usize, usize)]) -> R) -> R {
        self.pause.store(true, Ordering::Relaxed);
        self.barrier.wait();
        let mut held = Vec::new();
        while let Ok(more) = self.held.try_recv() {
            held.extend(more);
        }
        self.pause.store(false, Ordering::Relaxed);
        let result = f(&held);
        drop(held);
        self.barrier.wait();
        result
    }

    pub(crate) fn end(self) {
        self.end.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().expect("a worker ends well");
        }
    }
}

fn with_signals_blocked(f: impl FnOnce()) {
    // SAFETY: the sets are ours, and the mask is the calling thread's own.
    unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        f();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
    }
}

fn work_a_little(
    random: &mut Random,
    kept: &mut Vec<Vec<u8>>,
    senders: &[mpsc::Sender<Vec<u8>>],
    inbox: &mpsc::Receiver<Vec<u8>>,
) {
    let mut made = vec![0; random.size()];
    match random.below(4) {
        0 => kept.push(made),
        1 => {
            let to = random.below(senders.len() as u64) as usize;
            let _ = senders[to].send(made);
        }
        2 => {
            made.reserve_exact(random.size());
            made.shrink_to_fit();
        }
        _ => drop(made),
    }
    if kept.len() > 500 {
        kept.swap_remove(random.below(500) as usize);
    }
    while let Ok(received) = inbox.try_recv() {
        drop(received);
    }
}

/// More events than the rings take, from two threads.
pub(crate) fn churn_on_two_threads() {
    let work = |seed| {
        move || {
            let mut random = Random(seed);
            let mut kept: Vec<Vec<u8>> = Vec::new();
            for _ in 0..400_000 {
                kept.push(vec![1; 1 + random.below(200) as usize]);
                if kept.len() > 100 {
                    kept.swap_remove(random.below(100) as usize);
                }
            }
        }
    };
    let second = std::thread::spawn(work(2));
    work(1)();
    second.join().expect("it ends well");
}
