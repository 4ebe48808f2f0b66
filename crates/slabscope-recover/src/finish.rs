//! From a trace that breaks off and a live file to a whole trace.

use std::collections::{BTreeMap, BTreeSet};

use slabscope_wire::alloc_free::{EndReason, KINDS, OBJECT_ALIGN, PAGE_SIZE, STACK_ALIGN, data};
use slabscope_wire::event::id;
use slabscope_wire::header as file_header;
use slabscope_wire::live::{checkpoint, header, state, thread, word};
use slabscope_wire::size_class::SizeClass;

use crate::clock::Clock;
use crate::error::Error;
use crate::live::Live;
use crate::rings::{self, Record};
use crate::stacks::{self, Site};
use crate::writer::Writer;

/// What makes a trace whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// How many bytes of the trace stay, from its start.
    pub keep: usize,
    /// What comes after them, to the end.
    pub tail: Vec<u8>,
    /// How many events of the experiment are in the tail that were not in the trace file, of those
    /// that stood in the rings.
    pub events: u64,
    /// How many rows of tables are left out, since no batch has room for them. Only a live file that
    /// was harmed has such.
    pub left_out: u64,
}

/// What makes a trace of so many bytes whole, from the live file beside it; `None` when the trace was
/// ended, and the live file is a mere remainder.
///
/// # Errors
/// When the live file is none, is broken, or is another trace's.
pub fn recover(trace_len: u64, live: &[u8]) -> Result<Option<Recovered>, Error> {
    let live = Live::new(live)?;
    match live.header(header::STATE)? {
        state::LIVE => {}
        state::NEW | state::ENDED => return Ok(None),
        _ => return Err(Error::Header(header::STATE)),
    }
    let written = live.checkpoint(checkpoint::WRITTEN);
    let chunk_len = live.checkpoint(checkpoint::CHUNK_LEN);
    // If the recorder has written since, the chunk's first bytes are in the file, and others may be
    // in the chunk.
    let in_chunk = live.header(header::WRITTEN)? == written;
    let needed = if in_chunk { written } else { written.saturating_add(chunk_len) };
    let keep = usize::try_from(needed).ok().filter(|_| needed <= trace_len);
    let keep = keep.ok_or(Error::TraceTooShort { needed })?;
    let chunk = if in_chunk { chunk_len } else { 0 };
    let chunk = live.chunk(chunk).ok_or(Error::Header(header::CHUNK_MAX))?;
    let (records, by_ring) = rings::records(&live)?;
    let finish =
        Finish { live: &live, records: &records, by_ring: &by_ring, clock: Clock::new(&live) };
    let (tail, left_out) = finish.tail(chunk);
    Ok(Some(Recovered { keep, tail, events: records.len() as u64, left_out }))
}

struct Finish<'a> {
    live: &'a Live<'a>,
    records: &'a [Record],
    /// How many records each ring ever had.
    by_ring: &'a [u64],
    clock: Clock,
}

