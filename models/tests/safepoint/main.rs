//! The safepoint, by the allocator's own `protocol.rs`: an operation is wholly before the moment at
//! which the world stands still or wholly after it, and nobody reads a thread's cache while it is used.
//!
//! `membarrier` makes a full barrier on every CPU that runs a thread of ours, which stands somewhere
//! in that thread's own order. Where it does, the compiler's fence is all that was missing, so both are
//! full fences here.
#![expect(clippy::duplicate_mod, reason = "each copy has barriers of its own")]

use std::ptr::{NonNull, null_mut};

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
const STILL: u8 = 8;

/// Where an operation is led to that need not look at the mode.
const OPEN: *mut () = NonNull::<()>::dangling().as_ptr();

/// Runs the model on one of the two. With `handlers` each operation is interrupted on its way in, by one that
/// goes apart; `stands_still` is whether the world waits for these, and they for it.
macro_rules! model {
    ($which:ident, $operations:expr, ends: $ends:expr) => {
        model!($which, $operations, ends: $ends, handlers: false, stands_still: false)
    };
    ($which:ident, $operations:expr, ends: $ends:expr, handlers: $handlers:expr, stands_still: $stands_still:expr) => {
        // As many switches at any place as suffice for every fault known here; all of them take minutes.
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            use $which::protocol::{
                come_back, enter, follow, go_apart, is_inside, is_nobody_apart, lead_to, leave,
                look, mislead, open, request, stand_still,
            };
            use $which::sync::{AtomicPtr, AtomicU8, AtomicU32, Ordering};

            struct World {
                mode: AtomicU8,
                state: AtomicU8,
                /// Where an operation is led to: null is the closed front.
                lead: AtomicPtr<()>,
                /// What an operation works on: how many there were.
                cache: UnsafeCell<usize>,
                /// Operations under way apart.
                apart: AtomicU32,
                /// What those work on: how many there were.
                deferred: AtomicUsize,
                /// Whether they find a trace.
                session: AtomicUsize,
                /// Operations with an event.
                events: AtomicUsize,
            }

            let world = Arc::new(World {
                mode: AtomicU8::new(0),
                state: AtomicU8::new($which::protocol::IDLE),
                lead: AtomicPtr::new(OPEN),
                cache: UnsafeCell::new(0),
                apart: AtomicU32::new(0),
                deferred: AtomicUsize::new(0),
                session: AtomicUsize::new(0),
                events: AtomicUsize::new(0),
            });
            let other = Arc::clone(&world);
            let operations = thread::spawn(move || {
                for _ in 0..$operations {
                    enter(&other.state);
                    if $handlers {
                        let bars = |mode| mode & STILL != 0;
                        while !go_apart(&other.mode, &other.apart, bars) {
                            thread::yield_now();
                        }
                        let traced = other.session.load(Ordering::Relaxed);
                        other.deferred.fetch_add(1, Ordering::Relaxed);
                        other.events.fetch_add(traced, Ordering::Relaxed);
                        come_back(&other.apart);
                    }
                    let mode = if follow(&other.lead) == OPEN {
                        0
                    } else {
                        loop {
                            let mode = look(&other.mode);
                            if mode & STOP == 0 {
                                break mode;
                            }
                            leave(&other.state);
                            // It waits at the door.
                            while other.mode.load(Ordering::Relaxed) & STOP != 0 {
                                thread::yield_now();
                            }
                            enter(&other.state);
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
            let stop = || {
                request(&world.mode, STOP, || mislead(&world.lead, null_mut()));
                while is_inside(&world.state) {
                    thread::yield_now();
                }
                if $stands_still {
                    stand_still(&world.mode, STILL);
                    while !is_nobody_apart(&world.apart) {
                        thread::yield_now();
                    }
                }
                // SAFETY: as above.
                let inside = world.cache.with(|cache| unsafe { *cache });
                inside + world.deferred.load(Ordering::Relaxed)
            };
            // A trace begins: the snapshot is what there is while the world stands still.
            let snapshot = stop();
            world.mode.fetch_or(TRACING, Ordering::Relaxed);
            world.session.store(1, Ordering::Relaxed);
            open(&world.mode, STOP | STILL);
            if $ends {
                // The trace ends: there is an event for each operation from one moment to the other.
                let end = stop();
                let events = world.events.load(Ordering::Relaxed);
                assert_eq!(snapshot + events, end, "in the snapshot or an event, and not both");
                world.mode.fetch_and(!TRACING, Ordering::Relaxed);
                world.session.store(0, Ordering::Relaxed);
                open(&world.mode, STOP | STILL);
                lead_to(&world.lead, OPEN);
                operations.join().unwrap();
                let after = world.events.load(Ordering::Relaxed);
                assert_eq!(after, events, "no event after the end");
            } else {
                operations.join().unwrap();
                let events = world.events.load(Ordering::Relaxed);
                let all = snapshot + events;
                let interrupting = if $handlers { $operations } else { 0 };
                assert_eq!(all, $operations + interrupting, "in the snapshot or an event, and not both");
            }
        });
    };
}

#[test]
fn each_operation_is_in_the_snapshot_or_has_its_event() {
    model!(sound, 2, ends: false);
}

#[test]
fn no_operation_has_an_event_after_the_end() {
    model!(sound, 1, ends: true);
}

#[test]
fn each_operation_apart_is_in_the_snapshot_or_has_its_event() {
    model!(sound, 1, ends: false, handlers: true, stands_still: true);
}

#[test]
fn no_operation_apart_has_an_event_after_the_end() {
    model!(sound, 1, ends: true, handlers: true, stands_still: true);
}

#[test]
#[should_panic(expected = "in the snapshot or an event, and not both")]
fn where_operations_apart_are_not_waited_for_the_model_finds_a_fault() {
    model!(sound, 1, ends: false, handlers: true, stands_still: false);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn without_the_barrier_the_model_finds_a_fault() {
    model!(unsound, 2, ends: false);
}
