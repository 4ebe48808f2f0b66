//! The events of one thread, some of them decoded ahead.

use std::collections::VecDeque;

use super::plain::{Plain, decode_short};
use super::{Checked, Events};
use crate::cursor::{Cursor, Decoding, Place};
use crate::error::ErrorKind;
use crate::generation::ThreadBatches;
use crate::id::Time;

/// How many events are decoded at a time.
const BLOCK: usize = 128;

/// A thread's place in a generation, and the plain events that come next on it.
#[derive(Debug)]
pub(super) struct Lane {
    /// `None` for a thread beyond those that [`Plain`] can name.
    number: Option<u16>,
    /// Stands after the decoded events.
    cursor: Cursor,
    events: Box<[Plain]>,
    /// How many of the events there are.
    len: usize,
    /// Those that some of the events stand for.
    checked: VecDeque<Checked>,
    /// The first of the events that was not taken.
    at: usize,
    /// How many of the events may be taken, the taken ones included.
    ready: usize,
    /// Where the first of the events stands, and where the last.
    first: Place,
    last: Place,
    then: Then,
}

/// What comes after the events that are ready.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// More: the last decoded event and what follows it.
    More,
    /// An event at this time that is not plain, or that is followed by what cannot be read: Go
    /// fails before such an event is out.
    Hard(Time),
    /// Nothing.
    Nothing,
}

impl Lane {
    /// Stands before the first event of `thread`. The error has its place in the file.
    pub(super) fn new(
        thread: &ThreadBatches<'_>,
        number: Option<u16>,
        decoding: Decoding,
    ) -> Result<Lane, (u64, ErrorKind)> {
        let mut probe = Cursor::new(thread.thread);
        probe.advance(thread, decoding).map_err(|what| (probe.offset(thread), what))?;
        let cursor = Cursor::new(thread.thread);
        let place = cursor.place();
        Ok(Lane {
            number,
            cursor,
            events: vec![Plain::NOTHING; BLOCK].into(),
            len: 0,
            checked: VecDeque::new(),
            at: 0,
            ready: 0,
            first: place,
            last: place,
            then: Then::More,
        })
    }

    /// Moves events to `out` that are not later than `limit`, at most `room`; `false` when the next
    /// one cannot be taken. Events must be ready, or [`Lane::head`] has been asked for.
    #[inline]
    pub(super) fn take(&mut self, limit: Time, room: usize, out: &mut Events) -> bool {
        let ready = self.events.get(self.at..self.ready).unwrap_or_default();
        // One at a time where they do not all stand for themselves.
        let room = if self.checked.is_empty() { room } else { 1 };
        let next = ready.get(..room).unwrap_or(ready);
        let count = next.iter().position(|event| event.time > limit).unwrap_or(next.len());
        out.plain.extend_from_slice(next.get(..count).unwrap_or_default());
        self.at += count;
        if !self.checked.is_empty() && out.plain.last().is_some_and(Plain::is_checked) {
            out.checked.extend(self.checked.pop_front());
        }
        !ready.is_empty()
    }

    /// The time of the next event; `None` when there is none.
    #[inline]
    pub(super) fn head(&mut self, thread: &ThreadBatches<'_>, decoding: Decoding) -> Option<Time> {
        loop {
            if let Some(event) = self.events.get(self.at..self.ready).and_then(<[_]>::first) {
                return Some(event.time);
            }
            match self.then {
                Then::More => self.refill(thread, decoding),
                Then::Hard(time) => return Some(time),
                Then::Nothing => return None,
            }
        }
    }

    /// Decodes the next events. The last decoded one stays: it is ready only when it is known that
    /// what follows it can be read.
    #[inline(never)]
    fn refill(&mut self, thread: &ThreadBatches<'_>, decoding: Decoding) {
        if self.len > 1 {
            self.events[0] = self.events[self.len - 1];
            self.len = 1;
        }
        self.first = self.last;
        self.at = 0;
        self.then = loop {
            self.decode_short(thread, decoding);
            if self.len == BLOCK {
                self.ready = self.len - 1;
                break Then::More;
            }
            let place = self.cursor.place();
            match self.cursor.advance(thread, decoding) {
                Ok(true) => {}
                Ok(false) => {
                    self.ready = self.len;
                    break Then::Nothing;
                }
                Err(_) => {
                    self.ready = self.len.saturating_sub(1);
                    break Then::Hard(self.events[self.ready].time);
                }
            }
            let Some(event) = self.plain(thread, decoding) else {
                self.ready = self.len;
                break Then::Hard(self.cursor.event.time);
            };
            self.events[self.len] = event;
            self.len += 1;
            self.last = place;
        };
    }

    /// The cursor's event, if it has a place in the order whatever other threads do.
    fn plain(&mut self, thread: &ThreadBatches<'_>, decoding: Decoding) -> Option<Plain> {
        let (raw, lane) = (self.cursor.event, self.number?);
        if let Some(event) = Plain::new(&raw, lane, decoding.catalog) {
            return Some(event);
        }
        let event = Plain::for_checked(&raw, lane)?;
        let offset = self.cursor.offset(thread);
        self.checked.push_back(Checked { raw, offset });
        Some(event)
    }

    /// Decodes short events for as long as there are such, in the batch that the cursor is in.
    #[inline]
    fn decode_short(&mut self, thread: &ThreadBatches<'_>, decoding: Decoding) {
        let mut place = self.cursor.place();
        let (Some(piece), Some(lane)) = (thread.pieces.get(place.batch), self.number) else {
            return;
        };
        let room = self.events.get_mut(self.len..).unwrap_or_default();
        let (count, last) = decode_short(thread.payload(piece), &mut place, decoding, lane, room);
        if count > 0 {
            self.len += count;
            self.last = last;
            self.cursor.go_to(place);
        }
    }

    /// A cursor on the next event.
    pub(super) fn into_cursor(mut self, thread: &ThreadBatches<'_>, decoding: Decoding) -> Cursor {
        self.cursor.go_to(self.first);
        for _ in 0..=self.at {
            // What could be read before can be read again.
            let _ = self.cursor.advance(thread, decoding);
        }
        self.cursor
    }
}
