//! Programs built as they are built for use, and the names of their addresses.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSymbol};
use slabscope_symbols::{BuildId, Frame, Module, Options, Symbolizer};

/// Builds the program with these flags.
pub(crate) fn build(directory: &Path, name: &str, flags: &[&str]) -> PathBuf {
    build_of("program.rs", directory, name, flags)
}

/// Builds a program of `tests/data`.
pub(crate) fn build_of(source: &str, directory: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let path = directory.join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(source);
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args(["--edition=2024", "-O", "-Clink-arg=-Wl,--build-id=sha1"])
        .args(flags)
        .arg("-o")
        .arg(&path)
        .arg(source)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    path
}

/// The program as a module, mapped somewhere.
pub(crate) fn module(path: &Path) -> Module {
    let bytes = fs::read(path).unwrap();
    let file = object::File::parse(&bytes[..]).unwrap();
    let build_id = BuildId(file.build_id().unwrap().unwrap().to_vec());
    let bias = 0x5555_0000_0000;
    Module { first: bias, end: bias + (1 << 30), bias, build_id, path: path.to_owned() }
}

/// Where `outer` is in the file, and how long.
pub(crate) fn outer(path: &Path) -> (u64, u64) {
    function(path, "outer")
}

/// Where a function is in the file, and how long.
pub(crate) fn function(path: &Path, name: &str) -> (u64, u64) {
    let bytes = fs::read(path).unwrap();
    let file = object::File::parse(&bytes[..]).unwrap();
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name)).unwrap();
    (symbol.address(), symbol.size())
}

/// All stacks that addresses of a function have.
pub(crate) fn stacks(symbolizer: &mut Symbolizer, (address, size): (u64, u64)) -> Vec<Vec<Frame>> {
    let bias = symbolizer.modules()[0].bias;
    let addresses = bias + address..bias + address + size;
    addresses.map(|address| symbolizer.frames(Some(0), address).to_vec()).collect()
}

/// Addresses lead to the lines of `inner` in `outer`, and to the vector it makes.
pub(crate) fn assert_all_is_known(stacks: &[Vec<Frame>]) {
    let has = |wanted: &dyn Fn(&Frame) -> bool| stacks.iter().flatten().any(wanted);
    assert!(stacks.iter().all(|stack| stack.last().unwrap().name.base == "outer"));
    assert!(has(&|frame| {
        frame.name.base == "inner"
            && frame.is_inlined
            && frame.file.ends_with("tests/data/program.rs")
            && matches!(frame.line, 8..=10)
    }));
    assert!(has(&|frame| {
        frame.name.module.starts_with("alloc::")
            && frame.name.base.starts_with("with_capacity")
            && frame.name.arguments.first().is_some_and(|first| first == "program::Order")
    }));
}

/// A symbolizer that keeps its names in a directory.
pub(crate) fn keeping(module: &Module, cache: &Path) -> Symbolizer {
    let options = Options { cache: Some(cache.to_owned()), ..Options::default() };
    Symbolizer::new(vec![module.clone()], options)
}
