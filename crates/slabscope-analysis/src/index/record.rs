//! Making an index while a trace is replayed.

use std::ops::ControlFlow;

use slabscope_trace::{Open, Resume, Sync, Time};

use super::Identity;
use super::file::{At, Root, Segment, Stand, Writer, encode};
use super::standing::Standing;
use super::tables::Tables;
use crate::error::AnalyzeError;
use crate::profile::{Books, Delta, Ledger, Profile, ProfileOptions};
use crate::replay::{Replay, Watch};
use crate::window::Window;

/// How large an index may be, and of which file it is.
#[derive(Clone, Copy, Debug)]
pub struct IndexOptions {
    /// The trace's file.
    pub identity: Identity,
    /// Snapshots of the heap take up to so many bytes.
    pub room: usize,
    /// Parts are at least so many events long; it doubles when there are too many.
    pub part_events: u64,
}

/// So many parts at most begin with a snapshot of the heap.
const STANDS_MAX: usize = 96;

/// Makes the profile of a whole trace, names apart, and the index of it.
///
/// # Errors
/// As for [`crate::profile`]. `options` may have no part and no other rule for temporary objects than the
/// usual one; the index would not be about what was asked for.
pub fn profile_and_index(
    trace: Open<'_>,
    options: &ProfileOptions,
    index: IndexOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<(Profile, Vec<u8>), AnalyzeError> {
    let mut replay = Replay::new(Window::default(), Ledger::new(options.temporary));
    let IndexOptions { identity, room, part_events } = index;
    let mut recorder = Recorder::new(room, part_events);
    let (format, error) = replay.read(trace, &mut recorder, progress)?;
    let (error_told, end) = (error.map(crate::replay::read_error), Standing::of(&replay));
    let tables = Tables::of(&replay);
    recorder.close(&mut replay, Time(i64::MAX));
    let mut writer = Writer::new();
    let whole = Delta::of(&recorder.whole, &Books::default());
    let root = Root {
        identity,
        format,
        error: error_told,
        whole: writer.bytes(&encode(&whole)),
        tables: writer.bytes(&encode(&tables)),
        end: Stand {
            standing: writer.bytes(&encode(&end)),
            heap: writer.bytes(&replay.heap.write()),
        },
        segments: recorder.parts.iter().map(|part| part.write(&mut writer)).collect(),
    };
    let index = writer.finish(&root);
    replay.lens.books = recorder.whole;
    Ok((Profile::new(replay.finish(format, error)?, options), index))
}

/// A part that was replayed.
#[derive(Default)]
struct Part {
    at: At,
    delta: Vec<u8>,
    /// Standing and heap.
    stand: Option<(Vec<u8>, Vec<u8>)>,
}

impl Part {
    fn write(&self, writer: &mut Writer) -> Segment {
        let delta = writer.bytes(&self.delta);
        let stand = self.stand.as_ref().map(|(standing, heap)| Stand {
            standing: writer.bytes(standing),
            heap: writer.bytes(heap),
        });
        Segment { at: self.at, delta, stand }
    }
}

/// Keeps the sums of the parts, and where they begin.
struct Recorder {
    /// The sums of all parts but the last.
    whole: Books,
    parts: Vec<Part>,
    /// The part that is being replayed.
    part: Part,
    /// How many events there were as it began.
    begun: u64,
    events_min: u64,
    room: usize,
}

impl Recorder {
    fn new(room: usize, events_min: u64) -> Self {
        Recorder {
            whole: Books::default(),
            parts: Vec::new(),
            part: Part::default(),
            begun: 0,
            events_min,
            room,
        }
    }
}

impl Recorder {
    /// Ends a part; the next one begins at this time.
    fn close(&mut self, replay: &mut Replay<Ledger>, time: Time) {
        let books = &mut replay.lens.books;
        let delta = Delta::of(books, &self.whole);
        let keys = books.all_keys(replay.sites.all().len());
        // The keys are of the books that the delta is of.
        let _ = self.whole.append(&delta, &keys);
        books.begin(time);
        self.part.delta = encode(&delta);
        self.parts.push(std::mem::take(&mut self.part));
    }

    /// Lets every second snapshot go where they are too many.
    fn thin(&mut self) {
        loop {
            let stands = self.parts.iter().filter_map(|part| part.stand.as_ref());
            let sizes = stands.map(|(standing, heap)| standing.len() + heap.len());
            let (count, bytes) = sizes.fold((0, 0), |(count, sum), size| (count + 1, sum + size));
            if count == 0 || (count <= STANDS_MAX && bytes <= self.room) {
                return;
            }
            self.events_min *= 2;
            let all = self.parts.iter_mut().filter(|part| part.stand.is_some());
            all.step_by(2).for_each(|part| part.stand = None);
        }
    }
}

impl Watch<Ledger> for Recorder {
    fn sync(&mut self, replay: &mut Replay<Ledger>, at: Resume, sync: &Sync) -> ControlFlow<()> {
        let events = replay.counts.iter().sum::<u64>();
        // What a generation of Go's says does not suffice to read it; and the last event is none's
        // beginning.
        let may_begin = replay.side.is_ours() && sync.clock.is_some() && replay.last.is_some();
        if !may_begin || events - self.begun < self.events_min {
            return ControlFlow::Continue(());
        }
        let standing = Standing::of(replay);
        self.close(replay, Time(at.last.0.saturating_add(1)));
        let stand = (encode(&standing), replay.heap.write());
        let Resume { version, offset, last, syncs } = at;
        self.part.at = At { version, offset, last: last.0, syncs };
        self.part.stand = Some(stand);
        self.begun = events;
        self.thin();
        ControlFlow::Continue(())
    }
}
