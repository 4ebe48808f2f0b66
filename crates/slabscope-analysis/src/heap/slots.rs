//! The slots of a span and what is known of the objects in them.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// A span with more slots than this is not of any known writer.
const DENSE_MAX: u64 = 2048;

/// The slots of one span.
#[derive(Debug)]
pub(crate) enum Slots<T> {
    /// By index, up to the last one ever used.
    Dense(Vec<Option<T>>),
    /// Those in use, for spans that could have more slots than memory has room for.
    Sparse(HashMap<u64, T, RandomState>),
}

impl<T: Copy> Slots<T> {
    /// Free ones.
    pub(crate) fn new(count: u64) -> Slots<T> {
        if count <= DENSE_MAX {
            Slots::Dense(Vec::new())
        } else {
            Slots::Sparse(HashMap::default())
        }
    }

    /// What lies in a slot.
    #[inline]
    pub(crate) fn get(&self, index: u64) -> Option<T> {
        match self {
            Slots::Dense(slots) => slots.get(index as usize).copied().flatten(),
            Slots::Sparse(slots) => slots.get(&index).copied(),
        }
    }

    /// Puts an object into a slot of the span.
    #[inline]
    pub(crate) fn put(&mut self, index: u64, tag: T) {
        match self {
            Slots::Dense(slots) => {
                let index = index as usize;
                if index >= slots.len() {
                    slots.resize(index + 1, None);
                }
                slots[index] = Some(tag);
            }
            Slots::Sparse(slots) => {
                slots.insert(index, tag);
            }
        }
    }

    /// Takes the object out of a slot.
    #[inline]
    pub(crate) fn take(&mut self, index: u64) -> Option<T> {
        match self {
            Slots::Dense(slots) => slots.get_mut(index as usize)?.take(),
            Slots::Sparse(slots) => slots.remove(&index),
        }
    }

    /// Of all objects in them.
    pub(crate) fn tags(&self) -> impl Iterator<Item = T> {
        let (dense, sparse) = match self {
            Slots::Dense(slots) => (Some(slots), None),
            Slots::Sparse(slots) => (None, Some(slots)),
        };
        let dense = dense.into_iter().flatten().copied().flatten();
        dense.chain(sparse.into_iter().flat_map(HashMap::values).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_slots_behave_alike() {
        for mut slots in [Slots::<u8>::new(2048), Slots::new(1 << 40)] {
            assert_eq!(slots.take(5), None);
            slots.put(5, 3_u8);
            slots.put(7, 4);
            assert_eq!((slots.get(5), slots.get(6)), (Some(3), None));
            assert_eq!(slots.tags().count(), 2);
            assert_eq!(slots.take(5), Some(3));
            assert_eq!(slots.take(5), None);
            assert_eq!(slots.tags().count(), 1);
        }
    }
}
