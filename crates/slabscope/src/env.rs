//! The variable `SLABSCOPE`: a comma-separated list of `key=value`, as `GODEBUG` is.
//!
//! Read without allocating. A key nobody knows and a value nobody understands cost a line on stderr,
//! and the default holds: a setting never stops the program.

use core::ffi::CStr;
use core::time::Duration;

use slabscope_os::file::Errno;
use slabscope_os::say::{self, Decimal};
use slabscope_os::{env, file, process};
use slabscope_record::{CAN_COMPRESS, Clock, Overflow, Policy};

/// The longest value we read, in bytes.
const TEXT_MAX: usize = 1024;

/// The longest path, in bytes, with the NUL that ends it.
const PATH_MAX: usize = 4096;

/// The most frames of a call stack.
const STACKS_MAX: u8 = slabscope_record::DEPTH_MAX as u8;

/// Where a trace goes when nobody says: program, process id.
const OUT_DEFAULT: &[u8] = b"%e.%p.trace";

/// What the name of a compressed trace ends in.
const COMPRESSED: &[u8] = b".zst";

/// The variable's text.
pub(crate) struct Text {
    bytes: [u8; TEXT_MAX],
    len: usize,
}

impl Text {
    /// The variable, or `None` when it is not set.
    pub(crate) fn read() -> Option<Text> {
        let mut bytes = [0; TEXT_MAX];
        let len = env::copy(b"SLABSCOPE", &mut bytes)?;
        if len == TEXT_MAX {
            say::line(&["SLABSCOPE is too long; what comes after 1,023 bytes is not read"]);
        }
        Some(Text { bytes, len: len.min(TEXT_MAX - 1) })
    }

    /// As [`Text::read`], while other threads may change the environment; an error where that cannot
    /// be done.
    pub(crate) fn read_guarded() -> Result<Option<Text>, Errno> {
        let mut bytes = [0; TEXT_MAX];
        let len = env::copy_guarded(b"SLABSCOPE", &mut bytes)?;
        Ok(len.map(|len| Text { bytes, len: len.min(TEXT_MAX - 1) }))
    }

    /// It, if it is text.
    pub(crate) fn as_str(&self) -> &str {
        self.bytes.get(..self.len).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

/// What the variable says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings<'a> {
    /// Whether to trace.
    pub(crate) trace: bool,
    /// The pattern of the file's name.
    pub(crate) out: &'a [u8],
    /// How to make the trace.
    pub(crate) policy: Policy,
    /// Whether a forked child makes a trace of its own.
    pub(crate) follow: bool,
}

impl<'a> Settings<'a> {
    /// What holds when nobody says otherwise.
    const DEFAULT: Settings<'static> =
        Settings { trace: false, out: OUT_DEFAULT, policy: Policy::DEFAULT, follow: false };

    /// Reads `text`; every part that is not understood is handed to `complain` with what would be.
    pub(crate) fn parse(text: &'a str, mut complain: impl FnMut(&str, &str)) -> Settings<'a> {
        let mut settings = Settings::DEFAULT;
        for part in text.split(',').filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some(("traceallocfree", "1")) => settings.trace = true,
                Some(("traceallocfree", "0")) => settings.trace = false,
                Some(("traceallocfree", _)) => complain(part, "traceallocfree is 0 or 1"),
                Some(("out", "")) => complain(part, "out is a file name"),
                Some(("out", out)) => settings.out = out.as_bytes(),
                Some(("rings", "auto")) => settings.policy.force_cas = false,
                Some(("rings", "cas")) => settings.policy.force_cas = true,
                Some(("rings", _)) => complain(part, "rings is auto or cas"),
                Some(("clock", "adaptive")) => settings.policy.clock = Clock::Adaptive,
                Some(("clock", "precise")) => settings.policy.clock = Clock::Precise,
                Some(("clock", "kernel")) => settings.policy.clock = Clock::Kernel,
                Some(("clock", _)) => complain(part, "clock is adaptive, precise or kernel"),
                Some(("overflow", "block")) => settings.policy.overflow = Overflow::Block,
                Some(("overflow", "drop")) => settings.policy.overflow = Overflow::Drop,
                Some(("overflow", _)) => complain(part, "overflow is block or drop"),
                Some(("stall", length)) => match seconds(length) {
                    Some(length) => settings.policy.stall = length,
                    None => complain(part, "stall is a number of seconds from 1 on, as in 5s"),
                },
                Some(("stacks", depth)) => match depth.parse() {
                    Ok(depth @ 0..=STACKS_MAX) => settings.policy.stacks = depth,
                    _ => complain(part, "stacks is a number of frames from 0 to 64"),
                },
                Some(("compress", "none")) => settings.policy.compress = false,
                Some(("compress", "zstd")) if CAN_COMPRESS => settings.policy.compress = true,
                Some(("compress", "zstd")) => {
                    complain(part, "the program was built without slabscope's feature zstd");
                }
                Some(("compress", _)) => complain(part, "compress is none or zstd"),
                Some(("follow", "0")) => settings.follow = false,
                Some(("follow", "1")) => settings.follow = true,
                Some(("follow", _)) => complain(part, "follow is 0 or 1"),
                _ => complain(
                    part,
                    "the keys are traceallocfree, out, stacks, rings, clock, overflow, stall, \
                     compress and follow",
                ),
            }
        }
        settings
    }

