//! The slots of a span and what is known of the objects in them.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::pool::Pool;

/// A span with more slots than this is not of any known writer.
pub(super) const DENSE_MAX: u64 = 1024;

/// The slots of one span.
#[derive(Debug)]
pub(super) enum Slots<T> {
    /// A stretch of the pool, which begins there.
    Dense(u32),
    /// Those in use, for a span of more than memory may have room for.
    Sparse(HashMap<u64, T, RandomState>),
}

impl<T> Slots<T> {
    /// Slots of which none is known of, as of a span that is not in the table yet.
    pub(super) fn none() -> Slots<T> {
        Slots::Sparse(HashMap::default())
    }
}

impl<T: Copy> Slots<T> {
    /// So many free slots.
    pub(super) fn free(count: u64, pool: &mut Pool<T>) -> Slots<T> {
        let is_dense = (1..=DENSE_MAX).contains(&count);
        let base = is_dense.then(|| pool.take(count as usize)).flatten();
        base.map_or_else(Slots::none, Slots::Dense)
    }

    /// What lies in a slot.
    pub(super) fn get(&self, index: u64, pool: &mut Pool<T>) -> Option<T> {
        match self {
            Slots::Dense(base) => *pool.slot(*base, index)?,
            Slots::Sparse(slots) => slots.get(&index).copied(),
        }
    }

    /// Puts an object into a slot.
    pub(super) fn put(&mut self, index: u64, tag: T, pool: &mut Pool<T>) {
        match self {
            Slots::Dense(base) => {
                if let Some(slot) = pool.slot(*base, index) {
                    *slot = Some(tag);
                }
            }
            Slots::Sparse(slots) => {
                slots.insert(index, tag);
            }
        }
    }

    /// Takes the object out of a slot.
    pub(super) fn take(&mut self, index: u64, pool: &mut Pool<T>) -> Option<T> {
        match self {
            Slots::Dense(base) => pool.slot(*base, index)?.take(),
            Slots::Sparse(slots) => slots.remove(&index),
        }
    }

    /// All objects in the `count` slots, with these.
    pub(super) fn all<'a>(
        &'a self,
        count: u64,
        pool: &'a Pool<T>,
    ) -> impl Iterator<Item = (u64, T)> + 'a {
        let (dense, sparse) = match self {
            Slots::Dense(base) => (Some(pool.stretch(*base, count as usize)), None),
            Slots::Sparse(slots) => (None, Some(slots)),
        };
        let dense = (0..).zip(dense.unwrap_or_default());
        let dense = dense.filter_map(|(index, slot)| slot.map(|tag| (index, tag)));
        dense.chain(sparse.into_iter().flatten().map(|(&index, &tag)| (index, tag)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_slots_behave_alike() {
        let mut pool = Pool::default();
        for count in [DENSE_MAX, 1 << 40] {
            let mut slots = Slots::free(count, &mut pool);
            assert_eq!(slots.take(5, &mut pool), None);
            slots.put(5, 3_u8, &mut pool);
            slots.put(7, 4, &mut pool);
            assert_eq!((slots.get(5, &mut pool), slots.get(6, &mut pool)), (Some(3), None));
            assert_eq!(slots.all(count, &pool).count(), 2);
            assert_eq!(slots.take(5, &mut pool), Some(3));
            assert_eq!(slots.take(5, &mut pool), None);
            assert_eq!(slots.all(count, &pool).collect::<Vec<_>>(), [(7, 4)]);
        }
    }
}
