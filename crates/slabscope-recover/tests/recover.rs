//! Recovery of hand-made live files, and of broken ones.

mod builder;

use builder::LiveFile;
use slabscope_recover::{Error, needed_len, process, recover};
use slabscope_trace::alloc_free::{AllocFree, GenerationData};
use slabscope_trace::{Kind, Reader};
use slabscope_wire::alloc_free::EndReason;
use slabscope_wire::live::{checkpoint, header, state, word};

/// Time, thread and event, of all events of the experiment.
fn read(trace: &[u8]) -> (Vec<(i64, i64, AllocFree)>, Vec<GenerationData>) {
    let (mut events, mut generations) = (Vec::new(), Vec::new());
    for event in Reader::new(trace).expect("a header") {
        let event = event.expect("a whole trace");
        match &event.kind {
            Kind::Sync(sync) if sync.clock.is_some() => {
                generations.push(GenerationData::parse(&sync.experimental));
            }
            Kind::Experimental(experimental) => {
                let what = AllocFree::from_event(experimental).expect("an event of ours");
                events.push((event.time.0, event.thread.0, what));
            }
            _ => {}
        }
    }
    (events, generations)
}

#[test]
fn a_trace_that_never_began_is_made_from_the_live_file_alone() {
    for by_cas in [false, true] {
        let live = LiveFile::with_events(by_cas);
        let recovered = recover(0, &live.bytes).expect("it is sound").expect("it was live");
        assert_eq!((recovered.keep, recovered.events), (0, 4));
        let (events, generations) = read(&recovered.tail);
        let object = 3 * 1024;
        assert_eq!(
            events,
            [
                (5050, 101, AllocFree::SpanAlloc { id: 3, pages: 1, kindclass: 14 }),
                (5100, 101, AllocFree::HeapObjectAlloc { id: object, ty: 1 }),
                (5150, 102, AllocFree::HeapObjectAlloc { id: object + 3, ty: 1 }),
                (5200, 101, AllocFree::HeapObjectFree { id: object + 3 }),
            ]
        );
        let [data] = generations.try_into().expect("one generation");
        assert_eq!(data.problems, []);
        assert_eq!(data.info.expect("where the heap lies").min_heap_address, 1 << 40);
        assert_eq!((data.sites[0].id, data.sites[0].size, data.sites[0].align), (1, 24, 8));
        let names: Vec<_> = data.threads.iter().map(|t| (t.id, t.name.as_str())).collect();
        assert_eq!(names, [(101, "first"), (102, "second")]);
        let closing = data.closing.expect("closing counts");
        assert_eq!(closing.reason, Some(EndReason::Killed));
        let counts: Vec<u64> = closing.kinds.iter().map(|kind| kind.1).collect();
        assert_eq!(counts, [0, 1, 0, 0, 2, 1, 0, 0, 0]);
        assert_eq!(closing.cpus, [(0, 2), (1, 2)]);
    }
}

#[test]
fn events_that_were_dropped_are_counted_by_kind_and_by_ring() {
    let mut live = LiveFile::with_events(false);
    live.set_header(header::DROPPED + 4, 7);
    live.set_header(header::DROPPED + 5, u64::MAX);
    live.set_head_dropped(1, 12);
    let recovered = recover(0, &live.bytes).expect("it is sound").expect("it was live");
    let (_, generations) = read(&recovered.tail);
    let data = generations.into_iter().next_back().expect("a generation");
    assert_eq!((data.problems, data.dropped), (vec![], vec![(1, 12)]));
    let kinds = data.closing.expect("closing counts").kinds;
    assert_eq!((kinds[4], kinds[3]), ((132, 9, 7), (131, 0, 0)));
    assert_eq!(kinds[5], (133, u64::MAX, u64::MAX - 1), "as far as a count goes");
}

