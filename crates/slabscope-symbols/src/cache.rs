//! Names that were looked up before, on disk: a file for each build of a program or library.
//!
//! A file that is damaged, of another version or of another build is as good as none, and where
//! nothing can be written nothing is kept: names are then looked up anew.

mod stored;

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub(crate) use stored::Stored;

use crate::module::BuildId;

/// How much all files may have together, in bytes; those not used for longest go.
const ALL_MAX: u64 = 256 << 20;

/// The largest file, in bytes. A million places have some fifty megabytes.
const FILE_MAX: u64 = ALL_MAX / 4;

/// How long a file that is being written may take; after that its writer is gone.
const WRITING_MAX: Duration = Duration::from_secs(3600);

/// What files end in.
const ENDING: &str = "names";
const WRITING: &str = ".writing";

/// A directory with names.
#[derive(Debug)]
pub(crate) struct Cache<'a> {
    directory: &'a Path,
}

impl<'a> Cache<'a> {
    pub(crate) fn new(directory: &'a Path) -> Cache<'a> {
        Cache { directory }
    }

    /// What is known of this build; `None` of nothing.
    pub(crate) fn load(&self, build_id: &BuildId) -> Option<Stored> {
        let path = self.path(build_id)?;
        let file = File::open(&path).ok()?;
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || metadata.len() > FILE_MAX {
            return None;
        }
        let stored = Stored::decode(&fs::read(&path).ok()?, build_id)?;
        // Its time says when it was last of use. Where that cannot be set, others go before it.
        let _ = file.set_modified(SystemTime::now());
        Some(stored)
    }

    /// Keeps what is known of this build, in one step: readers see the old file or the new one.
    ///
    /// # Errors
    /// When it cannot be written, or is too large.
    pub(crate) fn save(&self, build_id: &BuildId, stored: &Stored) -> io::Result<()> {
        let path = self.path(build_id).ok_or(io::ErrorKind::InvalidInput)?;
        let bytes = stored.encode(build_id);
        if bytes.len() as u64 > FILE_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.make_directory()?;
        let mut file = tempfile::Builder::new().suffix(WRITING).tempfile_in(self.directory)?;
        file.write_all(&bytes)?;
        file.persist(&path).map_err(|error| error.error)?;
        self.remove_oldest(&path, ALL_MAX)
    }

    fn make_directory(&self) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        // Names of a program are its owner's business.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(self.directory)
    }

    fn path(&self, build_id: &BuildId) -> Option<PathBuf> {
        let name = format!("{build_id}.{ENDING}");
        // The id stands in a trace, which may be hostile.
        let is_sane = (4..=64).contains(&build_id.0.len());
        is_sane.then(|| self.directory.join(name))
    }

    /// Removes the files used least lately, but this one, until all have `max` bytes together.
    fn remove_oldest(&self, but: &Path, max: u64) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(self.directory)? {
            let (path, metadata) = {
                let entry = entry?;
                (entry.path(), entry.metadata()?)
            };
            let used = metadata.modified()?;
            let name = path.to_string_lossy();
            let is_left = name.ends_with(WRITING)
                && used.elapsed().is_ok_and(|elapsed| elapsed > WRITING_MAX);
            if is_left {
                fs::remove_file(&path)?;
            } else if path.extension().is_some_and(|ending| ending == ENDING) {
                files.push((used, metadata.len(), path));
            }
        }
        files.sort();
        let mut all: u64 = files.iter().map(|file| file.1).sum();
        for (_, len, path) in files.iter().filter(|file| file.2 != but) {
            if all <= max {
                break;
            }
            fs::remove_file(path)?;
            all -= len;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::symbolizer::Source;

    fn stored(places: u64) -> Stored {
        let frame = |n: u64| Frame {
            file: format!("src/{}.rs", n % 3).into(),
            line: n as u32,
            ..Frame::default()
        };
        let frames = (0..places).map(|n| (n, [frame(n), frame(n + 1)].into()));
        Stored {
            source: Source::DebugInformation,
            file: Some("/x".into()),
            frames: frames.collect(),
        }
    }

    #[test]
    fn what_is_kept_comes_back_and_damage_is_as_good_as_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("not/there/yet");
        let cache = Cache::new(&home);
        let (id, other) = (BuildId(vec![7; 20]), BuildId(vec![8; 20]));
        let known = stored(50);
        assert_eq!(cache.load(&id), None);
        cache.save(&id, &known).unwrap();
        assert_eq!(cache.load(&id), Some(known.clone()));
        assert_eq!(cache.load(&other), None);
        let path = cache.path(&id).unwrap();
        let whole = fs::read(&path).unwrap();
        fs::copy(&path, cache.path(&other).unwrap()).unwrap();
        assert_eq!(cache.load(&other), None, "it is another build's");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x40;
            assert_eq!(Stored::decode(&damaged, &id), None, "byte {at}");
            assert_eq!(Stored::decode(&whole[..at], &id), None, "cut at {at}");
        }
        cache.save(&id, &stored(60)).unwrap();
        assert_eq!(cache.load(&id), Some(stored(60)));
    }

    #[test]
    fn files_used_least_lately_and_those_of_the_dead_go() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path());
        let ids: Vec<_> = (1..5_u8).map(|n| BuildId(vec![n; 8])).collect();
        let day = |n: u64| SystemTime::now() - Duration::from_secs(86_400 * n);
        for (id, days) in ids.iter().zip([4, 3, 2, 1]) {
            cache.save(id, &stored(20)).unwrap();
            let file = File::options().write(true).open(cache.path(id).unwrap()).unwrap();
            file.set_modified(day(days)).unwrap();
        }
        assert!(cache.load(&ids[0]).is_some(), "it is of use today");
        let dead = directory.path().join(format!("x{WRITING}"));
        File::create(&dead).unwrap().set_modified(day(1)).unwrap();
        let one = fs::metadata(cache.path(&ids[0]).unwrap()).unwrap().len();
        cache.remove_oldest(&cache.path(&ids[1]).unwrap(), 3 * one).unwrap();
        let left: Vec<_> = ids.iter().map(|id| cache.load(id).is_some()).collect();
        assert_eq!(left, [true, true, false, true]);
        assert!(!dead.exists());
    }

    #[test]
    fn ids_that_tell_nothing_and_places_that_cannot_be_written_keep_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path());
        assert!(cache.save(&BuildId::default(), &stored(1)).is_err());
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(Cache::new(&file.join("x")).save(&BuildId(vec![1; 8]), &stored(1)).is_err());
    }
}
