//! `slabscope dump`: the events or records of a trace as Go prints them, or as JSON.

mod row;
mod wire;

use std::io::{BufWriter, IsTerminal, Write, stdout};

use slabscope_analysis::{Account, EventsRead};
use slabscope_trace::{Error, dump};

use crate::args::DumpArgs;
use crate::exit_code::Outcome;
use crate::failure::{self, Failure};
use crate::text::Escaping;
use crate::{doubts, events, json};

use row::Row;

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
    if let Some(account) = &read.account {
        doubts::say(&args.file, account);
    }
    let Some(error) = read.error else { return Ok(Outcome::Fine) };
    let message = format!("{error}. Everything before that was printed.");
    failure::say(&failure::about(&args.file, message));
    Ok(Outcome::Finding)
}

/// What printing came to.
struct Printed {
    /// What ended the reading before the file's end.
    error: Option<Error>,
    /// Whether the trace is all there; records do not tell.
    account: Option<Account>,
}

fn write_all(args: &DumpArgs, out: &mut impl Write) -> Result<Printed, Failure> {
    let read = if args.wire {
        Printed { error: wire::write(args, out)?, account: None }
    } else {
        let EventsRead { error, account } = events(args, out)?;
        Printed { error, account: Some(account) }
    };
    out.flush()?;
    Ok(read)
}

fn events(args: &DumpArgs, out: &mut impl Write) -> Result<EventsRead, Failure> {
    let (file, window) = (&args.file, args.window);
    if !args.json {
        return events::each(file, window, |event| dump::parsed(event, out));
    }
    json::head(file, out)?;
    let read = events::each(file, window, |event| json::line(&Row(event), out))?;
    json::line(&json::Completeness { completeness: &read.account }, out)?;
    Ok(read)
}
