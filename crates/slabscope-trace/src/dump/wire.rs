//! The records of a trace as they stand in the file, line for line as `go tool trace -d=wire`
//! prints them.

use std::io::{self, Read, Write};

use slabscope_wire::event::{self, Spec, id};
use slabscope_wire::{header, varint};

use super::quote::quoted;
use crate::error::{Error, ErrorKind};
use crate::text::Text;

/// Writes every record of a trace, in the order of the file, as Go prints it.
///
/// Nothing is checked but the form: the outer result is that of writing, the inner one says where
/// the records could not be read any more.
///
/// # Errors
/// Those of `out`.
pub fn wire(mut trace: impl Read, out: &mut impl Write) -> io::Result<Result<(), Error>> {
    let mut head = Vec::new();
    let begun = trace.by_ref().take(header::LEN as u64).read_to_end(&mut head);
    let version = match begun {
        Ok(_) => header::parse(&head).map_err(ErrorKind::Header),
        Err(error) => Err(ErrorKind::Read(error.kind())),
    };
    match version {
        Ok(version) => wire_from(trace, version, header::LEN as u64, out),
        Err(what) => Ok(Err(Error { offset: 0, generation: 0, what })),
    }
}

/// The same for the records from a place of the file on, where `rest` begins.
///
/// # Errors
/// Those of `out`.
pub fn wire_from(
    mut rest: impl Read,
    version: u8,
    mut offset: u64,
    out: &mut impl Write,
) -> io::Result<Result<(), Error>> {
    let error = |offset, what| Ok(Err(Error { offset, generation: 0, what }));
    let mut bytes = Vec::new();
    loop {
        // A record that is not all there is looked at again with twice the bytes.
        let step = STEP.max(bytes.len() as u64);
        let read = rest.by_ref().take(step).read_to_end(&mut bytes);
        // What came before a failure is printed first.
        let failure = read.as_ref().err().map(|failure| ErrorKind::Read(failure.kind()));
        let has_ended = read.map_or(true, |len| len == 0);
        let mut records = Records { bytes: &bytes, at: 0 };
        let mut done = 0;
        while records.at < bytes.len() {
            match records.next(version) {
                Ok(record) => record.write(out)?,
                Err(what) if has_ended || !is_cut_off(what) => {
                    return error(offset + done as u64, failure.unwrap_or(what));
                }
                Err(_) => break,
            }
            done = records.at;
        }
        if has_ended {
            return failure.map_or(Ok(Ok(())), |what| error(offset + done as u64, what));
        }
        bytes.drain(..done);
        offset += done as u64;
    }
}

/// How many bytes are read at a time.
const STEP: u64 = 1 << 20;

/// Whether a record may be whole where there are more bytes.
fn is_cut_off(what: ErrorKind) -> bool {
    matches!(what, ErrorKind::Number(varint::VarintError::Truncated) | ErrorKind::StringCutOff)
}

/// A record.
struct Record<'a> {
    spec: &'static Spec,
    /// The time difference of a timed event first.
    args: Vec<u64>,
    data: Option<&'a [u8]>,
}

struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Numbers in a frame of a stack.
const FRAME_FIELDS: [&str; 4] = ["pc", "func", "file", "line"];

impl<'a> Records<'a> {
    fn number(&mut self) -> Result<u64, ErrorKind> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let (number, len) = varint::decode(rest).map_err(ErrorKind::Number)?;
        self.at += len;
        Ok(number)
    }

    fn next(&mut self, version: u8) -> Result<Record<'a>, ErrorKind> {
        let id = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        // The tool goes by the version, the reader does not.
        let spec = event::spec(id).filter(|spec| is_in(spec, version));
        let spec = spec.ok_or(ErrorKind::UnknownEvent(id))?;
        let mut args = Vec::new();
        for _ in 0..spec.args.len() + usize::from(spec.is_timed()) {
            args.push(self.number()?);
        }
        if id == id::STACK {
            for _ in 0..args.last().copied().unwrap_or(0).saturating_mul(4) {
                args.push(self.number()?);
            }
        }
        let data = match id {
            id::STRING | id::EXPERIMENTAL_BATCH => Some(self.data()?),
            _ => None,
        };
        Ok(Record { spec, args, data })
    }

    fn data(&mut self) -> Result<&'a [u8], ErrorKind> {
        let len = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let data = rest.get(..len).ok_or(ErrorKind::StringCutOff)?;
        self.at += len;
        Ok(data)
    }
}

/// Whether the tool knows an event in traces of this version.
fn is_in(spec: &Spec, version: u8) -> bool {
    let has_experiments = version >= 26;
    spec.since <= version && (has_experiments || !spec.is_experimental())
}

impl Record<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(self.spec.name.as_bytes())?;
        let time = self.spec.is_timed().then_some("dt");
        let names = time.into_iter().chain(self.spec.args.iter().map(|arg| arg.name));
        let mut values = self.args.iter();
        for (name, value) in names.zip(values.by_ref()) {
            write!(out, " {name}={value}")?;
        }
        for (field, value) in FRAME_FIELDS.iter().cycle().zip(values) {
            let space = if *field == FRAME_FIELDS[0] { "\n\t" } else { " " };
            write!(out, "{space}{field}={value}")?;
        }
        if let Some(data) = self.data.filter(|data| !data.is_empty()) {
            out.write_all(b"\n\tdata=")?;
            quoted(&Text::new(data), out)?;
        }
        out.write_all(b"\n")
    }
}
