//! A lock that allocates nothing, never panics and is not poisoned.
//!
//! It spins a little and then sleeps on a futex. It knows nothing of fork or signals: whoever
//! takes it sees to it that neither can happen meanwhile (the allocator's safepoint does).

use core::cell::UnsafeCell;
use core::hint::spin_loop;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

use crate::futex;

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and somebody sleeps on the word.
const AWAITED: u32 = 2;

/// How often to look again before sleeping; a holder does a few dozen loads and stores.
const SPINS: u32 = 100;

/// A bound on one sleep, so that a lost wake-up costs time and not the program.
const SLEEP_MAX: Duration = Duration::from_millis(100);

/// A value that one thread at a time may touch.
#[derive(Debug)]
pub struct Lock<T> {
    /// FREE, HELD or AWAITED. Taken with acquire and given back with release, so that a holder
    /// sees all that the holder before it did.
    state: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only through a guard, and there is one guard at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// A free lock over `value`.
    pub const fn new(value: T) -> Self {
        Lock { state: AtomicU32::new(FREE), value: UnsafeCell::new(value) }
    }

    /// Waits until the lock is free and takes it.
    #[inline]
    pub fn lock(&self) -> Guard<'_, T> {
        if !self.take(HELD) {
            self.lock_slow();
        }
        Guard { lock: self }
    }

    /// Takes the lock if it is free at this moment.
    #[inline]
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        // Only then may there be a guard: dropping one gives the lock back, whoever has it.
        self.take(HELD).then(|| Guard { lock: self })
    }

    /// Makes the lock free whoever held it: for the only thread of a forked child.
    ///
    /// # Safety
    /// No other thread exists, and the calling thread holds no guard.
    pub unsafe fn reset(&self) {
        self.state.store(FREE, Ordering::Relaxed);
    }

    #[inline]
    fn take(&self, state: u32) -> bool {
        // Acquire pairs with the release in `drop`; a failure teaches nothing, hence relaxed.
        self.state.compare_exchange(FREE, state, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn lock_slow(&self) {
        for _ in 0..SPINS {
            if self.take(HELD) {
                return;
            }
            spin_loop();
        }
        // From here on the word says that somebody sleeps, also when this thread gets the lock:
        // it cannot know whether it was the last one asleep.
        while self.state.swap(AWAITED, Ordering::Acquire) != FREE {
            futex::wait(&self.state, AWAITED, SLEEP_MAX);
        }
    }
}

/// The right to touch a [`Lock`]'s value; gives the lock back when dropped.
#[derive(Debug)]
pub struct Guard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one, so nobody writes meanwhile.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the only one and is borrowed exclusively.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // Release hands what this holder wrote to the next.
        if self.lock.state.swap(FREE, Ordering::Release) == AWAITED {
            futex::wake(&self.lock.state, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_finds_it_held_leaves_it_held() {
        let lock = Lock::new(1);
        let guard = lock.lock();
        assert!(lock.try_lock().is_none());
        assert!(lock.try_lock().is_none(), "the first try gave it back");
        drop(guard);
        *lock.try_lock().expect("it is free") += 1;
        assert_eq!(*lock.lock(), 2);
    }
}
