//! A program to look up addresses in: `outer` has `inner` inlined, and allocates.

#[derive(Clone, Copy)]
pub struct Order(pub u64, pub u64);

#[inline(always)]
fn inner(n: u64) -> Vec<Order> {
    let mut orders = Vec::with_capacity(n as usize);
    orders.push(Order(n, n + 1));
    orders
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn outer(n: u64) -> u64 {
    inner(n).iter().map(|order| order.0 ^ order.1).sum()
}

fn main() {
    println!("{}", outer(std::env::args().count() as u64));
}
