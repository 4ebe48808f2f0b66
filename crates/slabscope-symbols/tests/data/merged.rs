//! Two functions with the same code, for types of the same size.

use std::hint::black_box;

#[repr(C)]
pub struct Order(pub u64, pub u64);

#[repr(C)]
pub struct Price(pub u64, pub u64);

#[unsafe(no_mangle)]
#[inline(never)]
pub fn orders(n: u64) -> Vec<Order> {
    Vec::with_capacity(n as usize)
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn prices(n: u64) -> Vec<Price> {
    Vec::with_capacity(n as usize)
}

fn main() {
    let n = std::env::args().count() as u64;
    println!("{}", black_box(orders(n)).capacity() + black_box(prices(n + 1)).capacity());
}
