//! The one table of events: numbers, names, arguments, first version, experiment.
//!
//! Writer, reader, dump and tests all go by [`TABLE`]. A new event of a new experiment is one row
//! here; nothing else in the format code knows it by number.

pub mod id;
mod table;

pub use table::TABLE;

/// The most arguments a timed event has, its time not counted.
pub const ARGS_MAX: usize = 4;

/// What an event is, and how its bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Its number; see [`id`].
    pub id: u8,
    /// Its name, as Go's tools print it.
    pub name: &'static str,
    /// Its arguments, in order. A timed event has its time difference before them.
    pub args: &'static [Arg],
    /// Where it may stand.
    pub place: Place,
    /// The event that begins the range of time this one ends or confirms, or 0.
    pub begins: u8,
    /// The experiment it belongs to, or 0.
    pub experiment: u8,
    /// The first format version that has it.
    pub since: u8,
}

impl Spec {
    /// Whether it stands in event batches, with a time.
    pub const fn is_timed(&self) -> bool {
        matches!(self.place, Place::Timed)
    }

    /// Whether it belongs to an experiment.
    pub const fn is_experimental(&self) -> bool {
        self.experiment != 0
    }
}

/// Where an event may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is a frame, or stands inside a batch of its own kind; no time difference.
    Structural,
    /// It stands in a batch of a thread's events, after a time difference.
    Timed,
}

/// One argument of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Its name, as Go's tools print it.
    pub name: &'static str,
    /// What the number stands for.
    pub kind: ArgKind,
}

/// What the number in an argument stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// Itself.
    Number,
    /// A string of the generation; 0 is the empty one.
    String,
    /// The stack of the context the event happened in; 0 is none.
    Stack,
    /// The stack of something else, such as a new goroutine; 0 is none.
    OtherStack,
}

/// The events by number: one more than their row in [`TABLE`], 0 where there is none.
static ROWS: [u8; 256] = {
    let mut rows = [0; 256];
    let mut row = 0;
    while row < TABLE.len() {
        rows[TABLE[row].id as usize] = row as u8 + 1;
        row += 1;
    }
    rows
};

/// The event with this number.
#[inline]
pub const fn spec(id: u8) -> Option<&'static Spec> {
    match ROWS[id as usize] {
        0 => None,
        row => Some(&TABLE[row as usize - 1]),
    }
}

/// The experiment with this number, by name, as Go names it.
pub const fn experiment_name(experiment: u8) -> Option<&'static str> {
    match experiment {
        crate::alloc_free::EXPERIMENT => Some("AllocFree"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_under_its_number() {
        let (mut structural, mut timed, mut experimental) = (0, 0, 0);
        for row in &TABLE {
            assert_eq!(spec(row.id), Some(row));
            match (row.place, row.experiment) {
                (Place::Structural, 0) => structural += 1,
                (Place::Timed, 0) => timed += 1,
                (_, experiment) => {
                    assert!(experiment_name(experiment).is_some() && row.is_timed());
                    experimental += 1;
                }
            }
        }
        assert_eq!((structural, timed, experimental), (11, 41, 9));
        assert_eq!((0..=255).filter(|&id| spec(id).is_some()).count(), TABLE.len());
    }

    #[test]
    fn rows_are_consistent() {
        for row in &TABLE {
            assert!(!row.is_timed() || row.args.len() <= ARGS_MAX, "{}", row.name);
            assert!(matches!(row.since, 22 | 23 | 25 | 26), "{}", row.name);
            assert!(row.begins == 0 || spec(row.begins).is_some_and(Spec::is_timed));
            let stacks = row.args.iter().filter(|arg| arg.kind == ArgKind::Stack).count();
            assert!(stacks <= 1, "{} has two stacks of its own", row.name);
            for arg in row.args {
                assert_eq!(arg.kind == ArgKind::String, arg.name.ends_with("string"));
                assert_eq!(arg.kind == ArgKind::Stack, arg.name == "stack", "{}", row.name);
            }
        }
    }
}
