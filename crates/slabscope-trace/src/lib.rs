//! A reader of Go execution traces, with the AllocFree experiment.
