//! The side data of the AllocFree experiment in one generation.

use slabscope_wire::alloc_free::{EndReason, data};

use super::data_reader::Fields;
use super::stacks::{ModuleEntry, StackFrame};
use crate::experiment::{Experiment, ExperimentalData};
use crate::id::Time;

/// The side data of one generation, taken apart.
///
/// Go writes [`GenerationData::types`], and [`GenerationData::info`] in the first generation; the
/// rest is in our traces only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GenerationData {
    /// How ids become addresses.
    pub info: Option<Info>,
    /// Types; in our traces one a site.
    pub types: Vec<TypeEntry>,
    /// How the trace was made, as keys and values.
    pub build: Vec<(String, String)>,
    /// Slot size in bytes and pages of a span, from size class 1 on.
    pub size_classes: Vec<(u64, u64)>,
    /// Where memory is allocated.
    pub sites: Vec<Site>,
    /// The frames of the sites' call stacks; parents stand before their children.
    pub frames: Vec<StackFrame>,
    /// The files the program is made of.
    pub modules: Vec<ModuleEntry>,
    /// Names of types that the program declared, by number.
    pub type_names: Vec<(u64, String)>,
    /// Sites whose type was declared: site, number of the name.
    pub typed_sites: Vec<(u64, u64)>,
    /// The types of sites, where a tool found them out: site, certainty from 1 (a guess) to 4
    /// (declared), type.
    pub site_types: Vec<(u64, u64, String)>,
    /// The threads of the program.
    pub threads: Vec<ThreadEntry>,
    /// The counts that say whether the trace is complete.
    pub closing: Option<Closing>,
    /// By CPU: its number, and how many events found no room there and were dropped.
    pub dropped: Vec<(u64, u64)>,
    /// What could not be read; the rest was.
    pub problems: Vec<Problem>,
}

/// How ids become addresses. All in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// The address that ids count from.
    pub min_heap_address: u64,
    /// The unit of span ids.
    pub page_size: u64,
    /// The unit of object ids.
    pub min_heap_align: u64,
    /// The unit of stack ids.
    pub min_stack_align: u64,
}

/// A type of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeEntry {
    /// Its number in this generation.
    pub id: u64,
    /// Where its description lies in the program's memory.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// How many of its bytes, from the start, may hold pointers.
    pub pointer_bytes: u64,
    /// Its name.
    pub name: String,
}

/// A place that allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its number in this generation: the `type` of heap events.
    pub id: u64,
    /// Bytes asked for.
    pub size: u64,
    /// Alignment asked for, in bytes.
    pub align: u64,
    /// Call stack, by the number of its innermost frame in [`GenerationData::frames`]; 0 for none.
    /// A trace with names has it in its table of stacks too, under the same number: see
    /// [`Sync::stack`](crate::Sync::stack).
    pub stack: u64,
}

/// A thread of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadEntry {
    /// Its number.
    pub id: u64,
    /// When it began.
    pub start: Time,
    /// When it ended; `None` while it runs.
    pub end: Option<Time>,
    /// Its name.
    pub name: String,
}

/// Counts written as a trace ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    /// Why it ended; `None` for a reason this version does not know.
    pub reason: Option<EndReason>,
    /// By event of the experiment: its number, how many happened, how many are not in the file.
    pub kinds: Vec<(u64, u64, u64)>,
    /// By CPU: its number, and how many records it made.
    pub cpus: Vec<(u64, u64)>,
}

/// A batch of side data that could not be read, or not to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Which batch of the generation's side data, from 0.
    pub batch: usize,
    /// Its kind: its first byte, if it has one.
    pub kind: Option<u8>,
    /// What is wrong.
    pub what: ProblemKind,
}

/// What is wrong with a batch of side data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// It is empty.
    Empty,
    /// Its kind is not known here.
    UnknownKind,
    /// It breaks off, or has a broken number, so many bytes after its start; what stood before
    /// was taken.
    Malformed {
        /// Offset in the batch, in bytes.
        at: usize,
    },
    /// It may stand once in a generation, and stood there before; the first counts.
    Repeated,
}

