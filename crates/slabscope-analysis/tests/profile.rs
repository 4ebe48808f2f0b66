//! The views of a profile, against lists of everything that happened.

#[path = "support/trace_builder.rs"]
mod trace_builder;

use std::collections::BTreeMap;

use slabscope_analysis::{
    Amount, AnalyzeError, Bound, Diff, Measure, Profile, ProfileOptions, Temporary, Window, profile,
};
use slabscope_trace::Open;
use slabscope_wire::alloc_free::EndReason;
use slabscope_wire::event::id;
use trace_builder::{CLASS_48, TraceBuilder, sound};

fn closed() -> TraceBuilder {
    let mut trace = sound();
    trace.closing(EndReason::Exited, [0; 9]).end();
    trace
}

fn of(trace: &TraceBuilder, options: ProfileOptions) -> Profile {
    profile(Open::bytes(&trace.bytes).unwrap(), &options, &mut |_| {}).expect("it can be read")
}

fn window(from: Option<i64>, to: Option<i64>) -> ProfileOptions {
    let [from, to] = [from, to].map(|bound| bound.map(Bound::SinceStart));
    ProfileOptions { window: Window { from, to }, ..ProfileOptions::default() }
}

fn amount(objects: u64, bytes: u64) -> Amount {
    Amount { objects, bytes }
}

const SLOT: u64 = 48;
const THREADS: usize = 3;
const SITES: usize = 4;

/// An object that was allocated, and when it was freed.
#[derive(Clone, Copy, Debug)]
struct Life {
    site: usize,
    by: usize,
    born: u64,
    /// When, and by which thread.
    died: Option<(u64, usize)>,
}

/// A trace of random allocations and frees, a microsecond apart, and the lives in it.
fn random(seed: u64, events: usize) -> (TraceBuilder, Vec<Life>) {
    let mut state = seed;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 33) as usize % below
    };
    let mut trace = TraceBuilder::new();
    trace.begin(1_000).info().build(&[("writer", "x")]);
    trace.sites(&[(1, 48), (2, 40), (3, 33), (4, 48)]);
    trace.events(7, 1_000, &[(id::SPAN_ALLOC, 0, &[0, 1, CLASS_48])]);
    let (mut lives, mut slots) = (Vec::<Life>::new(), [None::<usize>; 40]);
    for n in 0..events {
        let (by, slot) = (random(THREADS), random(slots.len()));
        let time = 1_000 + 1_000 * (n as u64 + 1);
        let (kind, arguments) = match slots[slot].take() {
            None => {
                let site = random(SITES);
                slots[slot] = Some(lives.len());
                lives.push(Life { site, by, born: time, died: None });
                (id::HEAP_OBJECT_ALLOC, vec![slot as u64 * 6, site as u64 + 1])
            }
            Some(index) => {
                let life = &mut lives[index];
                life.died = Some((time, by));
                (id::HEAP_OBJECT_FREE, vec![slot as u64 * 6])
            }
        };
        let arguments: &'static [u64] = Box::leak(arguments.into_boxed_slice());
        trace.events(7 + by as u64, time, &[(kind, 0, arguments)]);
    }
    trace.closing(EndReason::Exited, [0; 9]).end();
    (trace, lives)
}

/// Objects of each site that `which` takes.
fn by_site(lives: &[Life], which: impl Fn(&Life) -> bool) -> BTreeMap<u64, Amount> {
    // Sites 1 and 4 say the same, and are one.
    let sizes = [48, 40, 33, 48];
    let mut sums = BTreeMap::<u64, Amount>::new();
    for life in lives.iter().filter(|life| which(life)) {
        let sum = sums.entry(sizes[life.site]).or_default();
        *sum = amount(sum.objects + 1, sum.bytes + SLOT);
    }
    sums
}

#[test]
fn every_view_agrees_with_a_list_of_all_lives() {
    for seed in 1..20 {
        let (trace, lives) = random(seed, 400);
        // The trace's first time is 1,000; events of the part have these times.
        for (from, to) in [(None, None), (Some(100_500), None), (Some(100_500), Some(300_500))] {
            let profile = of(&trace, window(from, to));
            let [first, behind] =
                [from.unwrap_or(-1_000), to.unwrap_or(i64::MAX / 2)].map(|t| (t + 1_000) as u64);
            check(&profile, &lives, first, behind);
        }
    }
}

