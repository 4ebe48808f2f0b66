//! Saying on standard error why figures may be off although all of the trace could be read.

use std::path::Path;

use slabscope_analysis::{Account, State};

use crate::failure;
use crate::text::plural;

/// An answer from a trace that lacks something must not pass for one from a trace that has all.
pub(crate) fn say(path: &Path, account: &Account) {
    for doubt in of(account) {
        failure::say(&failure::about(path, format!("{doubt}; 'slabscope verify' tells which.")));
    }
}

fn of(account: &Account) -> Vec<String> {
    let mut doubts = Vec::new();
    let contradictions = account.contradictions.unwrap_or(0);
    if contradictions > 0 {
        let events = plural(contradictions, "event contradicts", "events contradict");
        doubts.push(format!("{events} those before them, so the figures may be off"));
    }
    match account.state {
        State::Lost => {
            let events = plural(account.lost_events, "event was lost", "events were lost");
            doubts.push(format!("{events} while it was recorded, and the figures lack them"));
        }
        State::Miscounted => {
            doubts.push("it has more or fewer events than its closing counts say".to_owned());
        }
        _ => {}
    }
    let side_problems = account.side_problems.unwrap_or(0);
    if side_problems > 0 {
        let pieces = plural(side_problems, "piece", "pieces");
        doubts.push(format!(
            "{pieces} of its side data cannot be used, so sites, names or counts may be missing"
        ));
    }
    doubts
}
