//! Traces that were compressed as they were written: frames of the zstd format, one after the other.
//! A program that is killed leaves its last frame in part, and all before it whole.

mod stream;

pub(crate) use stream::Unpacking;

use std::io::{Cursor, Read};
use std::path::Path;

use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::failure::{about, say};

/// What a frame begins with.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// What is wrong with a frame that can be read and is not what was written.
const WRONG_CHECKSUM: &str = "the frame's checksum is not that of its contents";

/// A compressed trace.
#[derive(Debug)]
pub(crate) struct Unpacked {
    /// The trace.
    pub(crate) bytes: Vec<u8>,
    /// Where each frame ends: in the file, and in the trace.
    ends: Vec<(usize, usize)>,
    /// What is wrong with the frame after those, if there is one.
    fault: Option<String>,
}

/// The trace in the file `bytes`, which is taken as it is unless it is compressed. A frame that cannot
/// be read ends it, which is said on standard error.
pub(crate) fn unpacked(path: &Path, bytes: Vec<u8>) -> Vec<u8> {
    match unpack(&bytes) {
        None => bytes,
        Some(unpacked) => {
            if let Some(fault) = &unpacked.fault {
                let offset = unpacked.ends.last().map_or(0, |end| end.0);
                say(&about(
                    path,
                    format_args!("offset {offset}: {fault}; what is before is read."),
                ));
            }
            unpacked.bytes
        }
    }
}

/// Whether a file that begins with these bytes is compressed.
pub(crate) fn is_packed(head: &[u8]) -> bool {
    head.starts_with(&MAGIC)
}

/// `None` for what is not compressed.
pub(crate) fn unpack(file: &[u8]) -> Option<Unpacked> {
    if !is_packed(file) {
        return None;
    }
    let mut unpacked = Unpacked { bytes: Vec::new(), ends: Vec::new(), fault: None };
    let mut at = 0;
    while at < file.len() {
        match frame(&file[at..], &mut unpacked.bytes) {
            Ok(len) => {
                at += len;
                unpacked.ends.push((at, unpacked.bytes.len()));
            }
            Err(fault) => {
                unpacked.bytes.truncate(unpacked.ends.last().map_or(0, |end| end.1));
                unpacked.fault = Some(fault);
                break;
            }
        }
    }
    Some(unpacked)
}

/// Unpacks the frame that `file` begins with onto `bytes`; its length in the file.
fn frame(file: &[u8], bytes: &mut Vec<u8>) -> Result<usize, String> {
    let mut source = Cursor::new(file);
    let mut decoder = StreamingDecoder::new(&mut source).map_err(|error| error.to_string())?;
    decoder.read_to_end(bytes).map_err(|error| error.to_string())?;
    let decoder = decoder.into_frame_decoder();
    let expected = decoder.get_checksum_from_data();
    if expected.is_some() && expected != decoder.get_calculated_checksum() {
        return Err(WRONG_CHECKSUM.to_owned());
    }
    usize::try_from(source.position()).map_err(|error| error.to_string())
}

impl Unpacked {
    /// The file that has the first `keep` bytes of the trace and then `tail`: how much of the file stays,
    /// and what comes behind that.
    pub(crate) fn with_end(&self, keep: usize, tail: &[u8]) -> (usize, Vec<u8>) {
        let whole = self.ends.iter().rev().find(|end| end.1 <= keep);
        let (file, trace) = whole.copied().unwrap_or_default();
        let rest = [&self.bytes[trace..keep], tail].concat();
        (file, compress_to_vec(&*rest, CompressionLevel::Fastest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(parts: &[&[u8]]) -> Vec<u8> {
        parts.iter().flat_map(|part| compress_to_vec(*part, CompressionLevel::Fastest)).collect()
    }

    #[test]
    fn frames_are_read_up_to_the_first_that_is_broken() {
        let parts: [&[u8]; 3] = [&[1; 5000], b"two", &[3; 100_000]];
        let whole = parts.concat();
        let file = packed(&parts);
        let unpacked = unpack(&file).expect("compressed");
        assert_eq!((&unpacked.bytes, &unpacked.fault), (&whole, &None));
        assert_eq!(unpacked.ends.len(), 3);
        let second_end = unpacked.ends[1].0;
        for cut in [second_end + 1, second_end + 4, file.len() - 1] {
            let cut_off = unpack(&file[..cut]).expect("compressed");
            assert_eq!(cut_off.bytes, whole[..5003], "at {cut}");
            assert!(cut_off.fault.is_some());
        }
        let mut harmed = file.clone();
        *harmed.last_mut().expect("a byte") ^= 1;
        assert_eq!(unpack(&harmed).expect("compressed").bytes, whole[..5003]);
        assert!(unpack(b"go 1.26 trace\0\0\0").is_none());
    }

    #[test]
    fn an_end_goes_behind_whole_frames() {
        let file = packed(&[b"first", b"second"]);
        let unpacked = unpack(&file).expect("compressed");
        for keep in [0, 3, 5, 8, 11] {
            let (stays, rest) = unpacked.with_end(keep, b" end");
            let made = [&file[..stays], &rest].concat();
            let expected = [&b"firstsecond"[..keep], b" end"].concat();
            assert_eq!(unpack(&made).expect("compressed").bytes, expected);
        }
        assert_eq!(unpacked.with_end(11, b"").0, file.len());
    }
}
