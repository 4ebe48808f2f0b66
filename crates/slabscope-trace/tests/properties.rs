//! What holds for any trace: bytes of whatever origin never make the reader panic or go on for
//! ever, and events written by our own encoder come back as they were.

mod support;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use slabscope_trace::{Kind, Reader, ThreadId, dump};
use slabscope_wire::event::{ARGS_MAX, Spec, TABLE, id};

use support::{REAL, START, Trace, read, record, strings};

/// Reads to the end, whatever comes, and prints all that can be printed.
fn survives(bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut out = Vec::new();
    let _ = dump::wire(bytes, &mut out).unwrap();
    let Ok(mut reader) = Reader::new(bytes) else {
        return Ok(());
    };
    let mut last = None;
    // An event has two bytes at least, and becomes three of ours at most.
    for _ in 0..=2 * bytes.len() + 2 {
        out.clear();
        match reader.next() {
            None => return Ok(()),
            Some(Ok(event)) => {
                dump::parsed(&event, &mut out).unwrap();
                prop_assert!(last.is_none_or(|last| event.time != last));
                last = Some(event.time);
            }
            Some(Err(error)) => {
                prop_assert!(error.offset <= bytes.len() as u64);
                prop_assert!(reader.next().is_none(), "an error is the end");
                return Ok(());
            }
        }
    }
    Err(TestCaseError::fail("more events than bytes for them"))
}

/// A batch of any events, made of numbers that are likely to mean something.
fn any_events() -> impl Strategy<Value = Vec<u8>> {
    let timed: Vec<&Spec> = TABLE.iter().filter(|spec| spec.is_timed()).collect();
    let number = prop_oneof![28 => 0..5_u64, 1 => any::<u64>(), 1 => Just(u64::MAX)];
    let event = (select(timed), vec(number, ARGS_MAX + 1))
        .prop_map(|(spec, args)| record(spec.id, &args[..spec.args.len() + 1]));
    vec(event, 0..12).prop_map(|events| events.concat())
}

/// Something done to the bytes of a trace.
#[derive(Clone, Debug)]
enum Harm {
    Set(Index, u8),
    Flip(Index, u8),
    Remove(Index),
    Insert(Index, Vec<u8>),
    Cut(Index),
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Harm::Set(at, byte)),
        4 => (any::<Index>(), 0..8_u8).prop_map(|(at, bit)| Harm::Flip(at, bit)),
        1 => any::<Index>().prop_map(Harm::Remove),
        1 => (any::<Index>(), vec(any::<u8>(), 1..5)).prop_map(|(at, new)| Harm::Insert(at, new)),
        1 => any::<Index>().prop_map(Harm::Cut),
    ]
}

