//! The threads of a generation by the time of their next event.
//!
//! A binary heap. Where times are equal, its shape decides which thread comes first, so every
//! step here is the one Go's reader takes: the order of events must be the same.

mod sort;

use crate::id::Time;

/// A heap of cursors, named by their index, with the earliest event on top.
#[derive(Debug, Default)]
pub(crate) struct Frontier {
    heap: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Time,
    cursor: usize,
}

impl Frontier {
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// The time of the earliest event.
    pub(crate) fn time(&self) -> Option<Time> {
        self.heap.first().map(|entry| entry.time)
    }

    /// The time of the earliest event but one.
    #[inline]
    pub(crate) fn second(&self) -> Option<Time> {
        let children = self.heap.get(1..self.heap.len().min(3)).unwrap_or_default();
        children.iter().map(|entry| entry.time).min()
    }

    /// The cursor at `place`; place 0 has the earliest event.
    #[inline]
    pub(crate) fn cursor(&self, place: usize) -> Option<usize> {
        self.heap.get(place).map(|entry| entry.cursor)
    }

    pub(crate) fn insert(&mut self, time: Time, cursor: usize) {
        self.heap.push(Entry { time, cursor });
        self.sift_up(self.heap.len() - 1);
    }

    /// Gives the cursor at `place` a new time.
    #[inline]
    pub(crate) fn update(&mut self, place: usize, time: Time) {
        if let Some(entry) = self.heap.get_mut(place) {
            entry.time = time;
            if self.sift_up(place) == place {
                self.sift_down(place);
            }
        }
    }

    /// Takes the cursor at `place` out.
    pub(crate) fn remove(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            self.heap.swap(parent, place);
            place = parent;
        }
        if !self.heap.is_empty() {
            self.heap.swap_remove(0);
            self.sift_down(0);
        }
    }

    /// Sorts all by time, which leaves a heap. Equal times come to lie where Go's sort puts them.
    pub(crate) fn sort(&mut self) {
        sort::sort(&mut self.heap, |one, other| one.time < other.time);
    }

    fn sift_up(&mut self, mut place: usize) -> usize {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap[parent].time <= self.heap[place].time {
                break;
            }
            self.heap.swap(parent, place);
            place = parent;
        }
        place
    }

    fn sift_down(&mut self, mut place: usize) {
        loop {
            let mut least = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < self.heap.len() && self.heap[child].time < self.heap[least].time {
                    least = child;
                }
            }
            if least == place {
                break;
            }
            self.heap.swap(place, least);
            place = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_come_out_as_from_go() {
        let mut frontier = Frontier::default();
        for cursor in [9, 8, 7] {
            frontier.insert(Time(5), cursor);
        }
        let mut order = Vec::new();
        while let Some(cursor) = frontier.cursor(0) {
            order.push(cursor);
            frontier.remove(0);
        }
        assert_eq!(order, [9, 7, 8]);
    }

    #[test]
    fn the_earliest_is_on_top_whatever_happens() {
        let mut frontier = Frontier::default();
        let times = [40, 10, 30, 20, 60, 50, 0];
        for (cursor, &time) in times.iter().enumerate() {
            frontier.insert(Time(time), cursor);
        }
        assert_eq!(frontier.cursor(0), Some(6));
        frontier.update(0, Time(45));
        assert_eq!(frontier.time(), Some(Time(10)));
        frontier.remove(2);
        frontier.sort();
        let mut last = Time(0);
        while let Some(time) = frontier.time() {
            assert!(time >= last);
            last = time;
            frontier.remove(0);
        }
    }
}
