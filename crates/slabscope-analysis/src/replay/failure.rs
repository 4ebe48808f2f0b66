//! What ended the reading of a trace, as reports tell it.

use slabscope_trace::{Error, ErrorKind};

use crate::report::ReadError;

pub(crate) fn read_error(error: Error) -> ReadError {
    ReadError {
        offset: error.offset,
        generation: error.generation,
        what: error.what.to_string(),
        is_cut_off: matches!(
            error.what,
            ErrorKind::BatchHeader(slabscope_wire::varint::VarintError::Truncated)
                | ErrorKind::BatchCutOff { .. }
                | ErrorKind::GenerationCutOff
        ),
    }
}
