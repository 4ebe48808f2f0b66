//! The machine: two threads that push, CPUs that they run on, a kernel that interrupts them, and a
//! drainer. What happens at once is one instruction, one thing the kernel does, or one half of a
//! drainer's round.

use std::mem::offset_of;

use slabscope_os::rseq::{Commit, RingHead};

use crate::caller::{Met, Plan, Thread};
use crate::connection::Connection;
use crate::consumer::Consumer;
use crate::layout::{self, RINGS};
use crate::processor::{RSP, Registers};
use crate::program::{Program, Section};

/// What the model leaves out, to see that it is missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Without {
    Nothing,
    /// The kernel restarts no section, as in a child of `vfork`.
    Restart,
    /// The drainer's horizon does not restart sections under way.
    Barrier,
    /// A section that begins anew goes on with the reading of the clock that it had.
    ClockInside,
}

/// How the rings are made, and what is pushed.
pub(crate) struct Setting {
    /// Words of a ring.
    pub(crate) words: u64,
    /// Words pushed and drained before, as the head counts them.
    pub(crate) before: u32,
    pub(crate) plans: [Plan; 2],
    pub(crate) without: Without,
    /// Events that share a reading when nothing comes in between.
    pub(crate) shared: usize,
}

impl Setting {
    /// Words that may be in a ring for a push to be taken.
    pub(crate) fn room(&self) -> u64 {
        self.words - 4
    }
}

/// The clock when a machine begins: soon it goes beyond 32 bits.
pub(crate) const CLOCK: u64 = (1 << 32) - 6;

/// Something that comes in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intervention {
    /// The other thread runs; on the same CPU this one is preempted.
    Switch,
    /// The thread goes on, on the next CPU. The last CPU has no ring.
    Migrate,
    /// A signal, whose handler pushes.
    Signal,
    /// The drainer's next half of a round.
    Drain,
}

pub(crate) const INTERVENTIONS: [Intervention; 4] =
    [Intervention::Switch, Intervention::Migrate, Intervention::Signal, Intervention::Drain];

/// What aborted sections leave in the registers and words that were theirs: nobody may use it.
const SPOILT: u64 = 0x0bad_0bad_0bad_0bad;

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Machine {
    pub(crate) memory: Vec<u64>,
    clock: u64,
    pub(crate) threads: [Thread; 2],
    pub(crate) running: usize,
    pub(crate) consumer: Consumer,
}

/// The machine, with what does not change.
pub(crate) struct World<'a> {
    pub(crate) program: &'a Program,
    pub(crate) setting: &'a Setting,
    pub(crate) sections: &'a [Section],
    pub(crate) machine: Machine,
}

impl<'a> World<'a> {
    pub(crate) fn new(
        program: &'a Program,
        setting: &'a Setting,
        sections: &'a [Section],
    ) -> Result<Self, String> {
        let threads = [0, 1].map(|number| Thread::new(number, &setting.plans[number]));
        let consumer = Consumer::new(setting.before);
        let memory = vec![0; layout::MEMORY];
        let machine = Machine { memory, clock: CLOCK, threads, running: 0, consumer };
        let mut world = World { program, setting, sections, machine };
        for ring in 0..RINGS {
            let head = layout::head(ring);
            world.poke(head, setting.before.into());
            world.poke(layout::released(ring), setting.before.into());
            world.poke(head + offset_of!(RingHead, buffer) as u64, layout::buffer(ring));
            world.poke(head + offset_of!(RingHead, mask) as u64, setting.words - 1);
            world.poke(head + offset_of!(RingHead, room) as u64, setting.room());
        }
        for thread in 0..2 {
            world.poke(layout::thread(thread), layout::AREA);
            world.call_next(thread)?;
        }
        Ok(world)
    }

    /// One from which this has been taken.
    pub(crate) fn fork(&self) -> Self {
        World { machine: self.machine.clone(), ..*self }
    }

