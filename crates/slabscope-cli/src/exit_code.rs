//! Exit codes, and the one place that chooses them.
//!
//! 0: all is well. 1: a finding. 2: it could not be done. `slabscope --help` documents them.

use std::io::ErrorKind;
use std::process::ExitCode;

use crate::failure::Failure;

/// How a command ended that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well.
    Fine,
    /// There is something the user should know of, and it was said.
    Finding,
}

impl Outcome {
    /// A finding if there is one.
    pub(crate) fn finding_if(is_finding: bool) -> Outcome {
        if is_finding { Outcome::Finding } else { Outcome::Fine }
    }
}

/// Says what failed, if anything did, and gives the exit code.
pub(crate) fn of(outcome: Result<Outcome, Failure>) -> ExitCode {
    match outcome {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Finding) => ExitCode::from(1),
        // Whoever reads our output has seen enough of it.
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            failure.say();
            ExitCode::from(2)
        }
    }
}
