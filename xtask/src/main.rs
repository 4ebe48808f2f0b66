//! The chores of the slabscope workspace as code.
fn main() {}
