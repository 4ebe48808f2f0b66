//! The records of a trace, of all of it or of the generations that a part lies in.

use std::io::{Read, Write};

use slabscope_analysis::{Stretch, Window};
use slabscope_trace::{Error, dump};

use crate::args::DumpArgs;
use crate::failure::Failure;
use crate::{events, open};

/// Returns what ended the reading before the end.
pub(super) fn write(args: &DumpArgs, out: &mut impl Write) -> Result<Option<Error>, Failure> {
    let (path, window) = (&args.file, args.window);
    if window.window().map_err(Failure::Input)? == Window::default() {
        return Ok(dump::wire(open::stream(path)?.read, out)?.err());
    }
    open::refuse_pipe(path)?;
    let Stretch { start, end, error } = events::bytes(path, window)?;
    let open::Bytes { version, read, .. } = open::stream_from(path, start)?;
    // What is in the way of the times need not be in that of the records.
    let len = if error.is_some() { u64::MAX } else { end.saturating_sub(start) };
    Ok(dump::wire_from(read.take(len), version, start, out)?.err())
}
