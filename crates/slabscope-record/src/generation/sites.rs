//! The sites that events of a generation name, and the frames of their call stacks.

use core::sync::atomic::{AtomicU32, Ordering};

use slabscope_unwind::DEPTH_MAX;
use slabscope_wire::alloc_free::data;
use slabscope_wire::live::name;

use super::marks::Marks;
use super::{Generation, declared};
use crate::encode::DataBatch;
use crate::mapped::Mapped;
use crate::site::SLOTS;
use crate::stacks::{FRAMES, STACK_SITES};

/// Which sites were named and which were written.
#[derive(Debug)]
pub(super) struct Sites {
    /// Sites that this generation has, or will have once they are written.
    noted: Marks,
    /// Sites noted and not yet written: `new[..new_count]`. Atomic only to be mapped.
    new: Mapped<AtomicU32>,
    new_count: usize,
    /// Frames that this generation has.
    frames: Marks,
    /// Names of declared types that it has.
    names: Marks,
}

impl Sites {
    pub(super) fn new(has_stacks: bool) -> Option<Self> {
        let (sites, frames) = if has_stacks { (SLOTS + STACK_SITES, FRAMES) } else { (SLOTS, 0) };
        Some(Sites {
            noted: Marks::new(sites + 1)?,
            new: Mapped::new(sites + 1)?,
            new_count: 0,
            frames: Marks::new(frames + 1)?,
            names: Marks::new(name::UNITS)?,
        })
    }

    /// A generation begins, which has nothing yet.
    pub(super) fn begin(&mut self) {
        self.noted.clear();
        self.frames.clear();
        self.names.clear();
    }

    #[inline]
    pub(super) fn note(&mut self, site: u32) {
        if site == 0 || !self.noted.mark(site) {
            return;
        }
        if let Some(slot) = self.new.get(self.new_count) {
            slot.store(site, Ordering::Relaxed);
            self.new_count += 1;
        }
    }

    /// The sites not written yet.
    pub(super) fn new_ones(&self) -> impl Iterator<Item = u32> {
        self.new.iter().take(self.new_count).map(|site| site.load(Ordering::Relaxed))
    }

    /// The same, and which names this generation has.
    pub(super) fn new_ones_and_names(&mut self) -> (impl Iterator<Item = u32>, &mut Marks) {
        let new = self.new.iter().take(self.new_count).map(|site| site.load(Ordering::Relaxed));
        (new, &mut self.names)
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
        self.write_declared();
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
            batch.record(|b| {
                [number, 0, site.size, 0].iter().all(|&n| b.varint(n))
                    && declared::name(b, session, site)
            });
        }
        batch.close();
        self.sites.new_count = 0;
    }

    /// Writes the frames of these sites that this generation does not have, each after the one that
    /// called it.
    fn write_frames(&mut self) {
        let session = self.session;
        let Some(stacks) = session.stacks() else { return };
        let mut batch = DataBatch::new(
            &mut self.out,
            self.number,
            self.start_ns,
            data::FRAMES,
            self.scratch.as_mut_slice(),
        );
        let Sites { new, new_count, frames, .. } = &mut self.sites;
        for number in new.iter().take(*new_count).map(|site| site.load(Ordering::Relaxed)) {
            let Some((_, innermost)) = stacks.site(number) else { continue };
            let (mut path, mut len) = ([0; DEPTH_MAX], 0);
            let mut frame = innermost;
            while frame != 0
                && frames.mark(frame)
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