#[test]
fn rows_that_fit_no_batch_are_counted() {
    let mut live = LiveFile::with_events(false);
    live.set_modules(&[&module_record(1, 100), &module_record(2, 70_000), &module_record(3, 100)]);
    let recovered = recover(0, &live.bytes).expect("it is sound").expect("it was live");
    assert_eq!(recovered.left_out, 1);
    let (_, generations) = read(&recovered.tail);
    let ids: Vec<u64> = generations[0].modules.iter().map(|module| module.id).collect();
    assert_eq!(ids, [1, 3]);
}

/// The record of a module whose path is so long.
fn module_record(id: u8, path: usize) -> Vec<u8> {
    let mut record = vec![id, 0, 0, 0, 0, 0, 0];
    let mut len = path as u64;
    while len >= 0x80 {
        record.push(len as u8 | 0x80);
        len >>= 7;
    }
    record.push(len as u8);
    record.extend(std::iter::repeat_n(b'm', path));
    record
}

#[test]
fn what_is_in_the_chunk_and_what_is_in_the_file_are_told_apart() {
    let begun = recover(0, &LiveFile::new(false).bytes).expect("sound").expect("live").tail;
    // Without the side data of its end, and the byte that ends it, it is the start of a trace.
    let whole = recover(0, &LiveFile::with_events(false).bytes).expect("sound").expect("live");
    let closing_at = begun.len() - 1 - (begun.len() - 1).min(60);
    let start = &begun[..closing_at.min(16 + 24)];
    let mut live = LiveFile::with_events(false);
    live.set_checkpoint(checkpoint::GENERATION, 1);
    live.set_chunk(start);
    // Nothing was written: all is in the chunk, and what the file has is of no use.
    let recovered = recover(12, &live.bytes).expect("sound").expect("live");
    assert_eq!(recovered.keep, 0);
    assert!(recovered.tail.starts_with(start));
    // The chunk was written since: it is in the file, and the chunk holds something else.
    live.set_header(header::WRITTEN, start.len() as u64 + 5);
    let mut file = start.to_vec();
    file.extend(b"later");
    let recovered = recover(file.len() as u64, &live.bytes).expect("sound").expect("live");
    assert_eq!(recovered.keep, start.len());
    assert!(!recovered.tail.starts_with(start));
    // A file that lacks it belongs to another trace.
    let needed = start.len() as u64;
    assert_eq!(recover(0, &live.bytes), Err(Error::TraceTooShort { needed }));
    assert!(whole.tail.len() > begun.len());
}

#[test]
fn holes_are_passed_over_where_they_can_be() {
    let mut live = LiveFile::with_events(true);
    live.push_hole(0, 3);
    live.push(
        0,
        2,
        1500,
        &[word::event(slabscope_wire::alloc_free::EventKind::ObjectFree, 3 * 1024, 0)],
    );
    live.push_hole(0, 4);
    let recovered = recover(0, &live.bytes).expect("sound").expect("live");
    assert_eq!(recovered.events, 5);
    // Where a push is one store, a hole is a fault.
    let mut live = LiveFile::with_events(false);
    live.push_hole(0, 3);
    assert!(matches!(recover(0, &live.bytes), Err(Error::Word { ring: 0, .. })));
}

#[test]
fn a_trace_that_ended_needs_nothing() {
    for state in [state::NEW, state::ENDED] {
        let mut live = LiveFile::with_events(false);
        live.set_header(header::STATE, state);
        assert_eq!(recover(0, &live.bytes), Ok(None));
    }
}

#[test]
fn the_start_of_a_live_file_says_how_much_is_needed_and_whose_it_is() {
    let live = LiveFile::new(false);
    let needed = needed_len(&live.bytes[..4096]).expect("a live file");
    assert!(needed <= live.bytes.len() as u64);
    assert!(recover(0, &live.bytes[..needed as usize]).is_ok());
    assert_eq!(process(&live.bytes[..4096]), Some(99));
    assert_eq!((needed_len(b"nothing"), process(b"nothing")), (None, None));
}

