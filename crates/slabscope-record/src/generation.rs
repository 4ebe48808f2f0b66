//! Generations: the self-contained parts of a trace, and the tables that make them so.
//!
//! A generation begins with the clock, then says where the heap lies and how the trace is made;
//! sites follow in the round that first saw them, threads at its end. The last one carries the
//! closing counts. One thread of the format's own, the control thread, owns processor 0 and
//! goroutine 1, since only a goroutine on a processor may report the size of the heap.

mod build;
mod declared;
mod marks;
mod modules;
mod sites;

use core::sync::atomic::Ordering;

use slabscope_os::clock;
use slabscope_os::file::{Errno, File};
use slabscope_wire::alloc_free::{EndReason, OBJECT_ALIGN, PAGE_SIZE, STACK_ALIGN, data};
use slabscope_wire::batch::{BatchHeader, BatchKind, NO_THREAD, PAYLOAD_MAX};
use slabscope_wire::buffer::Buffer;
use slabscope_wire::event::id;
use slabscope_wire::header;
use slabscope_wire::size_class::SizeClass;

use crate::counts::KINDS;
use crate::encode::{Batch, DataBatch};
use crate::live::Live;
use crate::mapped::Mapped;
use crate::output::{Output, Tally};
use crate::policy::Policy;
use crate::session::Session;
use sites::Sites;

/// A generation is cut when it has this many bytes; Go's reader keeps one whole in memory.
const BYTES_MAX: u64 = 32 << 20;

/// A generation is cut when it spans this many nanoseconds.
const NANOS_MAX: u64 = 1_000_000_000;

/// Ticks a second in the file: its times are nanoseconds of the monotonic clock.
const FREQUENCY: u64 = 1_000_000_000;

/// Room for the closing counts, in bytes.
const CLOSING_MAX: usize = 2048;

const GO_RUNNING: u64 = 2;
const PROC_RUNNING: u64 = 1;

/// All memory that generations are written with.
#[derive(Debug)]
pub(crate) struct Buffers {
    out: Output,
    batch: Batch,
    scratch: Mapped<u8>,
    sites: Sites,
}

impl Buffers {
    /// For a trace into `file`; `None` when there is no memory.
    pub(crate) fn new(file: File, live: &Live, has_stacks: bool, policy: &Policy) -> Option<Self> {
        Some(Buffers {
            out: Output::new(file, live.chunk()?, live.written()?, policy)?,
            batch: Batch::new()?,
            scratch: Mapped::new(PAYLOAD_MAX)?,
            sites: Sites::new(has_stacks)?,
        })
    }
}

/// Writes the current generation.
#[derive(Debug)]
pub(crate) struct Generation<'a> {
    session: &'a Session,
    pub(crate) out: Output,
    pub(crate) batch: Batch,
    pub(crate) number: u64,
    start_ns: u64,
    /// Where in the file it begins.
    start_at: u64,
    /// Number and starts of the one before.
    earlier: (u64, u64, u64),
    scratch: Mapped<u8>,
    sites: Sites,
    /// Whether modules came or went in this generation.
    modules_changed: bool,
    control: u64,
    control_known: bool,
    /// Where the end was written, after a failure.
    end_at: Option<u64>,
}

impl<'a> Generation<'a> {
    /// The first generation of a trace, in a file that has nothing yet.
    pub(crate) fn first(session: &'a Session, start_ns: u64, buffers: Buffers) -> Self {
        let Buffers { out, batch, scratch, sites } = buffers;
        let mut generation = Generation {
            session,
            out,
            batch,
            number: 0,
            start_ns,
            start_at: 0,
            earlier: (0, start_ns, 0),
            scratch,
            sites,
            modules_changed: false,
            control: slabscope_os::thread::id(),
            control_known: false,
            end_at: None,
        };
        generation.out.bytes(&header::BYTES);
        generation.begin(start_ns);
        generation
    }

    /// When it began, in nanoseconds.
    pub(crate) fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Whether it has grown to where a new one should begin.
    pub(crate) fn is_full(&self, now_ns: u64) -> bool {
        self.out.position().saturating_sub(self.start_at) > BYTES_MAX
            || now_ns.saturating_sub(self.start_ns) > NANOS_MAX
    }