fn harmed(bytes: &[u8], harms: &[Harm]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for harm in harms {
        if bytes.is_empty() {
            break;
        }
        let len = bytes.len();
        match harm {
            Harm::Set(at, byte) => bytes[at.index(len)] = *byte,
            Harm::Flip(at, bit) => bytes[at.index(len)] ^= 1 << bit,
            Harm::Remove(at) => drop(bytes.remove(at.index(len))),
            Harm::Insert(at, new) => drop(bytes.splice(at.index(len)..at.index(len), new.clone())),
            Harm::Cut(at) => bytes.truncate(at.index(len)),
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_bytes_are_survived(
        version in select(&[22_u8, 23, 25, 26]), bytes in vec(any::<u8>(), 0..400),
    ) {
        survives(&bytes)?;
        survives(&Trace::of_version(version).raw(&bytes).bytes)?;
        survives(&Trace::of_version(version).clock().batch(3, START, &bytes).end().bytes)?;
        survives(&Trace::of_version(version).clock().side(1, &bytes).end().bytes)?;
    }

    #[test]
    fn any_events_are_survived(
        version in select(&[22_u8, 23, 25, 26]),
        batches in vec((0..4_u64, 0..50_u64, any_events(), any::<bool>()), 0..6),
        harms in vec(harm(), 0..2),
    ) {
        // Threads that have what most events ask for, so that more than the first is read.
        let mut trace = Trace::of_version(version).clock().table(&strings(&[(1, b"x")]));
        for thread in 0..3 {
            let status: [(u8, &[u64]); 2] = [
                (id::PROC_STATUS, &[0, thread, 1]),
                (id::GO_STATUS, &[0, thread, thread, 2]),
            ];
            trace = trace.events(thread, START, &status);
        }
        for (thread, time, payload, ends) in batches {
            trace = trace.batch(thread, START + time, &payload);
            trace = if ends { trace.next() } else { trace };
        }
        let bytes = trace.end().bytes;
        survives(&bytes)?;
        survives(&harmed(&bytes, &harms))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn real_traces_with_faults_are_survived(harms in vec(harm(), 1..8)) {
        survives(&harmed(REAL, &harms))?;
    }
}

/// An event to be written: what it is, its thread, the time since the one before it, and whether
/// its thread's batch ends with it.
type Written = (&'static Spec, [u64; ARGS_MAX], u64, u64, bool);

/// An event as it must come back: its thread, time, number and arguments.
type Read = (ThreadId, i64, u8, Vec<u64>);

fn written(steps: std::ops::Range<u64>) -> impl Strategy<Value = Vec<Vec<Written>>> {
    let specs: Vec<&'static Spec> = TABLE.iter().filter(|spec| spec.is_experimental()).collect();
    let number = prop_oneof![0..300_u64, any::<u64>()];
    let args = [number.clone(), number.clone(), number.clone(), number];
    let threads = select(&[0, 1, 2, 700, 1 << 40, u64::MAX - 1]);
    let event = (select(specs), args, threads, steps, any::<bool>());
    vec(vec(event, 0..60), 1..4)
}

/// Writes generations of events, the batches of each thread in order, and with them what must
/// come back.
fn write(generations: &[Vec<Written>]) -> (Vec<u8>, Vec<Read>) {
    let (mut trace, mut now, mut expected) = (Trace::begun(), START, Vec::new());
    for (index, generation) in generations.iter().enumerate() {
        trace = if index == 0 { trace } else { trace.next() };
        // By thread: time of its batch, time of its last event, payload.
        let mut open: Vec<(u64, u64, u64, Vec<u8>)> = Vec::new();
        for &(spec, args, thread, step, ends) in generation {
            now += step;
            let place = open.iter().position(|batch| batch.0 == thread).unwrap_or_else(|| {
                open.push((thread, now, now, Vec::new()));
                open.len() - 1
            });
            let batch = &mut open[place];
            let args = args[..spec.args.len()].to_vec();
            batch.3.extend(record(spec.id, &[&[now - batch.2][..], &args].concat()));
            batch.2 = now;
            expected.push((ThreadId(thread as i64), now as i64, spec.id, args));
            if ends {
                let (thread, time, _, payload) = open.swap_remove(place);
                trace = trace.batch(thread, time, &payload);
            }
        }
        for (thread, time, _, payload) in open {
            trace = trace.batch(thread, time, &payload);
        }
    }
    (trace.end().bytes, expected)
}

fn come_back(bytes: &[u8]) -> Vec<Read> {
    let (events, error) = read(bytes);
    assert_eq!(error, None);
    let heap = events.iter().filter_map(|event| match &event.kind {
        Kind::Experimental(it) => Some((event.thread, event.time.0, it.id, it.args().to_vec())),
        _ => None,
    });
    heap.collect()
}

proptest! {
    #[test]
    fn events_come_back_in_order_as_they_were_written(generations in written(2..5000)) {
        let (bytes, expected) = write(&generations);
        prop_assert_eq!(come_back(&bytes), expected);
    }

    #[test]
    fn events_of_one_time_keep_their_threads_order(generations in written(0..2)) {
        let (bytes, expected) = write(&generations);
        let found = come_back(&bytes);
        prop_assert_eq!(found.len(), expected.len());
        prop_assert!(found.windows(2).all(|pair| pair[0].1 < pair[1].1));
        let of = |list: &[Read], thread| -> Vec<_> {
            let own = list.iter().filter(|event| event.0 == thread);
            own.map(|event| (event.2, event.3.clone())).collect()
        };
        for (thread, ..) in &expected {
            prop_assert_eq!(of(&found, *thread), of(&expected, *thread));
        }
    }

    #[test]
    fn a_batch_of_a_generation_may_stand_anywhere_in_it(
        generations in written(2..100), tables_last: bool,
    ) {
        let first = generations.first().cloned().unwrap_or_default();
        let (bytes, expected) = write(&[first]);
        let clock = Trace::begun().bytes.len();
        let (head, events) = (&bytes[..clock], &bytes[clock..bytes.len() - 1]);
        let end = [id::END_OF_GENERATION];
        let moved = if tables_last {
            [&head[..16], events, &head[16..], &end].concat()
        } else {
            bytes.clone()
        };
        prop_assert_eq!(come_back(&moved), expected);
    }
}