#[test]
fn broken_live_files_are_refused_and_never_more_than_that() {
    let sound = LiveFile::with_events(true);
    let refused = |change: &dyn Fn(&mut LiveFile)| {
        let mut live = LiveFile::with_events(true);
        change(&mut live);
        recover(0, &live.bytes).expect_err("it is broken")
    };
    assert_eq!(refused(&|live| live.set_header(header::MAGIC, 1)), Error::NotLive);
    assert_eq!(refused(&|live| live.set_header(header::VERSION, 99)), Error::Version(99));
    assert_eq!(refused(&|live| live.set_header(header::RINGS, 0)), Error::Header(header::RINGS));
    assert!(matches!(
        refused(&|live| live.set_header(header::SITES, 1 << 40)),
        Error::TooShort { .. }
    ));
    assert_eq!(refused(&|live| live.set_checkpoint(checkpoint::RINGS, 1 << 30)), Error::Ring(0));
    // Every word of the file but the rings' may hold anything: no panic, whatever the verdict.
    for at in (0..sound.bytes.len()).step_by(8).take(3000) {
        for value in [0, 1, u64::MAX, 1 << 63, 0x7fff_ffff_ffff_fff8, 4096, 12_345] {
            let mut live = LiveFile::with_events(true);
            live.set(at, value);
            let _ = recover(0, &live.bytes);
        }
    }
    for len in 0..sound.bytes.len().min(30_000) {
        let _ = recover(0, &sound.bytes[..len]);
    }
}

#[test]
fn words_counted_to_the_end_of_numbers_are_refused() {
    for taken in (u64::MAX - 3)..=u64::MAX {
        for available in 0..6 {
            let mut live = LiveFile::new(false);
            live.set_checkpoint(checkpoint::RINGS, taken);
            for at in 0..builder::RING_WORDS {
                let word = if at % 2 == 0 { word::run(1) } else { word::time(1) };
                live.set_ring_word(0, at, word);
            }
            live.set_head(0, u64::from((taken as u32).wrapping_add(available)));
            assert_eq!(recover(0, &live.bytes), Err(Error::Ring(0)));
        }
    }
}

#[test]
fn declared_types_come_with_the_sites_that_have_them() {
    let mut live = LiveFile::with_events(false);
    live.set_type_names([
        b"longer than a unit of sixty-four bytes, which makes the next one's number 3",
        b"a\x1b\xff",
    ]);
    let types = |live: &LiveFile| {
        let recovered = recover(0, &live.bytes).expect("it is sound").expect("it was live");
        let (_, mut generations) = read(&recovered.tail);
        let data = generations.remove(0);
        (data.type_names, data.typed_sites, data.types)
    };
    let (names, typed, entries) = types(&live);
    // Of the second only, since no event names a site of the first; and what is no text becomes some.
    assert_eq!(names, [(3, "a\x1b\u{fffd}".to_owned())]);
    assert_eq!(typed, [(3, 3)]);
    let named: Vec<_> = entries.iter().map(|entry| (entry.id, &*entry.name)).collect();
    assert_eq!(named, [(1, "size 24 align 8"), (3, "a\x1b\u{fffd}")]);
    // A name that was being written, or never was.
    for broken in [0, 1025, u64::MAX] {
        live.set(live.type_name_at(3), broken);
        let (names, typed, entries) = types(&live);
        assert_eq!((names, typed), (vec![], vec![]));
        assert_eq!(entries[1].name, "size 48 align 8");
    }
    live.set_header(header::TYPE_NAMES, 1 << 40);
    assert!(matches!(recover(0, &live.bytes), Err(Error::TooShort { .. })));
    live.set_header(header::TYPE_NAMES, u64::MAX);
    assert!(matches!(recover(0, &live.bytes), Err(Error::Header(_))));
}