impl GenerationData {
    /// Takes the AllocFree side data of a generation apart.
    ///
    /// What cannot be read becomes an entry in [`GenerationData::problems`].
    pub fn parse(side_data: &ExperimentalData) -> GenerationData {
        let mut parsed = GenerationData::default();
        for (batch, side) in side_data.of(Experiment::AllocFree).enumerate() {
            let Some((&kind, payload)) = side.data.split_first() else {
                parsed.problems.push(Problem { batch, kind: None, what: ProblemKind::Empty });
                continue;
            };
            if let Err(what) = parsed.take(kind, Fields::new(payload)) {
                parsed.problems.push(Problem { batch, kind: Some(kind), what });
            }
        }
        parsed
    }

    fn take(&mut self, kind: u8, mut fields: Fields<'_>) -> Result<(), ProblemKind> {
        let taken = match kind {
            data::TYPES => fields.each(|f| {
                self.types.push(TypeEntry {
                    id: f.number()?,
                    address: f.number()?,
                    size: f.number()?,
                    pointer_bytes: f.number()?,
                    name: f.text()?,
                });
                Some(())
            }),
            data::INFO if self.info.is_some() => return Err(ProblemKind::Repeated),
            data::INFO => fields.once(|f| {
                self.info = Some(Info {
                    min_heap_address: f.number()?,
                    page_size: f.number()?,
                    min_heap_align: f.number()?,
                    min_stack_align: f.number()?,
                });
                Some(())
            }),
            data::BUILD => fields.each(|f| {
                self.build.push((f.text()?, f.text()?));
                Some(())
            }),
            data::SIZE_CLASSES => fields.each(|f| {
                self.size_classes.push((f.number()?, f.number()?));
                Some(())
            }),
            data::SITES => fields.each(|f| {
                self.sites.push(Site {
                    id: f.number()?,
                    size: f.number()?,
                    align: f.number()?,
                    stack: f.number()?,
                });
                Some(())
            }),
            data::FRAMES => fields.each(|f| {
                self.frames.push(StackFrame::read(f)?);
                Some(())
            }),
            data::MODULES => fields.each(|f| {
                self.modules.push(ModuleEntry::read(f)?);
                Some(())
            }),
            data::TYPE_NAMES => fields.each(|f| {
                self.type_names.push((f.number()?, f.text()?));
                Some(())
            }),
            data::TYPED_SITES => fields.each(|f| {
                self.typed_sites.push((f.number()?, f.number()?));
                Some(())
            }),
            data::SITE_TYPES => fields.each(|f| {
                self.site_types.push((f.number()?, f.number()?, f.text()?));
                Some(())
            }),
            data::THREADS => fields.each(|f| {
                self.threads.push(ThreadEntry {
                    id: f.number()?,
                    start: f.time()?,
                    end: f.time().map(|end| (end.0 != 0).then_some(end))?,
                    name: f.text()?,
                });
                Some(())
            }),
            data::CLOSING if self.closing.is_some() => return Err(ProblemKind::Repeated),
            data::CLOSING => fields.once(|f| {
                let reason = EndReason::new(f.number()?);
                let kinds = (0..EVENTS)
                    .map(|_| Some((f.number()?, f.number()?, f.number()?)))
                    .collect::<Option<_>>()?;
                let mut cpus = Vec::new();
                while !f.is_empty() {
                    cpus.push((f.number()?, f.number()?));
                }
                self.closing = Some(Closing { reason, kinds, cpus });
                Some(())
            }),
            data::DROPPED => fields.each(|f| {
                self.dropped.push((f.number()?, f.number()?));
                Some(())
            }),
            _ => return Err(ProblemKind::UnknownKind),
        };
        taken.map_err(|at| ProblemKind::Malformed { at: at + 1 })
    }
}

