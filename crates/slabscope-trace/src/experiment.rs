//! Events and side data of experiments, whatever the experiment.

use slabscope_wire::event::{self, ARGS_MAX, Arg, Spec};

use crate::id::ThreadId;

/// An experiment: a set of events outside the stable format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Experiment {
    /// Every allocation and every free of heap memory.
    AllocFree,
    /// One this crate has no name for, by number.
    Other(u8),
}

impl Experiment {
    /// The experiment with this number.
    pub const fn from_number(number: u8) -> Self {
        match number {
            slabscope_wire::alloc_free::EXPERIMENT => Experiment::AllocFree,
            other => Experiment::Other(other),
        }
    }

    /// Its number in the file.
    pub const fn number(self) -> u8 {
        match self {
            Experiment::AllocFree => slabscope_wire::alloc_free::EXPERIMENT,
            Experiment::Other(number) => number,
        }
    }

    /// Its name, as Go names it.
    pub const fn name(self) -> &'static str {
        match event::experiment_name(self.number()) {
            Some(name) => name,
            None => "unknown",
        }
    }
}

/// An event of an experiment, as the file has it: nothing but its form is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExperimentalEvent {
    args: [u64; ARGS_MAX],
    /// Which event: a number of the event table.
    pub id: u8,
}

impl ExperimentalEvent {
    /// The experimental event `id` with these arguments; missing ones are 0.
    ///
    /// `None` when there is no experimental event of that number.
    pub fn new(id: u8, args: [u64; ARGS_MAX]) -> Option<Self> {
        event::spec(id)
            .filter(|spec| spec.is_experimental())
            .map(|_| ExperimentalEvent { args, id })
    }

    /// The same, for an `id` that is known to be in the table.
    #[inline]
    pub(crate) fn known(id: u8, args: [u64; ARGS_MAX]) -> Self {
        ExperimentalEvent { args, id }
    }

    /// Its row in the event table.
    pub fn spec(&self) -> &'static Spec {
        // Both constructors see to it that the row is there.
        event::spec(self.id).unwrap_or(&event::TABLE[0])
    }

    /// The experiment it belongs to.
    pub fn experiment(&self) -> Experiment {
        Experiment::from_number(self.spec().experiment)
    }

    /// Its name, as Go's tools print it.
    pub fn name(&self) -> &'static str {
        self.spec().name
    }

    /// The names of its arguments and what they stand for.
    pub fn arg_names(&self) -> &'static [Arg] {
        self.spec().args
    }

    /// Its arguments, in the order of [`ExperimentalEvent::arg_names`].
    pub fn args(&self) -> &[u64] {
        &self.args[..self.spec().args.len().min(ARGS_MAX)]
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
