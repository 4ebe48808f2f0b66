//! What threads remember of their last walks: in the recorder's memory, so that threads of programs that
//! take no stacks have none.

use core::sync::atomic::{AtomicU32, Ordering};

use slabscope_unwind::Memo;

use crate::mapped::{Mapped, Zeroed};

/// So many threads at a time remember.
const PLACES: usize = 1 << 8;

/// See the module.
#[derive(Debug)]
pub(crate) struct Memos {
    places: Mapped<Place>,
}

/// A memo, and whose it is.
#[derive(Debug)]
#[repr(C, align(64))]
struct Place {
    /// A thread's number, 0 while it is free. Acquire and release: who takes it over finds the steps whole.
    owner: AtomicU32,
    memo: Memo,
}

// SAFETY: made of atomics, for which zero is valid.
unsafe impl Zeroed for Place {}

impl Memos {
    /// None is anybody's; `None` without memory.
    pub(crate) fn new() -> Option<Self> {
        Some(Memos { places: Mapped::new(PLACES)? })
    }

    fn place(&self, thread: u32) -> Option<&Place> {
        self.places.get(thread as usize % PLACES).filter(|_| thread != 0)
    }

    /// The memo of the thread with this number, which is the calling one, if another does not have its place.
    #[inline]
    pub(crate) fn of(&self, thread: u32) -> Option<&Memo> {
        let place = self.place(thread)?;
        let is_own = place.owner.load(Ordering::Relaxed) == thread || place.take(thread);
        is_own.then_some(&place.memo)
    }

    /// The thread with this number ends.
    pub(crate) fn leave(&self, thread: u32) {
        if let Some(place) = self.place(thread) {
            let _ = place.owner.compare_exchange(thread, 0, Ordering::Release, Ordering::Relaxed);
        }
    }
}

impl Place {
    #[cold]
    fn take(&self, thread: u32) -> bool {
        self.owner.compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_one_thread_s_until_it_ends() {
        let memos = Memos::new().unwrap();
        let (one, other) = (7, 7 + PLACES as u32);
        assert!(memos.of(0).is_none());
        assert!(memos.of(one).is_some() && memos.of(one).is_some());
        assert!(memos.of(other).is_none());
        memos.leave(other);
        assert!(memos.of(other).is_none());
        memos.leave(one);
        assert!(memos.of(other).is_some() && memos.of(one).is_none());
    }
}
