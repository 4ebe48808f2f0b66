//! Getting a trace file that is nobody else's.
//!
//! Several processes may be told the same name: what a program starts inherits the variable, and so
//! does the program itself by `exec`. Each keeps its trace file locked while it writes, and the kernel
//! unlocks it when the process is gone. Who finds a name taken goes on to `<name>.2` and so on.

use core::ffi::CStr;

use slabscope_os::file::{self, Errno, File};
use slabscope_os::process;
use slabscope_os::say::{self, Decimal};
use slabscope_wire::live::{self, header, state};

/// The longest path, in bytes, with its number and the NUL that ends it.
const PATH_MAX: usize = 4096 + 8;

/// How many names are tried.
const NAMES: u64 = 1000;

/// By how much a live file may seem older than the process that made it: clocks differ in step.
const SLACK_NS: u64 = 50_000_000;

/// Why a name is not to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    /// Another process, or another session of this one, writes it.
    Written,
    /// It is what this very process wrote before it became another program: it can be finished.
    BeforeExec,
}

/// Opens an empty file at `path`, or beside it if that is taken, and says so then.
#[inline(never)]
pub(crate) fn claim(path: &CStr) -> Result<File, Errno> {
    let mut why = match try_name(path)? {
        Ok(file) => return Ok(file),
        Err(taken) => taken,
    };
    for number in 2..NAMES {
        let name = Name::new(path, &[".", Decimal::new(number).as_str()]);
        let name = name.as_c_str().ok_or(Errno::TOO_LONG)?;
        match try_name(name)? {
            Ok(file) => {
                say_taken(path, name, why);
                return Ok(file);
            }
            Err(taken) => why = taken,
        }
    }
    Err(Errno::BUSY)
}

fn try_name(path: &CStr) -> Result<Result<File, Taken>, Errno> {
    let file = File::open_to_write(path)?;
    let taken = match file.is_ordinary() {
        false => None,
        true if !file.lock() => Some(Taken::Written),
        true => was_ours(path).then_some(Taken::BeforeExec),
    };
    if let Some(taken) = taken {
        file.close();
        return Ok(Err(taken));
    }
    // What is no file with a length has nothing to cut.
    file.cut(0);
    Ok(Ok(file))
}

/// Whether the trace there is one that this process began and did not end.
fn was_ours(path: &CStr) -> bool {
    let mut bytes = [0; header::LEN * size_of::<u64>()];
    let name = Name::new(path, &[live::SUFFIX]);
    let len = name.as_c_str().and_then(|name| file::read_whole(name, &mut bytes).ok()).unwrap_or(0);
    let (words, _) = bytes.get(..len).unwrap_or_default().as_chunks();
    let word = |index: usize| words.get(index).copied().map_or(0, u64::from_le_bytes);
    word(header::MAGIC) == live::MAGIC
        && word(header::STATE) == state::LIVE
        && word(header::PID) == process::id()
        // Ids come again; in a container, with each run.
        && word(header::WALL).saturating_add(SLACK_NS) > process::started_wall_ns()
}

fn say_taken(path: &CStr, name: &CStr, why: Taken) {
    let why = match why {
        Taken::Written => ": another process writes it; this trace goes to ",
        Taken::BeforeExec => {
            ": kept, it has what this process did before exec; this trace goes to "
        }
    };
    say::line(&[text(path), why, text(name)]);
}

fn text(path: &CStr) -> &str {
    str::from_utf8(path.to_bytes()).unwrap_or("the trace file")
}

/// A path with something behind it.
struct Name([u8; PATH_MAX]);

impl Name {
    fn new(path: &CStr, parts: &[&str]) -> Self {
        let mut name = Name([0; PATH_MAX]);
        let parts = parts.iter().flat_map(|part| part.bytes());
        for (to, from) in name.0.iter_mut().zip(path.to_bytes().iter().copied().chain(parts)) {
            *to = from;
        }
        name
    }

    /// `None` when it is too long.
    fn as_c_str(&self) -> Option<&CStr> {
        CStr::from_bytes_until_nul(&self.0).ok()
    }
}
