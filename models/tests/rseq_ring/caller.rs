//! What the threads do: they push events one after the other, in the way of the recorder's
//! `thread_clock.rs`, and note what became of them.

use std::collections::BTreeMap;

use slabscope_os::rseq::Commit;
use slabscope_wire::alloc_free::EventKind;
use slabscope_wire::live::word;

use crate::compiled::{BEGIN, DONE, END, EXTEND, FULL, NO_CPU, PUSH};
use crate::kernel::{World, first_registers};
use crate::layout::{self, HEADS, RINGS};
use crate::processor::{RAX, RSP, Registers};

/// Events that may share one reading.
const SHARED_MAX: u64 = 6;

/// Words of a record at most.
const RECORD_MAX: u64 = 4;

/// An event to push.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    /// Of two words: such take a fresh reading.
    pub(crate) is_long: bool,
    /// The earliest time it may have.
    pub(crate) floor: u64,
}

/// What a thread pushes, and how many signals it takes.
pub(crate) struct Plan {
    pub(crate) ops: Vec<Op>,
    pub(crate) signals: usize,
}

/// What a thread, or its signal handler, is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Next,
    Extending,
    Ending,
    Pushing { interrupts: u32 },
    Beginning { interrupts: u32 },
    EndingAgain,
}

/// One of a thread's call chains: its own, or a handler's above it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Activity {
    phase: Phase,
    /// Commits of the function that is called now.
    commits: u32,
    /// What the handler interrupted.
    saved: Option<Registers>,
}

/// What a section has read and written since it last began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Met {
    pub(crate) cpu: Option<u32>,
    /// Words in the ring.
    pub(crate) used: Option<u64>,
    pub(crate) beat: Option<u64>,
    /// Words pushed, as the commit has it.
    pub(crate) words: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Thread {
    pub(crate) registers: Registers,
    pub(crate) cpu: u32,
    pub(crate) activities: Vec<Activity>,
    /// The last reading of the clock, until it is used or the section begins anew.
    pub(crate) reading: Option<u64>,
    /// A reading from before the section began anew.
    pub(crate) kept: Option<u64>,
    /// What its section has met.
    pub(crate) met: Met,
    /// The same of what its handler interrupted.
    met_before: Met,
    /// Events that shared a reading.
    pub(crate) extended: usize,
    number: usize,
    done: usize,
    handled: usize,
    signals: usize,
    ops: usize,
    interrupts: u32,
    /// The reading that events may share.
    last: u64,
    /// The time of each event that was pushed, by its number.
    pub(crate) pushed: BTreeMap<u64, u64>,
}

/// Numbers of a thread's events are below this times its number plus one, its handlers' from half of
/// it on.
pub(crate) const NUMBERS: u64 = 32;

impl Thread {
    pub(crate) fn new(number: usize, plan: &Plan) -> Thread {
        Thread {
            registers: first_registers(number),
            cpu: 0,
            activities: vec![Activity { phase: Phase::Next, commits: 0, saved: None }],
            reading: None,
            kept: None,
            met: Met::default(),
            met_before: Met::default(),
            extended: 0,
            number,
            done: 0,
            handled: 0,
            signals: plan.signals,
            ops: plan.ops.len(),
            interrupts: 0,
            last: 0,
            pushed: BTreeMap::new(),
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done == self.ops && self.activities.len() == 1
    }

    /// Handlers are not interrupted by others here.
    pub(crate) fn takes_signal(&self) -> bool {
        self.activities.len() == 1 && self.handled < self.signals && !self.is_done()
    }

    /// Its handler is called.
    pub(crate) fn enter_handler(&mut self) {
        let saved = self.registers.clone();
        // What lies below the stack pointer is the function's too.
        self.registers.general[RSP] = (saved.general[RSP] - 128) & !15;
        self.activities.push(Activity { phase: Phase::Next, commits: 0, saved: Some(saved) });
        self.met_before = self.met;
    }

    fn in_handler(&self) -> bool {
        self.activities.len() > 1
    }

    fn activity(&mut self) -> &mut Activity {
        self.activities.last_mut().expect("a thread has one activity at least")
    }

    /// The number of the event it is about.
    fn event(&self) -> u64 {
        let first = self.number as u64 * NUMBERS;
        if self.in_handler() {
            first + NUMBERS / 2 + self.handled as u64
        } else {
            first + self.done as u64
        }
    }

    /// A section has committed.
    pub(crate) fn commit(&mut self, words: u32) -> Result<(), String> {
        self.reading = None;
        self.met.words = Some(words);
        let activity = self.activity();
        activity.commits += 1;
        if activity.commits > 1 { Err("an event is pushed twice".into()) } else { Ok(()) }
    }

    /// The function that has returned pushed an event, or did not, and says so.
    fn check_commits(&mut self, pushed: bool) -> Result<(), String> {
        match (std::mem::take(&mut self.activity().commits), pushed) {
            (1, true) | (0, false) => Ok(()),
            (0, true) => Err("a push says that it was committed and was not".into()),
            _ => Err("a push was committed and says that it was not".into()),
        }
    }
}

/// The words of an event, which name its number.
fn words(number: u64, is_long: bool) -> [u64; 2] {
    if is_long {
        [word::event(EventKind::SpanAlloc, number, 7), word::argument(number * 3)]
    } else {
        [word::event(EventKind::ObjectAlloc, number, 7), 0]
    }
}

impl World<'_> {
    /// The next event, if there is one.
    pub(crate) fn call_next(&mut self, number: usize) -> Result<(), String> {
        let thread = &mut self.machine.threads[number];
        if thread.is_done() {
            return Ok(());
        }
        if thread.in_handler() {
            return self.call_push(number);
        }
        let op = self.setting.plans[number].ops[thread.done];
        let event = thread.event();
        // As the recorder asks the page's clock.
        if op.is_long || op.floor > thread.last || thread.last == 0 {
            thread.activity().phase = Phase::Ending;
            return self.call(number, END, &[layout::streak(number)]);
        }
        thread.activity().phase = Phase::Extending;
        let arguments = [layout::thread(number), layout::streak(number), words(event, false)[0]];
        self.call(number, EXTEND, &arguments)
    }

