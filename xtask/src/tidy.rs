//! `cargo xtask tidy`: what the compiler does not check, listed in full.

mod dependencies;
mod docs;
mod layers;
mod sources;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

/// Something that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    /// The file, from the top directory.
    file: PathBuf,
    /// The line, from 1; 0 for the file as a whole.
    line: usize,
    /// What is wrong and what to do.
    what: String,
}

impl Fault {
    fn new(file: &Path, line: usize, what: impl Into<String>) -> Fault {
        Fault { file: file.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file.display(), self.what),
            line => write!(f, "{}:{line}: {}", self.file.display(), self.what),
        }
    }
}

/// Prints every fault; an error when there is one.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let root = workspace.root();
    let sources = texts(root, &["crates", "xtask", "benches"], "rs")?;
    let mut documents = texts(root, &["docs"], "md")?;
    for name in ["README.md", "CHANGELOG.md"] {
        documents.push(Text::read(root, Path::new(name))?);
    }
    let mut faults = layers::check(workspace);
    faults.extend(sources::check(&sources));
    faults.extend(docs::check(root, &documents, &sources));
    faults.extend(dependencies::check(workspace, &documents));
    faults.sort();
    for fault in &faults {
        println!("{fault}");
    }
    match faults.len() {
        0 => {
            println!("tidy: {} sources, {} documents", sources.len(), documents.len());
            Ok(())
        }
        count => bail!("{count} things are not tidy"),
    }
}

/// A file and what is in it.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    /// Its name from the top directory.
    path: PathBuf,
    content: String,
}

impl Text {
    fn read(root: &Path, path: &Path) -> Result<Text> {
        let content = fs::read_to_string(root.join(path))
            .with_context(|| format!("{}: cannot be read", path.display()))?;
        Ok(Text { path: path.to_owned(), content })
    }
}

/// All files with `extension` below `directories`.
fn texts(root: &Path, directories: &[&str], extension: &str) -> Result<Vec<Text>> {
    let mut found = Vec::new();
    let mut queue: Vec<PathBuf> = directories.iter().map(PathBuf::from).collect();
    while let Some(directory) = queue.pop() {
        let full = root.join(&directory);
        let entries =
            fs::read_dir(&full).with_context(|| format!("{}: cannot be listed", full.display()))?;
        for entry in entries {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                queue.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(Text::read(root, &path)?);
            }
        }
    }
    if found.is_empty() {
        bail!("no {extension} files below {}: tidy looked at nothing", directories.join(", "));
    }
    Ok(found)
}
