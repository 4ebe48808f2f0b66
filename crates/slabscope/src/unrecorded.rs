//! What stands in the recorder's place where it is compiled out (without the feature `recorder`): there is
//! never a session or an emitter, the types have no values, and the compiler leaves out what would use one.

use core::convert::Infallible;
use core::marker::PhantomData;

use slabscope_os::lock::{Guard, Lock};

use crate::tls::{Thread, TraceNumber};

/// There is none.
#[derive(Debug)]
pub(crate) struct Session(Infallible);

/// There is none.
#[derive(Debug)]
pub(crate) struct Running(Infallible);

/// There is none.
#[derive(Debug)]
pub(crate) struct Emitter<'a>(Infallible, PhantomData<&'a ()>);

/// Nothing to remember.
#[derive(Debug)]
pub(crate) struct ThreadClock;

/// Nobody asks which type a scope declares.
#[derive(Debug)]
pub(crate) struct Declared;

/// Nothing to restore.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outer;

/// Nobody walks its stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a>(PhantomData<&'a Thread>);

/// See [`Caller`].
#[derive(Debug)]
pub(crate) struct Place;

static RUNNING: Lock<Option<Running>> = Lock::new(None);

/// There is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtOnce<'a>(Infallible, PhantomData<&'a ()>);

impl AtOnce<'_> {
    pub(crate) fn is_plain(self, _: &Declared) -> bool {
        match self.0 {}
    }

    pub(crate) fn object_alloc(self, _: u64, _: usize, _: usize, _: usize) -> bool {
        match self.0 {}
    }

    pub(crate) fn object_free(self, _: u64, _: usize) -> bool {
        match self.0 {}
    }
}

impl<'a> Emitter<'a> {
    pub(crate) fn reentrant(
        session: &Session,
        _: u32,
        _: &'a ThreadClock,
        _: &'a Declared,
    ) -> Self {
        match session.0 {}
    }

    pub(crate) fn hastily(self) -> Self {
        match self.0 {}
    }

    pub(crate) fn pressed(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn object_alloc(
        &mut self,
        _: u64,
        _: usize,
        _: usize,
        _: usize,
        _: impl FnOnce() -> Place,
    ) {
        match self.0 {}
    }

    pub(crate) fn object_free(&mut self, _: u64, _: usize) {
        match self.0 {}
    }

    pub(crate) fn span_alloc(&mut self, _: u64, _: u64, _: u64, _: u64) {
        match self.0 {}
    }

    pub(crate) fn span_free(&mut self, _: u64) {
        match self.0 {}
    }

    pub(crate) fn stack_alloc(&mut self, _: u64, _: u64) {
        match self.0 {}
    }

    pub(crate) fn stack_free(&mut self, _: u64) {
        match self.0 {}
    }
}

impl ThreadClock {
    pub(crate) const fn new() -> Self {
        ThreadClock
    }
}

impl Declared {
    pub(crate) const fn new() -> Self {
        Declared
    }

    pub(crate) fn enter(&self, _: &'static str) -> Outer {
        Outer
    }

    pub(crate) fn restore(&self, _: Outer) {}
}

impl<'a> Caller<'a> {
    #[inline(always)]
    pub(crate) fn of_this(_: &'a Thread) -> Self {
        Caller(PhantomData)
    }

    pub(crate) fn place(self) -> Place {
        Place
    }
}

pub(crate) fn current() -> Option<&'static Session> {
    None
}

pub(crate) fn number_if_known(trace: TraceNumber) -> u32 {
    trace.number
}

pub(crate) fn emitter<'a>(session: &'a Session, _: &Thread, _: &'a Thread) -> Emitter<'a> {
    match session.0 {}
}

pub(crate) fn emitter_at_once(_: &Thread) -> Option<Emitter<'_>> {
    None
}

pub(crate) fn at_once(_: &Thread) -> Option<AtOnce<'_>> {
    None
}

pub(crate) fn emit_thread_end(emitter: &mut Emitter<'_>, _: &Thread) {
    match emitter.0 {}
}

pub(crate) fn wait_for_room() {}

pub(crate) fn at_first_use() {}

pub(crate) fn is_to_follow() -> bool {
    false
}

pub(crate) fn lock_running() -> Guard<'static, Option<Running>> {
    RUNNING.lock()
}

pub(crate) fn forget(_: &mut Option<Running>) {}

/// For the only thread of a forked child.
///
/// # Safety
/// None is asked for here.
pub(crate) unsafe fn reset_after_fork() {}
