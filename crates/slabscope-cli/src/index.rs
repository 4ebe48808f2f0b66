//! The index beside a trace: when there is one, when one is made, and reading the rest without it.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use slabscope_analysis::{
    Account, AnalyzeError, Beginning, Identity, Index, IndexError, IndexOptions, ObjectEvent,
    Profile, ProfileOptions, SUFFIX, Window, profile_and_index, profile_without_names,
};
use slabscope_trace::{Open, Resume};

use crate::failure::Failure;
use crate::progress::Progress;
use crate::unpack::is_packed;
use crate::{live, open, window};

/// Smaller traces are read in no time, in bytes.
const TRACE_MIN: u64 = 4 << 20;

/// Snapshots of the heap take up to an eighth of the trace's bytes, and no more than this: they are in
/// memory until the index is written.
const ROOM_MAX: u64 = 128 << 20;

/// Parts are so many events long at least: it takes some hundredths of a second to replay them.
const PART_EVENTS: u64 = 1 << 18;

/// How much of the beginning and of the end of a trace is looked at, in bytes.
const ENDS: u64 = 1 << 16;

/// The profile of the file, names apart; `may_use` says whether an index may be used or made.
pub(crate) fn profile(
    path: &Path,
    options: &ProfileOptions,
    may_use: bool,
) -> Result<Profile, Failure> {
    let beside = if may_use { Beside::of(path) } else { None };
    let (mut profile, asked) = (None, &ProfileOptions::default());
    if let Some(beside) = &beside {
        profile = beside.answer(options);
    }
    let profile = match (profile, beside) {
        (Some(profile), _) => profile,
        // The usual question: its answer is made of what an index is.
        (None, Some(beside))
            if options.window == Window::default() && options.temporary == asked.temporary =>
        {
            beside.make(options)?
        }
        _ => {
            let open::Trace { len, open } = open::trace(path)?;
            let progress = Progress::new(len);
            profile_without_names(open, options, &mut |read| progress.at(read))
        }
    };
    profile.map_err(|error| Failure::input(path, window::refusal(&error)))
}

/// The trace from a place on from which no event of the part `window` is missing, and that place; `None`
/// where no index tells.
pub(crate) fn beginning(
    path: &Path,
    window: Window,
) -> Option<Result<(Beginning, Open<'static>), AnalyzeError>> {
    let beside = Beside::of(path)?;
    let mut index = Index::open(File::open(&beside.index).ok()?, &beside.identity).ok()?;
    match index.beginning(window).ok()? {
        Ok(beginning) => {
            let trace = beside.open(beginning.at()).ok()?;
            Some(Ok((beginning, trace)))
        }
        Err(error) => Some(Err(error)),
    }
}

/// What happened to objects in the part `window`, told to `each`; `None`, and nothing told, where no index
/// helps.
pub(crate) fn each_object(
    path: &Path,
    window: Window,
    symbols: slabscope_symbols::Options,
    each: &mut dyn FnMut(ObjectEvent) -> ControlFlow<()>,
) -> Option<Result<Account, AnalyzeError>> {
    let beside = Beside::of(path)?;
    let mut index = Index::open(File::open(&beside.index).ok()?, &beside.identity).ok()?;
    index.each_object(window, symbols, &mut |at| beside.open(at), each).ok()
}

/// A trace that may have an index.
struct Beside<'a> {
    trace: &'a Path,
    index: PathBuf,
    identity: Identity,
}

impl Beside<'_> {
    /// `None` for what is small, not a plain file, compressed, or not finished.
    fn of(trace: &Path) -> Option<Beside<'_>> {
        if live::is_beside(trace) {
            return None;
        }
        let mut index = trace.as_os_str().to_owned();
        index.push(SUFFIX);
        let identity = identity(trace).ok()??;
        Some(Beside { trace, index: PathBuf::from(index), identity })
    }

    /// The answer from the index; `None` if there is none, whyever.
    fn answer(&self, options: &ProfileOptions) -> Option<Result<Profile, AnalyzeError>> {
        let mut index = Index::open(File::open(&self.index).ok()?, &self.identity).ok()?;
        let progress = Progress::new(self.identity.len);
        let mut open = |at| self.open(at);
        let answer = index.profile(options, &mut open, &mut |read| progress.at(read));
        if matches!(answer, Err(IndexError::Damaged)) {
            // The next one is made by whoever reads the whole; where it cannot be removed, it stays.
            let _ = fs::remove_file(&self.index);
        }
        answer.ok()
    }

    /// The trace from this place on, or all of it.
    fn open(&self, at: Option<Resume>) -> io::Result<Open<'static>> {
        let mut file = File::open(self.trace)?;
        let Some(at) = at else { return Open::stream(file).map_err(io::Error::other) };
        file.seek(SeekFrom::Start(at.offset))?;
        Ok(Open::resumed(file, at))
    }

    /// The profile of the whole trace, and an index beside it.
    fn make(&self, options: &ProfileOptions) -> Result<Result<Profile, AnalyzeError>, Failure> {
        let open::Trace { len, open } = open::trace(self.trace)?;
        let progress = Progress::new(len);
        let identity = self.identity;
        let room = (identity.len / 8).min(ROOM_MAX) as usize;
        let index = IndexOptions { identity, room, part_events: PART_EVENTS };
        let made = profile_and_index(open, options, index, &mut |read| progress.at(read));
        Ok(made.map(|(profile, index)| {
            // A trace that changed meanwhile is none that this is about.
            if identity_is(self.trace, &identity) {
                // The answer is there; the next one is slow again where nothing can be written.
                let _ = write(&self.index, &index);
            }
            profile
        }))
    }
}

fn identity_is(trace: &Path, identity: &Identity) -> bool {
    self::identity(trace).ok().flatten() == Some(*identity)
}

/// What tells this state of the trace from others; `None` where there shall be no index.
fn identity(trace: &Path) -> io::Result<Option<Identity>> {
    let metadata = fs::metadata(trace)?;
    let len = metadata.len();
    if !metadata.is_file() || len < TRACE_MIN {
        return Ok(None);
    }
    let mut file = File::open(trace)?;
    let mut ends = Vec::new();
    Read::by_ref(&mut file).take(ENDS).read_to_end(&mut ends)?;
    if is_packed(&ends) {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(len - ENDS))?;
    file.take(ENDS).read_to_end(&mut ends)?;
    let modified = metadata.modified()?.duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
    let modified_ns = i64::try_from(modified.as_nanos()).unwrap_or(i64::MAX);
    Ok(Some(Identity::new(len, modified_ns, &ends)))
}

/// Writes a file that is there as a whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}", std::process::id()));
    let part = PathBuf::from(part);
    // It must be new: whatever else has the name is not to be written through.
    let mut file = File::options().write(true).create_new(true).open(&part)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // There is nobody to tell that it stays.
        let _ = fs::remove_file(&part);
    }
    written
}
