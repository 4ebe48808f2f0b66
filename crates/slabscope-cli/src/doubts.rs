//! Saying on standard error why figures may be off although all of the trace could be read.

use std::path::Path;

use slabscope_analysis::{Profile, State};

use crate::failure;
use crate::text::plural;

/// An answer from a trace that lacks something must not pass for one from a trace that has all.
pub(crate) fn say(path: &Path, profile: &Profile) {
    for doubt in of(profile) {
        failure::say(&failure::about(path, format!("{doubt}; 'slabscope verify' tells which.")));
    }
}

fn of(profile: &Profile) -> Vec<String> {
    let mut doubts = Vec::new();
    if profile.contradictions > 0 {
        let events = plural(profile.contradictions, "event contradicts", "events contradict");
        doubts.push(format!("{events} those before them, so the figures may be off"));
    }
    match profile.completeness.state {
        State::Lost => {
            let events = plural(profile.completeness.lost(), "event was lost", "events were lost");
            doubts.push(format!("{events} while it was recorded, and the figures lack them"));
        }
        State::Miscounted => {
            doubts.push("it has more or fewer events than its closing counts say".to_owned());
        }
        _ => {}
    }
    if profile.side_problem_count > 0 {
        let pieces = plural(profile.side_problem_count, "piece", "pieces");
        doubts.push(format!(
            "{pieces} of its side data cannot be used, so sites, names or counts may be missing"
        ));
    }
    doubts
}
