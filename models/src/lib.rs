//! The allocator's protocols between threads, run by `loom` through all interleavings and all values
//! that each load may see. The tests include the source files that the allocator is built from; only
//! the atomics and barriers behind them are others. Restartable sequences are assembly: a machine in a test
//! executes them as they were compiled.
