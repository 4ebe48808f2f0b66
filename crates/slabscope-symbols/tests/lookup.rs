//! Addresses of real programs, built here in the ways that programs are built.

mod support;

use std::fs;

use slabscope_symbols::types::Certainty;
use slabscope_symbols::{Module, Options, Source, Symbolizer};
use support::{assert_all_is_known, build, build_of, function, keeping, module, outer, stacks};
use tempfile::TempDir;

#[test]
fn every_kind_of_debug_information_tells_inlined_functions_and_their_types() {
    let directory = TempDir::new().unwrap();
    let ways = [
        ["-Cdebuginfo=line-tables-only", "-Csymbol-mangling-version=v0"],
        ["-Cdebuginfo=1", "-Cforce-frame-pointers=yes"],
        ["-Cdebuginfo=2", "-Csymbol-mangling-version=v0"],
        ["-Cdebuginfo=2", "-Clink-arg=-Wl,--compress-debug-sections=zlib"],
    ];
    for (number, flags) in ways.iter().enumerate() {
        let path = build(directory.path(), &format!("program{number}"), flags);
        let mut symbolizer = Symbolizer::new(vec![module(&path)], Options::default());
        assert_all_is_known(&stacks(&mut symbolizer, outer(&path)));
        let findings = symbolizer.findings();
        assert_eq!(findings[0].source, Source::DebugInformation, "{flags:?}");
        assert_eq!((&findings[0].file, &findings[0].refused), (&Some(path), &None));
    }
}

#[test]
fn code_that_two_functions_share_makes_no_type_exact() {
    let directory = TempDir::new().unwrap();
    let mergers = ["-Cdebuginfo=2", "-Clink-arg=-Wl,--icf=all"];
    for (number, flags) in [&mergers[..1], &mergers].into_iter().enumerate() {
        let path = build_of("merged.rs", directory.path(), &format!("merged{number}"), flags);
        let [orders, prices] = ["orders", "prices"].map(|name| function(&path, name));
        assert_eq!(orders, prices, "they were not merged, so this shows nothing");
        let mut symbolizer = Symbolizer::new(vec![module(&path)], Options::default());
        let mut typed = 0;
        for stack in stacks(&mut symbolizer, orders) {
            assert!(stack.last().unwrap().shares_code);
            if let Some(found) = slabscope_symbols::types::of_stack(&stack, Some(8)) {
                assert!(found.certainty < Certainty::Exact, "{found:?} of {stack:?}");
                typed += 1;
            }
        }
        assert!(typed > 0);
    }
    // A function that was merged with none is alone.
    let path = build(directory.path(), "program", &["-Cdebuginfo=1"]);
    let mut symbolizer = Symbolizer::new(vec![module(&path)], Options::default());
    let stacks = stacks(&mut symbolizer, outer(&path));
    let types = stacks.iter().filter_map(|it| slabscope_symbols::types::of_stack(it, Some(8)));
    let expected = ("Vec<program::Order>".to_owned(), Certainty::Exact);
    let found: Vec<_> = types.map(|found| (found.name, found.certainty)).collect();
    assert!(found.contains(&expected), "{found:?}");
}

#[test]
fn a_stripped_program_has_its_debug_information_elsewhere() {
    let directory = TempDir::new().unwrap();
    // The linker strips before it makes an id, so this one is given.
    let id = "-Clink-arg=-Wl,--build-id=0x00112233445566778899aabbccddeeff";
    let full = build(directory.path(), "program", &["-Cdebuginfo=1", id]);
    let module = module(&full);
    let place = outer(&full);
    let elsewhere = directory.path().join("debug/.build-id/00");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::rename(&full, elsewhere.join("112233445566778899aabbccddeeff.debug")).unwrap();
    let stripped = build(directory.path(), "program", &["-Cstrip=symbols", id]);
    assert_eq!(support::module(&stripped).build_id, module.build_id);

    let mut alone = Symbolizer::new(vec![module.clone()], Options::default());
    let frames = stacks(&mut alone, place);
    assert_eq!(frames[0][0].name.full, format!("program+{:#x}", place.0));
    assert!(alone.findings()[0].source < Source::DebugInformation);

    let directories = vec![directory.path().join("debug")];
    let mut with = Symbolizer::new(vec![module], Options { directories, ..Options::default() });
    assert_all_is_known(&stacks(&mut with, place));
    assert!(with.findings()[0].file.as_ref().unwrap().starts_with(directory.path().join("debug")));
}

#[test]
fn without_debug_information_symbols_are_left() {
    let directory = TempDir::new().unwrap();
    let path = build(directory.path(), "program", &["-Cstrip=debuginfo"]);
    let mut symbolizer = Symbolizer::new(vec![module(&path)], Options::default());
    for stack in stacks(&mut symbolizer, outer(&path)) {
        assert_eq!((stack.len(), &*stack[0].name.full, stack[0].line), (1, "outer", 0));
    }
    assert_eq!(symbolizer.findings()[0].source, Source::Symbols);
}

