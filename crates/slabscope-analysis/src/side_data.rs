//! What the side data of the generations say: how the trace was made, sites, closing counts.

use std::collections::BTreeMap;

use slabscope_trace::alloc_free::{Closing, GenerationData, Info, ProblemKind};
use slabscope_wire::size_class::SizeClass;

use crate::heap::Units;
use crate::report::SideProblem;

/// How many problems are kept one by one.
const PROBLEMS_MAX: usize = 20;

/// The side data so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct SideData {
    /// How the trace was made; the newest generation counts.
    pub(crate) build: BTreeMap<String, String>,
    /// The closing counts; the newest count.
    pub(crate) closing: Option<Closing>,
    /// What is wrong with the data, the first few.
    pub(crate) problems: Vec<SideProblem>,
    /// How much is wrong with the data.
    pub(crate) problem_count: u64,
    pub(crate) info: Option<Info>,
    /// Whether any data are there that only our traces have.
    pub(crate) is_ours: bool,
}

impl SideData {
    /// Takes in the data of the next generation, but its sites, types and threads.
    pub(crate) fn take(&mut self, generation: u64, data: &mut GenerationData) {
        for problem in &data.problems {
            let what = match problem.what {
                ProblemKind::Empty => "is empty".to_owned(),
                ProblemKind::UnknownKind => "is of an unknown kind".to_owned(),
                ProblemKind::Malformed { at } => format!("is broken {at} bytes after its start"),
                ProblemKind::Repeated => "may stand once only and repeats another".to_owned(),
            };
            self.problem(generation, Some(problem.batch as u64), problem.kind, what);
        }
        self.check(generation, data);
        self.is_ours |= !data.build.is_empty() || data.closing.is_some() || !data.sites.is_empty();
        self.build.extend(std::mem::take(&mut data.build));
        self.info = self.info.or(data.info);
        self.closing = data.closing.take().or(self.closing.take());
    }

    /// Whether the trace is one of ours: it says how it was made.
    pub(crate) fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// What ids count in.
    pub(crate) fn units(&self) -> Units {
        self.info.as_ref().and_then(Units::new).unwrap_or_default()
    }

    fn check(&mut self, generation: u64, data: &GenerationData) {
        if self.closing.is_some() {
            let what = "comes after the closing counts".to_owned();
            self.problem(generation, None, None, what);
        }
        if let Some(info) = &data.info {
            if Units::new(info).is_none() {
                let (page, object) = (info.page_size, info.min_heap_align);
                let what = format!(
                    "has pages of {page} bytes and objects of {object}; the usual ones are taken"
                );
                self.problem(generation, None, Some(slabscope_wire::alloc_free::data::INFO), what);
            } else if self.info.is_some_and(|known| known != *info) {
                let what = "has another heap than the generations before".to_owned();
                self.problem(generation, None, Some(slabscope_wire::alloc_free::data::INFO), what);
            }
        }
        let ours = || SizeClass::all().map(|class| class.slot_size() as u64);
        let theirs = || data.size_classes.iter().map(|&(size, _)| size);
        if !data.size_classes.is_empty() && !ours().eq(theirs()) {
            let what = "has other size classes than Go's; Go's are taken".to_owned();
            let kind = slabscope_wire::alloc_free::data::SIZE_CLASSES;
            self.problem(generation, None, Some(kind), what);
        }
    }

    fn problem(&mut self, generation: u64, batch: Option<u64>, kind: Option<u8>, what: String) {
        self.problem_count += 1;
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(SideProblem { generation, batch, kind, what });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slabscope_trace::alloc_free::{Problem, Site};

    #[test]
    fn a_site_shows_whose_trace_it_is() {
        let mut side = SideData::default();
        side.take(1, &mut GenerationData::default());
        assert!(!side.is_ours());
        let site = Site { id: 3, size: 24, align: 8, stack: 0 };
        side.take(2, &mut GenerationData { sites: vec![site], ..GenerationData::default() });
        side.take(3, &mut GenerationData::default());
        assert!(side.is_ours());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_generation() {
        let mut side = SideData::default();
        let info =
            Info { min_heap_address: 0, page_size: 8192, min_heap_align: 8, min_stack_align: 2048 };
        let odd = Info { page_size: 3, ..info };
        let other = Info { min_heap_address: 1, ..info };
        let problem = Problem { batch: 4, kind: Some(99), what: ProblemKind::UnknownKind };
        let data = |info, problems| GenerationData {
            info: Some(info),
            problems,
            ..GenerationData::default()
        };
        side.take(1, &mut data(info, vec![problem]));
        side.take(2, &mut data(odd, vec![]));
        side.take(3, &mut data(other, vec![]));
        let classes = vec![(8, 1), (24, 1)];
        side.take(4, &mut GenerationData { size_classes: classes, ..GenerationData::default() });
        let generations: Vec<_> = side.problems.iter().map(|p| p.generation).collect();
        assert_eq!(generations, [1, 2, 3, 4]);
        assert_eq!(side.problem_count, 4);
        assert_eq!(side.problems[0].batch, Some(4));
    }
}
