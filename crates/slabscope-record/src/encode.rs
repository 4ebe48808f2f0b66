//! Events into batches of one thread each.

use slabscope_wire::alloc_free::data;
use slabscope_wire::batch::{BatchHeader, BatchKind, PAYLOAD_MAX};
use slabscope_wire::buffer::Buffer;
use slabscope_wire::live::word;
use slabscope_wire::varint;

use crate::counts::EventKind;
use crate::mapped::Mapped;
use crate::output::{Output, Tally};

/// The longest event, in bytes: its number, a time and three arguments.
const EVENT_MAX: usize = 1 + 4 * slabscope_wire::varint::LEN_MAX;

/// The batch being filled.
#[derive(Debug)]
pub(crate) struct Batch {
    payload: Mapped<u8>,
    len: usize,
    thread: u64,
    start_ns: u64,
    last_ns: u64,
    events: Tally,
}

impl Batch {
    pub(crate) fn new() -> Option<Self> {
        Some(Batch {
            payload: Mapped::new(PAYLOAD_MAX)?,
            len: 0,
            thread: 0,
            start_ns: 0,
            last_ns: 0,
            events: Tally::default(),
        })
    }

    /// Makes room for an event of `thread` at `ns`: a full batch, or one of another thread, goes to `out`.
    #[inline]
    pub(crate) fn make_room(&mut self, out: &mut Output, generation: u64, thread: u64, ns: u64) {
        if self.len > 0 && (self.thread != thread || PAYLOAD_MAX - self.len < EVENT_MAX) {
            self.close(out, generation);
        }
        if self.len == 0 {
            (self.thread, self.start_ns, self.last_ns) = (thread, ns, ns);
        }
    }

    /// Appends an event with a second word. There is room ([`Batch::make_room`]), and the times of one
    /// thread do not fall.
    pub(crate) fn event(&mut self, ns: u64, kind: EventKind, id: u64, argument: u64) {
        let (arguments, len) = word::arguments(kind, id, 0, argument);
        self.append(ns, kind.wire_id(), arguments.get(..len).unwrap_or_default());
        self.count(kind);
    }

    /// Appends an event of one word, as [`Batch::event`]: nearly all are.
    #[inline]
    pub(crate) fn object(&mut self, ns: u64, kind: EventKind, id: u64, site: u32) {
        let passed = ns.saturating_sub(self.last_ns);
        let (bytes, len) = varint::encode_short(id);
        let room = self.payload.as_mut_slice().get_mut(self.len..self.len + 16);
        let (Some(room), true) = (room, passed < 0x80 && id <= varint::SHORT_MAX) else {
            let (arguments, len) = word::arguments(kind, id, site, 0);
            self.append(ns, kind.wire_id(), arguments.get(..len).unwrap_or_default());
            return self.count(kind);
        };
        // Number, time and id in one store; what is behind them is written over.
        let start = u64::from(kind.wire_id()) | passed << 8 | bytes << 16;
        let (site, site_len) = match kind {
            EventKind::Object | EventKind::ObjectAlloc => varint::encode_short(site.into()),
            _ => (0, 0),
        };
        let both = u128::from(start) | u128::from(site) << (8 * (2 + len));
        room.copy_from_slice(&both.to_le_bytes());
        self.len += 2 + (len + site_len) as usize;
        self.last_ns += passed;
        self.count(kind);
    }

    #[inline]
    fn count(&mut self, kind: EventKind) {
        if let Some(count) = self.events.get_mut(kind as usize) {
            *count += 1;
        }
    }

    /// Appends any event of the format that is no allocator's, as [`Batch::make_room`] and
    /// [`Batch::event`].
    pub(crate) fn raw(
        &mut self,
        out: &mut Output,
        generation: u64,
        thread: u64,
        ns: u64,
        id: u8,
        arguments: &[u64],
    ) {
        self.make_room(out, generation, thread, ns);
        self.append(ns, id, arguments);
    }

    fn append(&mut self, ns: u64, id: u8, arguments: &[u64]) {
        let room = self.payload.as_mut_slice().get_mut(self.len..).unwrap_or_default();
        let mut buffer = Buffer::new(room);
        let mut fits = buffer.byte(id) && buffer.varint(ns.saturating_sub(self.last_ns));
        for &argument in arguments {
            fits = fits && buffer.varint(argument);
        }
        debug_assert!(fits, "an event is longer than EVENT_MAX");
        self.len += buffer.len();
        self.last_ns = self.last_ns.max(ns);
    }

    /// Hands the batch to `out`, if there is anything in it.
    pub(crate) fn close(&mut self, out: &mut Output, generation: u64) {
        if self.len == 0 {
            return;
        }
        let header = BatchHeader {
            kind: BatchKind::Normal,
            generation,
            thread: self.thread,
            time: self.start_ns,
        };
        let payload = self.payload.get(..self.len).unwrap_or_default();
        out.batch(&header, payload, &self.events);
        self.len = 0;
        self.events = Tally::default();
    }
}

/// A batch of side data being filled: records of one kind, cut into as many batches as it takes.
#[derive(Debug)]
pub(crate) struct DataBatch<'a> {
    out: &'a mut Output,
    header: BatchHeader,
    kind: u8,
    bytes: &'a mut [u8],
    len: usize,
}

impl<'a> DataBatch<'a> {
    /// Of records of `kind` (see [`data`]), in the scratch space `bytes`.
    pub(crate) fn new(
        out: &'a mut Output,
        generation: u64,
        time: u64,
        kind: u8,
        bytes: &'a mut [u8],
    ) -> Self {
        debug_assert!(
            kind <= data::TYPED_SITES && kind != data::SITE_TYPES,
            "an unknown kind of side data"
        );
        let header = BatchHeader {
            kind: BatchKind::Experimental(slabscope_wire::alloc_free::EXPERIMENT),
            generation,
            thread: slabscope_wire::batch::NO_THREAD,
            time,
        };
        DataBatch { out, header, kind, bytes, len: 0 }
    }

    /// Appends one record, which `write` appends whole or says does not fit.
    pub(crate) fn record(&mut self, write: impl Fn(&mut Buffer<'_>) -> bool) {
        if !self.try_record(&write) {
            self.close();
            // A record longer than a batch is left out; none of ours is.
            let fits = self.try_record(&write);
            debug_assert!(fits, "a record is longer than a batch");
        }
    }

    fn try_record(&mut self, write: &impl Fn(&mut Buffer<'_>) -> bool) -> bool {
        let room = self.bytes.get_mut(self.len..PAYLOAD_MAX.min(self.bytes.len()));
        let mut buffer = Buffer::new(room.unwrap_or_default());
        let begun = self.len > 0 || buffer.byte(self.kind);
        let fits = begun && buffer.record(|buffer| write(buffer));
        if fits {
            self.len += buffer.len();
        }
        fits
    }

    /// Hands the batch over, if there is anything in it.
    pub(crate) fn close(&mut self) {
        if self.len > 0 {
            let payload = self.bytes.get(..self.len).unwrap_or_default();
            self.out.batch(&self.header, payload, &Tally::default());
            self.len = 0;
        }
    }
}