    fn call_push(&mut self, number: usize) -> Result<(), String> {
        let thread = &mut self.machine.threads[number];
        let (event, in_handler) = (thread.event(), thread.in_handler());
        let interrupts = thread.interrupts;
        thread.activity().phase = Phase::Pushing { interrupts };
        thread.met = Met::default();
        let (is_long, floor) = if in_handler {
            (false, 0)
        } else {
            let op = self.setting.plans[number].ops[thread.done];
            (op.is_long, op.floor)
        };
        let [first, second] = words(event, is_long);
        let (place, commit) =
            (layout::event(number, in_handler), layout::commit(number, in_handler));
        for (at, value) in (place..).step_by(8).zip([first, second, floor]) {
            self.poke(at, value);
        }
        let area = layout::thread(number);
        let arguments = [area, HEADS, RINGS as u64, number as u64 + 1, place, commit];
        self.call(number, PUSH, &arguments)
    }

    /// A function has returned.
    pub(crate) fn returned(&mut self, number: usize) -> Result<(), String> {
        let thread = &mut self.machine.threads[number];
        let (result, event) = (thread.registers.general[RAX], thread.event());
        match thread.activity().phase.clone() {
            Phase::Next => Err("a function returned that was not called".into()),
            Phase::Extending => {
                thread.check_commits(result == 1)?;
                if result == 1 {
                    thread.extended += 1;
                    thread.pushed.insert(event, thread.last);
                    return self.go_on(number);
                }
                thread.activity().phase = Phase::Ending;
                self.call(number, END, &[layout::streak(number)])
            }
            Phase::Ending if thread.in_handler() => self.go_on(number),
            Phase::Ending => self.call_push(number),
            Phase::Pushing { interrupts } => self.pushed(number, result, interrupts),
            Phase::Beginning { interrupts } if thread.interrupts != interrupts => {
                thread.activity().phase = Phase::EndingAgain;
                self.call(number, END, &[layout::streak(number)])
            }
            Phase::Beginning { .. } | Phase::EndingAgain => self.go_on(number),
        }
    }

    fn pushed(&mut self, number: usize, result: u64, interrupts: u32) -> Result<(), String> {
        let in_handler = self.machine.threads[number].in_handler();
        let said = self.said(number, in_handler);
        self.check_answer(number, result, &said)?;
        let thread = &mut self.machine.threads[number];
        thread.check_commits(result == DONE)?;
        if result == DONE {
            thread.pushed.insert(thread.event(), said.ticks);
        }
        if in_handler {
            thread.interrupts += 1;
            thread.activity().phase = Phase::Ending;
            return self.call(number, END, &[layout::streak(number)]);
        }
        if result != DONE {
            return self.go_on(number);
        }
        thread.last = said.ticks;
        thread.activity().phase = Phase::Beginning { interrupts };
        // As the recorder does it: no more than there was room for.
        let room = self.setting.words.saturating_sub(said.used + RECORD_MAX);
        let (ring, commit) = (layout::head(said.cpu as usize), layout::commit(number, false));
        let shared = SHARED_MAX.min(room);
        let arguments = [layout::streak(number), ring, number as u64 + 1, commit, shared];
        self.call(number, BEGIN, &arguments)
    }

    /// Whether what a push says is what its section met.
    fn check_answer(&self, number: usize, result: u64, said: &Commit) -> Result<(), String> {
        let met = self.machine.threads[number].met;
        let (has_ring, room) = (met.cpu.is_some_and(|cpu| cpu < RINGS as u32), self.setting.room());
        let is_full = met.used.is_some_and(|used| used > room);
        let is_right = match result {
            NO_CPU => met.cpu.is_some() && !has_ring,
            FULL => has_ring && is_full,
            DONE => {
                let floor = self.floor(number);
                let (cpu, used, words) = (Some(said.cpu), Some(said.used), Some(said.words));
                has_ring
                    && !is_full
                    && said.ticks >= floor
                    && (met.cpu, met.used, met.beat, met.words)
                        == (cpu, used, Some(said.beat), words)
            }
            _ => false,
        };
        if is_right {
            Ok(())
        } else {
            Err(format!("a push says {result} {said:?}, and met {met:?}"))
        }
    }

    fn floor(&self, number: usize) -> u64 {
        let thread = &self.machine.threads[number];
        let ops = &self.setting.plans[number].ops;
        if thread.in_handler() { 0 } else { ops[thread.done].floor }
    }

    /// An event has come to its end: on to the next, or back to what the handler interrupted.
    fn go_on(&mut self, number: usize) -> Result<(), String> {
        let thread = &mut self.machine.threads[number];
        if let Some(saved) = thread.activity().saved.take() {
            thread.activities.pop();
            thread.met = thread.met_before;
            thread.handled += 1;
            thread.registers = saved;
            return Ok(());
        }
        thread.done += 1;
        thread.activity().phase = Phase::Next;
        thread.registers = first_registers(number);
        self.call_next(number)
    }
}