/// How many events the experiment has, and the closing counts count.
const EVENTS: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::ExperimentalBatch;
    use crate::id::ThreadId;

    fn parse(batches: &[&[u8]]) -> GenerationData {
        let batches = batches
            .iter()
            .map(|&data| ExperimentalBatch {
                experiment: Experiment::AllocFree,
                thread: ThreadId::NONE,
                data: data.into(),
            })
            .collect();
        GenerationData::parse(&ExperimentalData { batches })
    }

    #[test]
    fn each_kind_is_taken_apart() {
        let mut closing = vec![69, 1];
        for id in 128..137_u8 {
            closing.extend([id, 1, 7, id - 128]);
        }
        closing.extend([0, 40, 3, 41]);
        let data = parse(&[
            &[0, 1, 2, 3, 4, 2, b'a', b'b', 2, 0, 0, 0, 0],
            &[1, 0x80, 0x20, 0x80, 0x40, 8, 0x80, 0x10],
            &[64, 1, b'k', 2, b'v', 0xff],
            &[66, 8, 1, 16, 1],
            &[67, 1, 24, 8, 5],
            &[68, 9, 100, 0, 1, b'm', 10, 100, 120, 0],
            &closing,
            &[70, 1, 9, 2, 3],
            &[71, 1, 0, 4, 100, 5, 1, 0, 90],
            &[73, 3, 2, b'V', b'<', 19, 0],
            &[75, 1, 3],
            &[72, 1, 80, 0xc8, 1, 1, 64, 0, 3, 7, 2, 0xff, 2, b'/', b'p'],
        ]);
        assert_eq!(data.problems, []);
        assert_eq!(data.types.len(), 2);
        assert_eq!(data.types[0].name, "ab");
        assert_eq!(data.info.unwrap().min_stack_align, 2048);
        assert_eq!(data.build, [("k".to_owned(), "v\u{fffd}".to_owned())]);
        assert_eq!(data.size_classes, [(8, 1), (16, 1)]);
        assert_eq!(data.sites, [Site { id: 1, size: 24, align: 8, stack: 5 }]);
        assert_eq!(data.threads[0].end, None);
        assert_eq!(data.threads[1].end, Some(Time(120)));
        let closing = data.closing.unwrap();
        assert_eq!(closing.reason, Some(EndReason::Exited));
        assert_eq!(closing.kinds[8], (136, 7, 8));
        assert_eq!(closing.cpus, [(0, 40), (3, 41)]);
        assert_eq!(data.dropped, [(1, 9), (2, 3)]);
        assert_eq!(data.frames[1], StackFrame { id: 5, parent: 1, flags: 0, address: 90 });
        assert_eq!(data.type_names, [(3, "V<".to_owned()), (19, String::new())]);
        assert_eq!(data.typed_sites, [(1, 3)]);
        let module = &data.modules[0];
        assert_eq!((module.first, module.end, module.bias), (80, 200, 1));
        assert_eq!((module.loaded, module.unloaded), (Some(Time(64)), None));
        assert_eq!((&module.build_id[..], &*module.path), (&[7, 2, 0xff][..], "/p"));
    }

    #[test]
    fn what_cannot_be_read_is_reported_and_the_rest_taken() {
        let data = parse(&[
            &[],
            &[99, 1, 2],
            &[67, 1, 24, 8, 5, 2, 24],
            &[0, 1, 2, 3, 4, 0xff, 0xff, 0xff, 0xff, 0x7f, b'a'],
            &[1, 1, 2, 3, 4],
            &[1, 1, 2, 3, 4],
            &[1],
            &[69, 1, 128],
        ]);
        assert_eq!(data.sites.len(), 1);
        assert_eq!((data.types.len(), data.closing), (0, None));
        let found: Vec<_> = data.problems.iter().map(|p| (p.batch, p.kind, p.what)).collect();
        assert_eq!(
            found,
            [
                (0, None, ProblemKind::Empty),
                (1, Some(99), ProblemKind::UnknownKind),
                (2, Some(67), ProblemKind::Malformed { at: 7 }),
                (3, Some(0), ProblemKind::Malformed { at: 5 }),
                (5, Some(1), ProblemKind::Repeated),
                (6, Some(1), ProblemKind::Repeated),
                (7, Some(69), ProblemKind::Malformed { at: 2 }),
            ]
        );
    }
}