    /// Reads `text` and complains on stderr.
    pub(crate) fn parse_aloud(text: &'a str) -> Settings<'a> {
        Settings::parse(text, |part, hint| {
            say::line(&["SLABSCOPE: \"", part, "\" is not understood and ignored: ", hint]);
        })
    }
}

/// Whether a pattern gives each process a file of its own.
fn names_process(pattern: &[u8]) -> bool {
    let mut rest = pattern;
    while let Some(at) = rest.iter().position(|&byte| byte == b'%') {
        match rest.get(at + 1) {
            Some(b'p') => return true,
            _ => rest = rest.get(at + 2..).unwrap_or_default(),
        }
    }
    false
}

/// A number of whole seconds, from 1 to a day, with an `s` after it.
fn seconds(text: &str) -> Option<Duration> {
    let seconds = text.strip_suffix('s')?.parse().ok()?;
    (1..=86_400).contains(&seconds).then_some(Duration::from_secs(seconds))
}

/// A path as the kernel takes it.
pub(crate) struct Path {
    bytes: [u8; PATH_MAX],
    len: usize,
}

impl Path {
    /// From a pattern: `%e` is the program's name, `%p` the process id, `%%` a per cent sign.
    pub(crate) fn expand(pattern: &[u8]) -> Path {
        let mut path = Path { bytes: [0; PATH_MAX], len: 0 };
        let mut rest = pattern;
        loop {
            match rest {
                [b'%', b'e', tail @ ..] => {
                    path.push_program();
                    rest = tail;
                }
                [b'%', b'p', tail @ ..] => {
                    path.push(Decimal::new(process::id()).as_str().as_bytes());
                    rest = tail;
                }
                [b'%', b'%', tail @ ..] => {
                    path.push(b"%");
                    rest = tail;
                }
                [byte, tail @ ..] => {
                    path.push(&[*byte]);
                    rest = tail;
                }
                [] => return path,
            }
        }
    }

    /// As [`Path::expand`], for a forked child: its process id is appended where the pattern does not
    /// name it, so that it leaves its parent's file alone.
    pub(crate) fn expand_for_child(pattern: &[u8]) -> Path {
        let mut path = Path::expand(pattern);
        if !names_process(pattern) {
            path.push(b".");
            path.push(Decimal::new(process::id()).as_str().as_bytes());
        }
        path
    }

    /// Says in the name that the file is compressed, if it does not yet.
    pub(crate) fn mark_compressed(&mut self) {
        if !self.as_c_str().to_bytes().ends_with(COMPRESSED) {
            self.push(COMPRESSED);
        }
    }

    /// From a path as it is; `None` when it is too long or holds a NUL.
    pub(crate) fn literal(path: &[u8]) -> Option<Path> {
        if path.len() >= PATH_MAX || path.contains(&0) {
            return None;
        }
        let mut literal = Path { bytes: [0; PATH_MAX], len: 0 };
        literal.push(path);
        Some(literal)
    }

    fn push_program(&mut self) {
        let mut link = [0; PATH_MAX];
        let len = file::read_link(c"/proc/self/exe", &mut link).unwrap_or(0);
        let link = link.get(..len).unwrap_or_default();
        // A program that was replaced while it runs shows as "name (deleted)".
        let link = link.strip_suffix(b" (deleted)").unwrap_or(link);
        let name = link.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        self.push(if name.is_empty() { b"program" } else { name });
    }

    /// Appends what fits; the last byte stays NUL.
    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.len < PATH_MAX - 1
                && let Some(slot) = self.bytes.get_mut(self.len)
            {
                *slot = byte;
                self.len += 1;
            }
        }
    }

    /// It, for the kernel.
    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }

    /// It, for people.
    pub(crate) fn as_str(&self) -> &str {
        self.bytes.get(..self.len).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or("?")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_the_last_one_holds() {
        let text = "traceallocfree=1,out=/a/%p,,rings=cas,clock=precise,overflow=drop,stall=20s,follow=1,stacks=64,traceallocfree=0";
        let settings = Settings::parse(text, |part, _| panic!("{part}"));
        let stall = Duration::from_secs(20);
        let (clock, overflow) = (Clock::Precise, Overflow::Drop);
        let policy =
            Policy { force_cas: true, clock, overflow, stall, stacks: 64, ..Policy::DEFAULT };
        assert_eq!(settings, Settings { trace: false, out: b"/a/%p", policy, follow: true });
    }

    #[test]
    fn what_is_not_understood_is_named_and_the_default_holds() {
        let mut complaints = Vec::new();
        let settings = Settings::parse(
            "traceallocfree=yes,stcks=3,out=,x,rings=best,stall=0s,stall=2,stacks=65,stacks=x",
            |part, _| {
                complaints.push(part.to_owned());
            },
        );
        assert_eq!(settings, Settings::DEFAULT);
        let all = [
            "traceallocfree=yes",
            "stcks=3",
            "out=",
            "x",
            "rings=best",
            "stall=0s",
            "stall=2",
            "stacks=65",
            "stacks=x",
        ];
        assert_eq!(complaints, all);
    }

    #[test]
    fn patterns_expand_and_long_ones_are_cut() {
        assert!(!names_process(b"a%%p") && names_process(b"a%%%p") && names_process(b"%e.%p"));
        let path = Path::expand(b"a%%b.%p.%x");
        assert_eq!(path.as_str(), format!("a%b.{}.%x", std::process::id()));
        let name = Path::expand(b"%e").as_str().to_owned();
        assert!(std::env::current_exe().unwrap().ends_with(name));
        let long = Path::expand(&[b'a'; 2 * PATH_MAX]);
        assert_eq!(long.as_c_str().to_bytes().len(), PATH_MAX - 1);
        assert!(Path::literal(b"a\0b").is_none());
    }
}
