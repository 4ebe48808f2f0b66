//! Lines of events of experiments, which nearly all lines are: put together without the formatter.

use std::io::{self, Write};

use crate::event::Event;
use crate::experiment::ExperimentalEvent;

/// Long enough for a line with four arguments whose names are no longer than these 256 bytes.
const ROOM: usize = 768;

/// A line being put together.
struct Line {
    bytes: [u8; ROOM],
    len: usize,
}

/// Writes the line of an event of an experiment, without a stack.
pub(super) fn experimental(
    event: &Event,
    experimental: &ExperimentalEvent,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut line = Line { bytes: [0; ROOM], len: 0 };
    let names: usize = experimental.arg_names().iter().map(|arg| arg.name.len()).sum();
    if names + experimental.name().len() > 256 {
        return slowly(event, experimental, out);
    }
    line.text("M=");
    line.signed(event.thread.0);
    line.text(" P=");
    line.signed(event.proc.0);
    line.text(" G=");
    line.signed(event.goroutine.0);
    line.text(" Experimental Time=");
    line.signed(event.time.0);
    line.text(" Name=");
    line.text(experimental.name());
    line.text(" Args=[");
    for (index, (arg, &value)) in
        experimental.arg_names().iter().zip(experimental.args()).enumerate()
    {
        line.text(if index == 0 { "" } else { ", " });
        line.text(arg.name);
        line.text("=Value{Uint64(");
        line.number(value);
        line.text(")}");
    }
    line.text("]\n");
    out.write_all(line.bytes.get(..line.len).unwrap_or_default())
}

fn slowly(event: &Event, experimental: &ExperimentalEvent, out: &mut impl Write) -> io::Result<()> {
    let Event { time, thread, proc, goroutine, .. } = event;
    write!(out, "M={thread} P={proc} G={goroutine} Experimental Time={time}")?;
    super::write_experimental(experimental, out)?;
    out.write_all(b"\n")
}

impl Line {
    fn text(&mut self, text: &str) {
        let end = self.len + text.len();
        if let Some(room) = self.bytes.get_mut(self.len..end) {
            room.copy_from_slice(text.as_bytes());
            self.len = end;
        }
    }

    fn signed(&mut self, number: i64) {
        if number < 0 {
            self.text("-");
        }
        self.number(number.unsigned_abs());
    }

    fn number(&mut self, mut number: u64) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        // Two digits at a time: a division costs more than all else.
        while number >= 100 {
            let pair = (number % 100) as usize * 2;
            number /= 100;
            at -= 2;
            digits[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
        }
        if number >= 10 {
            let pair = number as usize * 2;
            at -= 2;
            digits[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
        } else {
            at -= 1;
            digits[at] = b'0' + number as u8;
        }
        let end = self.len + digits.len() - at;
        if let Some(room) = self.bytes.get_mut(self.len..end) {
            room.copy_from_slice(&digits[at..]);
            self.len = end;
        }
    }
}

/// The numbers from 00 to 99.
static PAIRS: [u8; 200] = {
    let mut pairs = [0; 200];
    let mut number = 0;
    while number < 100 {
        pairs[2 * number] = b'0' + (number / 10) as u8;
        pairs[2 * number + 1] = b'0' + (number % 10) as u8;
        number += 1;
    }
    pairs
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slabscope_wire::event::id;

    use super::*;
    use crate::event::Kind;
    use crate::id::{GoId, ProcId, ThreadId, Time};

    proptest! {
        #[test]
        fn the_fast_way_writes_what_the_formatter_does(
            numbers: [i64; 4],
            args: [u64; 4], shift in 0..64_u32, kind in id::SPAN..=id::GOROUTINE_STACK_FREE,
        ) {
            let [thread, proc, goroutine, time] = numbers;
            let args = args.map(|arg| arg >> shift);
            let experimental = ExperimentalEvent::new(kind, args).unwrap();
            let event = Event {
                time: Time(time),
                thread: ThreadId(thread),
                proc: ProcId(proc),
                goroutine: GoId(goroutine),
                stack: None,
                kind: Kind::Experimental(experimental),
            };
            let (mut fast, mut slow) = (Vec::new(), Vec::new());
            super::experimental(&event, &experimental, &mut fast).unwrap();
            slowly(&event, &experimental, &mut slow).unwrap();
            prop_assert_eq!(String::from_utf8(fast), String::from_utf8(slow));
        }
    }
}
