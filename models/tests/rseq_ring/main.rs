//! A ring that is pushed to by restartable sequences: all schedules of two threads on its CPU and of
//! the drainer on another.
//!
//! The real section is assembly and cannot run here, so its steps are written down: read the clock,
//! load the head, write the words, commit by storing the head. When the CPU goes to the other thread,
//! or the drainer asks for it, a section that has not committed begins anew; that is all the kernel
//! promises. A record is two words, so that a torn one shows.

use std::collections::HashSet;

/// What the model leaves out, to see that it is missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    Nothing,
    /// The kernel restarts no section, as in a child of `vfork`.
    Restart,
    /// The drainer's horizon does not restart sections under way.
    Barrier,
    /// The clock is read before the section begins.
    ClockInside,
}

/// Where a thread is in its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Clock,
    Head,
    FirstWord,
    SecondWord,
    Commit,
}

/// Records of each thread.
const RECORDS: u8 = 2;
/// Words of the ring: there is room for all.
const WORDS: usize = 8;
/// How often the CPU changes hands: without a bound, sections could begin anew for ever.
const SWITCHES: u8 = 4;
/// Rounds of the drainer.
const ROUNDS: u8 = 2;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Thread {
    step: Step,
    pushed: u8,
    time: u8,
    head: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    threads: [Thread; 2],
    /// Which of them has the CPU.
    running: usize,
    switches: u8,
    clock: u8,
    /// Who wrote each word, for which of his records, at what time.
    words: [Option<(usize, u8, u8)>; WORDS],
    head: usize,
    /// Drained: rounds made, words taken, and the moment before which all is taken; a round under way
    /// has its moment and not yet its words.
    rounds: u8,
    taken: usize,
    horizon: u8,
    asked: Option<u8>,
}

impl State {
    fn new() -> State {
        let thread = Thread { step: Step::Clock, pushed: 0, time: 0, head: 0 };
        State {
            threads: [thread.clone(), thread],
            running: 0,
            switches: 0,
            clock: 1,
            words: [None; WORDS],
            head: 0,
            rounds: 0,
            taken: 0,
            horizon: 0,
            asked: None,
        }
    }

    /// A section that has not committed begins anew, its clock reading too if that is inside.
    fn restart(&mut self, without: Without) {
        let thread = &mut self.threads[self.running];
        let inside = thread.step != Step::Clock;
        thread.step = match without {
            Without::Restart => thread.step,
            Without::ClockInside if inside => Step::Head,
            _ => Step::Clock,
        };
    }

    /// The running thread takes a step; `false` when it has pushed all.
    fn step(&mut self) -> bool {
        let (running, clock) = (self.running, self.clock);
        let thread = &mut self.threads[running];
        if thread.pushed == RECORDS {
            return false;
        }
        let word = Some((running, thread.pushed, thread.time));
        match thread.step {
            Step::Clock => {
                thread.time = clock;
                self.clock += 1;
                thread.step = Step::Head;
            }
            Step::Head => {
                thread.head = self.head;
                thread.step = Step::FirstWord;
            }
            Step::FirstWord => {
                self.words[thread.head] = word;
                thread.step = Step::SecondWord;
            }
            Step::SecondWord => {
                self.words[thread.head + 1] = word;
                thread.step = Step::Commit;
            }
            Step::Commit => {
                self.head = thread.head + 2;
                thread.pushed += 1;
                thread.step = Step::Clock;
            }
        }
        true
    }

    /// The drainer's next step: it reads the clock and has sections restarted, or takes the words.
    fn drain(&mut self, without: Without) -> Result<bool, &'static str> {
        if self.rounds == ROUNDS {
            return Ok(false);
        }
        let Some(moment) = self.asked.take() else {
            self.asked = Some(self.clock);
            self.clock += 1;
            if without != Without::Barrier {
                self.restart(without);
            }
            return Ok(true);
        };
        self.take(|time| time <= moment)?;
        (self.horizon, self.rounds) = (moment, self.rounds + 1);
        Ok(true)
    }

    /// Takes records in the ring's order as long as their time is right.
    fn take(&mut self, is_due: impl Fn(u8) -> bool) -> Result<(), &'static str> {
        if self.taken > self.head {
            return Err("the head went back");
        }
        while self.taken < self.head {
            let (Some(first), Some(second)) = (self.words[self.taken], self.words[self.taken + 1])
            else {
                return Err("a hole");
            };
            if first != second {
                return Err("a torn record");
            }
            if !is_due(first.2) {
                break;
            }
            if first.2 < self.horizon {
                return Err("an event from before the horizon");
            }
            self.taken += 2;
        }
        Ok(())
    }

    /// When all have come to their end: everything is there, once and in order.
    fn check_end(&mut self) -> Result<(), &'static str> {
        self.take(|_| true)?;
        if self.head != 2 * 2 * usize::from(RECORDS) {
            return Err("a record is lost");
        }
        let records: Vec<_> = self.words[..self.head].iter().step_by(2).flatten().collect();
        if records.windows(2).any(|pair| pair[0].2 > pair[1].2) {
            return Err("times fall");
        }
        let of = |thread| records.iter().filter(move |record| record.0 == thread);
        let in_order = |thread| of(thread).map(|record| record.1).eq(0..RECORDS);
        if in_order(0) && in_order(1) { Ok(()) } else { Err("a record is doubled") }
    }
}

/// Runs all schedules; how many states there are, or the first fault.
fn explore(without: Without) -> Result<usize, &'static str> {
    let mut seen = HashSet::new();
    let mut open = vec![State::new()];
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let mut ended = true;
        let mut next = state.clone();
        if next.step() {
            ended = false;
            open.push(next);
        }
        let mut next = state.clone();
        if next.drain(without)? {
            ended = false;
            open.push(next);
        }
        // The CPU goes to the other thread.
        let other = &state.threads[1 - state.running];
        let is_done = state.threads[state.running].pushed == RECORDS;
        if other.pushed < RECORDS && (state.switches < SWITCHES || is_done) {
            ended = false;
            let mut next = state.clone();
            next.restart(without);
            next.running = 1 - next.running;
            next.switches += 1;
            open.push(next);
        }
        if ended {
            state.clone().check_end()?;
        }
    }
    Ok(seen.len())
}

#[test]
fn nothing_is_lost_torn_doubled_or_late() {
    let states = explore(Without::Nothing).expect("no fault");
    assert!(states > 1000, "{states} states");
}

#[test]
fn each_part_is_missed_when_it_is_left_out() {
    for without in [Without::Restart, Without::Barrier, Without::ClockInside] {
        assert!(explore(without).is_err(), "{without:?} is not missed");
    }
}
