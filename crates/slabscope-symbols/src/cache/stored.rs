//! Names of one build as bytes: a checksum, and then values in the form of `bincode`.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::Arc;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};

use crate::frame::Frame;
use crate::module::BuildId;
use crate::name::Name;
use crate::symbolizer::Source;

/// Goes up when what is stored or the way names are made changes; each release has its own files.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "/2");

/// Bytes of the checksum at the start.
const CHECKSUM: usize = 4;

/// No value may ask for more memory than the largest file could fill.
fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_limit::<{ super::FILE_MAX as usize }>()
}

/// What is known of one build.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stored {
    /// Where it is from.
    pub(crate) source: Source,
    /// The file it is from.
    pub(crate) file: Option<PathBuf>,
    /// By address in the file; none where the source knows nothing of an address.
    pub(crate) frames: HashMap<u64, Arc<[Frame]>, RandomState>,
}

/// The same with each text, name and frame once.
#[derive(Default, Serialize, Deserialize)]
struct Packed<'a> {
    version: &'a str,
    build_id: Vec<u8>,
    has_debug_information: bool,
    file: Option<PathBuf>,
    texts: Vec<&'a str>,
    names: Vec<PackedName>,
    frames: Vec<PackedFrame>,
    places: Vec<(u64, Vec<u32>)>,
}

/// Numbers of texts.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct PackedName {
    full: u32,
    module: u32,
    base: u32,
    owner: u32,
    arguments: Vec<u32>,
    is_instance: bool,
}

/// Numbers of a name and of a text.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct PackedFrame {
    name: u32,
    file: u32,
    line: u32,
    is_inlined: bool,
    shares_code: bool,
}

impl Stored {
    /// Nothing.
    pub(crate) fn nothing() -> Stored {
        Stored { source: Source::Nothing, file: None, frames: HashMap::default() }
    }

    pub(crate) fn encode(&self, build_id: &BuildId) -> Vec<u8> {
        let mut texts = Numbers::default();
        let mut names = Numbers::default();
        let mut frames = Numbers::default();
        let mut places = Vec::with_capacity(self.frames.len());
        for (&address, stack) in &self.frames {
            let mut numbers = Vec::with_capacity(stack.len());
            for Frame { name, file, line, is_inlined, shares_code } in &**stack {
                let name = PackedName {
                    full: texts.of(&*name.full),
                    module: texts.of(&*name.module),
                    base: texts.of(&*name.base),
                    owner: texts.of(&*name.owner),
                    arguments: name.arguments.iter().map(|text| texts.of(&**text)).collect(),
                    is_instance: name.is_instance,
                };
                let (name, file) = (names.of(name), texts.of(&**file));
                numbers.push(frames.of(PackedFrame {
                    name,
                    file,
                    line: *line,
                    is_inlined: *is_inlined,
                    shares_code: *shares_code,
                }));
            }
            places.push((address, numbers));
        }
        let packed = Packed {
            version: VERSION,
            build_id: build_id.0.clone(),
            has_debug_information: self.source == Source::DebugInformation,
            file: self.file.clone(),
            texts: texts.all,
            names: names.all,
            frames: frames.all,
            places,
        };
        let mut bytes = vec![0; CHECKSUM];
        // Only a path that is no text cannot be written; its file is as good as none.
        bytes.extend(bincode::serde::encode_to_vec(&packed, config()).unwrap_or_default());
        let checksum = crc32fast::hash(&bytes[CHECKSUM..]);
        bytes[..CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// `None` for anything but what [`Stored::encode`] makes of this build.
    pub(crate) fn decode(bytes: &[u8], build_id: &BuildId) -> Option<Stored> {
        let (checksum, rest) = bytes.split_first_chunk::<CHECKSUM>()?;
        if u32::from_le_bytes(*checksum) != crc32fast::hash(rest) {
            return None;
        }
        let (packed, len): (Packed<'_>, usize) =
            bincode::serde::borrow_decode_from_slice(rest, config()).ok()?;
        if len != rest.len() || packed.version != VERSION || packed.build_id != build_id.0 {
            return None;
        }
        let text = |number: u32| packed.texts.get(number as usize).copied();
        let names = packed.names.iter().map(|name| {
            let arguments = name.arguments.iter().map(|&number| Some(text(number)?.to_owned()));
            Some(Arc::new(Name {
                full: text(name.full)?.to_owned(),
                module: text(name.module)?.to_owned(),
                base: text(name.base)?.to_owned(),
                owner: text(name.owner)?.to_owned(),
                arguments: arguments.collect::<Option<_>>()?,
                is_instance: name.is_instance,
            }))
        });
        let names: Vec<_> = names.collect::<Option<_>>()?;
        let files: Vec<Arc<str>> = packed.texts.iter().map(|&text| text.into()).collect();
        let frames = packed.frames.iter().map(|frame| {
            Some(Frame {
                name: Arc::clone(names.get(frame.name as usize)?),
                file: Arc::clone(files.get(frame.file as usize)?),
                line: frame.line,
                is_inlined: frame.is_inlined,
                shares_code: frame.shares_code,
            })
        });
        let frames: Vec<_> = frames.collect::<Option<_>>()?;
        let places = packed.places.iter().map(|(address, stack)| {
            let frame = |&number: &u32| frames.get(number as usize).cloned();
            Some((*address, stack.iter().map(frame).collect::<Option<Arc<[_]>>>()?))
        });
        let source =
            if packed.has_debug_information { Source::DebugInformation } else { Source::Symbols };
        Some(Stored { source, file: packed.file, frames: places.collect::<Option<_>>()? })
    }
}

/// Values by number, each once.
struct Numbers<T> {
    all: Vec<T>,
    known: HashMap<T, u32, RandomState>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Numbers { all: Vec::new(), known: HashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Numbers<T> {
    fn of(&mut self, value: T) -> u32 {
        let next = self.all.len() as u32;
        *self.known.entry(value).or_insert_with_key(|value| {
            self.all.push(value.clone());
            next
        })
    }
}
