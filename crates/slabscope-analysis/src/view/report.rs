//! The report: all figures of a profile side by side.

use slabscope_wire::size_class::{COUNT, SizeClass};

use crate::heap::Class;
use crate::profile::Profile;
use crate::report::{Amount, ClassRow, Objects, Report, Requested, ThreadRow};
use crate::sites::SiteId;
use crate::threads::Owner;

impl Profile {
    /// The report.
    pub fn report(&self) -> Report {
        Report {
            tracing: self.tracing.clone(),
            part: self.part,
            completeness: self.completeness.clone(),
            events: self.events.clone(),
            objects: self.objects(),
            stacks: self.stacks,
            classes: self.class_rows(),
            threads: self.thread_rows(),
            spans: self.spans.clone(),
            faults: self.faults.clone(),
            side_problems: self.side_problems.clone(),
            side_problem_count: self.side_problem_count,
            unknown_sites: self.unknown_sites,
            error: self.error.clone(),
        }
    }

    fn objects(&self) -> Objects {
        let totals = &self.totals;
        let mut requested = Requested::default();
        for cell in &self.books.cells {
            self.add_requested(cell.key.site, cell.allocated, &mut requested);
        }
        let mut peak = totals.peak;
        if peak.bytes == 0 {
            peak.at = self.clock.start();
        }
        Objects {
            existed: totals.existed,
            allocated: totals.allocated,
            requested,
            freed: totals.freed,
            vanished: totals.vanished,
            live: totals.live,
            sharing: self.books.sharing,
            peak,
        }
    }

    fn add_requested(&self, site: SiteId, allocated: Amount, sum: &mut Requested) {
        if let Some(size) = self.sites.get(site).size {
            sum.add(size, allocated);
        }
    }

    /// Small classes, then large objects, then those in no slot.
    fn class_rows(&self) -> Vec<ClassRow> {
        let classes = (1..COUNT as u8).map(Class).chain([Class(0), Class::NONE]);
        let mut rows: Vec<_> = classes.map(|class| (class, row(class))).collect();
        for cell in &self.books.cells {
            let Some((_, row)) = rows.iter_mut().find(|(class, _)| *class == cell.key.class) else {
                continue;
            };
            row.existed.plus(cell.existed);
            row.allocated.plus(cell.allocated);
            row.freed.plus(cell.freed);
            row.live.plus(cell.live());
            self.add_requested(cell.key.site, cell.allocated, &mut row.requested);
        }
        let rows = rows.into_iter().map(|(_, row)| row);
        rows.filter(|row| row.existed.objects + row.allocated.objects > 0).collect()
    }

    /// The threads that did anything.
    fn thread_rows(&self) -> Vec<ThreadRow> {
        let moment = |time| self.clock.moment(time);
        let row = |thread: &crate::threads::Thread| ThreadRow {
            id: thread.id,
            name: thread.name.clone(),
            start: thread.start.map(moment),
            end: thread.end.map(moment),
            allocated: Amount::default(),
            freed: Amount::default(),
            freed_of_others: Amount::default(),
            freed_by_others: Amount::default(),
        };
        let mut rows: Vec<ThreadRow> = self.threads.iter().map(row).collect();
        let place = |owner: Owner| owner.index().filter(|&index| index < self.threads.len());
        for cell in &self.books.cells {
            if let Some(at) = place(cell.key.owner) {
                rows[at].allocated.plus(cell.allocated);
            }
        }
        for pair in &self.books.pairs {
            // Who allocated before the trace is not known to be another.
            let owner = place(pair.allocated_by).filter(|_| pair.allocated_by != pair.freed_by);
            if let Some(at) = place(pair.freed_by) {
                rows[at].freed.plus(pair.freed);
                if owner.is_some() {
                    rows[at].freed_of_others.plus(pair.freed);
                }
            }
            if let Some(at) = owner {
                rows[at].freed_by_others.plus(pair.freed);
            }
        }
        rows.retain(|row| {
            let amounts = [row.allocated, row.freed, row.freed_by_others];
            amounts.iter().any(|amount| amount.objects > 0)
        });
        rows
    }
}

fn row(class: Class) -> ClassRow {
    let known = SizeClass::new(class.0);
    let slot = known.filter(|&class| class != SizeClass::LARGE);
    ClassRow {
        class: known.map(|class| class.index() as u8),
        slot_bytes: slot.map(|class| class.slot_size() as u64),
        existed: Amount::default(),
        allocated: Amount::default(),
        requested: Requested::default(),
        freed: Amount::default(),
        live: Amount::default(),
    }
}
