//! `slabscope recover`: makes the trace of a killed program whole, for good.

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write, stdout};
use std::path::Path;

use serde::Serialize;
use slabscope_analysis::Account;
use slabscope_recover::Recovered;

use crate::args::RecoverArgs;
use crate::exit_code::Outcome;
use crate::failure::{Failure, about, say};
use crate::live::{Live, left_out_text};
use crate::{json, open, text, unpack};

pub(crate) fn run(args: &RecoverArgs) -> Result<Outcome, Failure> {
    let path = &args.file;
    let live = match Live::beside(path) {
        None => {
            open::stream(path)?;
            return answer(args, Done::NothingToDo, 0);
        }
        Some(live) => live.map_err(|error| {
            Failure::input(path, format_args!("its live file cannot be read: {error}."))
        })?,
    };
    if let Some(pid) = live.running {
        let what = format!("process {pid} still writes it. Wait for its end, or kill it.");
        return Err(Failure::input(path, what));
    }
    let (packed, len) = match open::plain_len(path)? {
        Some(len) => (None, len),
        None => {
            let packed = unpack::unpack(&open::bytes(path)?);
            let len = packed.as_ref().map_or(0, |unpacked| unpacked.bytes.len() as u64);
            (packed, len)
        }
    };
    let recovered = live.recover(len).map_err(|error| {
        let what = format!("{error}. Read the trace as it is, without this file beside it.");
        Failure::input(&live.path, what)
    })?;
    let (done, events) = match recovered {
        None => (Done::HadEnded, 0),
        Some(recovered) => {
            if recovered.left_out > 0 {
                say(&about(path, left_out_text(recovered.left_out)));
            }
            let Recovered { keep, tail, events, .. } = recovered;
            let (keep, tail) = match packed {
                Some(unpacked) => unpacked.with_end(keep, &tail),
                None => (keep, tail),
            };
            write(path, keep, &tail)?;
            (Done::Recovered, events)
        }
    };
    if let Err(error) = std::fs::remove_file(&live.path) {
        say(&about(&live.path, format_args!("{error}. Remove it yourself.")));
    }
    answer(args, done, events)
}

/// What was to be done, and is.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Done {
    NothingToDo,
    HadEnded,
    Recovered,
}

#[derive(Serialize)]
struct Answer {
    recover: Summary,
}

#[derive(Serialize)]
struct Summary {
    done: Done,
    /// Events that came from the live file.
    events: u64,
}

fn answer(args: &RecoverArgs, done: Done, events: u64) -> Result<Outcome, Failure> {
    let mut out = stdout().lock();
    if args.json {
        let answer = Answer { recover: Summary { done, events } };
        // It looks at no events.
        json::write(&args.file, &Account::NOT_READ, &answer, &mut out)?;
        return Ok(Outcome::Fine);
    }
    let message = match done {
        Done::NothingToDo => "there is no live file: nothing to recover.".to_owned(),
        Done::HadEnded => {
            "the trace had ended; its live file was a remainder, and is removed.".to_owned()
        }
        Done::Recovered => {
            let events = text::count(events);
            format!("whole again: {events} events came from its live file, which is removed.")
        }
    };
    writeln!(out, "{}", about(&args.file, message))?;
    Ok(Outcome::Fine)
}

/// Cuts the trace and appends its end. If this is interrupted, it can be done again: the live file
/// is removed only afterwards, and what is kept of the trace never changes.
fn write(path: &Path, keep: usize, tail: &[u8]) -> Result<(), Failure> {
    let write = || {
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.set_len(keep as u64)?;
        file.seek(SeekFrom::End(0))?;
        file.write_all(tail)?;
        file.sync_all()
    };
    write().map_err(|error| {
        let what = format!("{error}. Make room or get the right to write it, then recover again.");
        Failure::input(path, what)
    })
}
