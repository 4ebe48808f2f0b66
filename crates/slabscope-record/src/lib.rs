//! The slabscope recorder: per-CPU rings, clock, drainer, encoder.
