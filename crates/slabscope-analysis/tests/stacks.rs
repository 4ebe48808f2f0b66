//! Call stacks of a trace made by hand: what belongs together, and what it is called.

#[path = "support/trace_builder.rs"]
mod trace_builder;

use slabscope_analysis::{
    By, Figures, GroupLabel, Grouping, Profile, ProfileOptions, SiteLabel, SymbolizeError, profile,
    symbolize,
};
use slabscope_symbols::Options;
use slabscope_trace::Open;
use slabscope_wire::alloc_free::EndReason;
use slabscope_wire::event::id;
use trace_builder::{CLASS_48, TraceBuilder};

/// Two generations with the same stacks under other numbers. The first stack asks for two sizes.
fn trace() -> TraceBuilder {
    let mut trace = TraceBuilder::new();
    trace.begin(1_000).info().build(&[("writer", "x")]);
    trace.module([0x5000, 0x6000], 0x4000, "/opt/app");
    trace.frames(&[(1, 0, 0x5101), (2, 1, 0x5201), (3, 1, 0x5301), (4, 3, 0x9000)]);
    trace.sites_at(&[(1, 40, 2), (2, 48, 2), (3, 40, 4)]);
    trace.events(
        7,
        2_000,
        &[
            (id::SPAN_ALLOC, 0, &[0, 1, CLASS_48]),
            (id::HEAP_OBJECT_ALLOC, 0, &[0, 1]),
            (id::HEAP_OBJECT_ALLOC, 0, &[6, 2]),
            (id::HEAP_OBJECT_FREE, 10, &[0]),
            (id::HEAP_OBJECT_ALLOC, 0, &[12, 3]),
        ],
    );
    trace.end().begin(3_000).info().build(&[("writer", "x")]);
    trace.module([0x5000, 0x6000], 0x4000, "/opt/app");
    trace.frames(&[(9, 0, 0x5101), (8, 9, 0x5201)]).sites_at(&[(5, 40, 8), (6, 16, 0)]);
    trace.events(
        7,
        4_000,
        &[(id::HEAP_OBJECT_ALLOC, 0, &[18, 5]), (id::HEAP_OBJECT_ALLOC, 0, &[24, 6])],
    );
    trace.closing(EndReason::Exited, [0; 9]).end();
    trace
}

fn of(trace: &TraceBuilder) -> Profile {
    profile(Open::bytes(&trace.bytes).unwrap(), &ProfileOptions::default(), &mut |_| {}).unwrap()
}

fn functions(label: &SiteLabel) -> Vec<&str> {
    label.stack.iter().map(|frame| &*frame.function).collect()
}

#[test]
fn sites_with_the_same_stack_are_one() {
    let profile = of(&trace());
    let sites = profile.sites().sites;
    let rows: Vec<_> = sites
        .iter()
        .map(|row| (functions(&row.label), row.label.size, row.figures.allocated.objects))
        .collect();
    // No file has that name, so all that is left of an address is where it lies.
    let expected = [
        (vec!["app+0x1200", "app+0x1100"], None, 3),
        (vec!["0x8fff", "app+0x1300", "app+0x1100"], Some(40), 1),
        (vec![], Some(16), 1),
    ];
    assert_eq!(rows, expected);
    assert_eq!(sites[0].figures.max_bytes, 96, "one of the three was freed before the last");
    assert_eq!(sites[0].figures.lifetime.unwrap().objects, 1);
    assert_eq!(profile.peak().sites[0].figures.live.objects, 2);
}

#[test]
fn rows_that_are_not_shown_have_no_names() {
    let mut profile = of(&trace());
    let all = profile.sites().sites;
    profile.name_rows(1);
    let first = profile.sites().sites;
    assert_eq!((&first[0], first.len()), (&all[0], all.len()));
    assert_eq!((&first[1].label, first[1].figures), (&SiteLabel::default(), all[1].figures));
}

