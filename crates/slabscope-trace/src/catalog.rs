//! Which events a reader knows: those of the format, and those of experiments that are added.

use slabscope_wire::alloc_free;
use slabscope_wire::event::{ARGS_MAX, ArgKind, Spec, TABLE, experiment_name};

/// An experiment to be added to a [`Catalog`]: its row of a table.
#[derive(Clone, Copy, Debug)]
pub struct ExperimentSpec {
    /// Its number in experimental batches; 0 and those that are taken cannot be used.
    pub number: u8,
    /// Its name.
    pub name: &'static str,
    /// Its events. All are timed, carry its number, and have numbers that are not taken.
    pub events: &'static [Spec],
}

/// The events a reader knows.
///
/// [`Catalog::STANDARD`] has those of the format and of the AllocFree experiment. Whoever writes
/// traces with another experiment adds it, and gives the catalog to
/// [`Reader::with_catalog`](crate::Reader::with_catalog): its events then come as
/// [`Kind::Experimental`](crate::Kind::Experimental) and its side data under its name. Side data of
/// experiments that nobody added comes all the same, without a name.
///
/// ```
/// use slabscope_trace::{Catalog, ExperimentSpec};
/// use slabscope_wire::event::{Arg, ArgKind, Place, Spec};
///
/// const LOCK: Arg = Arg { name: "lock", kind: ArgKind::Number };
///
/// static LOCKS: Catalog = Catalog::STANDARD.with(ExperimentSpec {
///     number: 2,
///     name: "Locks",
///     events: &[Spec {
///         id: 140,
///         name: "LockTaken",
///         args: &[LOCK],
///         place: Place::Timed,
///         begins: 0,
///         experiment: 2,
///         since: 26,
///     }],
/// });
///
/// assert_eq!(LOCKS.experiment_name(2), Some("Locks"));
/// ```
#[derive(Clone, Debug)]
pub struct Catalog {
    rows: [Option<Row>; 256],
    experiments: [Option<&'static str>; 256],
    /// How many arguments a timed event has; [`NONE`] for what is none.
    args: [u8; 256],
    /// The same for those that nothing is to be checked of; see [`crate::merge`].
    plain: [u8; 256],
    /// The same for those of one or two arguments, and 0 for others.
    short: [u8; 256],
}

/// An event, and the experiment it belongs to by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) spec: &'static Spec,
    pub(crate) experiment: Option<&'static str>,
}

/// No event.
pub(crate) const NONE: u8 = u8::MAX;

impl Catalog {
    /// The events of the format and of the AllocFree experiment.
    pub const STANDARD: Catalog = {
        let mut catalog = Catalog {
            rows: [None; 256],
            experiments: [None; 256],
            args: [NONE; 256],
            plain: [NONE; 256],
            short: [0; 256],
        };
        let number = alloc_free::EXPERIMENT;
        catalog.experiments[number as usize] = experiment_name(number);
        let mut row = 0;
        while row < TABLE.len() {
            catalog.add(&TABLE[row]);
            row += 1;
        }
        catalog
    };

    /// This catalog and one more experiment.
    ///
    /// # Panics
    /// When a number is taken, or an event is no timed one of this experiment with at most four
    /// arguments: a mistake in the table, which the compiler finds where the catalog is a `static`.
    #[must_use]
    pub const fn with(mut self, experiment: ExperimentSpec) -> Catalog {
        let ExperimentSpec { number, name, events } = experiment;
        assert!(number != 0 && self.experiments[number as usize].is_none());
        self.experiments[number as usize] = Some(name);
        let mut row = 0;
        while row < events.len() {
            let spec = &events[row];
            assert!(spec.id != 0 && self.rows[spec.id as usize].is_none());
            assert!(spec.is_timed() && spec.experiment == number && spec.args.len() <= ARGS_MAX);
            self.add(spec);
            row += 1;
        }
        self
    }

    const fn add(&mut self, spec: &'static Spec) {
        let id = spec.id as usize;
        let experiment = self.experiments[spec.experiment as usize];
        self.rows[id] = Some(Row { spec, experiment });
        if !spec.is_timed() {
            return;
        }
        self.args[id] = spec.args.len() as u8;
        let mut is_plain = spec.is_experimental() && spec.args.len() < ARGS_MAX;
        let mut arg = 0;
        while arg < spec.args.len() {
            is_plain &= matches!(spec.args[arg].kind, ArgKind::Number);
            arg += 1;
        }
        if is_plain {
            self.plain[id] = spec.args.len() as u8;
            if let count @ (1 | 2) = self.plain[id] {
                self.short[id] = count;
            }
        }
    }

    /// The event with this number.
    #[inline]
    pub const fn spec(&self, id: u8) -> Option<&'static Spec> {
        match self.rows[id as usize] {
            Some(row) => Some(row.spec),
            None => None,
        }
    }

    /// The same, with its experiment's name.
    #[inline]
    pub(crate) fn row(&self, id: u8) -> Option<&Row> {
        self.rows[usize::from(id)].as_ref()
    }

    /// The experiment with this number, by name.
    pub const fn experiment_name(&self, number: u8) -> Option<&'static str> {
        self.experiments[number as usize]
    }

    /// How many arguments the timed event `id` has, or [`NONE`].
    #[inline]
    pub(crate) fn arg_count(&self, id: u8) -> u8 {
        self.args[usize::from(id)]
    }

    /// Whether there is nothing to be checked of the event `id`.
    #[inline]
    pub(crate) fn is_plain(&self, id: u8) -> bool {
        self.plain[usize::from(id)] != NONE
    }

    /// How many arguments the plain event `id` has if these are one or two, or 0.
    #[inline]
    pub(crate) fn short_arg_count(&self, id: u8) -> u8 {
        self.short[usize::from(id)]
    }
}

/// What readers use that are given no other.
pub(crate) static STANDARD: Catalog = Catalog::STANDARD;

#[cfg(test)]
mod tests {
    use slabscope_wire::event::id;

    use super::*;

    #[test]
    fn what_is_plain_follows_from_the_table() {
        let plain = (0..=255).filter(|&id| STANDARD.is_plain(id)).count();
        assert_eq!(plain, 9);
        assert_eq!(STANDARD.short_arg_count(id::HEAP_OBJECT_ALLOC), 2);
        assert_eq!(STANDARD.short_arg_count(id::SPAN_ALLOC), 0);
        assert_eq!(STANDARD.arg_count(id::SPAN_ALLOC), 3);
        assert_eq!(STANDARD.arg_count(id::STRINGS), NONE);
    }

    #[test]
    #[should_panic(expected = "assertion failed")]
    fn a_number_that_is_taken_is_a_mistake() {
        let number = alloc_free::EXPERIMENT;
        let _ = Catalog::STANDARD.with(ExperimentSpec { number, name: "Other", events: &[] });
    }
}
