//! The slots of all spans in one list, so that an object is found without going through its span.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// What is known of the objects in slots, by place.
#[derive(Debug)]
pub(super) struct Pool<T> {
    slots: Vec<Option<T>>,
    /// By length, stretches that nobody uses, all of them free slots.
    unused: HashMap<usize, Vec<u32>, RandomState>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool { slots: Vec::new(), unused: HashMap::default() }
    }
}

impl<T: Copy> Pool<T> {
    /// Where a stretch of so many free slots begins; `None` when there are too many to be numbered.
    pub(super) fn take(&mut self, count: usize) -> Option<u32> {
        if let Some(base) = self.unused.get_mut(&count).and_then(Vec::pop) {
            return Some(base);
        }
        let (base, end) = (self.slots.len(), self.slots.len() + count);
        u32::try_from(end).ok()?;
        self.slots.resize(end, None);
        Some(base as u32)
    }

    /// The same stretches, all free.
    pub(super) fn emptied<U: Copy>(&self) -> Pool<U> {
        Pool { slots: vec![None; self.slots.len()], unused: self.unused.clone() }
    }

    /// Takes a stretch back.
    pub(super) fn give_back(&mut self, base: u32, count: usize) {
        self.stretch_mut(base, count).fill(None);
        self.unused.entry(count).or_default().push(base);
    }

    /// A slot of a stretch.
    #[inline]
    pub(super) fn slot(&mut self, base: u32, index: u64) -> Option<&mut Option<T>> {
        self.slots.get_mut(base as usize + index as usize)
    }

    /// All slots.
    pub(super) fn all(&mut self) -> &mut [Option<T>] {
        &mut self.slots
    }

    /// The slots of a stretch.
    pub(super) fn stretch(&self, base: u32, count: usize) -> &[Option<T>] {
        let base = base as usize;
        self.slots.get(base..base + count).unwrap_or_default()
    }

    fn stretch_mut(&mut self, base: u32, count: usize) -> &mut [Option<T>] {
        let base = base as usize;
        self.slots.get_mut(base..base + count).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_that_is_used_again_is_empty() {
        let mut pool = Pool::default();
        let (first, second) = (pool.take(4).unwrap(), pool.take(2).unwrap());
        *pool.slot(first, 3).unwrap() = Some(7_u8);
        *pool.slot(second, 0).unwrap() = Some(8);
        assert_eq!(pool.stretch(first, 4), [None, None, None, Some(7)]);
        pool.give_back(first, 4);
        assert_eq!(pool.take(2), Some(6));
        assert_eq!(pool.take(4), Some(first));
        assert_eq!(pool.stretch(first, 4), [None; 4]);
        assert_eq!(pool.stretch(second, 2), [Some(8), None]);
    }
}