#[test]
fn sites_with_the_same_function_or_crate_are_one_group() {
    let profile = of(&trace());
    let groups = |by| {
        let view = profile.groups(by);
        let row = |it: &By<GroupLabel, Figures>| {
            (it.label.name.to_string(), it.figures.sites, it.figures.allocated.objects)
        };
        view.groups.iter().map(row).collect::<Vec<_>>()
    };
    let row = |name: &str, sites, objects| (name.to_owned(), sites, objects);
    // The innermost frame of each stack, since none is known to be the program's own.
    let expected = [row("app+0x1200", 1, 3), row("", 1, 1), row("0x8fff", 1, 1)];
    assert_eq!(groups(Grouping::Function), expected);
    let all = groups(Grouping::File);
    assert_eq!(all, [row("", 3, 5)], "no file is known");
}

#[test]
fn a_missing_file_is_told() {
    let profile = of(&trace());
    assert!(profile.finish_names().is_empty(), "a name was looked for before it was needed");
    profile.sites();
    let symbols = profile.finish_names();
    assert_eq!(symbols.len(), 1);
    assert_eq!(symbols[0].path.to_str(), Some("/opt/app"));
    assert!(symbols[0].refused.is_some());
}

#[test]
fn frames_that_make_no_sense_are_no_stack() {
    let mut trace = TraceBuilder::new();
    trace.begin(1_000).info().build(&[("writer", "x")]);
    // A parent that comes later, a frame that is its own, one that is missing.
    trace.frames(&[(2, 5, 0x10), (5, 0, 0x20), (6, 6, 0x30)]);
    trace.sites_at(&[(1, 40, 2), (2, 48, 6), (3, 8, 77)]);
    trace.events(
        7,
        2_000,
        &[
            (id::SPAN_ALLOC, 0, &[0, 1, CLASS_48]),
            (id::HEAP_OBJECT_ALLOC, 0, &[0, 1]),
            (id::HEAP_OBJECT_ALLOC, 0, &[6, 2]),
            (id::HEAP_OBJECT_ALLOC, 0, &[12, 3]),
        ],
    );
    trace.closing(EndReason::Exited, [0; 9]).end();
    let stacks = |row: &By<SiteLabel, _>| row.label.stack.len();
    let mut lengths: Vec<_> = of(&trace).sites().sites.iter().map(stacks).collect();
    lengths.sort_unstable();
    assert_eq!(lengths, [0, 1, 1]);
}

#[test]
fn a_trace_with_names_needs_no_files() {
    let plain = trace();
    let mut bytes = Vec::new();
    let done = symbolize(&plain.bytes[..], Options::default(), &mut bytes).unwrap();
    assert_eq!(done.modules.len(), 1);
    let mut named = plain.clone();
    named.bytes = bytes;
    let (before, after) = (of(&plain), of(&named));
    assert_eq!(before.sites().sites, after.sites().sites);
    let symbols = [&before, &after].map(|profile| profile.finish_names().len());
    assert_eq!(symbols, [1, 0], "a file was looked for");
    // Go's reader takes the stacks of Go's table; ours is held against it.
    let reader = slabscope_trace::Reader::new(&named.bytes).unwrap();
    let stacks = reader.filter_map(|event| match event.unwrap().kind {
        slabscope_trace::Kind::Sync(sync) => sync.stack(4).or_else(|| sync.stack(8)),
        _ => None,
    });
    let names = stacks.map(|stack| stack.frames().map(|f| f.function.to_string()).collect());
    let names: Vec<Vec<String>> = names.collect();
    assert_eq!(names[0], ["0x8fff", "app+0x1300", "app+0x1100"]);
    assert_eq!(names[1], ["app+0x1200", "app+0x1100"]);
    let again = symbolize(&named.bytes[..], Options::default(), &mut Vec::new());
    assert!(matches!(again, Err(SymbolizeError::HasNames)));
    let cut = symbolize(&plain.bytes[..plain.bytes.len() - 3], Options::default(), &mut Vec::new());
    assert!(matches!(cut, Err(SymbolizeError::Broken { .. })));
}