    /// Ends this generation and begins the next; every event so far is before `now_ns`.
    pub(crate) fn next(&mut self, now_ns: u64) {
        self.end_tables();
        self.out.bytes(&[id::END_OF_GENERATION]);
        self.out.end_round(true);
        // If that failed, this is the generation that the file is cut in.
        if self.out.failure().is_none() {
            self.begin(now_ns);
        }
    }

    /// Notes that an event of this generation names `site`.
    #[inline]
    pub(crate) fn note_site(&mut self, site: u32) {
        self.sites.note(site);
    }

    /// Writes the size of the live heap, as of `now_ns`; every event so far is before that.
    pub(crate) fn write_live(&mut self, now_ns: u64, bytes: u64) {
        let (out, number, control) = (&mut self.out, self.number, self.control);
        if !self.control_known {
            self.control_known = true;
            self.batch.raw(out, number, control, now_ns, id::PROC_STATUS, &[0, PROC_RUNNING]);
            self.batch.raw(out, number, control, now_ns, id::GO_STATUS, &[1, control, GO_RUNNING]);
        }
        self.batch.raw(out, number, control, now_ns, id::HEAP_ALLOC, &[bytes]);
        self.batch.close(out, number);
    }

    /// Ends the trace, unless it has failed. `records` are the events of each ring.
    pub(crate) fn finish(&mut self, reason: EndReason, records: impl Iterator<Item = u64>) {
        if self.out.failure().is_none() {
            self.end_tables();
            let mut payload = [0; CLOSING_MAX];
            let len = self.closing(&mut payload, reason, records);
            let payload = payload.get(..len).unwrap_or_default();
            let header = self.experimental_header();
            self.out.batch(&header, payload, &Tally::default());
            self.write_dropped();
            self.out.bytes(&[id::END_OF_GENERATION]);
            self.out.flush();
        }
    }

    /// Takes no more, since somebody else found that it takes too long.
    pub(crate) fn give_up(&mut self) {
        self.end_tables();
        self.out.end_round(true);
        self.out.fail(Errno::TIMED_OUT);
    }

    /// Ends a file that takes no more: with what is whole in it, and closing counts that say what it
    /// lacks. If not even they fit, the last events make way for them. A second call writes them anew.
    pub(crate) fn end_after_failure(&mut self, records: impl Iterator<Item = u64> + Clone) {
        let at = self.end_at.unwrap_or_else(|| self.cut());
        if !self.write_end_at(at, records.clone()) {
            let at = self.cut();
            self.write_end_at(at, records);
        }
    }

    /// Cuts the file back to where it is whole; how long the trace is then.
    fn cut(&mut self) -> u64 {
        self.out.cut();
        let at = self.out.position();
        // At a generation's end all is written, so it is this one or the one before.
        if at < self.start_at && self.number > 1 {
            (self.number, self.start_ns, self.start_at) = self.earlier;
        }
        self.end_at = Some(at);
        at
    }

    /// Writes what ends a file that was cut to `at` bytes: the rest of the generation it was cut
    /// in, or one of its own.
    fn write_end_at(&mut self, at: u64, records: impl Iterator<Item = u64>) -> bool {
        let (mut payload, mut end) = ([0; CLOSING_MAX], [0; 2 * CLOSING_MAX]);
        let mut out = Buffer::new(&mut end);
        let mut fits = true;
        if at < header::LEN as u64 {
            fits = out.bytes(&header::BYTES);
        }
        if at <= self.start_at {
            let len = self.sync(&mut payload);
            let sync = payload.get(..len).unwrap_or_default();
            fits = fits && self.normal_header().write(&mut out, len) && out.bytes(sync);
        }
        let len = self.closing(&mut payload, EndReason::WriteFailed, records);
        let closing = payload.get(..len).unwrap_or_default();
        fits = fits
            && self.experimental_header().write(&mut out, len)
            && out.bytes(closing)
            && out.byte(id::END_OF_GENERATION);
        fits && self.out.write_end(at, out.written())
    }

    fn begin(&mut self, start_ns: u64) {
        self.earlier = (self.number, self.start_ns, self.start_at);
        self.number += 1;
        self.start_ns = start_ns;
        self.start_at = self.out.position();
        self.control_known = false;
        self.sites.begin();
        let mut payload = [0; 64];
        let len = self.sync(&mut payload);
        let sync = payload.get(..len).unwrap_or_default();
        let header = self.normal_header();
        self.out.batch(&header, sync, &Tally::default());
        self.write_info();
        self.write_build();
        self.write_size_classes();
        self.write_modules();
    }

