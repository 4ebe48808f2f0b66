//! `slabscope dump`: the events or records of a trace as Go prints them.

use std::io::{self, BufWriter, IsTerminal, Write, stdout};

use slabscope_trace::{Error, Reader, dump};

use crate::args::DumpArgs;
use crate::exit_code::Outcome;
use crate::failure::{self, Failure};
use crate::open;
use crate::text::Escaping;

pub(crate) fn run(args: &DumpArgs) -> Result<Outcome, Failure> {
    let stdout = stdout().lock();
    // Names in a trace are anyone's; a pipe gets them as Go prints them, a terminal does not.
    let read = if stdout.is_terminal() {
        let mut out = BufWriter::new(Escaping::new(stdout));
        write_all(args, &mut out)?
    } else {
        let mut out = BufWriter::with_capacity(1 << 16, stdout);
        write_all(args, &mut out)?
    };
    Ok(match read {
        Ok(()) => Outcome::Fine,
        Err(error) => {
            let message = format!("{error}. Everything before that was printed.");
            failure::say(&failure::about(&args.file, message));
            Outcome::Finding
        }
    })
}

/// The outer result is that of writing, the inner one that of reading.
fn write_all(args: &DumpArgs, out: &mut impl Write) -> Result<Result<(), Error>, Failure> {
    let read = if args.wire {
        dump::wire(&open::whole(&args.file)?, out)?
    } else {
        open::trace(&args.file)?.open.ahead(|reader| parsed(reader, out))?
    };
    out.flush()?;
    Ok(read)
}

fn parsed(reader: Reader<'_>, out: &mut impl Write) -> io::Result<Result<(), Error>> {
    for event in reader {
        match event {
            Ok(event) => dump::parsed(&event, out)?,
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(()))
}
