//! Strings, stacks and types of one generation, as batches.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use slabscope_trace::alloc_free::Site;
use slabscope_wire::alloc_free::{EXPERIMENT, data};
use slabscope_wire::batch::PAYLOAD_MAX;
use slabscope_wire::event::id;
use slabscope_wire::varint;

use super::NO_THREAD;
use crate::frame::Frame;
use crate::site_type::{SiteType, TypeCertainty};

/// The longest string that Go's reader takes, in bytes.
const STRING_MAX: usize = 1024;

/// The most frames of a stack that it takes.
const FRAMES_MAX: usize = 128;

/// What a generation gets beside what it has.
pub(super) struct Tables {
    generation: u64,
    time: u64,
    strings: HashMap<Arc<str>, u64, RandomState>,
    /// Frames by number. Go's reader keeps one for each address, so each has an address of its own.
    frames: HashMap<Arc<Frame>, u64, RandomState>,
    stacks: HashSet<u64, RandomState>,
    string_batches: Batches,
    stack_batches: Batches,
    type_batches: Batches,
    site_batches: Batches,
}

impl Tables {
    pub(super) fn new(generation: u64, time: u64) -> Tables {
        Tables {
            generation,
            time,
            strings: HashMap::default(),
            frames: HashMap::default(),
            stacks: HashSet::default(),
            string_batches: Batches::new(None, id::STRINGS),
            stack_batches: Batches::new(None, id::STACKS),
            type_batches: Batches::new(Some(EXPERIMENT), data::TYPES),
            site_batches: Batches::new(Some(EXPERIMENT), data::SITE_TYPES),
        }
    }

    /// Adds what is known of a site.
    pub(super) fn add(&mut self, site: &Site, stack: &[Arc<Frame>], of: Option<&SiteType>) {
        if !stack.is_empty() && self.stacks.insert(site.stack) {
            let kept = &stack[..stack.len().min(FRAMES_MAX)];
            let mut record = vec![id::STACK];
            numbers(&mut record, &[site.stack, kept.len() as u64]);
            for frame in kept {
                let next = self.frames.len() as u64 + 1;
                let address = *self.frames.entry(Arc::clone(frame)).or_insert(next);
                let (function, file) = (self.string(&frame.function), self.string(&frame.file));
                numbers(&mut record, &[address, function, file, frame.line]);
            }
            self.stack_batches.record(&record);
        }
        let asked = format!("size {} align {}", site.size, site.align);
        let name = of.map_or(&*asked, |of| cut(&of.name));
        let mut record = Vec::new();
        numbers(&mut record, &[site.id, 0, site.size, 0]);
        text(&mut record, name);
        self.type_batches.record(&record);
        if let Some(of) = of {
            let mut record = Vec::new();
            numbers(&mut record, &[site.id, number(of.certainty)]);
            text(&mut record, name);
            self.site_batches.record(&record);
        }
    }

    fn string(&mut self, string: &Arc<str>) -> u64 {
        if string.is_empty() {
            return 0;
        }
        let next = self.strings.len() as u64 + 1;
        let number = *self.strings.entry(Arc::clone(string)).or_insert(next);
        if number == next {
            let mut record = vec![id::STRING];
            numbers(&mut record, &[number]);
            text(&mut record, cut(string));
            self.string_batches.record(&record);
        }
        number
    }

    /// How many stacks there are.
    pub(super) fn stacks(&self) -> u64 {
        self.stacks.len() as u64
    }

    /// All batches.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut out = Vec::new();
        let all = [self.string_batches, self.stack_batches, self.type_batches, self.site_batches];
        for batches in all {
            batches.write(self.generation, self.time, &mut out);
        }
        out
    }
}

/// How sure a type is, as side data have it.
fn number(certainty: TypeCertainty) -> u64 {
    match certainty {
        TypeCertainty::Guess => 1,
        TypeCertainty::Likely => 2,
        TypeCertainty::Exact => 3,
        TypeCertainty::Declared => 4,
    }
}

/// Payloads of one kind, none longer than a batch may be.
struct Batches {
    experiment: Option<u8>,
    kind: u8,
    payloads: Vec<Vec<u8>>,
}

impl Batches {
    fn new(experiment: Option<u8>, kind: u8) -> Batches {
        Batches { experiment, kind, payloads: Vec::new() }
    }

    fn record(&mut self, record: &[u8]) {
        let has_room = |payload: &Vec<u8>| payload.len() + record.len() <= PAYLOAD_MAX;
        if !self.payloads.last().is_some_and(has_room) {
            self.payloads.push(vec![self.kind]);
        }
        if let Some(payload) = self.payloads.last_mut() {
            payload.extend_from_slice(record);
        }
    }

    fn write(&self, generation: u64, time: u64, out: &mut Vec<u8>) {
        for payload in &self.payloads {
            match self.experiment {
                Some(experiment) => out.extend([id::EXPERIMENTAL_BATCH, experiment]),
                None => out.push(id::EVENT_BATCH),
            }
            numbers(out, &[generation, NO_THREAD, time, payload.len() as u64]);
            out.extend_from_slice(payload);
        }
    }
}

/// As much of a text as a string may have.
fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(STRING_MAX)).unwrap_or_default()
}

fn numbers(out: &mut Vec<u8>, numbers: &[u64]) {
    for &number in numbers {
        let (bytes, len) = varint::encode(number);
        out.extend(bytes.iter().take(len));
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    numbers(out, &[text.len() as u64]);
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_and_texts_keep_their_bounds() {
        let mut batches = Batches::new(None, 4);
        for _ in 0..100 {
            batches.record(&[7; 1000]);
        }
        assert_eq!(batches.payloads.len(), 2);
        assert!(batches.payloads.iter().all(|payload| payload.len() <= PAYLOAD_MAX));
        let long = "\u{e4}".repeat(600);
        assert_eq!(cut(&long).len(), 1024);
        assert_eq!(cut(&format!("x{long}")).len(), 1023);
    }
}
