//! Debug information that the compiler leaves outside of the program.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSymbol};
use slabscope_symbols::{Frame, Options, Symbolizer};
use support::{assert_all_is_known, build, keeping, module, outer, stacks};
use tempfile::TempDir;

#[test]
fn debug_information_that_was_split_off_is_found() {
    for (kind, ending) in [("unpacked", "dwo"), ("packed", "dwp")] {
        for version in ["-Cdwarf-version=4", "-Cdwarf-version=5"] {
            let directory = TempDir::new().unwrap();
            let split = format!("-Csplit-debuginfo={kind}");
            let flags = ["-Cdebuginfo=2", "-Ccodegen-units=1", &*split, version];
            let path = build(directory.path(), "program", &flags);
            let module = module(&path);
            let mut symbolizer = Symbolizer::new(vec![module.clone()], Options::default());
            assert_all_is_known(&stacks(&mut symbolizer, outer(&path)));
            assert!(!symbolizer.findings()[0].is_partial, "{flags:?}");

            // Elsewhere it is found in a directory that is named, and if it is not, that is said.
            let elsewhere = directory.path().join("elsewhere");
            fs::create_dir(&elsewhere).unwrap();
            let mut moved = 0;
            for entry in fs::read_dir(directory.path()).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|it| it == ending) {
                    fs::rename(&path, elsewhere.join(path.file_name().unwrap())).unwrap();
                    moved += 1;
                }
            }
            assert!(moved > 0, "nothing was split off, so this shows nothing");
            let cache = directory.path().join("cache");
            let mut without = keeping(&module, &cache);
            for stack in stacks(&mut without, outer(&path)) {
                assert_eq!((&*stack[0].name.full, stack.len()), ("outer", 1));
            }
            let finding = &without.findings()[0];
            assert!(finding.is_partial && finding.refused.is_some(), "{finding:?}");
            without.keep();
            assert!(!cache.exists(), "the next time it may be there");
            let options = Options { directories: vec![elsewhere], ..Options::default() };
            let mut with = Symbolizer::new(vec![module], options);
            assert_all_is_known(&stacks(&mut with, outer(&path)));
        }
    }
}

/// The stacks of all functions of the program's own crate.
fn own_stacks(path: &Path) -> Vec<Vec<Frame>> {
    let bytes = fs::read(path).unwrap();
    let file = object::File::parse(&bytes[..]).unwrap();
    let mut symbolizer = Symbolizer::new(vec![module(path)], Options::default());
    let is_own = |name: &str| name == "outer" || name.contains("program");
    let own = file.symbols().filter(|symbol| symbol.name().is_ok_and(is_own) && symbol.size() > 0);
    own.flat_map(|symbol| stacks(&mut symbolizer, (symbol.address(), symbol.size()))).collect()
}

#[test]
fn what_was_split_off_says_the_same_in_every_unit() {
    let directory = TempDir::new().unwrap();
    let flags = ["-Cdebuginfo=2", "-Ccodegen-units=16", "-Csymbol-mangling-version=v0"];
    let of = |name: &str, split: &str| {
        let path = directory.path().join(name);
        fs::create_dir(&path).unwrap();
        own_stacks(&build(&path, "program", &[&flags[..], &[split]].concat()))
    };
    let whole = of("whole", "-Csplit-debuginfo=off");
    assert!(whole.len() > 100, "{}", whole.len());
    let unpacked = of("unpacked", "-Csplit-debuginfo=unpacked");
    let files = fs::read_dir(directory.path().join("unpacked")).unwrap();
    let units = files
        .filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|it| it == "dwo"));
    assert!(units.count() > 1, "there is one unit only, so this shows little");
    assert!(unpacked == whole);
    assert!(of("packed", "-Csplit-debuginfo=packed") == whole);
}

#[test]
fn a_piece_of_another_build_is_not_taken() {
    let directory = TempDir::new().unwrap();
    let flags = ["-Cdebuginfo=2", "-Ccodegen-units=1", "-Csplit-debuginfo=unpacked"];
    let path = build(directory.path(), "program", &flags);
    let piece = || {
        let mut files = fs::read_dir(directory.path()).unwrap();
        files.find_map(|file| Some(file.unwrap().path()).filter(|it| it.extension().is_some()))
    };
    let piece = piece().unwrap();
    let (mut bytes, place) = (fs::read(&piece).unwrap(), outer(&path));
    let other =
        build(directory.path(), "other", &[&flags[..], &["-Cforce-frame-pointers=yes"]].concat());
    fs::remove_file(other).unwrap();
    let mut files = fs::read_dir(directory.path()).unwrap();
    let is_other = |it: &PathBuf| it.extension().is_some() && *it != piece;
    let other = files.find_map(|file| Some(file.unwrap().path()).filter(is_other)).unwrap();
    fs::rename(&other, &piece).unwrap();
    let reason = |contents: Option<&[u8]>| {
        if let Some(bytes) = contents {
            fs::write(&piece, bytes).unwrap();
        }
        let mut symbolizer = Symbolizer::new(vec![module(&path)], Options::default());
        assert_eq!(stacks(&mut symbolizer, place)[0].len(), 1);
        symbolizer.findings()[0].refused.clone().unwrap()
    };
    assert!(reason(None).contains("built anew"));
    assert!(reason(Some(b"no file of debug information")).contains("no ELF file"));
    bytes.truncate(bytes.len() / 2);
    assert!(reason(Some(&bytes)).starts_with(&*piece.to_string_lossy()));
}
