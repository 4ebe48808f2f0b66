//! Tables of frames, regions and sites that no recorder wrote: whatever they hold, recovery ends, and what it
//! writes names nothing that is not there.

mod builder;

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use builder::LiveFile;
use slabscope_recover::recover;
use slabscope_trace::alloc_free::GenerationData;
use slabscope_trace::{Kind, Reader};
use slabscope_wire::live::{frame, link, site};

/// Frames and sites of a table.
const FRAMES: u32 = 12;
const SITES: usize = 6;

/// A frame that may name any other as what called it, itself and those after it too, or one that is not
/// there; in a region that is there or is not; or any word at all.
fn frames() -> impl Strategy<Value = u64> {
    let packed = (0..6_usize, any::<u64>(), 0..16_u64, 0..FRAMES + 3);
    prop_oneof![
        4 => packed.prop_map(|(region, address, flags, parent)| {
            frame::pack(region, address, flags, parent)
        }),
        1 => any::<u64>(),
        1 => Just(0),
    ]
}

fn regions() -> impl Strategy<Value = u32> {
    prop_oneof![3 => 1..1000_u32, 1 => Just(0), 1 => any::<u32>()]
}

/// A site whose stack begins at any frame, or at none there is; or any words at all.
fn sites() -> impl Strategy<Value = [u32; 3]> {
    let request = (0..100_000_u64, 0..13_u32, any::<u16>());
    prop_oneof![
        4 => (request, 0..FRAMES + 3).prop_map(|((size, align, declared), innermost)| {
            link::pack(site::pack(size, 1 << align, declared), innermost)
        }),
        1 => any::<[u32; 3]>(),
        1 => Just([0; 3]),
    ]
}

/// What a generation names is there, and what calls a frame stands before it.
fn check(data: &GenerationData) -> Result<(), TestCaseError> {
    prop_assert_eq!(&data.problems, &[]);
    let mut frames = BTreeSet::from([0]);
    for frame in &data.frames {
        prop_assert!(frames.contains(&frame.parent), "{frame:?}");
        prop_assert!(frames.insert(frame.id), "{frame:?} stands there twice");
    }
    for site in &data.sites {
        prop_assert!(frames.contains(&site.stack), "{site:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn tables_that_no_recorder_wrote_lead_nowhere(
        frames in vec(frames(), 0..=FRAMES as usize),
        regions in vec(regions(), 5),
        sites in vec(sites(), 1..=SITES),
    ) {
        let mut live = LiveFile::with_events(false);
        live.set_tables(&frames, &regions, &sites);
        let recovered = recover(0, &live.bytes).expect("its header is sound").expect("live");
        prop_assert_eq!(recovered.events, 4 + sites.len() as u64);
        for event in Reader::new(&recovered.tail).expect("a header") {
            if let Kind::Sync(sync) = event.expect("a whole trace").kind {
                check(&GenerationData::parse(&sync.experimental))?;
            }
        }
    }
}
