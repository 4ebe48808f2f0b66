//! The record of a run of pages, free or in use. Records lie apart from the pages.

use slabscope_wire::size_class::SizeClass;

use crate::observer::{SpanInfo, SpanKind};
use crate::relaxed::{Address, Number, Small};

/// What a run of pages is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// No run begins at this page.
    None = 0,
    /// Free, in the page heap.
    Free = 1,
    /// Slots of one size class.
    Small = 2,
    /// One large object.
    Large = 3,
    /// A stack in use.
    Stack = 4,
    /// A stack kept for the next who asks.
    StackIdle = 5,
}

/// The record of the run that begins at one page.
///
/// `pages` and `state` are written under the page heap's lock, or before anybody else knows of the
/// run. The links belong to the list the run is in, the rest to its class's central list; both
/// under their locks. All zero is the record of no run.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Span {
    pub(crate) next: Number,
    pub(crate) previous: Number,
    pub(crate) pages: Number,
    /// Of a free run: all bytes from this page of it on read as zero.
    pub(crate) dirty: Number,
    /// Slots there are.
    pub(crate) slots: Number,
    /// Slots that are not in the span: a cache, a list or the program has them. Of a large object: 1
    /// while the program has it.
    pub(crate) used: Number,
    /// With fewer slots used than these the span belongs in another list of the central list.
    pub(crate) used_min: Number,
    /// Slots that were ever given out; the others were never touched.
    pub(crate) carved: Number,
    /// Slots that were given back, linked through their first word: `carved - used` of them.
    pub(crate) free: Address,
    state: Small,
    pub(crate) class: Small,
    /// In which list of the central list it is; see `central`.
    pub(crate) bucket: Small,
}

impl Span {
    #[inline]
    pub(crate) fn state(&self) -> State {
        match self.state.get() {
            1 => State::Free,
            2 => State::Small,
            3 => State::Large,
            4 => State::Stack,
            5 => State::StackIdle,
            _ => State::None,
        }
    }

    /// Whether it has slots of `class`.
    #[inline]
    pub(crate) fn is_small_of(&self, class: SizeClass) -> bool {
        self.state.get() == State::Small as u8 && usize::from(self.class.get()) == class.index()
    }

    /// Whether it is one large object.
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        self.state.get() == State::Large as u8
    }

    #[inline]
    pub(crate) fn set_state(&self, state: State) {
        self.state.set(state as u8);
    }

    #[inline]
    pub(crate) fn class(&self) -> SizeClass {
        SizeClass::new(self.class.get()).unwrap_or(SizeClass::LARGE)
    }

    /// What an observer is told of the span that begins at `page`; `None` if it is not in use.
    pub(crate) fn info(&self, page: u32) -> Option<SpanInfo> {
        let kind = match self.state() {
            State::None | State::Free => return None,
            State::Small => SpanKind::Objects(self.class()),
            State::Large => SpanKind::Objects(SizeClass::LARGE),
            State::Stack | State::StackIdle => SpanKind::Stack,
        };
        Some(SpanInfo { page: page as usize, pages: self.pages.get() as usize, kind })
    }
}

const _: () = assert!(size_of::<Span>() == 64);
