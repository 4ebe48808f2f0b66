//! Events and side data of experiments, whatever the experiment.

use std::hash::{Hash, Hasher};

use slabscope_wire::event::{ARGS_MAX, Arg, Spec};

use crate::catalog::{Row, STANDARD};
use crate::id::ThreadId;

/// An experiment: a set of events outside the stable format.
///
/// Two are equal when their numbers are.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Experiment {
    /// Every allocation and every free of heap memory.
    AllocFree,
    /// Another.
    Other {
        /// Its number in the file.
        number: u8,
        /// Its name in the reader's [`Catalog`](crate::Catalog), if it is there.
        name: Option<&'static str>,
    },
}

impl Experiment {
    pub(crate) const fn new(number: u8, name: Option<&'static str>) -> Self {
        match number {
            slabscope_wire::alloc_free::EXPERIMENT => Experiment::AllocFree,
            number => Experiment::Other { number, name },
        }
    }

    /// Its number in the file.
    pub const fn number(self) -> u8 {
        match self {
            Experiment::AllocFree => slabscope_wire::alloc_free::EXPERIMENT,
            Experiment::Other { number, .. } => number,
        }
    }

    /// Its name, as Go names it.
    pub const fn name(self) -> &'static str {
        match self {
            Experiment::AllocFree => "AllocFree",
            Experiment::Other { name: Some(name), .. } => name,
            Experiment::Other { name: None, .. } => "unknown",
        }
    }
}

impl PartialEq for Experiment {
    fn eq(&self, other: &Experiment) -> bool {
        self.number() == other.number()
    }
}

impl Eq for Experiment {}

impl Hash for Experiment {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number().hash(state);
    }
}

/// An event of an experiment, as the file has it: nothing but its form is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExperimentalEvent {
    args: [u64; ARGS_MAX],
    row: &'static Row,
    /// Which event: a number of the event table.
    pub id: u8,
}

impl ExperimentalEvent {
    /// The AllocFree event `id` with these arguments; missing ones are 0.
    ///
    /// `None` when there is no event of that number.
    pub fn new(id: u8, args: [u64; ARGS_MAX]) -> Option<Self> {
        let row = STANDARD.row(id).filter(|row| row.spec.is_experimental())?;
        Some(ExperimentalEvent::known(row, args))
    }

    /// The same, for any row of any table.
    #[inline]
    pub(crate) fn known(row: &'static Row, args: [u64; ARGS_MAX]) -> Self {
        ExperimentalEvent { args, row, id: row.spec.id }
    }

    /// Its row in the event table.
    pub fn spec(&self) -> &'static Spec {
        self.row.spec
    }

    /// The experiment it belongs to.
    pub fn experiment(&self) -> Experiment {
        Experiment::new(self.row.spec.experiment, self.row.experiment)
    }

    /// Its name, as Go's tools print it.
    pub fn name(&self) -> &'static str {
        self.row.spec.name
    }

    /// The names of its arguments and what they stand for.
    pub fn arg_names(&self) -> &'static [Arg] {
        self.row.spec.args
    }

    /// Its arguments, in the order of [`ExperimentalEvent::arg_names`].
    #[inline]
    pub fn args(&self) -> &[u64] {
        &self.args[..self.row.spec.args.len().min(ARGS_MAX)]
    }

    /// All places for arguments, also those this event leaves 0.
    #[inline]
    pub(crate) fn raw_args(&self) -> &[u64; ARGS_MAX] {
        &self.args
    }
}

/// All side data of experiments in one generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExperimentalData {
    /// The batches, in the order of the file.
    pub batches: Vec<ExperimentalBatch>,
}

impl ExperimentalData {
    /// The batches of one experiment.
    pub fn of(&self, experiment: Experiment) -> impl Iterator<Item = &ExperimentalBatch> {
        self.batches.iter().filter(move |batch| batch.experiment == experiment)
    }
}

/// Side data of an experiment, as the file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentalBatch {
    /// Whose.
    pub experiment: Experiment,
    /// The thread that wrote it.
    pub thread: ThreadId,
    /// The bytes, never looked at by the reader.
    pub data: Box<[u8]>,
}
