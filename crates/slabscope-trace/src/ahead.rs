//! Reading ahead of the reader on another thread.
//!
//! It takes one generation after the other out of the file and puts its plain events in order. What
//! may wait for the reader is bounded.
//!
//! All goes through one queue: when the reader goes, nothing that waits in a second one could keep
//! the thread from seeing it.

use std::mem;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::generation::Generation;
use crate::merge::{Events, Merge, RUN_EVENTS, Rest};
use crate::run::Placing;
use crate::source::Source;
use crate::supply::{Opening, open};

/// How many runs may wait for the reader: few enough to stay in the processor's cache until they are
/// looked at.
const RUNS_MAX: usize = 64;

/// What comes next in a trace.
#[derive(Debug)]
enum Message<'a> {
    Opening(Opening<'a>),
    /// Plain events of the generation.
    Run(Events),
    /// No more plain events; where its threads stand.
    Rest(Rest),
}

/// The reader's end.
#[derive(Debug)]
pub(crate) struct Ahead<'a> {
    messages: Receiver<Message<'a>>,
    /// Takes back what was read, so that memory is used again.
    used: Sender<Events>,
}

/// The end of the thread that reads ahead.
struct Worker<'a> {
    source: Source<'a>,
    placing: Placing<'a>,
    messages: Sender<Message<'a>>,
    used: Receiver<Events>,
}

impl<'a> Ahead<'a> {
    pub(crate) fn open(&mut self) -> Opening<'a> {
        // The reader asks for it where a generation has been handed out whole.
        match self.messages.recv() {
            Ok(Message::Opening(opening)) => opening,
            _ => Opening::End(0),
        }
    }

    pub(crate) fn fill(&mut self, run: &mut Events) -> Option<Rest> {
        let used = mem::take(run);
        if used.plain.capacity() > 0 {
            // Nobody is left to use it at the end of the trace.
            let _ = self.used.send(used);
        }
        match self.messages.recv() {
            Ok(Message::Run(next)) => {
                *run = next;
                None
            }
            Ok(Message::Rest(rest)) => Some(rest),
            _ => Some(Rest::default()),
        }
    }
}

/// Runs `body` with what another thread reads ahead of it from `source`.
pub(crate) fn with<'a, T>(
    source: Source<'a>,
    placing: Placing<'a>,
    body: impl FnOnce(Ahead<'a>) -> T,
) -> T {
    let (sender, messages) = bounded(RUNS_MAX);
    let (used, used_out) = unbounded();
    thread::scope(|scope| {
        scope.spawn(move || Worker { source, placing, messages: sender, used: used_out }.run());
        body(Ahead { messages, used })
    })
}

impl<'a> Worker<'a> {
    /// Works until the trace ends, or the reader is gone.
    fn run(mut self) -> Option<()> {
        loop {
            let (opening, merge) = open(&mut self.source);
            let generation = match &opening {
                Opening::Generation(generation) => Some(generation.clone()),
                _ => None,
            };
            self.messages.send(Message::Opening(opening)).ok()?;
            self.merge(&*generation?, merge?)?;
        }
    }

    fn merge(&mut self, generation: &Generation<'a>, mut merge: Merge) -> Option<()> {
        loop {
            let mut run = self.used.try_recv().unwrap_or_default();
            run.clear();
            run.plain.reserve(RUN_EVENTS);
            let more = merge.fill(generation, &mut run);
            self.placing.place(&mut run.plain);
            self.messages.send(Message::Run(run)).ok()?;
            if !more {
                return self.messages.send(Message::Rest(merge.rest(generation))).ok();
            }
        }
    }
}