    fn end_tables(&mut self) {
        self.batch.close(&mut self.out, self.number);
        self.write_sites();
        self.write_threads();
        self.write_modules_again();
        self.write_without();
    }

    fn normal_header(&self) -> BatchHeader {
        BatchHeader {
            kind: BatchKind::Normal,
            generation: self.number,
            thread: NO_THREAD,
            time: self.start_ns,
        }
    }

    fn experimental_header(&self) -> BatchHeader {
        let kind = BatchKind::Experimental(slabscope_wire::alloc_free::EXPERIMENT);
        BatchHeader { kind, ..self.normal_header() }
    }

    /// The clock of the generation: ticks a second, and its start on the other clocks.
    fn sync(&self, payload: &mut [u8]) -> usize {
        let wall = clock::wall();
        let passed = clock::monotonic_ns().saturating_sub(self.start_ns);
        let wall_ns = (wall.seconds * 1_000_000_000 + u64::from(wall.nanos)).saturating_sub(passed);
        let mut out = Buffer::new(payload);
        let fits = out.byte(id::SYNC)
            && out.byte(id::FREQUENCY)
            && out.varint(FREQUENCY)
            && out.byte(id::CLOCK_SNAPSHOT)
            && out.varint(0)
            && out.varint(self.start_ns)
            && out.varint(wall_ns / 1_000_000_000)
            && out.varint(wall_ns % 1_000_000_000);
        debug_assert!(fits, "the clock fits its buffer");
        out.len()
    }

    fn write_info(&mut self) {
        let base = self.session.heap_base();
        let mut batch = self.data(data::INFO);
        batch.record(|b| {
            [base, PAGE_SIZE, OBJECT_ALIGN, STACK_ALIGN].iter().all(|&number| b.varint(number))
        });
        batch.close();
    }

    fn write_size_classes(&mut self) {
        let mut batch = self.data(data::SIZE_CLASSES);
        for class in SizeClass::all() {
            batch.record(|b| {
                b.varint(class.slot_size() as u64) && b.varint(class.span_pages() as u64)
            });
        }
        batch.close();
    }

    fn write_threads(&mut self) {
        let (session, number) = (self.session, self.number);
        let mut batch = self.data(data::THREADS);
        for (_, entry) in session.threads().iter() {
            if entry.generation.load(Ordering::Relaxed) != number {
                continue;
            }
            let name = entry.name();
            let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
            let numbers =
                [&entry.id, &entry.start_ns, &entry.end_ns].map(|n| n.load(Ordering::Relaxed));
            batch.record(|b| numbers.iter().all(|&n| b.varint(n)) && b.text(name));
        }
        batch.close();
    }

    fn closing(
        &self,
        payload: &mut [u8],
        reason: EndReason,
        records: impl Iterator<Item = u64>,
    ) -> usize {
        let mut out = Buffer::new(payload);
        let mut fits = out.byte(data::CLOSING) && out.varint(reason as u64);
        for (kind, in_file) in KINDS.into_iter().zip(self.out.events()) {
            let happened = self.session.happened(kind);
            fits = fits
                && out.varint(u64::from(kind.wire_id()))
                && out.varint(happened)
                && out.varint(happened.saturating_sub(in_file));
        }
        for (cpu, records) in (0_u64..).zip(records) {
            // Machines with more CPUs than fit lose the tail of this list, nothing else.
            let _ = out.record(|b| b.varint(cpu) && b.varint(records));
        }
        debug_assert!(fits, "the closing counts fit their buffer");
        out.len()
    }

    fn write_dropped(&mut self) {
        let dropped = self.session.rings().dropped();
        let mut batch = self.data(data::DROPPED);
        for (cpu, events) in (0_u64..).zip(dropped).filter(|&(_, events)| events > 0) {
            batch.record(|b| b.varint(cpu) && b.varint(events));
        }
        batch.close();
    }

    fn data(&mut self, kind: u8) -> DataBatch<'_> {
        let scratch = self.scratch.as_mut_slice();
        DataBatch::new(&mut self.out, self.number, self.start_ns, kind, scratch)
    }
}
