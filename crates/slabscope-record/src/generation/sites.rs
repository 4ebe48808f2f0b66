//! The sites that events of a generation name, and the frames of their call stacks.

use core::sync::atomic::{AtomicU32, Ordering};

use slabscope_os::say::Decimal;
use slabscope_unwind::DEPTH_MAX;
use slabscope_wire::alloc_free::data;

use super::Generation;
use crate::encode::DataBatch;
use crate::mapped::Mapped;
use crate::site::SLOTS;
use crate::stacks::{FRAMES, STACK_SITES};

/// Which sites were named and which were written. Atomic only to be mapped.
#[derive(Debug)]
pub(super) struct Sites {
    /// For each site, the generation that last wrote it.
    written: Mapped<AtomicU32>,
    /// Sites seen and not yet written in this generation: `new[..new_count]`.
    new: Mapped<AtomicU32>,
    new_count: usize,
    /// For each frame, the generation that last wrote it.
    frames_written: Mapped<AtomicU32>,
}

impl Sites {
    pub(super) fn new(has_stacks: bool) -> Option<Self> {
        let (sites, frames) = if has_stacks { (SLOTS + STACK_SITES, FRAMES) } else { (SLOTS, 0) };
        Some(Sites {
            written: Mapped::new(sites + 1)?,
            new: Mapped::new(sites + 1)?,
            new_count: 0,
            frames_written: Mapped::new(frames + 1)?,
        })
    }

    #[inline]
    pub(super) fn note(&mut self, site: u32, generation: u64) {
        let Some(written) = self.written.get(site as usize) else { return };
        if written.load(Ordering::Relaxed) == generation as u32 || site == 0 {
            return;
        }
        written.store(generation as u32, Ordering::Relaxed);
        if let Some(slot) = self.new.get(self.new_count) {
            slot.store(site, Ordering::Relaxed);
            self.new_count += 1;
        }
    }

    /// The sites not written yet.
    fn new_ones(&self) -> impl Iterator<Item = u32> {
        self.new.iter().take(self.new_count).map(|site| site.load(Ordering::Relaxed))
    }

    /// Whether a frame is to be written, which it counts as from now on.
    fn take_frame(&self, frame: u32, generation: u64) -> bool {
        let written = self.frames_written.get(frame as usize);
        written.is_some_and(|written| {
            let before = written.swap(generation as u32, Ordering::Relaxed);
            frame != 0 && before != generation as u32
        })
    }
}

impl Generation<'_> {
    /// Writes the sites noted since the last call, for us and, as types, for Go's consumers; before
    /// them the frames they need.
    pub(crate) fn write_sites(&mut self) {
        if self.sites.new_count == 0 {
            return;
        }
        self.write_frames();
        let (session, sites) = (self.session, &self.sites);
        let rows = || {
            sites.new_ones().filter_map(|n| {
                let (site, frame) = session.site(n)?;
                Some((u64::from(n), site, u64::from(frame)))
            })
        };
        let mut batch = DataBatch::new(
            &mut self.out,
            self.number,
            self.start_ns,
            data::SITES,
            self.scratch.as_mut_slice(),
        );
        for (number, site, frame) in rows() {
            batch.record(|b| {
                [number, site.size, site.align, frame].iter().all(|&number| b.varint(number))
            });
        }
        batch.close();
        let mut batch = DataBatch::new(
            &mut self.out,
            self.number,
            self.start_ns,
            data::TYPES,
            self.scratch.as_mut_slice(),
        );
        for (number, site, _) in rows() {
            let size = Decimal::new(site.size);
            let align = Decimal::new(site.align);
            let parts = ["size ", size.as_str(), " align ", align.as_str()];
            let len: usize = parts.iter().map(|part| part.len()).sum();
            batch.record(|b| {
                let head = [number, 0, site.size, 0, len as u64];
                head.iter().all(|&n| b.varint(n))
                    && parts.iter().all(|part| b.bytes(part.as_bytes()))
            });
        }
        batch.close();
        self.sites.new_count = 0;
    }

    /// Writes the frames of these sites that this generation does not have, each after the one that
    /// called it.
    fn write_frames(&mut self) {
        let (session, sites, generation) = (self.session, &self.sites, self.number);
        let Some(stacks) = session.stacks() else { return };
        let mut batch = DataBatch::new(
            &mut self.out,
            self.number,
            self.start_ns,
            data::FRAMES,
            self.scratch.as_mut_slice(),
        );
        for number in sites.new_ones() {
            let Some((_, innermost)) = stacks.site(number) else { continue };
            let (mut path, mut len) = ([0; DEPTH_MAX], 0);
            let mut frame = innermost;
            while sites.take_frame(frame, generation)
                && let Some(place) = path.get_mut(len)
                && let Some(link) = stacks.link(frame)
            {
                (*place, len) = (frame, len + 1);
                frame = link.parent;
            }
            for &number in path.get(..len).unwrap_or_default().iter().rev() {
                let Some(link) = stacks.link(number) else { continue };
                let parent = u64::from(link.parent);
                let row = [u64::from(number), parent, link.frame.flags(), link.frame.address()];
                batch.record(|b| row.iter().all(|&number| b.varint(number)));
            }
        }
        batch.close();
    }
}
