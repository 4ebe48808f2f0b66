//! The safepoint, by the allocator's own `protocol.rs`: an operation is wholly before the moment at
//! which the world stands still or wholly after it, and nobody reads a thread's cache while it is used.
//!
//! `membarrier` makes a full barrier on every CPU that runs a thread of ours, which stands somewhere
//! in that thread's own order. Where it does, the compiler's fence is all that was missing, so both are
//! full fences here.
#![expect(clippy::duplicate_mod, reason = "each copy has barriers of its own")]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::thread;

/// With a barrier on both sides.
mod sound;
/// Without the rare side's: what the model must find.
mod unsound;

const STOP: u8 = 1;
const TRACING: u8 = 2;

/// Runs the model on one of the two.
macro_rules! model {
    ($which:ident, $operations:expr) => {
        loom::model(|| {
            use $which::protocol::{enter, is_inside, leave, open, request};
            use $which::sync::{AtomicU8, Ordering};

            struct World {
                mode: AtomicU8,
                state: AtomicU8,
                /// What an operation works on: how many there were.
                cache: UnsafeCell<usize>,
                /// Operations with an event.
                events: AtomicUsize,
            }

            let world = Arc::new(World {
                mode: AtomicU8::new(0),
                state: AtomicU8::new($which::protocol::IDLE),
                cache: UnsafeCell::new(0),
                events: AtomicUsize::new(0),
            });
            let other = Arc::clone(&world);
            let operations = thread::spawn(move || {
                for _ in 0..$operations {
                    let mode = loop {
                        let mode = enter(&other.state, &other.mode);
                        if mode & STOP == 0 {
                            break mode;
                        }
                        leave(&other.state);
                        // It waits at the door.
                        while other.mode.load(Ordering::Relaxed) & STOP != 0 {
                            thread::yield_now();
                        }
                    };
                    // SAFETY: loom tells if anybody else touches it at this time.
                    other.cache.with_mut(|cache| unsafe { *cache += 1 });
                    if mode & TRACING != 0 {
                        other.events.fetch_add(1, Ordering::Relaxed);
                    }
                    leave(&other.state);
                }
            });
            // A trace begins: the snapshot is what there is while the world stands still.
            request(&world.mode, STOP);
            while is_inside(&world.state) {
                thread::yield_now();
            }
            // SAFETY: as above.
            let snapshot = world.cache.with(|cache| unsafe { *cache });
            world.mode.fetch_or(TRACING, Ordering::Relaxed);
            open(&world.mode, STOP);
            operations.join().unwrap();
            let events = world.events.load(Ordering::Relaxed);
            assert_eq!(snapshot + events, $operations, "in the snapshot or an event, and not both");
        });
    };
}

#[test]
fn each_operation_is_in_the_snapshot_or_has_its_event() {
    model!(sound, 2);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn without_the_barrier_the_model_finds_a_fault() {
    model!(unsound, 2);
}
