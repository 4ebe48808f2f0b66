//! Whether an answer is made of all that happened, in a few figures that every answer can have beside it.

use serde::Serialize;

use super::{Completeness, End, ReadError, Report, State};
use crate::profile::Profile;

/// Whether an answer is made of all that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Account {
    /// Whether the trace is all there.
    pub state: State,
    /// Why it ended, where it tells.
    pub end: Option<End>,
    /// Events that happened and are not in the file, by its own account.
    pub lost_events: u64,
    /// Events that contradict those before them; `None` where nobody looked.
    pub contradictions: Option<u64>,
    /// How much of the side data cannot be used; `None` where nobody looked.
    pub side_problems: Option<u64>,
    /// Where and why reading ended before the end of the file.
    pub error: Option<ReadError>,
}

impl Account {
    /// Of a trace whose events were not looked at.
    pub const NOT_READ: Account = Account {
        state: State::NotRead,
        end: None,
        lost_events: 0,
        contradictions: None,
        side_problems: None,
        error: None,
    };

    pub(crate) fn new(completeness: &Completeness, error: Option<&ReadError>) -> Account {
        Account {
            state: completeness.state,
            end: completeness.end,
            lost_events: completeness.lost(),
            error: error.cloned(),
            ..Account::NOT_READ
        }
    }

    pub(crate) fn checked(self, contradictions: u64, side_problems: u64) -> Account {
        let [contradictions, side_problems] = [contradictions, side_problems].map(Some);
        Account { contradictions, side_problems, ..self }
    }
}

impl Profile {
    /// Whether it is made of all that happened.
    pub fn account(&self) -> Account {
        let account = Account::new(&self.completeness, self.error.as_ref());
        account.checked(self.contradictions, self.side_problem_count)
    }
}

impl Report {
    /// Whether it is made of all that happened.
    pub fn account(&self) -> Account {
        let contradictions = self.faults.iter().map(|fault| fault.count).sum();
        let account = Account::new(&self.completeness, self.error.as_ref());
        account.checked(contradictions, self.side_problem_count)
    }
}
