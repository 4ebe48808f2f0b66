//! A thousand objects made, then all dropped: caches fill and run empty.

use std::hint::black_box;

use super::{Outcome, mix, timed};
use crate::Random;

/// In which order they are dropped.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    Lifo,
    Fifo,
    Random,
}

const OBJECTS: usize = 1000;
const ROUNDS: u64 = 5000;

pub(super) fn run(order: Order) -> Outcome {
    let mut random = Random::new(3);
    let sizes: Vec<usize> = (0..OBJECTS).map(|_| 16 + random.next() as usize % 240).collect();
    let mut places: Vec<usize> = (0..OBJECTS).collect();
    match order {
        Order::Lifo => places.reverse(),
        Order::Fifo => {}
        Order::Random => {
            for last in (1..OBJECTS).rev() {
                places.swap(last, random.next() as usize % (last + 1));
            }
        }
    }
    let mut objects: Vec<Option<Vec<u8>>> = (0..OBJECTS).map(|_| None).collect();
    timed(|| {
        let mut checksum = 0;
        for round in 0..ROUNDS {
            for (place, &size) in objects.iter_mut().zip(&sizes) {
                let mut object = Vec::with_capacity(black_box(size));
                object.push(round as u8);
                *place = Some(object);
            }
            for &place in &places {
                if let Some(object) = objects[place].take() {
                    checksum = mix(checksum, u64::from(object[0]));
                }
            }
        }
        checksum
    })
}
