//! Reading ahead of the reader on other threads, a generation each, with the results in order.
//!
//! A thread takes the next generation out of the file while it holds the lock of the source, says
//! so to the reader, and then puts the plain events of its generation in order while the next
//! thread takes the next one. What may wait for the reader is bounded.

use std::mem;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::generation::Generation;
use crate::merge::{Events, Merge, Plain, RUN_EVENTS, Rest};
use crate::source::Source;
use crate::supply::{Opening, open};

/// How many runs of one generation may wait for the reader: 64 MiB.
const RUNS_MAX: usize = 1024;

const _: () = assert!(RUNS_MAX * RUN_EVENTS * size_of::<Plain>() == 64 << 20);

/// What comes next in a generation.
#[derive(Debug)]
enum Message {
    Run(Events),
    Rest(Rest),
}

/// A generation that a thread is at work on.
#[derive(Debug)]
struct Begun<'a> {
    opening: Opening<'a>,
    messages: Receiver<Message>,
}

/// The reader's end.
#[derive(Debug)]
pub(crate) struct Ahead<'a> {
    begun: Receiver<Begun<'a>>,
    messages: Option<Receiver<Message>>,
    /// Takes back what was read, so that memory is used again.
    used: Sender<Events>,
}

/// The end of a thread that reads ahead.
struct Worker<'w, 'a> {
    source: &'w Mutex<Option<Source<'a>>>,
    begun: Sender<Begun<'a>>,
    used: Receiver<Events>,
}

impl<'a> Ahead<'a> {
    pub(crate) fn open(&mut self) -> Opening<'a> {
        // Threads end after they have said that the trace does, so there is something to receive.
        let Ok(Begun { opening, messages }) = self.begun.recv() else {
            return Opening::End;
        };
        self.messages = Some(messages);
        opening
    }

    pub(crate) fn fill(&mut self, run: &mut Events) -> Option<Rest> {
        let used = mem::take(run);
        if used.plain.capacity() > 0 {
            // Nobody is left to use it at the end of the trace.
            let _ = self.used.send(used);
        }
        match self.messages.as_ref()?.recv() {
            Ok(Message::Run(next)) => {
                *run = next;
                None
            }
            Ok(Message::Rest(rest)) => Some(rest),
            Err(_) => Some(Rest::default()),
        }
    }
}

/// Runs `body` with what `threads` threads read ahead of it from `source`.
pub(crate) fn with<'a, T>(
    source: Source<'a>,
    threads: NonZero<usize>,
    body: impl FnOnce(Ahead<'a>) -> T,
) -> T {
    let source = Mutex::new(Some(source));
    let (begun_in, begun) = bounded(threads.get());
    let (used, used_out) = unbounded();
    thread::scope(|scope| {
        for _ in 0..threads.get() {
            let worker =
                Worker { source: &source, begun: begun_in.clone(), used: used_out.clone() };
            scope.spawn(move || worker.run());
        }
        drop((begun_in, used_out));
        body(Ahead { begun, messages: None, used })
    })
}

impl<'a> Worker<'_, 'a> {
    /// Works until the trace ends, or the reader is gone.
    fn run(&self) {
        while let Some((generation, merge, messages)) = self.begin() {
            if self.merge(&generation, merge, &messages).is_none() {
                return;
            }
        }
    }

    fn begin(&self) -> Option<(std::sync::Arc<Generation<'a>>, Merge, Sender<Message>)> {
        let mut guard = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let (opening, merge) = open(guard.as_mut()?);
        let (sender, messages) = bounded(RUNS_MAX);
        let work = match (&opening, merge) {
            (Opening::Generation(generation), Some(merge)) => {
                Some((generation.clone(), merge, sender))
            }
            _ => {
                *guard = None;
                None
            }
        };
        // Still under the lock: generations must come in order.
        self.begun.send(Begun { opening, messages }).ok()?;
        work
    }

    fn merge(
        &self,
        generation: &Generation<'a>,
        mut merge: Merge,
        messages: &Sender<Message>,
    ) -> Option<()> {
        loop {
            let mut run = self.used.try_recv().unwrap_or_default();
            run.clear();
            run.plain.reserve(RUN_EVENTS);
            let more = merge.fill(generation, &mut run);
            messages.send(Message::Run(run)).ok()?;
            if !more {
                return messages.send(Message::Rest(merge.rest(generation))).ok();
            }
        }
    }
}
