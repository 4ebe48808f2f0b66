//! Getting at the bytes of a trace, and saying what is wrong with a file that is none.

use std::fs;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use slabscope_recover::Recovered;
use slabscope_trace::{Error, ErrorKind, Open};
use slabscope_wire::header::{self, HeaderError};

use crate::failure::Failure;
use crate::live::{self, Live};
use crate::unpack::{Unpacking, is_packed, unpacked};

/// A trace that is there to be read.
pub(crate) struct Trace {
    /// How long it is, in bytes; 0 where only its end will tell.
    pub(crate) len: u64,
    pub(crate) open: Open<'static>,
}

/// The trace in the file. If its program was killed, it is finished with what the program left.
///
/// It is read as it is looked at. All of it is in memory only if it is finished.
pub(crate) fn trace(path: &Path) -> Result<Trace, Failure> {
    let Bytes { len, read, .. } = stream(path)?;
    let open = Open::stream(read).map_err(|error| Failure::input(path, error))?;
    Ok(Trace { len, open })
}

/// The bytes of a trace, which come as they are read.
pub(crate) struct Bytes {
    /// How many the trace has; 0 where only their end will tell.
    pub(crate) len: u64,
    /// The trace's format.
    pub(crate) version: u8,
    pub(crate) read: Box<dyn Read + Send>,
}

/// The bytes of the trace in the file, whose header is that of a trace that can be read; else as for
/// [`trace`].
pub(crate) fn stream(path: &Path) -> Result<Bytes, Failure> {
    stream_from(path, 0)
}

/// The same without those before `start`. If the program was killed or runs on, the trace is finished with
/// what it left.
pub(crate) fn stream_from(path: &Path, start: u64) -> Result<Bytes, Failure> {
    let failed = |error| Failure::input(path, unreadable(&error));
    let live = live::ending(path);
    let (mut file, metadata) = file(path).map_err(failed)?;
    let begun = head(path, &mut file)?;
    let packed = is_packed(&begun);
    if live.is_none() && !packed && start > 0 {
        let version = version(path, &begun)?;
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        return Ok(Bytes { len: metadata.len(), version, read: Box::new(file) });
    }
    let mut file = Cursor::new(begun).chain(file);
    let (len, mut read): (u64, Box<dyn Read + Send>) = match (live, packed) {
        (None, false) => (metadata.len(), Box::new(file)),
        (None, true) => (0, Box::new(Unpacking::new(path, file))),
        (Some(live), false) => ended(path, &live, metadata.len(), file),
        (Some(live), true) => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(failed)?;
            let bytes = unpacked(path, bytes);
            ended(path, &live, bytes.len() as u64, Cursor::new(bytes))
        }
    };
    let begun = head(path, &mut read)?;
    let version = version(path, &begun)?;
    let mut read = Cursor::new(begun).chain(read);
    io::copy(&mut read.by_ref().take(start), &mut io::sink()).map_err(failed)?;
    Ok(Bytes { len, version, read: Box::new(read) })
}

/// The trace of so many bytes with the end that its live file has, and its length then.
fn ended(
    path: &Path,
    live: &Live,
    len: u64,
    trace: impl Read + Send + 'static,
) -> (u64, Box<dyn Read + Send>) {
    let Some(Recovered { keep, tail, .. }) = live.end(path, len) else {
        return (len, Box::new(trace));
    };
    let keep = keep as u64;
    (keep + tail.len() as u64, Box::new(trace.take(keep).chain(Cursor::new(tail))))
}

/// The format of a trace that begins with these bytes.
fn version(path: &Path, begun: &[u8]) -> Result<u8, Failure> {
    header::parse(begun).map_err(|error| Failure::input(path, foreign(begun, error)))
}

/// Refuses what can be read once only, for what is to be read twice.
pub(crate) fn refuse_pipe(path: &Path) -> Result<(), Failure> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            let what = "it is read twice for that, and it is no file. Write it to one first.";
            Err(Failure::input(path, what))
        }
        _ => Ok(()),
    }
}

/// As much as a header has.
fn head(path: &Path, read: &mut impl Read) -> Result<Vec<u8>, Failure> {
    let mut head = Vec::new();
    let begun = read.take(header::LEN as u64).read_to_end(&mut head);
    begun.map_err(|error| Failure::input(path, unreadable(&error)))?;
    Ok(head)
}

