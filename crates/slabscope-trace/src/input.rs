//! Where the bytes of a trace come from: all of them are there, or they are read as they are needed.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

/// How many bytes are asked for at a time.
const STEP: u64 = 1 << 20;

/// Bytes of a file that stay where they are.
#[derive(Clone, Debug)]
pub(crate) enum Block<'a> {
    /// The whole file.
    Whole(&'a [u8]),
    /// A stretch of it.
    Part(Arc<Vec<u8>>),
}

impl Block<'_> {
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Block::Whole(bytes) => bytes,
            Block::Part(bytes) => bytes,
        }
    }
}

/// The bytes of a trace.
#[derive(Debug)]
pub(crate) enum Input<'a> {
    Whole(&'a [u8]),
    Stream(Stream<'a>),
}

/// Bytes that are read as they are needed.
pub(crate) struct Stream<'a> {
    read: Box<dyn Read + Send + 'a>,
    /// What was read and not given away.
    bytes: Vec<u8>,
    /// What was given away of late. Memory that nobody looks at any more is used again: the kernel would
    /// have to clear new memory.
    given: VecDeque<Arc<Vec<u8>>>,
    /// Where in the file that begins.
    start: u64,
    has_ended: bool,
    /// Why, if that is to be said next.
    failure: Option<io::Error>,
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stream { bytes, start, has_ended, .. } = self;
        write!(f, "Stream({} bytes at {start}, ended: {has_ended})", bytes.len())
    }
}

impl<'a> Input<'a> {
    /// What `read` gives, which begins at `start` in the file.
    pub(crate) fn stream(read: Box<dyn Read + Send + 'a>, start: u64) -> Input<'a> {
        let (has_ended, failure) = (false, None);
        let (bytes, given) = (Vec::new(), VecDeque::new());
        Input::Stream(Stream { read, bytes, given, start, has_ended, failure })
    }

    /// The bytes there are.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Input::Whole(bytes) => bytes,
            Input::Stream(stream) => &stream.bytes,
        }
    }

    /// Where in the file they begin.
    pub(crate) fn start(&self) -> u64 {
        match self {
            Input::Whole(_) => 0,
            Input::Stream(stream) => stream.start,
        }
    }

    /// Gets more bytes; `false` when there are no more.
    pub(crate) fn grow(&mut self) -> io::Result<bool> {
        let Input::Stream(stream) = self else { return Ok(false) };
        if let Some(failure) = stream.failure.take() {
            return Err(failure);
        }
        if stream.has_ended {
            return Ok(false);
        }
        let before = stream.bytes.len();
        let read = stream.read.as_mut().take(STEP).read_to_end(&mut stream.bytes);
        let is_more = stream.bytes.len() > before;
        stream.has_ended = read.is_err() || !is_more;
        match read {
            // What came before the failure is looked at first.
            Err(failure) if is_more => stream.failure = Some(failure),
            Err(failure) => return Err(failure),
            Ok(_) => {}
        }
        Ok(is_more)
    }

    /// Gives the first `len` bytes away. Whoever looks for what comes behind them finds it at the
    /// place that is returned.
    pub(crate) fn cut(&mut self, len: usize) -> (Block<'a>, usize) {
        match self {
            Input::Whole(bytes) => (Block::Whole(bytes), len),
            Input::Stream(stream) => {
                let tail = stream.bytes.get(len..).unwrap_or_default();
                let mut rest = free(&mut stream.given);
                // What comes next is most often as long.
                rest.reserve(tail.len() + len);
                rest.extend_from_slice(tail);
                stream.bytes.truncate(len);
                let part = Arc::new(std::mem::replace(&mut stream.bytes, rest));
                stream.start += len as u64;
                stream.given.push_back(Arc::clone(&part));
                (Block::Part(part), 0)
            }
        }
    }
}

/// Memory that was given away and that nobody looks at any more, if there is some; of what is in use, the
/// last two parts are kept.
fn free(given: &mut VecDeque<Arc<Vec<u8>>>) -> Vec<u8> {
    let first = given.pop_front().map(Arc::try_unwrap);
    match first {
        Some(Ok(mut bytes)) => {
            bytes.clear();
            bytes
        }
        Some(Err(used)) => {
            if given.is_empty() {
                given.push_front(used);
            }
            Vec::new()
        }
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_gives_what_is_cut_off_and_goes_on_behind_it() {
        let file: Vec<u8> = (0..2 * STEP + 7).map(|n| n as u8).collect();
        let mut input = Input::stream(Box::new(&file[..]), 100);
        while input.grow().unwrap() {}
        assert_eq!((input.bytes(), input.start()), (&file[..], 100));
        let (block, at) = input.cut(1000);
        assert_eq!((block.bytes(), at), (&file[..1000], 0));
        assert_eq!((input.bytes(), input.start()), (&file[1000..], 1100));
        assert!(!input.grow().unwrap());
        let first = block.bytes().as_ptr();
        drop(block);
        let (second, _) = input.cut(1000);
        assert_eq!(second.bytes(), &file[1000..2000]);
        // The rest lies where the first part did, and what is still in use stays what it is.
        let (third, _) = input.cut(1000);
        assert_eq!((third.bytes(), third.bytes().as_ptr()), (&file[2000..3000], first));
        assert_eq!(second.bytes(), &file[1000..2000]);
        let mut whole = Input::Whole(&file);
        let (block, at) = whole.cut(1000);
        assert_eq!((block.bytes().len(), at, whole.start()), (file.len(), 1000, 0));
    }
}
