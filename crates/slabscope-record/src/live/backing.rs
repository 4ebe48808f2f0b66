//! The live file itself, and the room it has on the disk.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU64, Ordering};

use slabscope_os::file::{self, Errno, File};
use slabscope_wire::live;

use super::layout::{Layout, PARTS, Part};
use crate::mapped::Region;

/// Bytes that a part gets room for at a time.
const STEP: usize = 1 << 20;

/// The longest path, in bytes, with the NUL that ends it.
const PATH_MAX: usize = 4096 + live::SUFFIX.len();

/// The file.
#[derive(Debug)]
pub(super) struct Backing {
    file: File,
    path: [u8; PATH_MAX],
    /// Up to where each part that grows can be written, in bytes of the file. Relaxed: to ask for
    /// room twice does no harm.
    backed: [AtomicU64; PARTS.len()],
}

impl Backing {
    /// Makes the file, and sees that all of it can be written but most of what grows.
    pub(super) fn new(trace: File, layout: &Layout) -> Result<(Backing, Region), Errno> {
        if !trace.is_ordinary() {
            return Err(Errno(0));
        }
        let mut path = [0; PATH_MAX];
        let room = PATH_MAX - live::SUFFIX.len() - 1;
        let len = trace.path(path.get_mut(..room).unwrap_or_default()).ok_or(Errno(0))?;
        if let Some(end) = path.get_mut(len..len + live::SUFFIX.len()) {
            end.copy_from_slice(live::SUFFIX.as_bytes());
        }
        let name = CStr::from_bytes_until_nul(&path).map_err(|_| Errno(0))?;
        let file = File::create_to_map(name)?;
        let backed = PARTS.map(|part| AtomicU64::new(layout.start(part) as u64));
        let backing = Backing { file, path, backed };
        // Most programs declare no types.
        let is_unused = |part| part == Part::TypeNames || layout.start(part) == layout.end(part);
        let first = |part| is_unused(part) || backing.back(layout, part, 1);
        let mapped = file
            .allocate(0, layout.fixed_len())
            .and_then(|()| file.lengthen(layout.len))
            .and_then(|()| if PARTS.into_iter().all(first) { Ok(()) } else { Err(Errno(0)) })
            .and_then(|()| Region::of_file(file, layout.len).ok_or(Errno(0)));
        match mapped {
            Ok(region) => Ok((backing, region)),
            Err(why) => {
                if let Ok(name) = CStr::from_bytes_until_nul(&backing.path) {
                    file::remove(name);
                }
                file.close();
                Err(why)
            }
        }
    }

    /// Has room made for the first `len` bytes of a part; `false` when there is none.
    pub(super) fn back(&self, layout: &Layout, part: Part, len: usize) -> bool {
        let Some(backed) = self.backed.get(part as usize) else { return false };
        let needed = layout.start(part).saturating_add(len);
        let from = backed.load(Ordering::Relaxed) as usize;
        if needed <= from {
            return true;
        }
        // From where others have asked to, so that it does not matter who is first.
        let end = needed.next_multiple_of(STEP).min(layout.end(part));
        let done = needed <= end && self.file.allocate(from, end - from).is_ok();
        if done {
            backed.fetch_max(end as u64, Ordering::Relaxed);
        }
        done
    }

    /// Its length and what it takes of the disk, in bytes.
    pub(super) fn sizes(&self) -> Option<(u64, u64)> {
        self.file.sizes()
    }

    /// Removes the file.
    pub(super) fn remove(&self) {
        if let Ok(path) = CStr::from_bytes_until_nul(&self.path) {
            self.file.remove_at(path);
        }
        self.file.close();
    }

    /// Closes it and leaves it where it is.
    pub(super) fn close(&self) {
        self.file.close();
    }
}