#[test]
fn another_build_of_the_program_is_not_taken() {
    let directory = TempDir::new().unwrap();
    let path = build(directory.path(), "program", &["-Cdebuginfo=1"]);
    let mut module = module(&path);
    let place = outer(&path);
    module.build_id.0[0] ^= 1;
    let mut symbolizer = Symbolizer::new(vec![module], Options::default());
    assert_eq!(stacks(&mut symbolizer, place)[0][0].name.full, format!("program+{:#x}", place.0));
    let finding = &symbolizer.findings()[0];
    assert_eq!(finding.source, Source::Nothing);
    assert!(finding.refused.as_ref().unwrap().contains("built anew"), "{finding:?}");
}

#[test]
fn addresses_of_nothing_have_a_frame_all_the_same() {
    let missing = Module { end: 0x1000, path: "/nowhere/lib.so".into(), ..Module::default() };
    let mut symbolizer = Symbolizer::new(vec![missing], Options::default());
    let name = |symbolizer: &mut Symbolizer, module, address| {
        symbolizer.frames(module, address)[0].name.full.clone()
    };
    assert_eq!(name(&mut symbolizer, Some(0), 0x10), "lib.so+0x10");
    assert_eq!(name(&mut symbolizer, Some(0), 0x2000), "0x2000");
    assert_eq!(name(&mut symbolizer, Some(9), 0x2000), "0x2000");
    assert_eq!(name(&mut symbolizer, None, 7), "0x7");
    assert!(symbolizer.findings()[0].refused.is_some());
}

#[test]
fn names_are_kept_for_when_the_program_is_gone() {
    let directory = TempDir::new().unwrap();
    let cache = directory.path().join("cache/slabscope");
    let path = build(directory.path(), "program", &["-Cdebuginfo=1"]);
    let module = module(&path);
    let (start, size) = outer(&path);
    let mut first = keeping(&module, &cache);
    let expected = stacks(&mut first, (start, size));
    first.keep();

    fs::remove_file(&path).unwrap();
    let mut second = keeping(&module, &cache);
    assert_eq!(stacks(&mut second, (start, size)), expected);
    assert_all_is_known(&expected);
    let finding = &second.findings()[0];
    assert_eq!((finding.source, &finding.refused), (Source::DebugInformation, &None));
    assert_eq!((finding.is_partial, finding.file.as_deref()), (false, Some(&*path)));

    // An address that nobody asked for is not known without the program, and that is not kept.
    let beyond = module.bias + start + size + 1000;
    let name = second.frames(Some(0), beyond)[0].name.full.clone();
    assert!(name.starts_with("program+0x"), "{name}");
    let finding = &second.findings()[0];
    assert!(finding.is_partial && finding.refused.is_some(), "{finding:?}");
    second.keep();
    build(directory.path(), "program", &["-Cdebuginfo=1"]);
    assert_ne!(keeping(&module, &cache).frames(Some(0), beyond)[0].name.full, name);
}

#[test]
fn kept_names_of_another_build_or_in_a_damaged_file_are_not_taken() {
    let directory = TempDir::new().unwrap();
    let cache = directory.path().join("cache");
    let path = build(directory.path(), "program", &["-Cdebuginfo=1"]);
    let module = module(&path);
    let place = outer(&path);
    let mut first = keeping(&module, &cache);
    let expected = stacks(&mut first, place);
    first.keep();
    let mut other = module.clone();
    other.build_id.0[0] ^= 1;
    let unknown = format!("program+{:#x}", place.0);
    assert_eq!(stacks(&mut keeping(&other, &cache), place)[0][0].name.full, unknown);

    let kept = fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&kept).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&kept, bytes).unwrap();
    let mut again = keeping(&module, &cache);
    assert_eq!(stacks(&mut again, place), expected);
    again.keep();
    fs::remove_file(&path).unwrap();
    assert_eq!(stacks(&mut keeping(&module, &cache), place), expected, "it was not mended");
}

#[test]
fn debug_information_that_was_found_later_counts() {
    let directory = TempDir::new().unwrap();
    let cache = directory.path().join("cache");
    let id = "-Clink-arg=-Wl,--build-id=0x00112233445566778899aabbccddeeff";
    let path = build(directory.path(), "program", &["-Cstrip=debuginfo", id]);
    let module = module(&path);
    let place = outer(&path);
    let mut symbols = keeping(&module, &cache);
    assert_eq!(stacks(&mut symbols, place)[0][0].name.full, "outer");
    symbols.keep();
    fs::rename(&path, directory.path().join("gone")).unwrap();
    assert_eq!(stacks(&mut keeping(&module, &cache), place)[0][0].name.full, "outer");
    let full = build(directory.path(), "program", &["-Cdebuginfo=1", id]);
    assert_all_is_known(&stacks(&mut keeping(&module, &cache), outer(&full)));
}
