//! Free slots of one thread, by size class: what makes most operations a few instructions.
//!
//! Each class has two lists at most: one that slots are taken from and put in, and a full one beside
//! it. When both are full, or both empty, one whole list goes to the central list or comes from
//! there, without anybody walking along it. (Bonwick's magazines, made of links.) Few slots come at first
//! and more as the class is used, so that a thread which allocates little keeps little.

use slabscope_wire::size_class::{COUNT, SizeClass};

use crate::front::Front;
use crate::slot::{self, SlotList};

/// Bytes of a full list, about.
const BATCH_BYTES: usize = 32 << 10;

/// Slots of a full list at most.
pub(crate) const BATCH_MAX: u32 = 64;

/// Slots of a full list of each class.
const BATCHES: [u32; COUNT] = {
    let mut batches = [0; COUNT];
    let mut index = 1;
    while index < COUNT {
        if let Some(class) = SizeClass::new(index as u8) {
            let slots = BATCH_BYTES / class.slot_size();
            batches[index] = match slots {
                0 | 1 => 2,
                slots if slots > BATCH_MAX as usize => BATCH_MAX,
                slots => slots as u32,
            };
        }
        index += 1;
    }
    batches
};

/// Slots of a full list of `class`.
#[inline]
pub(crate) fn batch_of(class: SizeClass) -> u32 {
    BATCHES.get(class.index()).copied().unwrap_or(2)
}

/// What a class has beside its first list.
#[derive(Debug)]
struct Back {
    /// A whole list.
    spare: SlotList,
    /// How many slots the first list may have: none until it is used, then a full list or, where a span's
    /// slots came together and are more, as many as those.
    most: u32,
    /// How many slots to get when both lists have run out.
    batch: u32,
}

/// Free slots of one thread. The thread gives them back with [`Heap::flush`](crate::Heap::flush)
/// before the cache is dropped; else they stay allocated.
#[derive(Debug)]
#[repr(C)]
pub struct ThreadCache {
    front: Front,
    backs: [Back; COUNT],
}

// SAFETY: it owns its slots, which are tied to no thread.
unsafe impl Send for ThreadCache {}

impl ThreadCache {
    /// An empty cache.
    #[expect(clippy::new_without_default, reason = "it is made for constants")]
    pub const fn new() -> Self {
        ThreadCache {
            front: Front::new(),
            backs: [const { Back { spare: SlotList::new(), most: 0, batch: 0 } }; COUNT],
        }
    }

    /// What its thread needs of it most of the time.
    #[inline(always)]
    pub fn front(&self) -> &Front {
        &self.front
    }

    #[inline]
    fn back(&mut self, class: SizeClass) -> &mut Back {
        // SAFETY: there is one for each class that can be made, as `Front` has it.
        unsafe { self.backs.get_unchecked_mut(class.index()) }
    }

    /// The first list has run out: goes on with the other, if that has any. Ends the program if by its count
    /// the first one has slots left.
    pub(crate) fn take_spare(&mut self, class: SizeClass) -> bool {
        if self.back(class).most != self.front.room(class) {
            slot::broken();
        }
        let spare = self.back(class).spare.take_all();
        let some = !spare.is_empty();
        if some {
            self.fill(class, spare);
        }
        some
    }

    /// Makes `list` the first list, which is empty.
    pub(crate) fn fill(&mut self, class: SizeClass, list: SlotList) {
        let (head, len) = list.into_parts();
        let most = batch_of(class).max(len);
        self.back(class).most = most;
        // SAFETY: the list was whole and ours; the one before it is empty.
        unsafe { self.front.set(class, head, most - len) };
    }

    /// There is no room at hand for another slot: makes some, and returns a list there is no place for.
    pub(crate) fn make_room(&mut self, class: SizeClass) -> SlotList {
        if self.front.count_taken(class) {
            return SlotList::new();
        }
        if self.back(class).most == 0 {
            self.fill(class, SlotList::new());
            return SlotList::new();
        }
        let full = self.take_first(class);
        core::mem::replace(&mut self.back(class).spare, full)
    }