    pub(crate) fn peek(&self, address: u64) -> u64 {
        layout::word_of(address).map_or(0, |at| self.machine.memory[at])
    }

    pub(crate) fn poke(&mut self, address: u64, value: u64) {
        if let Some(at) = layout::word_of(address) {
            self.machine.memory[at] = value;
        }
    }

    /// The later of any two readings is greater.
    pub(crate) fn tick(&mut self) -> u64 {
        self.machine.clock += 1;
        self.machine.clock
    }

    /// The section in which, or at whose edges, the running thread stands.
    pub(crate) fn section_around(&self) -> Option<&Section> {
        let ip = self.thread().registers.ip;
        self.sections.iter().find(|section| (section.announce..=section.post_commit).contains(&ip))
    }

    pub(crate) fn thread(&self) -> &Thread {
        &self.machine.threads[self.machine.running]
    }

    /// The running thread goes on by an instruction, or it returned from one of the functions.
    /// `false` when all threads have come to their end.
    pub(crate) fn step(&mut self) -> Result<bool, String> {
        let running = self.machine.running;
        if self.thread().is_done() {
            self.machine.running = 1 - running;
            return Ok(!self.thread().is_done());
        }
        let ip = self.thread().registers.ip;
        if ip == layout::RETURN {
            self.returned(running)?;
            return Ok(true);
        }
        let mut registers = self.thread().registers.clone();
        match self.program.instruction(ip) {
            Ok(instruction) => {
                let mut bus = Connection::new(self, ip, instruction.next_ip());
                registers.step(&instruction, &mut bus)?;
            }
            Err(length) => registers.ip += length,
        }
        self.machine.threads[running].registers = registers;
        Ok(true)
    }

    /// Has a thread call one of the functions.
    pub(crate) fn call(
        &mut self,
        thread: usize,
        function: &str,
        arguments: &[u64],
    ) -> Result<(), String> {
        /// Where arguments are passed.
        const PLACES: [usize; 6] = [7, 6, 2, 1, 8, 9];
        let ip = self.program.symbol(function);
        let mut registers = self.machine.threads[thread].registers.clone();
        for (place, argument) in PLACES.into_iter().zip(arguments) {
            registers.general[place] = *argument;
        }
        registers.ip = ip;
        registers.general[RSP] -= 8;
        let top = registers.general[RSP];
        self.poke(top, layout::RETURN);
        self.machine.threads[thread].registers = registers;
        Ok(())
    }

    /// Whether it can come now.
    pub(crate) fn can(&self, what: Intervention) -> bool {
        let thread = self.thread();
        match what {
            Intervention::Switch => !self.machine.threads[1 - self.machine.running].is_done(),
            Intervention::Migrate => true,
            Intervention::Signal => thread.takes_signal(),
            Intervention::Drain => self.machine.consumer.has_rounds(),
        }
    }

    pub(crate) fn intervene(&mut self, what: Intervention) -> Result<(), String> {
        let running = self.machine.running;
        match what {
            Intervention::Switch => {
                let [one, other] = &self.machine.threads;
                if one.cpu == other.cpu {
                    self.interrupt(running)?;
                }
                self.machine.running = 1 - running;
            }
            Intervention::Migrate => {
                self.interrupt(running)?;
                let cpu = (self.thread().cpu + 1) % (RINGS as u32 + 1);
                if self.machine.threads[1 - running].cpu == cpu {
                    self.interrupt(1 - running)?;
                }
                self.machine.threads[running].cpu = cpu;
                let own = self.peek(layout::area(running)) & 0xffff_ffff;
                self.poke(layout::area(running), u64::from(cpu) << 32 | own);
            }
            Intervention::Signal => {
                self.interrupt(running)?;
                self.machine.threads[running].enter_handler();
                self.call_next(running)?;
            }
            Intervention::Drain => match self.machine.consumer.take_moment() {
                Some(moment) => self.take(Some(moment))?,
                None => self.make_horizon()?,
            },
        }
        Ok(())
    }

