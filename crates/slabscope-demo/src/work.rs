//! Parsing on several threads: paths go out through one channel, what was found comes back through
//! another. So what a worker allocates, the collector frees.

use std::fs;
use std::path::PathBuf;
use std::thread;

use anyhow::{Context, Result};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::index::Index;
use crate::items::{self, Found};

/// Results under way at once, so that a slow collector bounds memory.
const IN_FLIGHT: usize = 64;

/// A file, and what was found in it; `None` when it is no Rust that `syn` knows.
type Parsed = (PathBuf, Option<Found>);

/// Parses `files` on `workers` threads and collects what they hold.
///
/// # Errors
/// When a file cannot be read, or a thread cannot be started.
pub(crate) fn index(files: Vec<PathBuf>, workers: usize) -> Result<Index> {
    let (paths_in, paths) = unbounded();
    let (parsed, results) = bounded(IN_FLIGHT);
    for file in files {
        paths_in.send(file).context("the queue of files closed early")?;
    }
    drop(paths_in);
    thread::scope(|scope| {
        for number in 1..=workers {
            let (paths, parsed) = (paths.clone(), parsed.clone());
            thread::Builder::new()
                .name(format!("parser-{number}"))
                .spawn_scoped(scope, move || parse_all(&paths, &parsed))
                .context("a thread cannot be started")?;
        }
        drop(parsed);
        collect(&results)
    })
}

fn parse_all(paths: &Receiver<PathBuf>, parsed: &Sender<Result<Parsed>>) {
    for path in paths {
        let found = fs::read(&path)
            .with_context(|| format!("{}: cannot be read", path.display()))
            .map(|bytes| items::parse(&String::from_utf8_lossy(&bytes)).ok());
        // A collector that has seen an error wants no more.
        if parsed.send(found.map(|found| (path, found))).is_err() {
            return;
        }
    }
}

fn collect(results: &Receiver<Result<Parsed>>) -> Result<Index> {
    let mut index = Index::default();
    for result in results {
        let (path, found) = result?;
        match found {
            Some(found) => index.add(path, found),
            None => index.unreadable += 1,
        }
    }
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_are_indexed_whatever_the_number_of_threads() {
        let directory = tempfile::tempdir().unwrap();
        let files: Vec<PathBuf> = (0..100)
            .map(|number| {
                let path = directory.path().join(format!("{number}.rs"));
                let source = if number == 13 { "fn (" } else { "fn same() {}" };
                fs::write(&path, source).unwrap();
                path
            })
            .collect();
        for workers in [1, 8] {
            let index = index(files.clone(), workers).unwrap();
            assert_eq!((index.files.len(), index.unreadable), (99, 1));
            assert_eq!(index.names["same"].len(), 99);
        }
        let missing = vec![directory.path().join("none.rs")];
        let error = super::index(missing, 2).unwrap_err();
        assert!(format!("{error:#}").contains("none.rs: cannot be read"));
    }
}