impl Finish<'_> {
    /// The bytes, and how many rows they lack.
    fn tail(&self, chunk: &[u8]) -> (Vec<u8>, u64) {
        let generation = self.live.checkpoint(checkpoint::GENERATION);
        let mut start = self.live.checkpoint(checkpoint::GENERATION_START);
        let mut writer = Writer::new(chunk.to_vec(), generation.max(1));
        if generation == 0 {
            // The recorder had no time to begin.
            start = self.live.checkpoint(checkpoint::CLOCK + 1);
            self.begin(&mut writer, start);
        }
        self.events(&mut writer);
        self.modules(&mut writer, start);
        self.sites(&mut writer, start);
        self.threads(&mut writer, start, generation.max(1));
        self.dropped(&mut writer, start);
        self.closing(&mut writer, start);
        writer.bytes.push(id::END_OF_GENERATION);
        (writer.bytes, writer.left_out)
    }

    fn begin(&self, writer: &mut Writer, start: u64) {
        writer.bytes.extend_from_slice(&file_header::BYTES);
        let wall = self.live.header(header::WALL).unwrap_or_default();
        writer.append(|b| {
            b.byte(id::SYNC)
                && b.byte(id::FREQUENCY)
                && b.varint(1_000_000_000)
                && b.byte(id::CLOCK_SNAPSHOT)
                && [0, start, wall / 1_000_000_000, wall % 1_000_000_000]
                    .iter()
                    .all(|&number| b.varint(number))
        });
        writer.close_structure(start);
        let base = self.live.header(header::HEAP_BASE).unwrap_or_default();
        let info = [base, PAGE_SIZE, OBJECT_ALIGN, STACK_ALIGN];
        writer.side_data(data::INFO, start, [info].iter(), |b, info| {
            info.iter().all(|&number| b.varint(number))
        });
        let pid = self.live.header(header::PID).unwrap_or_default().to_string();
        writer.side_data(data::BUILD, start, [("pid", pid)].iter(), |b, (key, value)| {
            b.text(key.as_bytes()) && b.text(value.as_bytes())
        });
        writer.side_data(data::SIZE_CLASSES, start, SizeClass::all(), |b, class| {
            b.varint(class.slot_size() as u64) && b.varint(class.span_pages() as u64)
        });
    }

    /// The events, a batch for as many of one thread as fit.
    fn events(&self, writer: &mut Writer) {
        // Thread, time of the batch, time of its last event.
        let mut batch = (0, 0, 0);
        for record in self.records {
            let thread = self.live.thread(u64::from(record.thread), thread::ID);
            let ns = self.clock.nanos(record.ticks);
            let (arguments, len) =
                word::arguments(record.kind, record.id, record.site, record.argument);
            let put = |writer: &mut Writer, last: u64| {
                writer.append(|b| {
                    b.byte(record.kind.wire_id())
                        && b.varint(ns.saturating_sub(last))
                        && arguments.iter().take(len).all(|&argument| b.varint(argument))
                })
            };
            if writer.is_empty() || batch.0 != thread || !put(writer, batch.2) {
                writer.close_events(batch.0, batch.1);
                batch = (thread, ns, ns);
                put(writer, ns);
            }
            batch.2 = ns.max(batch.2);
        }
        writer.close_events(batch.0, batch.1);
    }

    /// The sites of these events with their call stacks, for us and as types, as the recorder writes
    /// them.
    fn sites(&self, writer: &mut Writer, start: u64) {
        let named: BTreeSet<u32> = self.records.iter().map(|record| record.site).collect();
        let rows: Vec<Site> =
            named.into_iter().filter_map(|number| stacks::site(self.live, number)).collect();
        let frames = stacks::frames(self.live, rows.iter().map(|site| site.frame));
        writer.side_data(data::FRAMES, start, frames.iter(), |b, frame| {
            frame.iter().all(|&number| b.varint(number))
        });
        self.declared(writer, start, &rows);
        writer.side_data(data::SITES, start, rows.iter(), |b, site| {
            [site.number, site.size, site.align, site.frame.into()]
                .iter()
                .all(|&number| b.varint(number))
        });
        writer.side_data(data::TYPES, start, rows.iter(), |b, site| {
            let name = match self.live.type_name(site.declared) {
                Some(name) => name.to_vec(),
                None => format!("size {} align {}", site.size, site.align).into_bytes(),
            };
            [site.number, 0, site.size, 0].iter().all(|&number| b.varint(number)) && b.text(&name)
        });
    }

    /// The types that the program declared, of these sites.
    fn declared(&self, writer: &mut Writer, start: u64, rows: &[Site]) {
        let named: BTreeSet<u16> = rows.iter().map(|site| site.declared).collect();
        let names =
            named.into_iter().filter_map(|number| Some((number, self.live.type_name(number)?)));
        writer.side_data(data::TYPE_NAMES, start, names, |b, &(number, name)| {
            b.varint(number.into()) && b.text(name)
        });
        let typed = rows.iter().filter(|site| self.live.type_name(site.declared).is_some());
        writer.side_data(data::TYPED_SITES, start, typed, |b, site| {
            b.varint(site.number) && b.varint(site.declared.into())
        });
    }

    /// All modules there were, as the recorder noted them.
    fn modules(&self, writer: &mut Writer, start: u64) {
        let modules = stacks::modules(self.live);
        writer.side_data(data::MODULES, start, modules.iter(), |b, record| b.bytes(record));
    }

    /// The threads that have events in the generation, and those that had some since.
    fn threads(&self, writer: &mut Writer, start: u64, generation: u64) {
        let recovered: BTreeSet<u32> = self.records.iter().map(|record| record.thread).collect();
        let count = self.live.header(header::THREADS).unwrap_or_default();
        let word = |number, word| self.live.thread(number, word);
        let is_in = |&number: &u64| {
            word(number, thread::GENERATION) >= generation
                || u32::try_from(number).is_ok_and(|number| recovered.contains(&number))
        };
        writer.side_data(data::THREADS, start, (0..count).filter(is_in), |b, &number| {
            let name = [thread::NAME, thread::NAME + 1].map(|at| word(number, at).to_le_bytes());
            let name = name.as_flattened();
            let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
            [thread::ID, thread::START, thread::END].iter().all(|&at| b.varint(word(number, at)))
                && b.text(name.get(..end).unwrap_or_default())
        });
    }

    /// Events that found no room, by ring.
    fn dropped(&self, writer: &mut Writer, start: u64) {
        let rings = (0_u64..).zip(self.live.dropped_by_ring()).filter(|&(_, events)| events > 0);
        writer.side_data(data::DROPPED, start, rings, |b, &(ring, events)| {
            b.varint(ring) && b.varint(events)
        });
    }

    /// What happened is what is in the trace, and what found no room: an event that was not recorded
    /// whole did not happen.
    fn closing(&self, writer: &mut Writer, start: u64) {
        let mut counts: BTreeMap<u8, u64> = BTreeMap::new();
        for (index, kind) in KINDS.into_iter().enumerate() {
            counts.insert(kind.wire_id(), self.live.checkpoint(checkpoint::EVENTS + index));
        }
        for record in self.records {
            let count = counts.entry(record.kind.wire_id()).or_default();
            *count = count.saturating_add(1);
        }
        let dropped = self.live.dropped_by_kind();
        let rows = || counts.iter().zip(dropped);
        writer.side_data(data::CLOSING, start, [()].iter(), |b, ()| {
            b.varint(EndReason::Killed as u64)
                && rows().all(|((&id, &count), dropped)| {
                    let happened = count.saturating_add(dropped);
                    b.varint(u64::from(id)) && b.varint(happened) && b.varint(happened - count)
                })
                // What does not fit is the tail of a long list, and nothing else is lost.
                && (0_u64..)
                    .zip(self.by_ring.iter().take(1000))
                    .all(|(ring, &records)| b.varint(ring) && b.varint(records))
        });
    }
}
