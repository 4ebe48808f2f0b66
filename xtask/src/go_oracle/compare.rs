//! Comparing what two programs print, while they print it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use slabscope_wire::event::{self, id};

use super::install::Go;
use crate::command;

/// How often each event of the experiment happened, in the order of their numbers.
pub(super) type Counts = [u64; 9];

/// Room for output under way.
const BUFFER: usize = 1 << 18;

/// Compares the events of `trace` line for line; returns how many lines there were and what Go's
/// say.
pub(super) fn dumps(go: &Go, slabscope: &Path, trace: &Path) -> Result<(u64, Counts)> {
    let mut theirs = Lines::of(&mut go.dump(trace))?;
    let mut ours = Lines::of(Command::new(slabscope).arg("dump").arg(trace))?;
    let (mut lines, mut counts) = (0, Counts::default());
    loop {
        match (theirs.next()?, ours.next()?) {
            (None, None) => break,
            (theirs, ours) if theirs == ours => count(theirs.unwrap_or_default(), &mut counts)?,
            (theirs, ours) => bail!(differ(lines + 1, theirs, ours)),
        }
        lines += 1;
    }
    theirs.end()?;
    ours.end()?;
    Ok((lines, counts))
}

/// Compares what two programs print, and whether they succeed, line for line; `each` is told every
/// line. Returns how many there were, and whether the two succeeded.
pub(super) fn outputs(
    theirs: &mut Command,
    ours: &mut Command,
    mut each: impl FnMut(&[u8]),
) -> Result<(u64, bool)> {
    let (mut theirs, mut ours) = (Lines::of(theirs)?, Lines::of(ours)?);
    let mut lines = 0;
    loop {
        match (theirs.next()?, ours.next()?) {
            (None, None) => break,
            (theirs, ours) if theirs == ours => each(theirs.unwrap_or_default()),
            (theirs, ours) => bail!(differ(lines + 1, theirs, ours)),
        }
        lines += 1;
    }
    match (theirs.succeeded()?, ours.succeeded()?) {
        (theirs, ours) if theirs == ours => Ok((lines, ours)),
        (true, _) => bail!("we fail after line {lines}, Go does not"),
        (false, _) => bail!("Go fails after line {lines}, we do not"),
    }
}

/// Compares the side data that Go's reader hands out with ours, as lines.
pub(super) fn side_data(go: &Go, trace: &Path, ours: &[String]) -> Result<u64> {
    let mut theirs = Lines::of(&mut go.side_data(trace))?;
    let mut lines = 0;
    for ours in ours {
        lines += 1;
        match theirs.next()? {
            Some(theirs) if theirs == ours.as_bytes() => {}
            theirs => bail!("side data: {}", differ(lines, theirs, Some(ours.as_bytes()))),
        }
    }
    if let Some(theirs) = theirs.next()? {
        bail!("side data: {}", differ(lines + 1, Some(theirs), None));
    }
    theirs.end()?;
    Ok(lines)
}

fn differ(line: u64, theirs: Option<&[u8]>, ours: Option<&[u8]>) -> String {
    let show = |text: Option<&[u8]>| {
        text.map_or("(nothing more)".into(), |text| {
            let shown = text.get(..text.len().min(300)).unwrap_or_default();
            String::from_utf8_lossy(shown).into_owned()
        })
    };
    format!("line {line} differs:\n  Go:   {}\n  ours: {}", show(theirs), show(ours))
}

/// Counts a line of Go's, if it is an experimental event.
fn count(line: &[u8], counts: &mut Counts) -> Result<()> {
    let Some(name) = experimental_name(line) else { return Ok(()) };
    let slot = (id::SPAN..).zip(counts).find_map(|(id, slot)| {
        event::spec(id).is_some_and(|spec| spec.name.as_bytes() == name).then_some(slot)
    });
    match slot {
        Some(slot) => *slot += 1,
        None => bail!("Go names an event we do not know: {}", String::from_utf8_lossy(name)),
    }
    Ok(())
}

/// The event's name in a line such as `M=1 P=0 G=1 Experimental Time=7 Name=Span Args=[..]`.
fn experimental_name(line: &[u8]) -> Option<&[u8]> {
    let mut words = line.split(|&byte| byte == b' ').skip(3);
    if words.next()? != b"Experimental" {
        return None;
    }
    words.nth(1)?.strip_prefix(b"Name=")
}

/// The lines a program prints.
struct Lines {
    line: String,
    child: Child,
    output: BufReader<ChildStdout>,
    buffer: Vec<u8>,
}

impl Lines {
    fn of(command: &mut Command) -> Result<Lines> {
        let line = command::line(command);
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start: {line}"))?;
        let output = child.stdout.take().context("a program without output")?;
        let output = BufReader::with_capacity(BUFFER, output);
        Ok(Lines { line, child, output, buffer: Vec::new() })
    }

    /// The next line, without its end.
    fn next(&mut self) -> Result<Option<&[u8]>> {
        self.buffer.clear();
        let read = self.output.read_until(b'\n', &mut self.buffer);
        if read.with_context(|| format!("cannot read from: {}", self.line))? == 0 {
            return Ok(None);
        }
        Ok(Some(self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer)))
    }

    /// Waits for the program; whether it ended well.
    fn succeeded(mut self) -> Result<bool> {
        Ok(self.child.wait()?.success())
    }

    /// Waits for the program, which must have ended well.
    fn end(mut self) -> Result<()> {
        let status = self.child.wait()?;
        if !status.success() {
            bail!("{status}: {}", self.line);
        }
        Ok(())
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // After a difference the program still writes into a pipe nobody reads. One that has ended
        // cannot be killed, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experimental_events_are_counted_by_name() {
        let mut counts = Counts::default();
        for line in [
            "M=1 P=0 G=1 Experimental Time=7 Name=SpanFree Args=[id=Value{Uint64(405)}]",
            "M=1 P=0 G=1 Experimental Time=7 Name=GoroutineStackFree Args=[id=Value{Uint64(4)}]",
            "M=-1 P=-1 G=-1 Sync Time=5906083998528 N=1",
        ] {
            count(line.as_bytes(), &mut counts).unwrap();
        }
        assert_eq!(counts, [0, 0, 1, 0, 0, 0, 0, 0, 1]);
        assert!(count(b"M=1 P=0 G=1 Experimental Time=7 Name=New Args=[]", &mut counts).is_err());
    }

    #[test]
    fn the_first_difference_is_shown() {
        let text = differ(7, Some(b"a"), None);
        assert_eq!(text, "line 7 differs:\n  Go:   a\n  ours: (nothing more)");
    }

    #[test]
    fn lines_come_as_they_are_printed_and_failure_is_seen() {
        let mut lines =
            Lines::of(Command::new("sh").args(["-c", "printf 'a\\nb'; exit 3"])).unwrap();
        assert_eq!(lines.next().unwrap(), Some(&b"a"[..]));
        assert_eq!(lines.next().unwrap(), Some(&b"b"[..]));
        assert_eq!(lines.next().unwrap(), None);
        assert!(lines.end().unwrap_err().to_string().starts_with("exit status: 3"));
    }
}
