//! Hashes of what tables know.

pub(crate) const SEED: u64 = 0x2d35_8dcc_aa6c_78a5;
pub(crate) const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Both halves of a product: each bit of it depends on all bits of both.
#[inline(always)]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