    /// Reads the clock, makes all readings too old, and has what is under way begin anew.
    fn make_horizon(&mut self) -> Result<(), String> {
        let moment = self.tick();
        for ring in 0..RINGS {
            let beat = layout::beat(ring);
            self.poke(beat, self.peek(beat) + 1);
        }
        if self.setting.without != Without::Barrier {
            self.interrupt(0)?;
            self.interrupt(1)?;
        }
        self.machine.consumer.ask(moment);
        Ok(())
    }

    /// What the kernel does with a thread that was interrupted, before it goes on.
    fn interrupt(&mut self, number: usize) -> Result<(), String> {
        if self.setting.without == Without::Restart {
            return Ok(());
        }
        let place = layout::area(number) + layout::ANNOUNCED;
        let descriptor = self.peek(place);
        if descriptor == 0 {
            return Ok(());
        }
        let section = self.program.section(descriptor)?;
        self.poke(place, 0);
        let thread = &mut self.machine.threads[number];
        if !section.contains(thread.registers.ip) {
            return Ok(());
        }
        thread.registers.ip = section.abort;
        thread.met = Met::default();
        for &register in &*self.program.clobbers(&section) {
            thread.registers.spoil(register, SPOILT);
        }
        let (cpu, reading) = (thread.cpu as usize, thread.reading.take());
        thread.kept = reading.filter(|_| self.setting.without == Without::ClockInside);
        if cpu < RINGS {
            self.spoil_free_words(cpu);
        }
        Ok(())
    }

    /// Words in a ring.
    pub(crate) fn used(&self, ring: usize) -> u64 {
        let [head, released] =
            [layout::head(ring), layout::released(ring)].map(|address| self.peek(address) as u32);
        head.wrapping_sub(released).into()
    }

    /// Nobody reads words that are not committed.
    fn spoil_free_words(&mut self, ring: usize) {
        let (words, released) = (self.setting.words, self.peek(layout::released(ring)));
        for index in self.used(ring)..words {
            let at = released.wrapping_add(index) & (words - 1);
            self.poke(layout::buffer(ring) + 8 * at, SPOILT);
        }
    }

    /// The drainer takes what there is.
    pub(crate) fn take(&mut self, moment: Option<u64>) -> Result<(), String> {
        for ring in 0..RINGS {
            let head = self.peek(layout::head(ring)) as u32;
            let (buffer, mask) = (layout::buffer(ring), self.setting.words - 1);
            let memory = &self.machine.memory;
            let word = |index: u32| {
                let address = buffer + 8 * (u64::from(index) & mask);
                layout::word_of(address).map_or(0, |at| memory[at])
            };
            self.machine.consumer.take(ring, head, self.setting.words, word)?;
            self.poke(layout::released(ring), head.into());
        }
        if let Some(moment) = moment {
            self.machine.consumer.end_round(moment);
        }
        Ok(())
    }

    /// What a push says it did.
    pub(crate) fn said(&self, thread: usize, in_handler: bool) -> Commit {
        let place = layout::commit(thread, in_handler);
        let word = |offset: usize| {
            let address = place + offset as u64;
            self.peek(address) >> (8 * (address % 8))
        };
        Commit {
            used: word(offset_of!(Commit, used)),
            ticks: word(offset_of!(Commit, ticks)),
            cpu: word(offset_of!(Commit, cpu)) as u32,
            words: word(offset_of!(Commit, words)) as u32,
            beat: word(offset_of!(Commit, beat)),
        }
    }
}

/// Registers of a thread that begins.
pub(crate) fn first_registers(thread: usize) -> Registers {
    let mut registers = Registers::default();
    registers.fs = layout::thread(thread);
    registers.general[RSP] = layout::stack(thread) - 8;
    registers
}
