//! Threads that hand objects to each other, by four ways, and free what they are handed: objects of all
//! size classes, large ones, and ones with large alignments.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};

use slabscope_wire::size_class::SizeClass;

use super::pester::Pesterer;
use super::workers::Random;

/// Threads that hand on.
pub(crate) const THREADS: usize = 4;

/// Places of a queue.
const PLACES: usize = 256;

/// An object that belongs to whoever has this.
pub(crate) struct Object {
    address: *mut u8,
    layout: Layout,
}

// SAFETY: memory of the global allocator may be freed by any thread.
unsafe impl Send for Object {}

impl Object {
    fn new(layout: Layout) -> Object {
        // SAFETY: the layout has a size.
        let address = unsafe { alloc(layout) };
        assert!(!address.is_null());
        if layout.size() >= size_of::<u64>() {
            // So that a slot that two have at once shows.
            // SAFETY: there is room.
            unsafe { address.cast::<u64>().write_unaligned(address.addr() as u64) };
        }
        Object { address, layout }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if self.layout.size() >= size_of::<u64>() {
            // SAFETY: as in `new`.
            let mark = unsafe { self.address.cast::<u64>().read_unaligned() };
            assert_eq!(mark, self.address.addr() as u64, "two have had it");
        }
        // SAFETY: it was allocated with this layout and is nobody else's.
        unsafe { dealloc(self.address, self.layout) };
    }
}

/// Layouts of all kinds.
pub(crate) struct Layouts(Vec<usize>);

impl Layouts {
    pub(crate) fn new() -> Layouts {
        Layouts(SizeClass::all().map(|class| class.slot_size()).filter(|&size| size > 0).collect())
    }

    pub(crate) fn pick(&self, random: &mut Random) -> Layout {
        let (size, align) = match random.below(1000) {
            0..3 => (32_769 + random.below(300_000) as usize, 8),
            3..30 => (1 + random.below(5000) as usize, 1 << random.below(13)),
            30..32 => (1 + random.below(100) as usize, 1 << (13 + random.below(4))),
            32..300 => (self.0[random.below(self.0.len() as u64) as usize], 8),
            _ => (1 + random.below(256) as usize, 1),
        };
        Layout::from_size_align(size, align).expect("a layout")
    }
}

/// A queue between one thread and another: places, how many were filled and how many emptied.
struct Queue {
    places: Vec<Mutex<Option<Object>>>,
    filled: AtomicUsize,
    emptied: AtomicUsize,
}

impl Queue {
    fn new() -> Queue {
        let places = (0..PLACES).map(|_| Mutex::new(None)).collect();
        Queue { places, filled: AtomicUsize::new(0), emptied: AtomicUsize::new(0) }
    }

    /// Gives it back if there is no room.
    fn put(&self, object: Object) -> Option<Object> {
        let filled = self.filled.load(Ordering::Relaxed);
        if filled - self.emptied.load(Ordering::Acquire) == PLACES {
            return Some(object);
        }
        *self.places[filled % PLACES].try_lock().expect("nobody else is there") = Some(object);
        self.filled.store(filled + 1, Ordering::Release);
        None
    }

    fn take(&self) -> Option<Object> {
        let emptied = self.emptied.load(Ordering::Relaxed);
        if emptied == self.filled.load(Ordering::Acquire) {
            return None;
        }
        let object = self.places[emptied % PLACES].try_lock().expect("nobody else is there").take();
        self.emptied.store(emptied + 1, Ordering::Release);
        object
    }
}

/// All ways there are.
struct Ways {
    /// To each thread.
    senders: Vec<mpsc::SyncSender<Object>>,
    /// From each thread to the next.
    queues: Vec<Queue>,
    shared: Mutex<VecDeque<Object>>,
    /// Whoever puts something here frees what was there.
    places: [AtomicPtr<Object>; 16],
}

/// Has [`THREADS`] threads hand on objects until they have allocated as many, and freed them.
pub(crate) fn hand_over(objects: u64, pesterer: Option<&Pesterer>) {
    let (senders, inboxes): (Vec<_>, Vec<_>) =
        (0..THREADS).map(|_| mpsc::sync_channel(PLACES)).unzip();
    let ways = Ways {
        senders,
        queues: (0..THREADS).map(|_| Queue::new()).collect(),
        shared: Mutex::default(),
        places: [const { AtomicPtr::new(std::ptr::null_mut()) }; 16],
    };
    let left = AtomicU64::new(objects);
    std::thread::scope(|scope| {
        for (number, inbox) in inboxes.into_iter().enumerate() {
            let (ways, left) = (&ways, &left);
            scope.spawn(move || {
                let _victim = pesterer.map(Pesterer::enter);
                work(number, ways, &inbox, left);
            });
        }
    });
    for place in &ways.places {
        ways.free(place.swap(std::ptr::null_mut(), Ordering::Acquire));
    }
}

/// Objects that a thread allocates before it looks how many are left.
const BATCH: u64 = 1000;

fn work(number: usize, ways: &Ways, inbox: &mpsc::Receiver<Object>, left: &AtomicU64) {
    let (mut random, layouts) = (Random(77 + number as u64 * 7919), Layouts::new());
    let has_more = |left: u64| left.checked_sub(BATCH);
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, has_more).is_ok() {
        for _ in 0..BATCH {
            let object = Object::new(layouts.pick(&mut random));
            ways.hand_on(number, object, &mut random);
            drop(inbox.try_recv());
            drop(ways.queues[number].take());
            if random.below(4) == 0 {
                let taken = ways.shared.lock().expect("nobody panics with it").pop_front();
                drop(taken);
            }
        }
    }
}

impl Ways {
    fn hand_on(&self, from: usize, object: Object, random: &mut Random) {
        match random.below(5) {
            0 => drop(self.queues[(from + 1) % THREADS].put(object)),
            1 => {
                let to = random.below(THREADS as u64) as usize;
                drop(self.senders[to].try_send(object));
            }
            2 => {
                let mut shared = self.shared.lock().expect("nobody panics with it");
                let over = (shared.len() >= PLACES).then(|| shared.pop_front());
                shared.push_back(object);
                drop(shared);
                drop(over);
            }
            3 => drop(object),
            _ => {
                let place = &self.places[random.below(self.places.len() as u64) as usize];
                let object = Box::into_raw(Box::new(object));
                self.free(place.swap(object, Ordering::AcqRel));
            }
        }
    }

    fn free(&self, object: *mut Object) {
        if !object.is_null() {
            // SAFETY: it came from `Box::into_raw`, and the swap that took it made it ours alone.
            drop(unsafe { Box::from_raw(object) });
        }
    }
}
