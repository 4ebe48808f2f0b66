//! The search for the type that owns some memory, from the innermost function of a stack outwards.
//!
//! Functions with the same code are merged, by the compiler and by the linker, and one name is left for
//! all of them. Those for types of one size are alike, and so may be their callers. So a function out of
//! line never makes a type certain, nor do several, but one does that was inlined into a function which is
//! no instance for some types and has its place for itself.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::{Certainty, Memory, OwningType, elements, fits, is_passed, meaning, other, short};
use crate::frame::Frame;
use crate::generics;
use crate::name::Name;

/// The search for a type, frame by frame.
#[derive(Debug, Default)]
pub struct Inference {
    found: Option<Found>,
    /// A function that asked for elements, and did not know of which type.
    asked: Option<Arc<Name>>,
    /// Whether what was found is told in the code of the function that the frames are in by now.
    is_told_here: bool,
    /// Whether functions further out have nothing to say.
    is_settled: bool,
}

/// What is known so far, and since which function.
#[derive(Debug)]
struct Found {
    memory: Memory,
    /// What it was before it was known who holds it, if that is more than nothing.
    inner: Option<Memory>,
    name: Arc<Name>,
    certainty: Certainty,
}

impl Inference {
    /// Takes the next frame outwards; breaks off when those that follow have nothing to say.
    pub fn frame(&mut self, frame: &Frame) -> ControlFlow<()> {
        if !self.is_settled {
            self.is_settled = self.learn(frame).is_break();
        }
        if !frame.is_inlined {
            self.leave(frame);
            if self.is_settled {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    /// What was found, if it was memory of this alignment in bytes.
    pub fn finish(self, align: Option<u64>) -> Option<OwningType> {
        let is_guess = self.found.as_ref().is_none_or(|found| found.certainty == Certainty::Guess);
        // The compiler joins calls that only differ in who makes them, and then says of none who it is.
        // What needs no alignment is bytes, as a rule.
        if let Some(name) = self.asked.filter(|_| is_guess && align == Some(1)) {
            let (memory, certainty) = (Memory::Elements("u8".to_owned()), Certainty::Guess);
            return Some(Found { memory, inner: None, name, certainty }.into_type(align));
        }
        self.found.map(|found| found.into_type(align))
    }

    fn learn(&mut self, frame: &Frame) -> ControlFlow<()> {
        let name = &frame.name;
        let known = self.found.as_ref().map(|found| &found.memory);
        if let Some(memory) = meaning(name, known) {
            return self.take(memory, frame);
        }
        if let Some(found) = &self.found
            && let Some(memory) = meaning(name, found.inner.as_ref())
            && (memory == found.memory || self.is_stand_in() && are_kin(&found.memory, &memory))
        {
            self.told_again(memory, frame);
            return ControlFlow::Continue(());
        }
        if is_passed(name, self.found.is_some()) {
            if elements::is_of_any(name) {
                self.asked.get_or_insert_with(|| Arc::clone(name));
            }
            return ControlFlow::Continue(());
        }
        if self.found.is_none() {
            let guess = Certainty::Guess;
            self.found = other::owner(name).map(|memory| Found::new(memory, None, frame, guess));
        }
        ControlFlow::Break(())
    }

    /// Takes what a function means by what is known so far.
    fn take(&mut self, memory: Memory, frame: &Frame) -> ControlFlow<()> {
        let Some(found) = &self.found else {
            self.tell(memory, None, frame);
            return ControlFlow::Continue(());
        };
        match (&found.memory, &memory) {
            (old, new) if old == new => self.told_again(memory, frame),
            (Memory::Elements(old), Memory::Elements(new)) => {
                // A vector of vectors asks for its elements' memory through its own functions.
                if !self.is_stand_in() || new.contains(&**old) {
                    return ControlFlow::Break(());
                }
                if elements::is_forwarding(&frame.name) {
                    self.tell(memory, None, frame);
                }
            }
            (_, Memory::Type(_)) => {
                let inner = found.inner.clone().unwrap_or_else(|| found.memory.clone());
                self.tell(memory, Some(inner), frame);
            }
            _ => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Whether the function that told the type may stand for one with the same code.
    fn is_stand_in(&self) -> bool {
        let is_sure = self.found.as_ref().is_some_and(|it| it.certainty == Certainty::Exact);
        !is_sure && !self.is_told_here
    }

    fn tell(&mut self, memory: Memory, inner: Option<Memory>, frame: &Frame) {
        self.found = Some(Found::new(memory, inner, frame, Certainty::Likely));
        self.is_told_here = frame.is_inlined;
    }

    /// A function says the same, or knows better, since it is further out.
    fn told_again(&mut self, memory: Memory, frame: &Frame) {
        match &mut self.found {
            Some(found) if found.memory == memory => self.is_told_here |= frame.is_inlined,
            found => {
                let inner = found.take().and_then(|found| found.inner);
                self.tell(memory, inner, frame);
            }
        }
    }

    /// The frames that follow are in another function's code.
    fn leave(&mut self, frame: &Frame) {
        let is_told = std::mem::take(&mut self.is_told_here);
        if is_told
            && !frame.name.is_instance
            && !frame.shares_code
            && let Some(found) = &mut self.found
        {
            found.certainty = Certainty::Exact;
        }
    }
}

/// Whether two types differ in what they are for only, and neither may be a part of the other.
fn are_kin(old: &Memory, new: &Memory) -> bool {
    match (old, new) {
        (Memory::Boxed(old), Memory::Boxed(new)) => {
            !new.contains(&**old) && !new.contains("alloc::")
        }
        (Memory::Type(old), Memory::Type(new)) => {
            let ((base, _), (other, arguments)) = (generics::split(old), generics::split(new));
            base == other && !arguments.iter().any(|argument| argument.contains(base))
        }
        _ => false,
    }
}

impl Found {
    fn new(memory: Memory, inner: Option<Memory>, frame: &Frame, certainty: Certainty) -> Found {
        Found { memory, inner, name: Arc::clone(&frame.name), certainty }
    }

    fn into_type(self, align: Option<u64>) -> OwningType {
        let fits = self.memory.elements().is_none_or(|element| fits(element, align));
        OwningType {
            certainty: if fits { self.certainty } else { Certainty::Guess },
            name: short(&self.memory.into_name()),
            because: self.name.full.clone(),
        }
    }
}
