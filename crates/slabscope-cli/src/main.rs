//! The slabscope program.
fn main() {}
