//! Saying on standard error that an answer covers a part of a trace only.

use std::path::Path;

use slabscope_analysis::{ReadError, State};

use crate::exit_code::Outcome;
use crate::failure;

/// What is known of how much of a trace could be read.
pub(crate) struct Trouble<'a> {
    pub(crate) error: Option<&'a ReadError>,
    pub(crate) generations: u64,
    pub(crate) state: State,
    pub(crate) has_heap_events: bool,
}

impl Trouble<'_> {
    /// An answer about a part of a trace must not pass for one about all of it.
    pub(crate) fn say(&self, path: &Path) -> Outcome {
        let message = match self.error {
            Some(error) => format!("{}. {}", place(error), self.advice(error)),
            None if self.generations == 0 => {
                "offset 16: there is nothing behind the header. The program was killed before it \
                 wrote any event; trace it again."
                    .to_owned()
            }
            None if self.state == State::CutOff => {
                "it has no closing counts, so it was cut off. The report covers what is there; \
                 trace the program again if you need its end."
                    .to_owned()
            }
            None => return Outcome::Fine,
        };
        failure::say(&failure::about(path, message));
        Outcome::Finding
    }

    fn advice(&self, error: &ReadError) -> &'static str {
        match (error.is_cut_off, self.has_heap_events) {
            (true, true) => {
                "The report covers what was read before; trace the program again if you need its \
                 end."
            }
            (true, false) => "No event of the heap comes before that; trace the program again.",
            (false, _) => {
                "The report covers what was read before; the file was damaged or is not what its \
                 writer wrote: copy it again, or trace the program again."
            }
        }
    }
}

fn place(error: &ReadError) -> String {
    match error.generation {
        0 => format!("offset {}: {}", error.offset, error.what),
        generation => format!("offset {}, generation {generation}: {}", error.offset, error.what),
    }
}
