//! The file: a header, the root, and pieces that the root names.

use std::io::{Read, Seek, SeekFrom};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::{Identity, IndexError};
use crate::profile::COUNT_END;
use crate::report::ReadError;

/// The file begins with it.
const MAGIC: [u8; 8] = *b"slab.idx";

/// Goes up with each change of anything that is kept, in whatever struct.
const VERSION: u32 = 1;

/// Magic, version, and where the root is.
const HEADER: usize = 8 + 4 + 24;

/// No text or list in a piece is longer, in bytes.
const LIMIT: usize = 1 << 28;

/// Where a piece is.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Piece {
    at: u64,
    len: u64,
    hash: u64,
}

/// A place in the trace where reading may go on: as in [`slabscope_trace::Resume`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct At {
    pub(super) version: u8,
    pub(super) offset: u64,
    pub(super) last: i64,
    pub(super) syncs: u64,
}

/// A part of the trace: some generations in a row.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Segment {
    /// Where it begins; of no meaning in the first.
    pub(super) at: At,
    /// What happened in it.
    pub(super) delta: Piece,
    /// Where a replay stands as it begins.
    pub(super) stand: Option<Stand>,
}

/// Where a replay stands.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Stand {
    pub(super) standing: Piece,
    pub(super) heap: Piece,
}

/// What all else hangs on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Root {
    pub(super) identity: Identity,
    /// The trace's format.
    pub(super) format: u8,
    /// What ended the reading of the trace.
    pub(super) error: Option<ReadError>,
    pub(super) tables: Piece,
    /// What happened in the whole trace.
    pub(super) whole: Piece,
    /// Where a replay stands at the end.
    pub(super) end: Stand,
    pub(super) segments: Vec<Segment>,
}

/// An index that is being written.
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn new() -> Writer {
        Writer(vec![0; HEADER])
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Piece {
        let at = self.0.len() as u64;
        self.0.extend_from_slice(bytes);
        Piece { at, len: bytes.len() as u64, hash: XxHash3_64::oneshot(bytes) }
    }

    pub(super) fn finish(mut self, root: &Root) -> Vec<u8> {
        let Piece { at, len, hash } = self.bytes(&encode(root));
        let mut header = MAGIC.to_vec();
        header.extend(VERSION.to_le_bytes());
        for word in [at, len, hash] {
            header.extend(word.to_le_bytes());
        }
        if let Some(place) = self.0.get_mut(..HEADER) {
            place.copy_from_slice(&header);
        }
        self.0
    }
}

/// An index whose root was read; pieces are read when they are needed.
#[derive(Debug)]
pub struct Index<F> {
    file: F,
    len: u64,
    pub(super) root: Root,
}

impl<F: Read + Seek> Index<F> {
    /// The index that `file` is, of the trace that `identity` tells.
    ///
    /// # Errors
    /// When it is none, or of another trace.
    pub fn open(mut file: F, identity: &Identity) -> Result<Index<F>, IndexError> {
        let len = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(0))?;
        let mut header = [0; HEADER];
        file.read_exact(&mut header).map_err(|_| IndexError::Foreign)?;
        let rest = header.strip_prefix(&MAGIC).ok_or(IndexError::Foreign)?;
        let rest = rest.strip_prefix(&VERSION.to_le_bytes()).ok_or(IndexError::Foreign)?;
        let mut words = rest.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let mut word = || words.next().unwrap_or_default();
        let piece = Piece { at: word(), len: word(), hash: word() };
        let root: Root = decode(&read(&mut file, len, piece)?)?;
        let is_place = |at: &At| at.offset < COUNT_END && at.syncs < COUNT_END;
        if !root.segments.iter().all(|segment| is_place(&segment.at)) {
            return Err(IndexError::Damaged);
        }
        if root.identity != *identity {
            return Err(IndexError::Stale);
        }
        Ok(Index { file, len, root })
    }

    pub(super) fn bytes(&mut self, piece: Piece) -> Result<Vec<u8>, IndexError> {
        read(&mut self.file, self.len, piece)
    }

    pub(super) fn value<T: DeserializeOwned>(&mut self, piece: Piece) -> Result<T, IndexError> {
        decode(&self.bytes(piece)?)
    }
}

/// A piece of a file that is `len` bytes long.
fn read(file: &mut (impl Read + Seek), len: u64, piece: Piece) -> Result<Vec<u8>, IndexError> {
    let end = piece.at.checked_add(piece.len).filter(|&end| end <= len);
    end.ok_or(IndexError::Damaged)?;
    file.seek(SeekFrom::Start(piece.at))?;
    let mut bytes = Vec::new();
    file.take(piece.len).read_to_end(&mut bytes)?;
    // A fuzzer would not come past it, and what lies behind must stand without.
    let is_as_written = cfg!(fuzzing) || XxHash3_64::oneshot(&bytes) == piece.hash;
    let is_whole = bytes.len() as u64 == piece.len && is_as_written;
    is_whole.then_some(bytes).ok_or(IndexError::Damaged)
}

/// A value as bytes.
pub(super) fn encode(value: &impl Serialize) -> Vec<u8> {
    // Nothing that is kept can fail to be encoded; if it did, it would be found damaged.
    bincode::serde::encode_to_vec(value, bincode::config::standard()).unwrap_or_default()
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, IndexError> {
    let config = bincode::config::standard().with_limit::<LIMIT>();
    match bincode::serde::decode_from_slice(bytes, config) {
        Ok((value, len)) if len == bytes.len() => Ok(value),
        _ => Err(IndexError::Damaged),
    }
}
