//! The strings and stacks of a generation.
//!
//! Numbers name them within their generation only. 0 is the empty string and no stack, and is
//! never defined.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use crate::stack::Frame;
use crate::text::Text;

/// The strings and stacks of one generation.
#[derive(Debug)]
pub(crate) struct Tables {
    empty: Text,
    strings: HashMap<u64, Text>,
    /// Where each stack lies in `pcs`.
    stacks: HashMap<u64, Range<usize>>,
    /// The addresses of all stacks' frames, one stack after the other.
    pcs: Vec<u64>,
    /// What is known of an address. One entry serves all stacks it stands in, as the first of
    /// them has it: Go's reader does so, and its dumps show it.
    frames: HashMap<u64, FrameEntry>,
}

/// A frame, with strings by number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameEntry {
    pub(crate) function: u64,
    pub(crate) file: u64,
    pub(crate) line: u64,
}

impl Default for Tables {
    fn default() -> Self {
        Tables {
            empty: Text::new(b""),
            strings: HashMap::new(),
            stacks: HashMap::new(),
            pcs: Vec::new(),
            frames: HashMap::new(),
        }
    }
}

impl Tables {
    /// Defines a string; `false` when it was defined before.
    pub(crate) fn add_string(&mut self, id: u64, bytes: &[u8]) -> bool {
        match self.strings.entry(id) {
            Entry::Vacant(entry) if id != 0 => {
                entry.insert(Text::new(bytes));
                true
            }
            _ => false,
        }
    }

    /// Adds one frame to the stack that [`Tables::end_stack`] will define.
    pub(crate) fn add_frame(&mut self, pc: u64, frame: FrameEntry) {
        self.pcs.push(pc);
        self.frames.entry(pc).or_insert(frame);
    }

    /// Defines a stack of the last `len` frames; `false` when it was defined before.
    pub(crate) fn end_stack(&mut self, id: u64, len: usize) -> bool {
        let range = self.pcs.len().saturating_sub(len)..self.pcs.len();
        match self.stacks.entry(id) {
            Entry::Vacant(entry) if id != 0 => {
                entry.insert(range);
                true
            }
            _ => false,
        }
    }

    /// The string with this number.
    pub(crate) fn string(&self, id: u64) -> Option<&Text> {
        if id == 0 { Some(&self.empty) } else { self.strings.get(&id) }
    }

    /// Whether there is a stack with this number; 0 counts as one.
    pub(crate) fn has_stack(&self, id: u64) -> bool {
        id == 0 || self.stacks.contains_key(&id)
    }

    /// The frames of a stack, innermost first.
    pub(crate) fn frames(&self, stack: u64) -> impl Iterator<Item = Frame> {
        let pcs = self.stacks.get(&stack).and_then(|range| self.pcs.get(range.clone()));
        pcs.unwrap_or_default().iter().map(|&pc| {
            let entry = self.frames.get(&pc);
            let text =
                |id: Option<u64>| id.and_then(|id| self.string(id)).unwrap_or(&self.empty).clone();
            Frame {
                pc,
                function: text(entry.map(|entry| entry.function)),
                file: text(entry.map(|entry| entry.file)),
                line: entry.map_or(0, |entry| entry.line),
            }
        })
    }

    /// The first string that a frame names and nothing defines, if there is one.
    pub(crate) fn missing_frame_string(&self) -> Option<u64> {
        let named = self.frames.values().flat_map(|frame| [frame.function, frame.file]);
        named.filter(|&id| self.string(id).is_none()).min()
    }
}
