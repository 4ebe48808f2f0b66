//! The workspace as cargo sees it: where it lies, what it builds, what it depends on.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

use crate::command;

/// The only platform that is tested.
pub(crate) const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// The workspace this program was built from.
#[derive(Debug)]
pub(crate) struct Workspace {
    metadata: Metadata,
}

impl Workspace {
    /// Asks cargo. Fetches dependencies that are not on the machine yet.
    pub(crate) fn find() -> Result<Workspace> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let metadata = MetadataCommand::new()
            .manifest_path(manifest)
            .other_options(["--filter-platform".to_owned(), PLATFORM.to_owned()])
            .exec()
            .context("cargo metadata failed")?;
        Ok(Workspace { metadata })
    }

    /// The top directory.
    pub(crate) fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// Where cargo puts what it builds.
    pub(crate) fn target(&self) -> &Path {
        self.metadata.target_directory.as_std_path()
    }

    /// The crates of the workspace.
    pub(crate) fn members(&self) -> Vec<&Package> {
        self.metadata.workspace_packages()
    }

    /// The version of `package`, ours or another's, also of one that only some feature needs; `None`
    /// if nothing does.
    pub(crate) fn version_of(&self, package: &str) -> Option<String> {
        let lock = std::fs::read_to_string(self.root().join("Cargo.lock")).ok()?;
        let (_, entry) = lock.split_once(&format!("\nname = \"{package}\"\nversion = \""))?;
        Some(entry.split_once('"')?.0.to_owned())
    }

    /// What the compiler says of itself.
    pub(crate) fn rustc_version(&self) -> Result<String> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output =
            command::output(Command::new(rustc).current_dir(self.root()).arg("--version"))?;
        Ok(String::from_utf8(output)?.trim().to_owned())
    }

    /// `cargo`, to be run in the top directory, without a variable that would trace it.
    pub(crate) fn cargo(&self) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(self.root()).env_remove("SLABSCOPE");
        cargo
    }

    /// Builds a program of the workspace in release; returns where it lies.
    pub(crate) fn build(&self, package: &str, program: &str) -> Result<PathBuf> {
        command::run(self.cargo().args(["build", "--quiet", "--release", "--package", package]))?;
        Ok(self.target().join("release").join(program))
    }

    /// The directories of `package` and of all crates that it is built from on our platform.
    pub(crate) fn sources_of(&self, package: &str) -> Result<BTreeSet<PathBuf>> {
        let nodes = &self.metadata.resolve.as_ref().context("cargo resolved nothing")?.nodes;
        let first = self.members().into_iter().find(|member| member.name.as_str() == package);
        let first = first.with_context(|| format!("there is no crate {package}"))?;
        let (mut found, mut queue) = (BTreeSet::new(), VecDeque::from([&first.id]));
        while let Some(id) = queue.pop_front() {
            let directory = self.metadata[id].manifest_path.parent();
            let directory = directory.context("a manifest without a directory")?;
            if !found.insert(directory.as_std_path().to_owned()) {
                continue;
            }
            let node = nodes.iter().find(|node| node.id == *id);
            let needed = node.into_iter().flat_map(|node| &node.deps).filter(|dependency| {
                dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal)
            });
            queue.extend(needed.map(|dependency| &dependency.pkg));
        }
        Ok(found)
    }
}
