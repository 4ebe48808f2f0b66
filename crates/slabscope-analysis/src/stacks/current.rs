//! The frames of a generation by their number in it. The recorder gives a frame one number for the whole
//! trace, so most of a generation's frames are those of the one before.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::StackId;

/// Numbers below this may have a place of their own: those that a recorder gives.
const PLACES_MAX: u64 = 1 << 22;

/// Numbers that have one, for each frame of a generation: a trace that has few gets few, whatever it says.
const PLACES_FOR_EACH: u64 = 16;

/// What a number stood for last.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    address: u64,
    outer: StackId,
    stack: StackId,
    /// When it was told, 0 for never.
    generation: u32,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Current {
    places: Vec<Known>,
    others: HashMap<u64, Known, RandomState>,
    /// Numbers below this have a place, in this generation and later ones.
    limit: u64,
    generation: u32,
}

impl Current {
    /// A generation of so many frames begins, which has none yet. If `same` does not hold, numbers may stand for
    /// something else than before even where address and caller are the same.
    pub(super) fn begin(&mut self, frames: usize, same: bool) {
        let limit = (frames as u64).saturating_mul(PLACES_FOR_EACH).min(PLACES_MAX);
        self.limit = self.limit.max(limit);
        if !same {
            self.places.clear();
        }
        self.others.clear();
        self.generation = self.generation.saturating_add(1);
    }

    /// The stack of the frame with this number.
    pub(super) fn get(&self, number: u64) -> Option<StackId> {
        let known = match self.places.get(number as usize) {
            Some(known) if number < self.limit => known,
            _ => self.others.get(&number)?,
        };
        (known.generation == self.generation).then_some(known.stack)
    }

    /// The frame with this number is at this address and called from `outer`; `stack` says which stack that
    /// is, if it was another before.
    pub(super) fn tell(
        &mut self,
        number: u64,
        (address, outer): (u64, StackId),
        stack: impl FnOnce() -> StackId,
    ) {
        let known = if number < self.limit {
            let at = number as usize;
            if at >= self.places.len() {
                self.places.resize(at + 1, Known::default());
            }
            &mut self.places[at]
        } else {
            self.others.entry(number).or_default()
        };
        let is_same = known.generation > 0 && (known.address, known.outer) == (address, outer);
        let stack = if is_same { known.stack } else { stack() };
        *known = Known { address, outer, stack, generation: self.generation };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_the_same_is_not_asked_for_again() {
        let mut current = Current::default();
        let other = || StackId(9);
        for number in [3, PLACES_MAX + 3] {
            current.begin(1, true);
            current.tell(number, (70, StackId(1)), || StackId(5));
            assert_eq!(current.get(number), Some(StackId(5)));
            assert_eq!((current.get(2), current.get(PLACES_MAX)), (None, None));
            current.begin(1, true);
            assert_eq!(current.get(number), None, "it is of the generation before");
            current.tell(number, (70, StackId(2)), other);
            assert_eq!(current.get(number), Some(StackId(9)));
        }
        current.begin(1, true);
        current.tell(3, (70, StackId(2)), || unreachable!("it is known"));
        current.tell(3, (71, StackId(2)), || StackId(4));
        current.begin(1, false);
        current.tell(3, (71, StackId(2)), other);
        assert_eq!(current.get(3), Some(StackId(9)));
    }
}
