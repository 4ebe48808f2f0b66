//! The heap model replayed from a trace, and its reports as data.
