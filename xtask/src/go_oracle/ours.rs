//! What our reader finds in a trace, in the words that are compared with Go's.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use slabscope_trace::alloc_free::{Closing, GenerationData};
use slabscope_trace::{Experiment, ExperimentalData, Kind, Reader};
use slabscope_wire::event::id;

use super::compare::Counts;

/// What our reader found.
#[derive(Debug, Default)]
pub(super) struct Ours {
    /// Events of the experiment.
    pub(super) counts: Counts,
    /// Events that are in the file, as the closing counts have it; Go's traces have none.
    pub(super) closing: Option<Counts>,
    /// All side data, as `xtask/go/side_data.go` prints it.
    pub(super) side_data: Vec<String>,
}

/// Reads `trace` to its end.
pub(super) fn read(trace: &Path) -> Result<Ours> {
    let name = trace.display();
    let content = fs::read(trace).with_context(|| format!("{name}: cannot be read"))?;
    let mut ours = Ours::default();
    for event in Reader::new(&content).with_context(|| name.to_string())? {
        match event.with_context(|| name.to_string())?.kind {
            Kind::Experimental(event) => {
                let kind = usize::from(event.id - id::SPAN);
                *ours.counts.get_mut(kind).context("an event of another experiment")? += 1;
            }
            Kind::Sync(sync) => {
                ours.side_data.push(format!("generation {}", sync.n));
                ours.take(&sync.experimental).with_context(|| name.to_string())?;
            }
            _ => {}
        }
    }
    Ok(ours)
}

impl Ours {
    fn take(&mut self, side_data: &ExperimentalData) -> Result<()> {
        for batch in side_data.of(Experiment::AllocFree) {
            let thread = batch.thread.0;
            self.side_data.push(format!("batch {thread} {}", hex(&batch.data)));
        }
        let data = GenerationData::parse(side_data);
        if let Some(problem) = data.problems.first() {
            bail!("side data cannot be read: {problem:?}");
        }
        let rows = &mut self.side_data;
        rows.extend(data.types.iter().map(|entry| {
            let name = hex(entry.name.as_bytes());
            let (id, size, pointers) = (entry.id, entry.size, entry.pointer_bytes);
            format!("type {id} {} {size} {pointers} {name:?}", entry.address)
        }));
        rows.extend(data.info.iter().map(|info| {
            let (page, object) = (info.page_size, info.min_heap_align);
            format!("info {} {page} {object} {}", info.min_heap_address, info.min_stack_align)
        }));
        rows.extend(data.build.iter().map(|(key, value)| {
            format!("build {:?} {:?}", hex(key.as_bytes()), hex(value.as_bytes()))
        }));
        rows.extend(data.size_classes.iter().map(|(size, pages)| format!("class {size} {pages}")));
        rows.extend(
            data.sites.iter().map(|site| {
                format!("site {} {} {} {}", site.id, site.size, site.align, site.stack)
            }),
        );
        rows.extend(data.threads.iter().map(|thread| {
            let (start, end) = (thread.start.0, thread.end.map_or(0, |end| end.0));
            format!("thread {} {start} {end} {:?}", thread.id, hex(thread.name.as_bytes()))
        }));
        if let Some(closing) = data.closing {
            self.close(&closing)?;
        }
        Ok(())
    }

    fn close(&mut self, closing: &Closing) -> Result<()> {
        let reason = closing.reason.context("an unknown reason for the end")?;
        self.side_data.push(format!("closing {}", reason as u64));
        let mut in_file = Counts::default();
        for &(kind, happened, lost) in &closing.kinds {
            self.side_data.push(format!("count {kind} {happened} {lost}"));
            let slot = kind.checked_sub(u64::from(id::SPAN)).and_then(|n| usize::try_from(n).ok());
            let slot = slot.and_then(|slot| in_file.get_mut(slot));
            *slot.context("closing counts of another experiment")? = happened - lost;
        }
        self.closing = Some(in_file);
        let cpus = closing.cpus.iter();
        self.side_data.extend(cpus.map(|(cpu, records)| format!("cpu {cpu} {records}")));
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_trace_is_taken_apart() {
        let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(super::super::GO_TRACE);
        let ours = read(&trace).unwrap();
        assert!(ours.counts.iter().sum::<u64>() > 1000, "{:?}", ours.counts);
        assert_eq!(ours.closing, None);
        let starts = |word| ours.side_data.iter().filter(|row| row.starts_with(word)).count();
        assert_eq!(starts("info "), 1);
        assert!(starts("type ") > 10);
        assert_eq!(hex(&[0, 0xab]), "00ab");
    }
}