    /// How many slots to get; more each time.
    pub(crate) fn next_batch(&mut self, class: SizeClass) -> u32 {
        let back = self.back(class);
        back.batch = (back.batch * 4).clamp(1, batch_of(class));
        back.batch
    }

    /// Takes the first list out.
    pub(crate) fn take_first(&mut self, class: SizeClass) -> SlotList {
        let most = self.back(class).most;
        let (head, len) = (self.front.head(class), most - self.front.room(class));
        // SAFETY: the invariant makes the list one of so many slots; it is taken out, and the new
        // one is empty.
        unsafe {
            self.front.set(class, core::ptr::null_mut(), most);
            SlotList::from_parts(head, len)
        }
    }

    /// Takes the other list out.
    pub(crate) fn take_second(&mut self, class: SizeClass) -> SlotList {
        self.back(class).spare.take_all()
    }

    /// All free slots in it, and all free large objects.
    pub(crate) fn slots(&self) -> impl Iterator<Item = *mut u8> {
        SizeClass::all().flat_map(|class| self.slots_of(class)).chain(self.front.large.objects())
    }

    fn slots_of(&self, class: SizeClass) -> impl Iterator<Item = *mut u8> {
        let spare = self.backs.get(class.index()).into_iter().flat_map(|back| back.spare.iter());
        // SAFETY: all that is reached this way is in the list, by the invariant of `Front`.
        unsafe { slot::chain(self.front.head(class)) }.chain(spare)
    }

    /// Bytes of the free slots of `class`.
    pub(crate) fn bytes_of(&self, class: SizeClass) -> usize {
        let Some(back) = self.backs.get(class.index()) else { return 0 };
        let first = back.most - self.front.room(class);
        (first + back.spare.len()) as usize * class.slot_size()
    }

    /// Bytes of large objects in it.
    pub(crate) fn large_bytes(&self) -> usize {
        self.front.large.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    #[test]
    fn lists_are_kept_up_to_a_bound() {
        for class in SizeClass::all() {
            let mut cache = ThreadCache::new();
            let mut slots = vec![[0_u64; 1]; 3 * BATCH_MAX as usize];
            let mut given_up = 0;
            for slot in &mut slots {
                let slot = slot.as_mut_ptr().cast();
                // SAFETY: the word is ours, and is in one list only.
                while !unsafe { cache.front().put(class, slot) } {
                    given_up += cache.make_room(class).len();
                }
            }
            assert_eq!(cache.back(class).most, batch_of(class));
            let count = cache.slots().count() as u32;
            assert_eq!(count as usize * class.slot_size(), cache.bytes_of(class));
            assert_eq!(count + given_up, 3 * BATCH_MAX);
            assert!(count <= 2 * batch_of(class));
            let mut taken = 0;
            while !cache.front().take(class).is_null() || cache.take_spare(class) {
                taken += 1;
            }
            assert!(taken >= batch_of(class) && cache.bytes_of(class) == 0);
        }
    }

    #[test]
    fn more_slots_come_each_time() {
        let class = SizeClass::of_size(64).unwrap();
        let mut cache = ThreadCache::new();
        let batches: vec::Vec<u32> = (0..5).map(|_| cache.next_batch(class)).collect();
        assert_eq!(batches, [1, 4, 16, 64, 64]);
        let large = SizeClass::of_size(32 << 10).unwrap();
        assert_eq!((cache.next_batch(large), cache.next_batch(large)), (1, 2));
    }

    #[test]
    fn slots_that_come_and_go_stay_in_the_first_list() {
        let class = SizeClass::of_size(64).unwrap();
        let mut cache = ThreadCache::new();
        let mut words = [0_u64; 4];
        for round in 0..1000 {
            for word in &mut words {
                // SAFETY: as above.
                while !unsafe { cache.front().put(class, (&raw mut *word).cast()) } {
                    assert!(cache.make_room(class).is_empty());
                }
            }
            assert_eq!(cache.bytes_of(class), 4 * 64);
            for _ in &words {
                assert!(!cache.front().take(class).is_null(), "round {round}");
            }
            assert!(cache.take_second(class).is_empty());
        }
    }
}
