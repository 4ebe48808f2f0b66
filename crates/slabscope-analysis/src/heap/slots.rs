//! The slots of a span and the objects in them.

use std::collections::HashMap;
use std::num::NonZeroU32;

use foldhash::fast::RandomState;

/// A thread of the trace, by the order in which they were met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Owner(NonZeroU32);

impl Owner {
    /// Whoever allocated before the trace began.
    pub(crate) const BEFORE: Owner = Owner(NonZeroU32::MAX);

    /// The thread with this index.
    pub(crate) fn thread(index: usize) -> Owner {
        let number = u32::try_from(index).unwrap_or(u32::MAX - 2);
        Owner(NonZeroU32::MIN.saturating_add(number))
    }

    /// Its index; `None` for whoever came before.
    pub(crate) fn index(self) -> Option<usize> {
        (self != Owner::BEFORE).then_some(self.0.get() as usize - 1)
    }
}

/// An object in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// Bytes asked for, [`Object::UNKNOWN`] where the trace does not tell.
    pub(crate) requested: u64,
    /// Who allocated it.
    pub(crate) owner: Owner,
}

impl Object {
    /// No size is this large.
    pub(crate) const UNKNOWN: u64 = u64::MAX;
}

/// There is one for each live slot of the traced heap, and free ones beside it.
const _: () = assert!(size_of::<Option<Object>>() == 16);

/// A span with more slots than this is not of any known writer.
const DENSE_MAX: u64 = 2048;

/// The slots of one span.
#[derive(Debug)]
pub(crate) enum Slots {
    /// By index, up to the last one ever used.
    Dense(Vec<Option<Object>>),
    /// Those in use, for spans that could have more slots than memory has room for.
    Sparse(HashMap<u64, Object, RandomState>),
}

impl Slots {
    /// Free ones.
    pub(crate) fn new(count: u64) -> Slots {
        if count <= DENSE_MAX {
            Slots::Dense(Vec::new())
        } else {
            Slots::Sparse(HashMap::default())
        }
    }

    /// What lies in a slot.
    #[inline]
    pub(crate) fn get(&self, index: u64) -> Option<Object> {
        match self {
            Slots::Dense(slots) => slots.get(index as usize).copied().flatten(),
            Slots::Sparse(slots) => slots.get(&index).copied(),
        }
    }

    /// Puts an object into a slot of the span.
    #[inline]
    pub(crate) fn put(&mut self, index: u64, object: Object) {
        match self {
            Slots::Dense(slots) => {
                let index = index as usize;
                if index >= slots.len() {
                    slots.resize(index + 1, None);
                }
                slots[index] = Some(object);
            }
            Slots::Sparse(slots) => {
                slots.insert(index, object);
            }
        }
    }

    /// Takes the object out of a slot.
    #[inline]
    pub(crate) fn take(&mut self, index: u64) -> Option<Object> {
        match self {
            Slots::Dense(slots) => slots.get_mut(index as usize)?.take(),
            Slots::Sparse(slots) => slots.remove(&index),
        }
    }

    /// All objects.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Object> {
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
    fn owners_give_their_index_back() {
        assert_eq!(Owner::thread(0).index(), Some(0));
        assert_eq!(Owner::thread(7).index(), Some(7));
        assert_eq!(Owner::BEFORE.index(), None);
        assert_ne!(Owner::thread(usize::MAX), Owner::BEFORE);
    }

    #[test]
    fn few_and_many_slots_behave_alike() {
        let object = Object { requested: 3, owner: Owner::BEFORE };
        for mut slots in [Slots::new(2048), Slots::new(1 << 40)] {
            assert_eq!(slots.take(5), None);
            slots.put(5, object);
            slots.put(7, object);
            assert_eq!((slots.get(5), slots.get(6)), (Some(object), None));
            assert_eq!(slots.objects().count(), 2);
            assert_eq!(slots.take(5), Some(object));
            assert_eq!(slots.take(5), None);
            assert_eq!(slots.objects().count(), 1);
        }
    }
}
