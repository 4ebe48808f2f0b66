//! What an instruction may read and write: the protocol's rules for the memory that threads share.

use crate::kernel::World;
use crate::layout::{self, RINGS};
use crate::processor::Bus;
use crate::program::{Section, nowhere};

/// A processor's way to memory while it executes the instruction at `ip`.
pub(crate) struct Connection<'w, 'a> {
    world: &'w mut World<'a>,
    ip: u64,
    next: u64,
}

impl<'w, 'a> Connection<'w, 'a> {
    pub(crate) fn new(world: &'w mut World<'a>, ip: u64, next: u64) -> Self {
        Connection { world, ip, next }
    }

    /// The section that the instruction lies in.
    fn section(&self) -> Option<Section> {
        self.world.sections.iter().find(|section| section.contains(self.ip)).copied()
    }

    /// What the protocol asks of a store to the rings.
    fn check_store(&mut self, address: u64, size: u64, value: u64) -> Result<(), String> {
        let running = self.world.machine.running;
        if layout::is_own(running, address) {
            return Ok(());
        }
        let fault = |what: &str| Err(format!("{:#x}: a store to {address:#x}: {what}", self.ip));
        let Some(section) = self.section() else { return fault("not in a section") };
        let cpu = self.world.machine.threads[running].cpu as usize;
        if cpu >= RINGS {
            return fault("this CPU has no ring");
        }
        if address == layout::head(cpu) {
            if self.next != section.post_commit {
                return fault("a commit that is not the end of the section");
            }
            return self.world.machine.threads[running].commit(value as u32);
        }
        let buffer = layout::buffer(cpu);
        let words = self.world.setting.words;
        if !(buffer..buffer + 8 * words).contains(&address)
            || size != 8
            || !address.is_multiple_of(8)
        {
            return fault("neither a word of this CPU's ring nor its head");
        }
        let released = self.world.peek(layout::released(cpu));
        let index = ((address - buffer) / 8).wrapping_sub(released) & (words - 1);
        if index < self.world.used(cpu) {
            return fault("the drainer may be reading that word");
        }
        Ok(())
    }

    fn check_load(&mut self, address: u64) -> Result<(), String> {
        let running = self.world.machine.running;
        let is_cpu = address == layout::area(running) + layout::CPU;
        if !is_cpu && !layout::is_of_rings(address) {
            return Ok(());
        }
        if self.section().is_none() {
            return Err(format!("{:#x}: a load from {address:#x} outside of a section", self.ip));
        }
        let cpu = self.world.machine.threads[running].cpu;
        let mut met = self.world.machine.threads[running].met;
        if is_cpu {
            met.cpu = Some(cpu);
        } else if address == layout::released(cpu as usize) {
            met.used = Some(self.world.used(cpu as usize));
        } else if address == layout::beat(cpu as usize) {
            met.beat = Some(self.world.peek(address));
        }
        self.world.machine.threads[running].met = met;
        Ok(())
    }
}

impl Bus for Connection<'_, '_> {
    fn load(&mut self, address: u64, size: u64) -> Result<u64, String> {
        let Some(at) = layout::word_of(address) else {
            return self.world.program.load(address, size);
        };
        self.check_load(address)?;
        let shift = 8 * (address % 8);
        if address % 8 + size > 8 {
            return Err(nowhere(address));
        }
        let value = self.world.machine.memory[at] >> shift;
        Ok(if size == 8 { value } else { value & ((1 << (8 * size)) - 1) })
    }

    fn store(&mut self, address: u64, size: u64, value: u64) -> Result<(), String> {
        let at = layout::word_of(address).ok_or_else(|| nowhere(address))?;
        if address % 8 + size > 8 {
            return Err(nowhere(address));
        }
        self.check_store(address, size, value)?;
        let shift = 8 * (address % 8);
        let mask = if size == 8 { u64::MAX } else { ((1 << (8 * size)) - 1) << shift };
        let word = &mut self.world.machine.memory[at];
        *word = *word & !mask | value << shift & mask;
        Ok(())
    }

    fn clock(&mut self) -> (u64, u32) {
        let running = self.world.machine.running;
        let fresh = self.world.tick();
        let thread = &mut self.world.machine.threads[running];
        let ticks = thread.kept.take().unwrap_or(fresh);
        thread.reading = Some(ticks);
        (ticks, thread.cpu)
    }
}
