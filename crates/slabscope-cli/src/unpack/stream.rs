//! A compressed trace as a stream: a frame of it is in memory at a time, not the file.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::failure::{about, say};

/// A frame up to this length, in bytes of the trace, is given out only when it was read whole and its
/// checksum holds. Those that the recorder writes are far shorter; of longer ones, parts come before.
const FRAME_MAX: usize = 64 << 20;

/// How much of a frame is unpacked at a time, in bytes.
const STEP: usize = 1 << 20;

/// The trace in a compressed file. A frame that cannot be read ends it, which is said on standard
/// error.
pub(crate) struct Unpacking<R> {
    path: PathBuf,
    file: BufReader<R>,
    decoder: FrameDecoder,
    /// Where in the file the frames end that were read whole.
    whole: u64,
    /// A part of the trace, and how much of it was given out.
    bytes: Vec<u8>,
    at: usize,
    is_in_frame: bool,
    is_over: bool,
}

impl<R: Read> Unpacking<R> {
    /// The trace in `file`, which is at `path`.
    pub(crate) fn new(path: &Path, file: R) -> Unpacking<R> {
        Unpacking {
            path: path.to_owned(),
            file: BufReader::new(file),
            decoder: FrameDecoder::new(),
            whole: 0,
            bytes: Vec::new(),
            at: 0,
            is_in_frame: false,
            is_over: false,
        }
    }

    /// Unpacks the next part of the trace; leaves none at its end.
    fn refill(&mut self) -> io::Result<()> {
        self.bytes.clear();
        self.at = 0;
        while self.bytes.is_empty() && !self.is_over {
            if !self.is_in_frame && self.file.fill_buf()?.is_empty() {
                self.is_over = true;
            } else if let Err(fault) = self.part() {
                // What of this frame was not given out does not count.
                self.bytes.clear();
                self.is_over = true;
                let whole = self.whole;
                say(&about(
                    &self.path,
                    format_args!("offset {whole}: {fault}; what is before is read."),
                ));
            }
        }
        Ok(())
    }

    /// Unpacks the rest of a frame, or as much as may be at a time.
    fn part(&mut self) -> Result<(), String> {
        if !self.is_in_frame {
            self.decoder.reset(&mut self.file).map_err(|error| error.to_string())?;
            self.is_in_frame = true;
        }
        while self.bytes.len() < FRAME_MAX {
            let step = BlockDecodingStrategy::UptoBytes(STEP);
            let decoded = self.decoder.decode_blocks(&mut self.file, step);
            decoded.map_err(|error| error.to_string())?;
            let taken = self.decoder.collect_to_writer(&mut self.bytes);
            taken.map_err(|error| error.to_string())?;
            if self.decoder.is_finished() && self.decoder.can_collect() == 0 {
                return self.end_frame();
            }
        }
        Ok(())
    }

    fn end_frame(&mut self) -> Result<(), String> {
        let expected = self.decoder.get_checksum_from_data();
        if expected.is_some() && expected != self.decoder.get_calculated_checksum() {
            return Err(super::WRONG_CHECKSUM.to_owned());
        }
        self.whole += self.decoder.bytes_read_from_source();
        self.is_in_frame = false;
        Ok(())
    }
}

impl<R: Read> Read for Unpacking<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.bytes.len() {
            self.refill()?;
        }
        let len = self.bytes[self.at..].as_ref().read(buffer)?;
        self.at += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    /// What its reader took is counted.
    struct Counted<'a> {
        bytes: &'a [u8],
        taken: &'a Cell<usize>,
    }

    impl Read for Counted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = self.bytes.read(buffer)?;
            self.taken.set(self.taken.get() + len);
            Ok(len)
        }
    }

    fn packed(parts: &[Vec<u8>]) -> Vec<u8> {
        let pack = |part: &Vec<u8>| compress_to_vec(&part[..], CompressionLevel::Fastest);
        parts.iter().flat_map(pack).collect()
    }

    /// Bytes that do not shrink much.
    fn noise(seed: u64, len: usize) -> Vec<u8> {
        let mut state = seed;
        let next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        std::iter::repeat_with(next).take(len).collect()
    }

    #[test]
    fn a_frame_is_in_memory_at_a_time() {
        let parts: Vec<_> = (1..=8).map(|seed| noise(seed, 300_000)).collect();
        let file = packed(&parts);
        let taken = Cell::new(0);
        let counted = Counted { bytes: &file, taken: &taken };
        let mut trace = Unpacking::new(Path::new("a.trace"), counted);
        let (mut read, mut most) = (Vec::new(), 0);
        let mut buffer = vec![0; 100_000];
        loop {
            let len = trace.read(&mut buffer).unwrap();
            if len == 0 {
                break;
            }
            read.extend_from_slice(&buffer[..len]);
            most = most.max(trace.bytes.len());
            // No more of the file was asked for than the frames so far and a buffer.
            let frames = read.len().div_ceil(300_000) + 1;
            assert!(taken.get() <= frames * file.len() / 8 + (64 << 10), "{}", taken.get());
        }
        assert_eq!(read, parts.concat());
        assert_eq!(most, 300_000);
    }

    #[test]
    fn a_broken_frame_ends_the_trace_before_it() {
        let parts = [noise(1, 5000), b"two".to_vec(), noise(3, 100_000)];
        let file = packed(&parts);
        let last = packed(&parts[2..]).len();
        let read = |file: &[u8]| {
            let mut bytes = Vec::new();
            let mut trace = Unpacking::new(Path::new("a.trace"), file);
            trace.read_to_end(&mut bytes).unwrap();
            // What is said of a broken frame names the place where it begins.
            let is_whole = bytes.len() == parts.concat().len();
            let expected = if is_whole { file.len() } else { packed(&parts[..2]).len() };
            assert_eq!(trace.whole, expected as u64);
            bytes
        };
        assert_eq!(read(&file), parts.concat());
        for cut in [file.len() - last + 1, file.len() - last + 4, file.len() - 1] {
            assert_eq!(read(&file[..cut]), parts[..2].concat(), "at {cut}");
        }
        let mut harmed = file.clone();
        *harmed.last_mut().unwrap() ^= 1;
        assert_eq!(read(&harmed), parts[..2].concat());
    }
}