fn check(profile: &Profile, lives: &[Life], first: u64, behind: u64) {
    let is_in = |time: u64| (first..behind).contains(&time);
    let live_at = |time: u64| {
        move |life: &Life| life.born <= time && life.died.is_none_or(|(died, _)| died > time)
    };
    let sites = profile.sites().sites;
    let figure = |get: fn(&slabscope_analysis::SiteFigures) -> Amount| {
        let sums = sites.iter().map(|row| (row.label.size.unwrap(), get(&row.figures)));
        sums.filter(|(_, sum)| sum.objects > 0).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(figure(|row| row.allocated), by_site(lives, |life| is_in(life.born)));
    let died = |life: &Life| life.died.is_some_and(|(died, _)| is_in(died));
    assert_eq!(figure(|row| row.freed), by_site(lives, died));
    let existed = |life: &Life| life.born < first && live_at(first - 1)(life);
    assert_eq!(figure(|row| row.existed), by_site(lives, existed));
    assert_eq!(figure(|row| row.live), by_site(lives, live_at(behind - 1)));

    let moments = lives.iter().map(|life| life.born).filter(|&born| is_in(born));
    let moments = moments.chain((first > 1).then(|| first - 1));
    let bytes = |time: u64| lives.iter().filter(|life| live_at(time)(life)).count() as u64 * SLOT;
    let highest = moments.clone().map(bytes).max().unwrap();
    assert_eq!(profile.totals.peak.bytes, highest);
    let peak_at = moments.filter(|&time| bytes(time) == highest).min().unwrap();
    assert_eq!(figure(|row| row.at_peak), by_site(lives, live_at(peak_at)));
    let peak = profile.peak();
    let sum = |bytes: &mut dyn Iterator<Item = u64>| bytes.sum::<u64>();
    assert_eq!(sum(&mut peak.sites.iter().map(|row| row.figures.live.bytes)), highest);
    assert_eq!(sum(&mut peak.threads.iter().map(|row| row.figures.live.bytes)), highest);
    assert_eq!(sum(&mut peak.classes.iter().map(|row| row.figures.live.bytes)), highest);

    let mut pairs = BTreeMap::<(i64, i64), u64>::new();
    for life in lives {
        if let Some((died, by)) = life.died.filter(|&(died, _)| is_in(died)) {
            assert!(died > life.born);
            *pairs.entry((7 + life.by as i64, 7 + by as i64)).or_default() += 1;
        }
    }
    let found = profile.threads().pairs.into_iter().map(|row| {
        let thread = |label: slabscope_analysis::ThreadLabel| label.thread.unwrap();
        ((thread(row.allocated_by), thread(row.freed_by)), row.freed.objects)
    });
    assert_eq!(found.collect::<BTreeMap<_, _>>(), pairs);

    let leaks = profile.leaks();
    let ages = leaks.ages.tenth_bytes.iter().sum::<u64>();
    assert_eq!(ages + leaks.ages.before_bytes, leaks.live.bytes);
    let before = lives.iter().filter(|life| life.born < first && live_at(behind - 1)(life));
    assert_eq!(leaks.ages.before_bytes, before.count() as u64 * SLOT);
    assert_eq!(leaks.growth.last().map(|point| point.live), Some(leaks.live));
    assert_eq!(leaks.growth.iter().map(|point| point.max_bytes).max(), Some(highest));
}

#[test]
fn what_is_temporary_depends_on_events_or_time_and_on_the_thread() {
    let mut trace = TraceBuilder::new();
    trace.begin(1_000).info().build(&[("writer", "x")]).sites(&[(1, 40)]);
    trace.events(
        7,
        1_000,
        &[
            (id::SPAN_ALLOC, 0, &[0, 1, CLASS_48]),
            // Freed next; after one other alloc; by another thread; after 100 us.
            (id::HEAP_OBJECT_ALLOC, 1, &[0, 1]),
            (id::HEAP_OBJECT_FREE, 1, &[0]),
            (id::HEAP_OBJECT_ALLOC, 1, &[0, 1]),
            (id::HEAP_OBJECT_ALLOC, 1, &[6, 1]),
            (id::HEAP_OBJECT_FREE, 1, &[0]),
            (id::HEAP_OBJECT_ALLOC, 1, &[0, 1]),
            (id::HEAP_OBJECT_FREE, 100_000, &[0]),
        ],
    );
    trace.events(8, 200_000, &[(id::HEAP_OBJECT_FREE, 0, &[6])]);
    trace.closing(EndReason::Exited, [0; 9]).end();
    let temporary = |temporary| {
        let options = ProfileOptions { temporary, ..ProfileOptions::default() };
        let view = of(&trace, options).temporary();
        assert_eq!(view.total.allocated.objects, 4);
        assert_eq!(
            view.total.temporary,
            view.sites.first().map_or(amount(0, 0), |row| row.figures.temporary)
        );
        view.total.temporary.objects
    };
    assert_eq!(temporary(Temporary::Events(0)), 0);
    assert_eq!(temporary(Temporary::Events(1)), 2);
    assert_eq!(temporary(Temporary::Events(2)), 3);
    assert_eq!(temporary(Temporary::Time { ns: 50_000 }), 2);
    assert_eq!(temporary(Temporary::Time { ns: 1_000_000 }), 3);
}

#[test]
fn sizes_and_spans_tell_slack_and_who_keeps_spans() {
    let profile = of(&closed(), ProfileOptions::default());
    let sizes = profile.sizes();
    let rows: Vec<_> = sizes.sizes.iter().map(|row| (row.size, row.allocated.objects)).collect();
    assert_eq!(rows, [(40, 3), (100_000, 1)]);
    assert_eq!(sizes.sizes[0].slack_bytes, 3 * 8);
    assert_eq!(sizes.requested.slack_bytes, 13 * 8_192 - 100_000 + 3 * 8);
    assert_eq!(sizes.slots.len(), 0);
    let spans = profile.spans();
    let [class] = &spans.classes[..] else { panic!("{spans:?}") };
    assert_eq!((class.label.class, class.label.slot_bytes), (Some(5), Some(48)));
    assert_eq!((class.figures.spans, class.figures.slots, class.figures.live), (1, 170, 2));
    assert_eq!(class.figures.by_tenth[0], 1);
    assert_eq!((class.figures.needed_spans, spans.freed_pages), (1, 0));
    assert_eq!(spans.nearly_empty.spans, 1);
    let [pinned] = &spans.pinned[..] else { panic!("{spans:?}") };
    assert_eq!(pinned.label.size, Some(40));
    assert_eq!((pinned.figures.objects, pinned.figures.span_bytes), (2, 8_192));
    let fuller = ProfileOptions { nearly_empty: 0.001, ..ProfileOptions::default() };
    assert_eq!(of(&closed(), fuller).spans().nearly_empty.spans, 0);
}

#[test]
fn compaction_frees_what_half_full_spans_hold() {
    let mut trace = TraceBuilder::new();
    trace.begin(1_000).info().build(&[("writer", "x")]).sites(&[(1, 32_768)]);
    // Spans of four slots of 32 KiB, with one, one, two and no object in them.
    let class = 67 << 2 | 2;
    for (start, objects) in [(0, 1), (16, 1), (32, 2), (48, 0)] {
        let leak = |list: Vec<u64>| -> &'static [u64] { Box::leak(list.into_boxed_slice()) };
        trace.events(7, 1_000, &[(id::SPAN_ALLOC, 0, leak(vec![start, 16, class]))]);
        for slot in 0..objects {
            let object = start * 1024 + slot * 4096;
            trace.events(7, 1_000, &[(id::HEAP_OBJECT_ALLOC, 0, leak(vec![object, 1]))]);
        }
    }
    trace.closing(EndReason::Exited, [0; 9]).end();
    let spans = of(&trace, ProfileOptions::default()).spans();
    let figures = &spans.classes[0].figures;
    assert_eq!((figures.spans, figures.empty, figures.needed_spans), (4, 1, 1));
    assert_eq!((spans.pages, spans.freed_pages), (64, 48));
    assert_eq!(figures.by_tenth, [0, 0, 2, 0, 1, 0, 0, 0, 0, 0]);
    assert_eq!(spans.nearly_empty.spans, 0);
}

#[test]
fn stacks_weigh_what_the_totals_say() {
    let profile = of(&closed(), ProfileOptions::default());
    let weigh = |measure| profile.stacks().map(|row| row.weight(measure)).sum::<u64>();
    assert_eq!(weigh(Measure::Bytes), profile.totals.allocated.bytes);
    assert_eq!(weigh(Measure::Count), profile.totals.allocated.objects);
    assert_eq!(weigh(Measure::Peak), profile.totals.peak.bytes);
    assert_eq!(weigh(Measure::Leaked), profile.totals.live.bytes);
    assert_eq!(weigh(Measure::Temporary), profile.totals.temporary.objects);
}

#[test]
fn a_profile_differs_from_another_and_not_from_itself() {
    let (one, other) = (random(1, 200).0, random(2, 300).0);
    let [one, other] = [one, other].map(|trace| of(&trace, ProfileOptions::default()));
    let same = Diff::new(&one, &one);
    assert_eq!((same.sites.len(), same.classes.len()), (0, 0));
    let diff = Diff::new(&one, &other);
    let sum: i64 = diff.sites.iter().map(|row| row.figures.bytes()).sum();
    let allocated = [&one, &other].map(|profile| profile.totals.allocated.bytes as i64);
    assert_eq!(sum, allocated[1] - allocated[0]);
}

#[test]
fn a_part_that_cannot_be_is_refused() {
    let trace = closed();
    let refused = |from| {
        let options = ProfileOptions {
            window: Window { from: Some(from), to: None },
            ..ProfileOptions::default()
        };
        profile(Open::bytes(&trace.bytes).unwrap(), &options, &mut |_| {})
            .map(|profile| profile.part)
    };
    assert!(matches!(
        refused(Bound::SinceStart(5_000_000_000)),
        Err(AnalyzeError::BehindEnd { .. })
    ));
    let unix = 1_000_000 * 1_000_000_000 + 500_000;
    assert_eq!(refused(Bound::Unix(unix)).unwrap().from.since_start_ns, 500_000);
    assert!(Open::bytes(b"nonsense").is_err());
}
