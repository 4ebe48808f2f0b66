//! Frames of call stacks, as the live file keeps them: a word each.
//!
//! `[flags : 4 | region : 10 | offset in it : 28 | parent : 22]`, 0 for one that was never written. A region is
//! 256 MiB of addresses: which, says a word of 32 bits in a table of them, one more than what its
//! addresses have before their last 28 bits. Region 0 stays free, so that no frame is 0. The parent is the
//! number of the frame that called this one, and was entered before it; 0 for none.

use super::super::alloc_free::frame;

const PARENT_BITS: u32 = 22;
const OFFSET_BITS: u32 = 28;
const REGION_SHIFT: u32 = PARENT_BITS + OFFSET_BITS;
const FLAGS_SHIFT: u32 = 60;

/// The largest number of a frame.
pub const NUMBER_MAX: u32 = (1 << PARENT_BITS) - 1;

/// Regions that there can be, with region 0.
pub const REGIONS: usize = 1 << (FLAGS_SHIFT - REGION_SHIFT);

/// Bytes of a frame.
pub const LEN: usize = size_of::<u64>();

const _: () = assert!((frame::BY_TABLE | frame::CUT | frame::TRUNCATED | frame::EXACT) >> 4 == 0);

/// What the table of regions says of the one that an address of 56 bits lies in.
#[inline]
pub const fn region_of(address: u64) -> u32 {
    (address >> OFFSET_BITS) as u32 + 1
}

/// The word of a frame at this address, which lies in the region with this number.
#[inline]
pub const fn pack(region: usize, address: u64, flags: u64, parent: u32) -> u64 {
    let offset = address & ((1 << OFFSET_BITS) - 1);
    flags << FLAGS_SHIFT | (region as u64) << REGION_SHIFT | offset << PARENT_BITS | parent as u64
}

/// The number of a frame's region; 0 for none.
#[inline]
pub const fn region(word: u64) -> usize {
    (word >> REGION_SHIFT) as usize & (REGIONS - 1)
}

/// Address, flags and parent of a frame in a region of which the table says `region_of`; `None` for a
/// word that is no frame's, or where that is no region.
#[inline]
pub const fn unpack(word: u64, region_of: u32) -> Option<(u64, u64, u32)> {
    if region(word) == 0 || region_of == 0 {
        return None;
    }
    let offset = word >> PARENT_BITS & ((1 << OFFSET_BITS) - 1);
    let address = (region_of as u64 - 1) << OFFSET_BITS | offset;
    Some((address, word >> FLAGS_SHIFT, word as u32 & NUMBER_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_a_round_trip() {
        for address in [0, 1, 0x5555_1234_5678, 0x7fff_ffff_ffff, (1 << 56) - 1] {
            for (flags, parent) in [(0, 0), (15, NUMBER_MAX)] {
                for region in [1, REGIONS - 1] {
                    let word = pack(region, address, flags, parent);
                    assert_eq!(self::region(word), region);
                    assert_eq!(unpack(word, region_of(address)), Some((address, flags, parent)));
                    assert_eq!(unpack(word, 0), None);
                }
            }
        }
        assert_eq!(unpack(0, 1), None);
    }
}
