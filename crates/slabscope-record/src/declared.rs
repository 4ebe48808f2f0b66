//! What a thread says it allocates: the type name of the scope it is in.
//!
//! Atomic and relaxed, since a signal handler of the thread may come in between; nobody else looks. A
//! handler leaves all as it found it, since its own scopes end before it does.

use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, compiler_fence};

use slabscope_wire::live::name;

use crate::session::Session;

/// A thread's declared type.
///
/// Invariant: where `len` is not 0, `start` and `len` are those of a text that lives for ever. They change
/// in an order that keeps this true between any two instructions.
#[derive(Debug)]
pub struct Declared {
    start: AtomicPtr<u8>,
    /// 0 outside every scope.
    len: AtomicUsize,
    /// `[session : 32 | number of the name in it : 32]`, 0 before it was asked for.
    number: AtomicU64,
}

/// What was declared outside a scope, for its end.
#[derive(Clone, Copy, Debug)]
pub struct Outer {
    start: *mut u8,
    len: usize,
    number: u64,
}

impl Declared {
    /// Nothing.
    #[expect(clippy::new_without_default, reason = "it is made for thread-locals")]
    pub const fn new() -> Self {
        Declared {
            start: AtomicPtr::new(core::ptr::null_mut()),
            len: AtomicUsize::new(0),
            number: AtomicU64::new(0),
        }
    }

    /// A scope begins, in which all memory is of the type with this name; an empty one declares nothing.
    /// Returns what [`Declared::restore`] takes at its end.
    #[inline]
    pub fn enter(&self, name: &'static str) -> Outer {
        let outer = Outer {
            start: self.start.load(Ordering::Relaxed),
            len: self.len.load(Ordering::Relaxed),
            number: self.number.load(Ordering::Relaxed),
        };
        let name = name::cut(name);
        self.set(Outer { start: name.as_ptr().cast_mut(), len: name.len(), number: 0 });
        outer
    }

    /// A scope ends.
    #[inline]
    pub fn restore(&self, outer: Outer) {
        self.set(outer);
    }

    #[inline]
    fn set(&self, Outer { start, len, number }: Outer) {
        self.len.store(0, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.start.store(start, Ordering::Relaxed);
        self.number.store(number, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.len.store(len, Ordering::Relaxed);
    }

    /// Whether the thread is outside every scope.
    #[inline(always)]
    pub(crate) fn is_none(&self) -> bool {
        self.len.load(Ordering::Relaxed) == 0
    }

    /// The number that the name has in this session; 0 outside every scope, and where there is no room
    /// for it.
    #[inline]
    pub(crate) fn number(&self, session: &Session) -> u16 {
        match self.len.load(Ordering::Relaxed) {
            0 => 0,
            len => self.number_of(session, len),
        }
    }

    #[inline(never)]
    fn number_of(&self, session: &Session, len: usize) -> u16 {
        let known = self.number.load(Ordering::Relaxed);
        let of_session = u64::from(session.serial()) << 32;
        if known >> 32 << 32 == of_session && known as u16 != 0 {
            return known as u16;
        }
        let start = self.start.load(Ordering::Relaxed);
        // SAFETY: the invariant, since `len` is not 0; a handler that came between the two loads has
        // left both as they were.
        let name = unsafe { core::slice::from_raw_parts(start, len) };
        let number = session.intern_type_name(name);
        self.number.store(of_session | u64::from(number), Ordering::Relaxed);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_nest_and_end_as_they_began() {
        let declared = Declared::new();
        let name = || {
            let (start, len) = (&declared.start, &declared.len);
            (start.load(Ordering::Relaxed).addr(), len.load(Ordering::Relaxed))
        };
        let nothing = name();
        let (outer, inner) = ("outer", "inner");
        let first = declared.enter(outer);
        declared.number.store(7, Ordering::Relaxed);
        let second = declared.enter(inner);
        assert_eq!(name(), (inner.as_ptr().addr(), 5));
        assert_eq!(declared.number.load(Ordering::Relaxed), 0);
        declared.restore(second);
        assert_eq!(name(), (outer.as_ptr().addr(), 5));
        assert_eq!(declared.number.load(Ordering::Relaxed), 7);
        declared.restore(first);
        assert_eq!(name(), nothing);
    }
}
