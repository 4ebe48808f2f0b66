//! Where the reader gets generations and their plain events from: its own thread, or others that
//! read ahead of it.

use std::sync::Arc;

use crate::ahead::Ahead;
use crate::error::Error;
use crate::generation::Generation;
use crate::merge::{Events, Merge, Rest};
use crate::run::Placing;
use crate::source::Source;

/// What comes where a generation may begin.
#[derive(Debug)]
pub(crate) enum Opening<'a> {
    /// A generation.
    Generation(Arc<Generation<'a>>),
    /// A generation whose threads do not begin with events.
    Unreadable(Error),
    /// No generation, as what stands there is none.
    Broken(Error),
    /// The end of the trace, at this place in the file.
    End(u64),
}

/// Where generations and plain events come from.
#[derive(Debug)]
pub(crate) enum Supply<'a> {
    /// This thread.
    Own(Box<Own<'a>>),
    /// Other threads.
    Ahead(Ahead<'a>),
}

/// A generation at a time, read and put in order when it is asked for.
#[derive(Debug)]
pub(crate) struct Own<'a> {
    source: Source<'a>,
    placing: Placing<'a>,
    current: Option<(Arc<Generation<'a>>, Merge)>,
}

impl<'a> Supply<'a> {
    pub(crate) fn own(source: Source<'a>, placing: Placing<'a>) -> Self {
        Supply::Own(Box::new(Own { source, placing, current: None }))
    }

    /// Goes on to the next generation.
    pub(crate) fn open(&mut self) -> Opening<'a> {
        match self {
            Supply::Own(own) => {
                let (opening, merge) = open(&mut own.source);
                own.current = match &opening {
                    Opening::Generation(generation) => {
                        merge.map(|merge| (Arc::clone(generation), merge))
                    }
                    _ => None,
                };
                opening
            }
            Supply::Ahead(ahead) => ahead.open(),
        }
    }

    /// Puts the generation's next plain events in place of `run`. When no more come, returns where
    /// its threads stand.
    pub(crate) fn fill(&mut self, run: &mut Events) -> Option<Rest> {
        match self {
            Supply::Own(own) => {
                run.clear();
                let (generation, mut merge) = own.current.take()?;
                let more = merge.fill(&generation, run);
                own.placing.place(&mut run.plain);
                if more {
                    own.current = Some((generation, merge));
                    return None;
                }
                Some(merge.rest(&generation))
            }
            Supply::Ahead(ahead) => ahead.fill(run),
        }
    }
}

/// Reads the next generation and stands before its events.
pub(crate) fn open<'a>(source: &mut Source<'a>) -> (Opening<'a>, Option<Merge>) {
    let generation = match source.next() {
        Ok(Some(generation)) => generation,
        Ok(None) => return (Opening::End(source.offset()), None),
        Err(error) => return (Opening::Broken(error), None),
    };
    match Merge::new(&generation) {
        Ok(merge) => (Opening::Generation(Arc::new(generation)), Some(merge)),
        Err(error) => (Opening::Unreadable(error), None),
    }
}
