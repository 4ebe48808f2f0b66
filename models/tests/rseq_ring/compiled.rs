//! The sections as the recorder calls them, compiled for the machine to run. Nobody else calls them.

use slabscope_os::rseq::{self, Area, Commit, Pushed, RingHead, Streak};

/// What `push` says of what became of an event.
pub(crate) const DONE: u64 = 0;
pub(crate) const FULL: u64 = 1;
pub(crate) const NO_CPU: u64 = 2;

/// Names in the program, by which the machine finds them.
pub(crate) const PUSH: &str = "slabscope_model_push";
pub(crate) const EXTEND: &str = "slabscope_model_extend";
pub(crate) const BEGIN: &str = "slabscope_model_begin";
pub(crate) const END: &str = "slabscope_model_end";

#[unsafe(no_mangle)]
unsafe extern "C" fn slabscope_model_push(
    area: &Area,
    rings: *const RingHead,
    count: u32,
    thread: u32,
    event: &[u64; 3],
    commit: &mut Commit,
) -> u64 {
    let &[first, second, floor] = event;
    // SAFETY: the machine's memory has the area, and rings that are pushed to like this only.
    match unsafe { rseq::push(*area, rings, count, thread, [first, second], floor) } {
        Pushed::Done(done) => {
            *commit = done;
            DONE
        }
        Pushed::Full => FULL,
        Pushed::NoCpu => NO_CPU,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn slabscope_model_extend(area: &Area, streak: &Streak, event: u64) -> u64 {
    // SAFETY: as above; a streak begins on one of these rings.
    u64::from(unsafe { rseq::extend(*area, streak, event) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn slabscope_model_begin(
    streak: &Streak,
    ring: &RingHead,
    thread: u32,
    commit: &Commit,
    words: u32,
) {
    streak.begin(ring, thread, commit, words);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn slabscope_model_end(streak: &Streak) {
    streak.end();
}

/// Has the linker keep them all.
pub(crate) fn keep() {
    std::hint::black_box([
        slabscope_model_push as *const (),
        slabscope_model_extend as *const (),
        slabscope_model_begin as *const (),
        slabscope_model_end as *const (),
    ]);
}
