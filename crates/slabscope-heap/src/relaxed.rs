//! Fields that locks or ownership order, made of atomics so that a stray read is stale and not
//! undefined: all loads and stores are relaxed.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering};

/// A number.
#[derive(Debug, Default)]
pub(crate) struct Number(AtomicU32);

impl Number {
    #[inline]
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn set(&self, value: u32) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// A small number.
#[derive(Debug, Default)]
pub(crate) struct Small(AtomicU8);

impl Small {
    #[inline]
    pub(crate) fn get(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn set(&self, value: u8) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// An address of a slot, or null.
#[derive(Debug)]
pub(crate) struct Address(AtomicPtr<u8>);

impl Default for Address {
    fn default() -> Self {
        Address(AtomicPtr::new(null_mut()))
    }
}

impl Address {
    #[inline]
    pub(crate) fn get(&self) -> *mut u8 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn set(&self, value: *mut u8) {
        self.0.store(value, Ordering::Relaxed);
    }
}