/// How long the file is; `None` if it is compressed.
pub(crate) fn plain_len(path: &Path) -> Result<Option<u64>, Failure> {
    let (mut file, metadata) =
        file(path).map_err(|error| Failure::input(path, unreadable(&error)))?;
    Ok((!is_packed(&head(path, &mut file)?)).then_some(metadata.len()))
}

/// The bytes of the file as it is.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    read(path).map_err(|error| Failure::input(path, unreadable(&error)))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, metadata) = file(path)?;
    let mut bytes = Vec::new();
    // The length is a hint only: a trace being written grows, a pipe has none.
    bytes.try_reserve(usize::try_from(metadata.len()).unwrap_or(usize::MAX))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn file(path: &Path) -> io::Result<(fs::File, fs::Metadata)> {
    let file = fs::File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if is_endless(&metadata) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok((file, metadata))
}

/// Devices need not end. Pipes do, and make `<(zcat app.trace.gz)` work.
#[cfg(unix)]
fn is_endless(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    !metadata.is_file() && !metadata.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_endless(metadata: &fs::Metadata) -> bool {
    !metadata.is_file()
}

fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file. A traced program writes its trace \
             where SLABSCOPE's 'out' says, by default NAME.PID.trace in its working directory."
            .to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory. Name a trace file inside it.".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "you may not read it. Read it as its owner, or have its permissions changed.".to_owned()
        }
        io::ErrorKind::InvalidInput => {
            "it is neither a file nor a pipe. Name a trace file.".to_owned()
        }
        io::ErrorKind::OutOfMemory => {
            "there is not enough memory to hold it. Read it on a machine with more.".to_owned()
        }
        _ => format!("{error}. Check the file and its disk, then try again."),
    }
}

/// What to say of a file that does not begin as a trace.
fn foreign(bytes: &[u8], error: HeaderError) -> String {
    let advice = match error {
        HeaderError::Truncated if bytes.is_empty() => {
            return "it is empty. The program has not written to it yet, or was killed before it \
                 could; wait, or trace it again."
                .to_owned();
        }
        HeaderError::Truncated if header::BYTES.starts_with(bytes) => {
            "It was cut off in the header; trace the program again."
        }
        HeaderError::Truncated => "Name a file that slabscope or Go wrote.",
        HeaderError::NotATrace => not_a_trace(bytes),
        HeaderError::TooOld(_) => "Trace the program again with Go 1.23 or later.",
        HeaderError::Unknown(_) => "Use a newer slabscope.",
    };
    let error = Error { offset: 0, generation: 0, what: ErrorKind::Header(error) };
    format!("{error}. {advice}")
}

fn not_a_trace(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x1f, 0x8b, ..] => {
            "It is compressed with gzip: if a trace is in it, unpack it first with 'gzip -d'."
        }
        [0x7f, b'E', b'L', b'F', ..] => {
            "It is a program: run it with SLABSCOPE=traceallocfree=1, then read its trace."
        }
        [b'g', b'o', b' ', b'1', b'.', ..] => {
            "It looks like a trace of Go before 1.11; trace the program again with Go 1.23 or later."
        }
        _ => "Name a file that slabscope or Go wrote.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_files_are_told_apart() {
        let say = |bytes: &[u8]| match header::parse(bytes) {
            Ok(_) => String::new(),
            Err(error) => foreign(bytes, error),
        };
        let cases: [(&[u8], &str); 8] = [
            (b"", "empty"),
            (b"go 1.26 ", "cut off in the header"),
            (b"hello", "too short"),
            (b"go 1.21 trace\0\0\0", "format of Go 1.21"),
            (b"go 1.5 trace\0\0\0\0", "before 1.11"),
            (b"go 1.99 trace\0\0\0", "newer slabscope"),
            (b"\x1f\x8b..............", "gzip -d"),
            (b"\x7fELF............", "is a program"),
        ];
        for (bytes, part) in cases {
            assert!(say(bytes).contains(part), "{:?}", say(bytes));
        }
        assert_eq!(say(&header::BYTES), "");
    }

    #[test]
    fn every_refusal_says_what_to_do() {
        for kind in [
            io::ErrorKind::NotFound,
            io::ErrorKind::IsADirectory,
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::InvalidInput,
            io::ErrorKind::OutOfMemory,
            io::ErrorKind::Interrupted,
        ] {
            let text = unreadable(&kind.into());
            assert!(text.matches(". ").count() == 1 && text.ends_with('.'), "{text}");
        }
    }
}
